"""`chunkmark verify`: recompute every number of a run from its stored files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import FAILED, Format, FormatOption, write, write_json, write_rows


def verify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    form: FormatOption = Format.TABLE,
) -> int:
    """Recompute every number of a run.

    Recomputes the numbers from the stored chunks, targets and rankings, checks them with
    pytrec_eval, and compares stored files with their hashes. Each reported difference gives its
    cell, query and measure. Exits with 1 if there is a difference.
    """
    from harness.runs.verify import verify as verify_run
    from harness.support.wording import counted

    cells = verify_run(run)
    differences = [difference for cell in cells for difference in cell.differences]
    if form is Format.JSON:
        write_json(
            {
                "schema": "chunkmark.verify/1",
                "cells": [dataclasses.asdict(cell) for cell in cells],
                "verdict": "fail" if differences else "pass",
            }
        )
        return FAILED if differences else 0
    rows = [(one.cell[:12], one.query, one.measure, one.detail) for one in differences]
    if rows or form is not Format.TABLE:
        write_rows(form, ("cell", "query", "measure", "detail"), rows)
    if form is Format.TABLE:
        write(
            f"{counted(len(cells), 'cell')}, "
            f"{counted(sum(cell.values for cell in cells), 'value')} recomputed, "
            f"{sum(cell.outside for cell in cells)} compared with pytrec_eval: "
            + (counted(len(rows), "difference") if rows else "no differences")
        )
    return FAILED if differences else 0
