"""`chunkmark robust`: what edits that change no meaning do to retrieval."""

from __future__ import annotations

import contextlib
import functools
import sys
import tempfile
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.output import (
    PARTIAL,
    DataDirOption,
    Format,
    FormatOption,
    write_report,
)
from harness.cli.run import (
    config_of,
    datasets_of,
    flags_in_errors,
    warn_of_unused_embedders,
    with_run_options,
)

# What is measured is fixed, and size is a property of a chunker, not of a format.
_FIXED = ("match_size", "measures", "primary", "profile", "depth", "mask_query")


@functools.partial(with_run_options, left_out=_FIXED)
def robust(
    transformation: Annotated[
        list[str] | None,
        typer.Option(
            "-t",
            "--transformation",
            help="Edit to make: identity (none), header (add a licence header), indent-2 (indent "
            "by two spaces), indent-tab (by tabs), blank-lines (double them), order (reorder "
            "functions), names (rename local variables), no-comments (remove them) or crlf (end "
            "lines in CR LF). Default: each of them. Repeatable.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
    **options: Any,
) -> int:
    """Measure how edits that keep the meaning of code affect retrieval.

    Edits the files of a data set, for example their indentation, and ranks the same queries again.
    This shows which chunkers depend on formatting. The exit code is 3 if a chunker is not scored
    because it failed on too many files.
    """
    from chunkers.errors import InputError, suggestion
    from harness.chunking.probes import probe
    from harness.cli.progress import Progress
    from harness.reading.stored_text import text_space
    from harness.reports import robust as report
    from harness.robust.study import plan_of, refuse_documents, study
    from harness.robust.transformations import TRANSFORMATIONS
    from harness.support.wording import distinct

    config = config_of(None, data_dir, options)
    names = distinct("transformation", transformation or TRANSFORMATIONS)
    for name in names:
        if name not in TRANSFORMATIONS:
            parts = name.split(",")
            hint = suggestion(name, list(TRANSFORMATIONS))
            if name == "all":
                hint = "leave out -t for all"
            elif len(parts) > 1:
                hint = f"repeat the option: {' '.join(f'-t {part.strip()}' for part in parts)}"
            raise InputError(f"unknown transformation {name!r}; {hint}")
    probe(config.chunkers)
    # A plug-in's prints are not part of the result, and it may change the working folder.
    with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(Path.cwd()):
        with flags_in_errors(options):
            plan = plan_of(config)
        runs = len(config.datasets) * (1 + len(names))
        passes = runs * len(plan.chunkers) * len(plan.embedders)
        with Progress(passes) as progress, text_space(plan.space):
            warn_of_unused_embedders(plan, options, progress)
            datasets = datasets_of(config, data_dir, progress.tell)
            datasets = distinct("data set", datasets, attrgetter("name"))
            for dataset in datasets:
                refuse_documents(dataset)
            with tempfile.TemporaryDirectory(prefix="chunkmark-") as folder:
                result = study(datasets, plan, names, Path(folder), progress.tell)
        for line in result.failures:
            progress.warn(line)
    document = report.robust_document(result, config.margin, config.seed)
    write_report(form, document, report)
    return 0 if result.complete else PARTIAL
