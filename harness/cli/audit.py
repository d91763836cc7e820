"""`chunkmark audit`: what a data set or a run holds that can make its scores mean less."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from collections.abc import Iterator, Sequence

    from harness.audit.audit import Audit

PARTIAL = 3
_COLUMNS = ("audit", "of", "found", "what to think")
_NUMBERS = ("source", "dataset", "audit", "of", "name", "value")


def audit(
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run folder.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("-d", "--dataset", help="Data set; may be repeated.")
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option("-e", "--embedder", help="Whose limit of tokens counts; default minilm."),
    ] = None,
    chunker: Annotated[
        list[str] | None,
        typer.Option("-c", "--chunker", help="Whose chunks; a|b sweeps; default ast and fixed."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the queries of a run with this limit.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the choice of queries.")] = 0,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Audit data sets and a stored run: leaks, copies, what is cut and what the model never sees.

    A data set is audited with the embedders' tokenizers; nothing is embedded. A run is audited by
    what its folder stores, which holds no texts: what needs them needs the data set.
    """
    from chunkers.errors import InputError
    from harness.audit.audit import audit_run

    if run is None and not dataset:
        raise InputError("nothing to audit; give a run folder, or a data set as in -d stdlib")
    if run is not None and not dataset and (embedder or chunker or limit is not None or seed):
        raise InputError(
            "-e, -c, --limit and --seed are for data sets; a run has its own; give -d too"
        )
    made = [] if run is None else list(audit_run(run))
    if dataset:
        parts = (chunker or ["ast", "fixed"], embedder or ["minilm"])
        made += _audit_datasets(dataset, *parts, (limit, seed), data_dir)
    if form is Format.JSON:
        write_json({"schema": "chunkmark.audit/1", "audits": [_document(one) for one in made]})
    elif form is Format.CSV:
        write_rows(form, _NUMBERS, [row for one in made for row in _numbers(one)])
    else:
        _write(form, made)
    return PARTIAL if any(one.failures for each in made for one in each.chunkers) else 0


def _audit_datasets(
    datasets: Sequence[str],
    chunkers: Sequence[str],
    embedders: Sequence[str],
    sample: tuple[int | None, int],
    data_dir: Path | None,
) -> list[Audit]:
    from chunkers.plugins.loading import load_chunker
    from chunkers.plugins.spec import expand_spec
    from harness.audit.audit import audit_dataset
    from harness.cli.progress import Progress
    from harness.datasets.loading import load_dataset
    from harness.runs.pipeline import load_embedder

    cutters = [load_chunker(spec) for text in chunkers for spec in expand_spec(text)]
    models = [load_embedder(text) for text in embedders]
    limit, seed = sample
    loaded = [load_dataset(text, data_dir=data_dir, seed=seed) for text in datasets]
    # What other people's code prints is no part of the result.
    with Progress() as progress, contextlib.redirect_stdout(sys.stderr):
        return [
            audit_dataset(one, cutters, models, limit, seed=seed, tell=progress.tell)
            for one in loaded
        ]


def _document(one: Audit) -> dict[str, Any]:
    from harness.audit.interpretation import findings

    return dataclasses.asdict(one) | {"findings": list(map(dataclasses.asdict, findings(one)))}


def _numbers(one: Audit) -> Iterator[tuple[object, ...]]:
    from harness.audit.interpretation import numbers

    for row in numbers(one):
        yield (one.source, one.dataset, *row)


def _write(form: Format, made: Sequence[Audit]) -> None:
    from harness.audit.interpretation import findings
    from harness.reports.tables import plain

    for number, one in enumerate(made):
        mask = ", own lines masked" if one.mask_query else ""
        queries = f"{one.queries} queries{mask}"
        heading = f"{one.dataset} ({one.source}): {queries}, data {one.fingerprint[:12]}"
        if number:
            write("")
        if form is Format.MARKDOWN:
            write(f"### {plain(heading)}\n")
            rows = [dataclasses.astuple(found) for found in findings(one)]
            write_rows(form, _COLUMNS, rows)
            continue
        shown = console()
        shown.print(plain(heading), style="bold")
        for found in findings(one):
            of = f" ({found.of})" if found.of else ""
            shown.print(f"  {plain(found.audit)}{plain(of)}: {plain(found.found)}")
            shown.print(f"    {plain(found.reading)}", style="dim")
