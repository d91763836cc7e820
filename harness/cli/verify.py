"""`chunkmark verify`: compute every number of a run again from what is stored."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import DataDirOption, Format, FormatOption, write, write_json, write_rows

FAILED = 1


def verify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Compute every number of a run again from what is stored; exits with 1 on a difference.

    By our own code from chunks, targets and rankings, by pytrec_eval from the .trec files, and by
    the hashes of the stored lines. Each difference names cell, query and measure.
    """
    del data_dir  # every command takes it; this one reads no data set
    from harness.runs.verify import verify as check

    cells = check(run)
    differences = [one for cell in cells for one in cell.differences]
    if form is Format.JSON:
        write_json(
            {
                "schema": "chunkmark.verify/1",
                "cells": [dataclasses.asdict(cell) for cell in cells],
                "verdict": "fail" if differences else "pass",
            }
        )
    else:
        columns = ("cell", "query", "measure", "detail")
        rows = [(one.cell[:12], one.query, one.measure, one.detail) for one in differences]
        if rows or form is not Format.TABLE:
            write_rows(form, columns, rows)
        if form is Format.TABLE:
            values, outside = (sum(getattr(c, name) for c in cells) for name in _COUNTS)
            verdict = f"{len(differences)} differences" if differences else "no difference"
            write(
                f"{len(cells)} cells, {values} values computed again, "
                f"{outside} compared with pytrec_eval: {verdict}"
            )
    return FAILED if differences else 0


_COUNTS = ("values", "outside")
