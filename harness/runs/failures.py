"""How many files a chunker may fail on before its cell is no result, and what is said then."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?) ?%")
_NUMBER = re.compile(r"[0-9]{1,12}")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class MaxFailures:
    """How many files may fail: a share of all, or a number.

    Attributes:
        text: As it was given.
        number: The number, or the share.
        is_share: Which of both.
    """

    text: str
    number: Fraction
    is_share: bool

    def of(self, files: int) -> int:
        """How many of so many files may fail."""
        return int(self.number * files) if self.is_share else int(self.number)


def parse_max_failures(text: str) -> MaxFailures:
    """What `1%` or `3` means.

    Raises:
        InputError: It is neither.
    """
    text = text.strip()
    share = _SHARE.fullmatch(text)
    if share and Fraction(share[1]) <= 100:
        return MaxFailures(text, Fraction(share[1]) / 100, is_share=True)
    if _NUMBER.fullmatch(text):
        return MaxFailures(text, Fraction(text), is_share=False)
    raise InputError(
        f"max failures {text[:40]!r} is neither a share of the files nor a number of them\n"
        "write 1%, 0.5% or 3, for --max-failures or in a suite"
    )


@dataclass(frozen=True)
class FailedCell:
    """A cell that is no result: its chunker failed on too many files.

    Attributes:
        dataset: Name of the data set.
        chunker: Name of the chunker.
        embedder: Name of the embedder; `none` for a lexical retriever.
        retriever: Name of the retriever.
        files: How many there are to cut.
        tried: How many of them were tried.
        allowed: How many were allowed to fail, as it was asked for.
        failures: Corpus, path and reason of each that did.
    """

    dataset: str
    chunker: str
    embedder: str
    retriever: str
    files: int
    tried: int
    allowed: str
    failures: tuple[tuple[str, str, str], ...]

    @property
    def reason(self) -> str:
        """One line."""
        of = f"the first {self.tried} of " if self.tried < self.files else ""
        return (
            f"failed on {len(self.failures)} of {of}{self.files} files, "
            f"over --max-failures {self.allowed}"
        )


def failure_lines(
    scored: Iterable[tuple[str, Iterable[Sequence[str]]]], failed: Sequence[FailedCell]
) -> Iterator[str]:
    """What failed, a line each: cells, then the first few files of every chunker.

    Args:
        scored: Chunker, and corpus, path and reason of each failure, of the other cells.
        failed: Cells that are no result.
    """
    files: dict[str, dict[tuple[str, ...], None]] = {}
    for chunker, failures in [*scored, *((one.chunker, one.failures) for one in failed)]:
        files.setdefault(chunker, {}).update(dict.fromkeys(map(tuple, failures)))
    for one in failed:
        names = ", ".join((one.dataset, one.chunker, one.embedder, one.retriever))
        yield f"{names}: not scored, for the chunker {one.reason}"
    for chunker, of in files.items():
        for corpus, path, reason in list(of)[:_SHOWN]:
            yield f"{chunker} failed on {path} of {corpus}: {reason}"
        if len(of) > _SHOWN:
            yield f"{chunker} failed on {len(of) - _SHOWN} more files"
