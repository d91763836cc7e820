"""The number of files that a chunker may fail on, and the cells that exceed it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LIMIT = re.compile(r"(?P<share>[0-9]{1,3}(?:\.[0-9]{1,9})?) ?%|(?P<number>[0-9]{1,12})")
_SHOWN = 3


class RewrittenError(Exception):
    """Chunks have a text that is not in their file, and their vectors are pooled from it there."""


@dataclass(frozen=True, slots=True)
class MaxFailures:
    """The number of files that may fail, or their share; `text` is as given."""

    text: str
    number: Fraction
    is_share: bool

    def of(self, files: int) -> int:
        """How many out of `files` may fail."""
        return int(self.number * files) if self.is_share else int(self.number)


def parse_max_failures(text: str) -> MaxFailures:
    """Parse a share of the files, such as `1%`, or a number of files, such as `3`.

    Raises:
        InputError: The text is neither.
    """
    text = text.strip()
    match = _LIMIT.fullmatch(text)
    if match and match["number"]:
        return MaxFailures(text, Fraction(text), is_share=False)
    if match and Fraction(match["share"]) <= 100:
        return MaxFailures(text, Fraction(match["share"]) / 100, is_share=True)
    if match:
        raise InputError(f"--max-failures must be at most 100%, not {text[:40]}")
    raise InputError(
        f"--max-failures must be a whole number or a percentage of the files, not "
        f"{text[:40]!r}\nwrite 3, 1% or 0.5%"
    )


@dataclass(frozen=True)
class FailedCell:
    """A cell that is not scored: its chunker failed on too many files, or its parts do not fit.

    `failures` are corpus, path and reason of each; `tried` of `files` were tried. `refused` says
    why the embedder cannot embed the chunks, or is empty.
    """

    dataset: str
    chunker: str
    embedder: str
    retriever: str
    files: int
    tried: int
    allowed: str
    failures: tuple[tuple[str, str, str], ...]
    refused: str = ""

    @property
    def returned_nothing(self) -> bool:
        """Whether the chunker returned an empty list for every file."""
        return bool(self.failures) and all(_is_nothing(why) for *_, why in self.failures)

    @property
    def reason(self) -> str:
        """One line."""
        if self.refused:
            return self.refused
        if self.returned_nothing:
            files = counted(self.files, "file") if self.files == 1 else f"any of {self.files} files"
            return f"returned no chunk for {files}; it must return a chunkers.Span for each chunk"
        if len(self.failures) <= parse_max_failures(self.allowed).of(self.files):
            return f"failed on all {counted(self.files, 'file')}"
        first = f"the first {self.tried} of " if self.tried < self.files else ""
        return (
            f"failed on {len(self.failures)} of {first}{counted(self.files, 'file')}, "
            f"over --max-failures {self.allowed}"
        )


def _is_nothing(reason: str) -> bool:
    from harness.chunking.corpus import NOTHING

    return reason == NOTHING


def own_reason(reason: str, chunker: str, path: str) -> str:
    """The reason of a failure without the chunker and the file, where both are named before it."""
    if _is_nothing(reason):
        return "it returned no chunk; it must return a chunkers.Span for each chunk"
    return reason.removeprefix(f"chunker {chunker} on {path}: ")


def not_scored(chunker: str, dataset: str, embedder: str, retriever: str, reason: str) -> str:
    """The line on a cell that is not scored."""
    parts = ", ".join(name for name in (embedder, retriever) if name != "none")
    return f"not scored: {chunker} on {dataset} ({parts}) {reason}"


def failure_lines(
    scored: Iterable[tuple[str, str, Iterable[Sequence[str]]]], failed: Sequence[FailedCell]
) -> Iterator[str]:
    """One line for each failed cell, then for the first few failed files of each chunker.

    `scored` are chunker, data set and failures (corpus, path and reason) of each scored cell.
    """
    files: dict[str, dict[tuple[str, ...], None]] = {}
    told = (
        (cell.chunker, cell.dataset, cell.failures) for cell in failed if not cell.returned_nothing
    )
    for chunker, dataset, failures in (*scored, *told):
        rows = ((dataset, *failure) for failure in failures)
        files.setdefault(chunker, {}).update(dict.fromkeys(rows))
    for cell in failed:
        yield not_scored(cell.chunker, cell.dataset, cell.embedder, cell.retriever, cell.reason)
    for chunker, named in files.items():
        for dataset, corpus, path, reason in list(named)[:_SHOWN]:
            # The only corpus of a data set has its name, as `repo` of `repo:src`.
            is_only = corpus == dataset.partition(":")[0]
            where = dataset if is_only else f"corpus {corpus} of {dataset}"
            yield f"{chunker} failed on {path} of {where}: {own_reason(reason, chunker, path)}"
        if len(named) > _SHOWN:
            yield f"{chunker} failed on {counted(len(named) - _SHOWN, 'more file')}"
