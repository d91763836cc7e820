"""`chunkmark check-chunker`: test a chunker against the contract of chunkers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import FAILED, Format, FormatOption, console, write, write_json, write_rows

if TYPE_CHECKING:
    from chunkers.testing import Report

_TEXT = "text"
_COLUMNS = ("check", "result", "found")


def check(
    chunker: Annotated[
        str,
        typer.Argument(
            metavar="CHUNKER",
            help="Chunker, such as ast or fixed:max_size=300, or module:function for your own.",
        ),
    ],
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="NAME",
            help="Language of the test sources, or text for plain text. Default: the chunker's "
            "languages, else python, javascript, java, c and text. Repeatable.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Random seed of the test sources.")
    ] = 0,
    seconds: Annotated[
        float,
        typer.Option(
            "--time-limit", min=0.1, help="Seconds that the chunker may take for a source."
        ),
    ] = 10.0,
    memory: Annotated[
        int,
        typer.Option(
            "--memory-limit", min=16, help="MiB of memory that the chunker may use for a source."
        ),
    ] = 1024,
    form: FormatOption = Format.TABLE,
) -> int:
    """Test a chunker on difficult sources.

    The chunker runs in processes of its own, so that a hang, a crash and exhausted memory are
    reported too. The exit code is 1 if a check fails.
    """
    from chunkers.testing import check_chunker
    from harness.cli.progress import Progress
    from harness.support.wording import distinct

    languages = [_language(name) for name in distinct("language", language or ())]
    with Progress() as progress:
        report = check_chunker(
            chunker,
            languages=languages,
            seed=seed,
            seconds=seconds,
            memory=memory << 20,
            progress=lambda done, total: progress.tell("checking", done, total),
        )
    _write(report, form)
    return 0 if report.ok else FAILED


def _language(name: str) -> str | None:
    from chunkers.languages import known_language

    return None if known_language(name, [_TEXT]) == _TEXT else name


def _write(report: Report, form: Format) -> None:
    from harness.reports.plain import plain

    if form is Format.JSON:
        document = dataclasses.asdict(report) | {"ok": report.ok}
        write_json({"schema": "chunkmark.check-chunker/1", **document})
        return
    if form is Format.TABLE:
        write(plain(report.heading()))
    write_rows(form, _COLUMNS, [(row.name, row.status, row.detail) for row in report.checks])
    if form is Format.TABLE:
        for line in report.examples():
            console().print(plain(line))
