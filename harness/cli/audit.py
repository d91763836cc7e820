"""`chunkmark audit`: leaks and losses that make scores mean less."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import warnings
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    HELP,
    PARTIAL,
    DataDirOption,
    Format,
    FormatOption,
    SampleSeedOption,
    chunker_option,
    console,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.audit.audit import Audit
    from harness.model import Dataset

_COLUMNS = ("audit", "of", "found", "interpretation")
_NUMBERS = ("source", "dataset", "audit", "of", "name", "value")


def audit(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", help="Run folder to audit."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("-d", "--dataset", help=f"{HELP['datasets']} Repeatable."),
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(
            "-e",
            "--embedder",
            help="With -d: embedder whose token limit applies. Default: minilm. Repeatable.",
        ),
    ] = None,
    chunker: Annotated[list[str] | None, chunker_option("ast, fixed", "With -d: ")] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With -d: number of queries to draw. `chunkmark run` with the same limit and seed "
            "draws the same ones. Default: all.",
        ),
    ] = None,
    seed: SampleSeedOption = 0,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Audit a data set or a run for leaks and losses.

    Finds leaks (queries that retrieve their own text), copies of targets, targets that are cut, and
    tokens beyond the limit of the embedder. Nothing is embedded. To find the leaks of a
    run, also give its data set (`-d`): a run folder does not hold the texts. The data set is then
    audited as well, with the chunkers of `-c`.

    The exit code is 3 if a chunker fails on a file.
    """
    from chunkers.errors import InputError
    from harness.audit.audit import audit_run
    from harness.datasets.suites import part_of

    if run is None and not dataset:
        raise InputError("nothing to audit; give a run folder, or a data set as in -d stdlib")
    if run is not None and not run.exists() and (part := part_of(str(run))):
        raise InputError(f"{run} is {part}, not a run; write {part.option}")
    given = {"-e": embedder, "-c": chunker, "--limit": limit is not None, "--seed": seed}
    option = next((name for name in given if given[name]), None)
    if option and run is not None and not dataset:
        raise InputError(f"{option} applies to data sets only; add -d")
    audits = [] if run is None else list(audit_run(run))
    if dataset:
        parts = (chunker or ["ast", "fixed"], embedder or ["minilm"])
        loaded = _load(dataset, seed, data_dir)
        if run is not None:
            _report_others(run, audits, loaded)
        audits += _audit_datasets(loaded, *parts, limit, seed)
    if form is Format.JSON:
        write_json({"schema": "chunkmark.audit/1", "audits": list(map(_document, audits))})
    elif form in (Format.CSV, Format.LATEX):
        from harness.audit.interpretation import numbers

        rows = [(one.source, one.dataset, *row) for one in audits for row in numbers(one)]
        write_rows(form, _NUMBERS, rows)
    else:
        _write(form, audits)
    failed = any(cut.failures for one in audits for cut in one.chunkers)
    return PARTIAL if failed else 0


def _load(datasets: Sequence[str], seed: int, data_dir: Path | None) -> list[Dataset]:
    from harness.datasets.loading import load_dataset
    from harness.support.wording import distinct

    texts = distinct("data set", datasets)
    return [load_dataset(text, data_dir=data_dir, seed=seed) for text in texts]


def _report_others(run: Path, audits: Sequence[Audit], datasets: Sequence[Dataset]) -> None:
    """Warn of data sets that are not those of the run, neither by name nor by data."""
    names = list(dict.fromkeys(one.dataset for one in audits))
    known = {*names, *(one.fingerprint for one in audits)}
    for dataset in datasets:
        if known.isdisjoint((dataset.name, dataset.fingerprint)):
            warnings.warn(
                f"-d {dataset.name} is not a data set of {run}, which has {', '.join(names)}; "
                "its findings say nothing about the run",
                stacklevel=2,
            )


def _audit_datasets(
    datasets: Sequence[Dataset],
    chunkers: Sequence[str],
    embedders: Sequence[str],
    limit: int | None,
    seed: int,
) -> list[Audit]:
    from harness.audit.audit import audit_dataset
    from harness.cli.progress import Progress
    from harness.runs.pipeline import load_chunkers, load_embedder
    from harness.support.wording import distinct

    cutters = load_chunkers(chunkers)
    models = distinct("embedder", map(load_embedder, embedders), attrgetter("name"))
    # A plug-in's prints are not part of the result.
    with Progress() as progress, contextlib.redirect_stdout(sys.stderr):
        return [
            audit_dataset(dataset, cutters, models, limit, seed=seed, tell=progress.tell)
            for dataset in datasets
        ]


def _document(one: Audit) -> dict[str, Any]:
    from harness.audit.interpretation import findings

    return dataclasses.asdict(one) | {"findings": list(map(dataclasses.asdict, findings(one)))}


def _write(form: Format, audits: Sequence[Audit]) -> None:
    from harness.audit.interpretation import findings
    from harness.reports.plain import plain
    from harness.support.wording import counted

    for number, one in enumerate(audits):
        mask = ", own lines masked" if one.mask_query else ""
        queries = f"{counted(one.queries, 'query', 'queries')}{mask}"
        heading = f"{one.dataset} ({one.source}): {queries}, data {one.fingerprint[:12]}"
        if number:
            write("")
        if form is Format.MARKDOWN:
            write(f"### {plain(heading)}\n")
            write_rows(form, _COLUMNS, [dataclasses.astuple(row) for row in findings(one)])
            continue
        output = console()
        output.print(plain(heading), style="bold")
        for row in findings(one):
            of = f" ({row.of})" if row.of else ""
            output.print(f"  {plain(row.audit)}{plain(of)}: {plain(row.found)}")
            output.print(f"    {plain(row.reading)}", style="dim")
