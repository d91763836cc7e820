"""`chunkmark run`: compare chunkers."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from harness.cli.output import (
    BASELINE_HELP,
    PARTIAL,
    PRICE_HELP,
    DataDirOption,
    Format,
    baseline_of,
    console,
    warn_unused_languages,
    with_option,
    write,
    write_json,
)
from harness.runs.config import RunConfig, flag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from harness.cli.progress import Progress
    from harness.model import Dataset
    from harness.runs.plan import Plan
    from harness.support.progress import Tell

OUTPUT = "Output"


def option_of(field: Field[Any], kind: Any) -> inspect.Parameter:
    """The command-line option of a field of `RunConfig`; None leaves the field as it is."""
    default: Any = field.default
    repeatable = kind == tuple[str, ...]
    flag = flag_of(field.name, repeatable=repeatable)
    if kind == bool | None:
        flag += f"/--no-{flag[2:]}"
    texts = [field.metadata["help"]]
    if default not in (None, ()):
        texts.append(f"Default: {', '.join(default) if repeatable else default}.")
    option = typer.Option(
        *filter(None, (field.metadata["short"], flag)),
        help=" ".join([*texts, *["Repeatable."] * repeatable]),
        metavar=field.metadata["metavar"],
        rich_help_panel=field.metadata["group"],
    )
    kind = list[str] | None if repeatable else kind | None
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, keyword, default=None, annotation=Annotated[kind, option])


def with_run_options(
    command: Callable[..., int], left_out: Collection[str] = ()
) -> Callable[..., int]:
    """Give a command an option for each field of `RunConfig` in place of its `**options`."""
    kinds = get_type_hints(RunConfig)
    options = [
        option_of(field, kinds[field.name])
        for field in fields(RunConfig)
        if field.name not in left_out
    ]
    first, *rest = inspect.signature(command, eval_str=True).parameters.values()
    parameters = [first, *options, *(one for one in rest if one.kind is not one.VAR_KEYWORD)]
    parameters = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


@with_run_options
def run(
    suite: Annotated[
        Path | None,
        typer.Argument(
            metavar="SUITE",
            help="TOML file of options, such as `limit = 50`, or a built-in suite (see `chunkmark "
            "list suites`). Options on the command line override it.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="DIR",
            help="Run folder to write. Rankings of earlier runs in it are kept. A ranking "
            "that this run needs again is not computed again, but its old measures are replaced.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("chunkmark-run"),
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG",
            help="Also show the means of each group of queries: by language, folder, folder:DEPTH, "
            "corpus, source (the file), name-overlap (whether a query has a word of its target's "
            "name) or another tag of the queries. Default: every tag of the data set, shown with "
            "--details. Repeatable.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="CHUNKER",
            help=BASELINE_HELP,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRICE",
            help=PRICE_HELP,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also print all measures, costs, losses and break-downs, as tables.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    form: Annotated[
        Format, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)
    ] = Format.TABLE,
    **options: Any,
) -> int:
    """Compare chunkers on data sets.

    Without options, five built-in chunkers are compared on the data set `stdlib`. An interrupted
    run resumes when the command is rerun. The exit code is 3 if a chunker is not scored because it
    failed on too many files.

    A chunker, data set, embedder or retriever is given by its name, with its own options if needed:
    `fixed:max_size=300,overlap=2`. `chunkmark list` shows names and options. A function of your own
    is a chunker too: `mymodule:my_chunker,size=3`.
    """
    config = config_of(suite, data_dir, options)
    from harness.chunking.probes import probe
    from harness.cli.progress import Progress
    from harness.reading.stored_text import text_space
    from harness.reports.breakdowns import refuse_breakdowns
    from harness.reports.document import failure_lines, run_document
    from harness.reports.first_screen import print_first_screen
    from harness.reports.prices import parse_prices, uncounted
    from harness.reports.tables import as_csv, as_latex, as_markdown, print_table
    from harness.runs.folder import other_cells_notes
    from harness.runs.plan import make_plan
    from harness.runs.runner import run as run_grid
    from harness.support.wording import counted

    probe(config.chunkers)
    # A plug-in's prints are not part of the result, and it may change the working folder.
    with (
        contextlib.redirect_stdout(sys.stderr),
        contextlib.chdir(Path.cwd()),
        flags_in_errors(options),
    ):
        plan = make_plan(config)
    passes = len(config.datasets) * len(plan.chunkers) * len(plan.embedders)
    with text_space(plan.space):  # one for loading and the run, which makes masked texts
        with (
            contextlib.redirect_stdout(sys.stderr),
            contextlib.chdir(Path.cwd()),
            Progress(passes) as progress,
        ):
            datasets = datasets_of(config, data_dir, progress.tell)
        warn_unused_languages(config.languages, [c for each in datasets for c in each.corpora])
        refuse_breakdowns(by or (), datasets)
        for dataset in datasets:
            if config.limit is not None and config.limit > len(dataset.queries):
                size = counted(len(dataset.queries), "query", "queries")
                progress.note(f"--limit {config.limit}: {dataset.name} has {size}; all are used")
        if baseline is not None:
            baseline = baseline_of(baseline, [chunker.name for chunker in plan.chunkers])
        prices = parse_prices(price or (), [embedder.name for embedder in plan.embedders])
        warn_of_unused_embedders(plan, options, progress)
        with progress, contextlib.redirect_stdout(sys.stderr):
            result = run_grid(plan, datasets, out, progress.tell)
    document = run_document(result, by or (), baseline, prices, power=form is Format.JSON)
    for name in uncounted(document["cells"], prices):
        progress.warn(f"{name} has no price: its tokens are not counted; add tokenizer=FILE to it")
    shown = failure_lines(document) if form in (Format.TABLE, Format.MARKDOWN) else ()
    for line in result.failures:
        if line not in shown:
            progress.warn(line)
    for line in result.matched:
        progress.note(line)
    if form is Format.JSON:
        write_json(document)
    elif form is Format.TABLE:
        show = print_table if details else print_first_screen
        show(document, console())
    else:
        forms = {Format.CSV: as_csv, Format.MARKDOWN: as_markdown, Format.LATEX: as_latex}
        write(forms[form](document))
    for note in other_cells_notes(out):
        progress.note(note)
    return PARTIAL if result.failed else 0


def warn_of_unused_embedders(plan: Plan, options: dict[str, Any], progress: Progress) -> None:
    """Warn of embedders of the command line that a plan does not use."""
    if options["embedders"] and not plan.embedders:
        names = " ".join(options["embedders"])
        progress.warn(f"-e {names} is not used: no retriever or chunker of this run needs it")


def datasets_of(config: RunConfig, data_dir: Path | None, tell: Tell) -> list[Dataset]:
    """The data sets of a configuration, loaded."""
    from harness.datasets.loading import load_dataset

    return [
        load_dataset(
            text, data_dir=data_dir, languages=config.languages, seed=config.seed, tell=tell
        )
        for text in config.datasets
    ]


def config_of(suite: Path | None, data_dir: Path | None, options: dict[str, Any]) -> RunConfig:
    """The options of a suite and of the command line, whose errors name the flag."""
    from harness.datasets.suites import load_suite, part_of

    if suite and "=" in suite.name and not suite.exists() and not part_of(str(suite)):
        from chunkers.errors import InputError

        advice = with_option(str(suite), options["chunkers"])
        raise InputError(f"{suite} is not a suite; for an option of a chunker, {advice}")
    config = RunConfig() if suite is None else load_suite(suite, data_dir)
    with flags_in_errors(options):
        return config.over(**options)


@contextlib.contextmanager
def flags_in_errors(options: Mapping[str, Any]) -> Iterator[None]:
    """Name the flag, not the key of a suite, in an error on an option of the command line."""
    from chunkers.errors import InputError

    try:
        yield
    except InputError as error:
        name = re.split(r"\W", str(error), maxsplit=1)[0]
        if options.get(name) is None:
            raise
        flag = flag_of(name, repeatable=isinstance(options[name], list))
        raise type(error)(f"{flag}{str(error).removeprefix(name)}") from None
