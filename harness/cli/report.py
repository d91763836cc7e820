"""`chunkmark report`: a run as a page that one sends to the person who decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import (
    BASELINE_HELP,
    PRICE_HELP,
    DataDirOption,
    Format,
    RunsArgument,
    refuse_foreign_file,
    refuse_pages,
    require_different_runs,
    require_libraries,
    write,
    write_json,
    write_rows,
    writing_to,
)

_PAGE = Path("report.html")
_LIBRARIES = ("jinja2", "matplotlib", "pygments")


def report(
    runs: RunsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help=f"HTML file to write; replaces an earlier report. Default: {_PAGE}.",
        ),
    ] = None,
    baseline: Annotated[str | None, typer.Option(metavar="CHUNKER", help=BASELINE_HELP)] = None,
    price: Annotated[list[str] | None, typer.Option(metavar="PRICE", help=PRICE_HELP)] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Also write each figure to this folder, as SVG, PNG, and CSV of its numbers.",
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Write no file, but show the page on a free port of this machine, and update it "
            "while a run goes on. Stop it with Ctrl-C.",
        ),
    ] = False,
    sources: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Maximum number of characters of source code in the page. Default: 4,000,000.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="Format of the printed list of written files; json also prints the numbers of "
            "the page.",
        ),
    ] = Format.TABLE,
) -> int:
    """Write runs as one HTML page.

    The page needs no network and no other file. It has the answer and the evidence for it, all
    measures with their intervals, and the command that repeats the run. With `--format json`,
    also prints the numbers of the page.
    """
    from chunkers.errors import InputError

    require_libraries("report", _LIBRARIES)
    require_different_runs(runs)
    refuse_pages(runs)
    if serve and (out is not None or figures is not None):
        name = "--figures" if out is None else "--out"
        raise InputError(f"--serve writes no file; remove --serve or {name}")
    out = out or _PAGE
    if not serve:
        refuse_foreign_file(out, "report")
    from harness.cli.progress import Progress
    from harness.reports.figures.figure import refuse_foreign_folder, write_figures
    from harness.reports.page.assemble import ReportOptions, make_report

    if figures is not None:
        refuse_foreign_folder(figures)
    options = ReportOptions(baseline, tuple(price or ()), data_dir)
    if sources is not None:
        options = replace(options, sources=sources)
    if serve:
        from harness.cli.serving import serve as serve_pages

        return serve_pages(runs, lambda tag: make_report(runs, options, live=tag).page)
    with Progress() as progress:
        made = make_report(runs, options, tell=progress.tell)
    page = made.page.encode()
    files = [out]
    with writing_to(out):
        if figures is not None:
            files += write_figures(made.figures, figures)
        out.write_bytes(page)
    if form is Format.JSON:
        write_json(made.document)
    elif form is Format.TABLE:
        write(f"{out}: {len(page) / 1e6:.1f} MB")
    else:
        write_rows(form, ("file", "bytes"), [[file, file.stat().st_size] for file in files])
    return 0
