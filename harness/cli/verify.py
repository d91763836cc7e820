"""`chunkmark verify`: recompute every number of runs from their stored files."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    FAILED,
    Format,
    FormatOption,
    RunsArgument,
    require_different_runs,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from harness.reports.published import Comparison


def verify(
    run: RunsArgument,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Also compare means with the figures published for the data sets.",
        ),
    ] = False,
    form: FormatOption = Format.TABLE,
) -> int:
    """Recompute every number of a run and report differences.

    Computes the measures again from the stored chunks, targets and rankings, and compares them with
    the stored values, and with pytrec_eval where it has the measure. Checks the stored files by
    their hashes. Names the cell (data set, chunker, embedder and retriever), query and measure of
    each difference.

    The exit code is 1 if a number differs. With `--published`, it is also 1 if a mean differs by
    more than 0.005 from the published one.
    """
    from harness.reports.published import compare_published
    from harness.runs.verify import verify as verify_run
    from harness.support.wording import counted

    require_different_runs(run)
    compared = compare_published(run) if published else []
    cells = [cell for folder in run for cell in verify_run(folder)]
    differences = [difference for cell in cells for difference in cell.differences]
    failed = bool(differences) or not all(each.agrees for each in compared)
    if form is Format.JSON:
        document: dict[str, Any] = {
            "schema": "chunkmark.verify/1",
            "cells": [dataclasses.asdict(cell) for cell in cells],
        }
        if published:
            document["published"] = [each.document() for each in compared]
        write_json({**document, "verdict": "fail" if failed else "pass"})
        return FAILED if failed else 0
    rows = [(one.cell[:12], one.query, one.measure, one.detail) for one in differences]
    if rows or (form is not Format.TABLE and not published):
        write_rows(form, ("cell", "query", "measure", "detail"), rows)
    if form is Format.TABLE:
        write(
            f"{counted(len(cells), 'cell')}, "
            f"{counted(sum(cell.values for cell in cells), 'value')} recomputed, "
            f"{sum(cell.outside for cell in cells)} compared with pytrec_eval: "
            + (counted(len(rows), "difference") if rows else "no differences")
        )
    if published:
        write_rows(form, _COLUMNS, [_published_row(each) for each in compared])
    return FAILED if failed else 0


_COLUMNS = ("data set", "embedder", "measure", "value", "published", "difference", "verdict", "by")


def _published_row(compared: Comparison) -> tuple[str, ...]:
    figure = compared.published
    return (
        compared.dataset,
        compared.embedder,
        figure.measure,
        f"{compared.value:.5f}",
        f"{figure.value:.5f}",
        f"{compared.difference:+.5f}",
        "agrees" if compared.agrees else "differs",
        " ".join(filter(None, (figure.harness, figure.version))),
    )
