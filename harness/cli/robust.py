"""`chunkmark robust`: what edits that change no meaning do to retrieval."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import (
    PARTIAL,
    DataDirOption,
    Format,
    FormatOption,
    console,
    write,
    write_json,
    write_rows,
)


def robust(
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "-d", "--dataset", help="Spec of a data set of lines. Default: stdlib. Repeatable."
        ),
    ] = None,
    chunker: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            "--chunker",
            help="Spec of a chunker; a|b allowed. Default: ast, fixed, function. Repeatable.",
        ),
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option("-e", "--embedder", help="Spec of an embedder. Default: minilm. Repeatable."),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option("-r", "--retriever", help="Spec of a retriever. Default: dense. Repeatable."),
    ] = None,
    transformation: Annotated[
        list[str] | None,
        typer.Option(
            "-t",
            "--transformation",
            help="identity, header, indent-2, indent-tab, blank-lines, order, names, no-comments "
            "or crlf. Default: all. Repeatable.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Number of queries to sample from each data set.")
    ] = None,
    margin: Annotated[
        float, typer.Option(help="Largest change that does not matter: 0.02 is 2 points.")
    ] = 0.02,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed, also of the order of functions.")
    ] = 0,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Measure retrieval after edits that change no meaning.

    Every file of a data set is edited, such as by a licence header or another indentation, and the
    same queries are ranked again. A chunker that depends on how a file is formatted shows here.
    Exits with 3 if a chunker fails on a file.
    """
    from chunkers.errors import InputError, suggestion
    from harness.chunking.cutters import probe
    from harness.cli.progress import Progress
    from harness.datasets.loading import load_dataset
    from harness.reports.robust import (
        as_latex,
        as_markdown,
        csv_rows,
        print_robust,
        robust_document,
    )
    from harness.robust.study import refuse_documents, study
    from harness.robust.transformations import TRANSFORMATIONS
    from harness.runs.config import RunConfig
    from harness.support.wording import distinct

    for name in transformation or ():
        if name not in TRANSFORMATIONS:
            raise InputError(
                f"unknown transformation {name!r}; {suggestion(name, list(TRANSFORMATIONS))}"
            )
    chosen = [TRANSFORMATIONS[name] for name in distinct("transformation", transformation or ())]
    chosen = chosen or list(TRANSFORMATIONS.values())
    config = RunConfig().over(
        datasets=tuple(dataset or ()),
        chunkers=tuple(chunker or ("ast", "fixed", "function")),
        embedders=tuple(embedder or ()),
        retrievers=tuple(retriever or ()),
        limit=limit,
        seed=seed,
        margin=margin,
    )
    probe(config.chunkers)
    # A plug-in's prints are not part of the result, and it may change the working folder.
    with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(Path.cwd()):
        passes = len(config.datasets) * (1 + len(chosen)) * len(config.chunkers)
        with Progress(passes * len(config.embedders)) as progress:
            datasets = []
            for spec in config.datasets:
                loaded = load_dataset(spec, data_dir=data_dir, seed=seed, tell=progress.tell)
                refuse_documents(loaded)
                datasets.append(loaded)
            datasets = distinct("data set", datasets, attrgetter("name"))
            with tempfile.TemporaryDirectory(prefix="chunkmark-") as folder:
                result = study(datasets, config, chosen, Path(folder), progress.tell)
        for line in result.failures:
            progress.warn(line)
    document = robust_document(result, margin, seed)
    if form is Format.JSON:
        write_json(document)
    elif form is Format.TABLE:
        print_robust(document, console())
    elif form is Format.CSV:
        write_rows(form, *csv_rows(document))
    else:
        write(as_latex(document) if form is Format.LATEX else as_markdown(document))
    return PARTIAL if result.failures else 0
