"""`chunkmark check-chunker`: hold a chunker to what every chunker is held to."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import (
    DataDirOption,
    Format,
    FormatOption,
    console,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from chunkers.testing import Report

FAILED = 1
_TEXT = "text"
_COLUMNS = ("check", "result", "found")


def check(
    chunker: Annotated[
        str, typer.Argument(metavar="CHUNKER", help="A chunker, as -c takes it, or module:attr.")
    ],
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="NAME",
            help="Language of the sources, `text` for none; repeatable. One of each kind without.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Another seed makes other random programs.")
    ] = 0,
    seconds: Annotated[
        float, typer.Option("--time-limit", min=0.1, help="Seconds that one source may take.")
    ] = 10.0,
    memory: Annotated[
        int, typer.Option("--memory-limit", min=16, help="MiB that one source may take.")
    ] = 1024,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Try a chunker on sources that often go wrong; exits with 1 where a check fails.

    It runs in processes of its own: one that hangs, crashes or takes all memory is named.
    """
    del data_dir  # every command takes it; this one reads no data set
    from chunkers.testing import check_chunker
    from harness.cli.progress import Progress

    languages = [_language(name) for name in language or []]
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
    from chunkers.errors import InputError
    from chunkers.languages import list_languages
    from chunkers.plugins.registry import suggestion

    known = [_TEXT, *(one.name for one in list_languages())]
    if name not in known:
        raise InputError(f"unknown language {name!r}; {suggestion(name, known)}")
    return None if name == _TEXT else name


def _write(report: Report, form: Format) -> None:
    from harness.reports.tables import plain

    if form is Format.JSON:
        document = dataclasses.asdict(report) | {"ok": report.ok}
        write_json({"schema": "chunkmark.check-chunker/1", **document})
        return
    rows = [[one.name, one.status, one.detail] for one in report.checks]
    if form is not Format.TABLE:
        write_rows(form, _COLUMNS, rows)
        return
    write(plain(report.heading()))
    write_rows(form, _COLUMNS, [[plain(one) for one in row] for row in rows])
    for line in report.examples():
        console().print(plain(line))
