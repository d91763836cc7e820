"""`chunkmark churn`: what the edits of a history cost an index."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import (
    BASELINE_HELP,
    PARTIAL,
    EncodingOption,
    ExcludeOption,
    FilesKind,
    FilesOption,
    Format,
    FormatOption,
    IncludeOption,
    LanguageOption,
    TestSeedOption,
    baseline_of,
    chunker_option,
    refuse_spec,
    write_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from chunkers.plugins.loading import LoadedChunker

_CHUNKERS = ("ast", "fixed", "function")
_BASELINE = "fixed"


class Group(StrEnum):
    """By what edits are grouped."""

    LANGUAGE = "language"
    SIZE = "size"


class Header(StrEnum):
    """Whether headers are compared."""

    ON = "on"
    OFF = "off"


def churn(
    repository: Annotated[
        Path,
        typer.Argument(metavar="REPO", help="Git repository, bare or not.", callback=refuse_spec),
    ],
    chunker: Annotated[list[str] | None, chunker_option(", ".join(_CHUNKERS))] = None,
    commits: Annotated[
        int, typer.Option(min=1, help="Number of commits to replay, the newest ones of HEAD.")
    ] = 100,
    baseline: Annotated[str | None, typer.Option(metavar="CHUNKER", help=BASELINE_HELP)] = None,
    header: Annotated[
        Header,
        typer.Option(
            help="on: also replay each chunker with header=on, and compare the two. A header is "
            "the path and the names of the enclosing definitions, before the text of a chunk."
        ),
    ] = Header.OFF,
    by: Annotated[
        list[Group] | None,
        typer.Option(
            metavar="<language|size>",
            help="Also show the counts by language of the changed files, or by size of the edit "
            "(changed characters). Repeatable.",
        ),
    ] = None,
    files: FilesOption = FilesKind.CODE,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    language: LanguageOption = None,
    encoding: EncodingOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            "-e",
            "--embedder",
            help="Embedder for chunkers that count tokens: its tokenizer is used. Default: minilm.",
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            help="Largest difference that does not matter, as a share of the characters that the "
            "baseline must embed again: 0.02 is 2 %."
        ),
    ] = 0.02,
    seed: TestSeedOption = 0,
    form: FormatOption = Format.TABLE,
) -> int:
    """Count the chunks that must be embedded again after each commit.

    Cuts the changed files of each commit twice: as they were before and after it. Also counts the
    chunks that keep their text but get a new id, since their lines moved. Nothing is embedded, and
    the working tree is not read.

    The exit code is 3 if a chunker fails on a file of any commit.
    """
    from chunkers.errors import InputError
    from chunkers.languages import parse_overrides, warn_unused
    from harness.building.tree import Reading, read_commits
    from harness.churn.edits import read_edits
    from harness.churn.study import study
    from harness.cli.progress import Progress
    from harness.reports import churn as report
    from harness.support.wording import counted

    if not 0 < margin < 1:
        raise InputError(f"--margin must be above 0 and below 1, not {margin}")
    with contextlib.redirect_stdout(sys.stderr):  # a plug-in's prints are not part of the result
        chunkers, plain = _chunkers(chunker or _CHUNKERS, with_headers=header is Header.ON)
        pairs = _pairs(chunkers, plain, baseline)
    count_tokens = _counter(chunkers.values(), embedder)
    reading = Reading(
        files=files.value,
        languages=parse_overrides(language or ()),
        include=" ".join(include or ()),
        exclude=" ".join(exclude or ()),
        encoding=" ".join(encoding or ()),
    )
    with Progress() as progress:
        with read_commits(repository, reading) as rules:
            history = read_edits(repository, rules, commits, progress.tell)
        warn_unused("--language", rules.languages, history.paths)
        warn_unused("--encoding", rules.encodings, history.paths)
        result = study(
            history,
            list(chunkers.values()),
            pairs,
            list(dict.fromkeys(group.value for group in by or ())),
            count_tokens=count_tokens,
            margin=margin,
            seed=seed,
            tell=progress.tell,
        )
        if history.commits < commits:
            number = counted(history.commits, "commit")
            progress.note(f"the history has only {number} after its first one")
        for line in result.failures:
            progress.warn(line)
    document = report.churn_document(result, str(repository), margin)
    write_report(form, document, report)
    return PARTIAL if result.failures else 0


def _chunkers(
    specs: Sequence[str], *, with_headers: bool
) -> tuple[dict[str, LoadedChunker], dict[str, str]]:
    """The chunkers by name, and the plain one of each that has a header as well."""
    from chunkers.errors import InputError
    from chunkers.plugins.loading import load_chunker
    from chunkers.plugins.spec import parse_spec
    from harness.runs.pipeline import load_chunkers

    loaded = load_chunkers(specs)
    chunkers = {cutter.name: cutter for cutter in loaded}
    plain: dict[str, str] = {}
    for cutter in loaded if with_headers else ():
        spec = parse_spec(cutter.name)
        options = (*spec.without("header").options, ("header", "on"))
        try:
            headed = load_chunker(replace(spec, options=options))
        except InputError as error:
            raise InputError(
                f"--header on: {error}\nleave out {cutter.name}, or --header on"
            ) from None
        if headed.name not in chunkers:
            chunkers[headed.name] = headed
            plain[headed.name] = cutter.name
    for cutter in chunkers.values():
        if cutter.embeds:
            raise InputError(
                f"chunker {cutter.name} cuts by vectors, and churn embeds nothing; leave it out"
            )
    return chunkers, plain


def _pairs(
    names: Iterable[str], plain: Mapping[str, str], baseline: str | None
) -> list[tuple[str, str]]:
    """Each chunker with what it is compared with: a headed one with its plain one."""
    own = [name for name in names if name not in plain]
    if baseline is not None:
        baseline = baseline_of(baseline, own)
    against = baseline or (_BASELINE if _BASELINE in own else own[0])
    return [(name, against) for name in own if name != against] + list(plain.items())


def _counter(
    chunkers: Iterable[LoadedChunker], embedder: str | None
) -> Callable[[str], int] | None:
    """What counts tokens, if a chunker needs it; else the embedder is not loaded."""
    from harness.cli.progress import Progress
    from harness.runs.chunking import counter
    from harness.runs.pipeline import load_embedder, refuse_unknown_embedder

    if embedder is not None:
        refuse_unknown_embedder(embedder)
    if not any(cutter.unit == "tokens" for cutter in chunkers):
        if embedder is not None:
            Progress().warn(f"-e {embedder} is not used: no chunker counts tokens")
        return None
    return counter(load_embedder(embedder or "minilm"))
