"""`chunkmark run`: compare chunkers."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import (
    DataDirOption,
    Format,
    FormatOption,
    LanguageOption,
    console,
    write,
    write_json,
)

if TYPE_CHECKING:
    from harness.runs.config import RunConfig

PARTIAL = 3


def run(
    suite: Annotated[
        Path | None, typer.Argument(metavar="[SUITE.toml]", help="A grid in a file.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("-d", "--dataset", help="Data set; may be repeated.")
    ] = None,
    chunker: Annotated[
        list[str] | None,
        typer.Option("-c", "--chunker", help="Chunker; a|b in a value sweeps it."),
    ] = None,
    embedder: Annotated[
        list[str] | None, typer.Option("-e", "--embedder", help="Embedder; may be repeated.")
    ] = None,
    retriever: Annotated[
        list[str] | None, typer.Option("-r", "--retriever", help="Retriever; may be repeated.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Measure; may be repeated.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Scoring conventions: see `chunkmark list profiles`.")
    ] = None,
    depth: Annotated[int | None, typer.Option(help="Units in every ranking, at least.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the first N queries of a seeded permutation.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of every random choice.")] = None,
    mask_query: Annotated[
        bool | None,
        typer.Option(
            "--mask-query/--no-mask-query",
            help="Take the lines that a query's text stands in out of its corpus; queries=calls is "
            "masked unless told otherwise, other data sets are not.",
        ),
    ] = None,
    language: LanguageOption = None,
    max_failures: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE|N",
            help="How many files a chunker may fail on before its cell fails; by default 1%.",
        ),
    ] = None,
    file_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="What a chunker may take for a file, and for each million characters of it.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Break results down by language, folder, corpus, source (the file), name-overlap "
            "or another tag of the queries; may be repeated. Without it: by every tag.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Run folder.")] = Path(
        "chunkmark-run"
    ),
    form: FormatOption = Format.TABLE,
) -> int:
    """Compare chunkers on data sets; with no argument, the built-in ones on a built-in data set."""
    config = _base(suite).over(
        datasets=tuple(dataset or ()),
        chunkers=tuple(chunker or ()),
        embedders=tuple(embedder or ()),
        retrievers=tuple(retriever or ()),
        measures=tuple(measure or ()),
        profile=profile,
        depth=depth,
        limit=limit,
        seed=seed,
        mask_query=mask_query,
        languages=tuple(language or ()),
        max_failures=max_failures,
        file_timeout=file_timeout,
    )
    from harness.chunking.cutters import probe
    from harness.cli.progress import Progress
    from harness.datasets.loading import load_dataset
    from harness.reports.breakdowns import refuse_breakdowns
    from harness.reports.document import run_document
    from harness.reports.tables import as_csv, as_markdown, print_table
    from harness.runs.plan import make_plan
    from harness.runs.runner import run as run_grid

    probe(config.chunkers)
    # What other people's code prints is no part of the result, and where it goes is no place of it.
    with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(Path.cwd()):
        plan = make_plan(config)
        datasets = [
            load_dataset(text, data_dir=data_dir, languages=config.languages, seed=config.seed)
            for text in config.datasets
        ]
    refuse_breakdowns(by or (), datasets)
    passes = len(datasets) * len(plan.chunkers) * len(plan.embedders)
    with Progress(passes) as progress, contextlib.redirect_stdout(sys.stderr):
        result = run_grid(plan, datasets, out, progress.tell)
    document = run_document(result, by or ())
    for line in result.failures:
        progress.warn(line)
    if form is Format.JSON:
        write_json(document)
    elif form is Format.TABLE:
        print_table(document, console())
    else:
        write(as_csv(document) if form is Format.CSV else as_markdown(document))
    return PARTIAL if result.failed else 0


def _base(suite: Path | None) -> RunConfig:
    from harness.runs.config import RunConfig, load_suite

    return RunConfig() if suite is None else load_suite(suite)
