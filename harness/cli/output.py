"""Options that several commands share, and output of results."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from harness.runs.config import PRIMARY, RunConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from harness.model import Corpus

FAILED, PARTIAL = 1, 3
"""Exit codes: a check failed; part of the result is missing."""

_PAGES = (".html", ".htm")
_HEAD = 4096
"""Bytes of a page that hold its title."""

WIDTH = 130
"""Columns of a table that is not printed to a terminal."""


class FilesKind(StrEnum):
    """Which files of a repository are indexed."""

    CODE = "code"
    ALL = "all"


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


HELP: dict[str, str] = {field.name: field.metadata["help"] for field in fields(RunConfig)}
"""Texts of the options of `run`; other commands use them for the same options."""

BASELINE_HELP = "Chunker that the others are compared with. Default: fixed, or the first one."
PRICE_HELP = (
    "Price of a million tokens, for all embedders or for one: 0.02 or EMBEDDER=0.02. Adds the "
    "price of embedding the corpus to the costs. Repeatable."
)
RUN_MEASURE_HELP = f"Default: the run's --primary, else {PRIMARY}."


def chunker_option(default: str, applies: str = "") -> Any:
    """`-c`, with its default and when it applies."""
    what = HELP["chunkers"]
    what = what[0].lower() + what[1:] if applies else what
    text = f"{applies}{what} Default: {default}. Repeatable."
    return typer.Option("-c", "--chunker", help=text)


SampleSeedOption = Annotated[int, typer.Option(min=0, help="Random seed of the drawn queries.")]
TestSeedOption = Annotated[
    int, typer.Option(min=0, help="Random seed of the intervals and tests of differences.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]


def _existing(folder: Path | None) -> Path | None:
    from harness.support.data_folders import refuse_data_dir

    refuse_data_dir(folder)
    return folder


DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Folder with the files of data sets. It is searched before $CHUNKMARK_DATA and the "
        "cache folder.",
        callback=_existing,
    ),
]


def refuse_parts(value: Any) -> Any:
    """Refuse the spec of a part in place of run folders."""
    from chunkers.errors import InputError

    for run in value if isinstance(value, list) else [value]:
        if run is not None and not run.exists():
            from harness.datasets.suites import part_of

            if part := part_of(str(run)):
                raise InputError(
                    f"{run} is {part}, not a run; "
                    f"give the folder of a `chunkmark run {part.option}`"
                )
    return value


def refuse_spec(repository: Path | None) -> Path | None:
    """Refuse the spec of a part in place of a repository."""
    from chunkers.errors import InputError
    from harness.datasets.suites import part_of

    if repository and not repository.exists() and (part := part_of(str(repository))):
        folder = str(repository).partition(":")[2].partition(",")[0]
        advice = f"give the folder alone: {folder}" if folder else "give a repository"
        raise InputError(f"{repository} is the spec of {part}; {advice}")
    return repository


RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", help="Run folders written by `chunkmark run`.", callback=refuse_parts
    ),
]


def warn_unused_languages(languages: Sequence[str], corpora: Iterable[Corpus]) -> None:
    """Warn of patterns of `--language` that fit no file of any corpus."""
    if languages:
        from chunkers.languages import parse_overrides, warn_unused

        paths = (path for corpus in corpora for path in corpus.paths)
        warn_unused("--language", parse_overrides(languages), paths)


def require_different_runs(runs: Sequence[Path]) -> None:
    """Refuse a run folder that is given more than once, also by another path."""
    from chunkers.errors import InputError

    folders = [run.resolve() for run in runs]
    for number, run in enumerate(runs):
        if folders[number] in folders[:number]:
            raise InputError(f"run folder {run} is given more than once; give it once")


def refuse_pages(runs: Sequence[Path]) -> None:
    """Refuse the name of a page in place of a run folder."""
    from chunkers.errors import InputError

    for run in runs:
        if run.suffix.lower() in _PAGES and not run.is_dir():
            raise InputError(f"{run} is a page, not a run; write -o {run}")


def with_option(option: str, chunkers: Sequence[str] | None) -> str:
    """How to give an option, such as `max_size=300`, to the last of some chunkers."""
    spec = chunkers[-1] if chunkers else "fixed"
    key, _, value = option.partition("=")
    swept, given = re.subn(rf"[:,]{re.escape(key)}=[^,]*", rf"\g<0>|{re.escape(value)}", spec)
    if given:
        return f"write -c '{swept}'"
    return f"write -c {spec}{',' if ':' in spec else ':'}{option}"


class Report(Protocol):
    """A module of `harness.reports` that turns a document into every format."""

    def print_table(self, document: Mapping[str, Any], console: Console, /) -> None: ...  # noqa: D102
    def as_markdown(self, document: Mapping[str, Any], /) -> str: ...  # noqa: D102
    def as_latex(self, document: Mapping[str, Any], /) -> str: ...  # noqa: D102
    def csv_rows(  # noqa: D102
        self, document: Mapping[str, Any], /
    ) -> tuple[Sequence[str], list[list[object]]]: ...


def write_report(form: Format, document: Mapping[str, Any], report: Report) -> None:
    """Write a document to standard output in a format."""
    if form is Format.JSON:
        write_json(document)
    elif form is Format.TABLE:
        report.print_table(document, console())
    elif form is Format.CSV:
        write_rows(form, *report.csv_rows(document))
    else:
        write((report.as_latex if form is Format.LATEX else report.as_markdown)(document))


def baseline_of(text: str, names: Sequence[str]) -> str:
    """The one of some chunkers that `--baseline` names, by its name or by a spec."""
    from contextlib import suppress

    from chunkers.errors import InputError, suggestion
    from chunkers.plugins.loading import load_chunker

    name = text
    if text not in names:
        with suppress(InputError):
            name = load_chunker(text).name
    if name not in names:
        raise InputError(f"--baseline {text}: not among the chunkers; {suggestion(text, names)}")
    return name


LanguageOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN=LANGUAGE",
        help=f"{HELP['languages']} Repeatable.",
    ),
]
EncodingOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN=ENCODING",
        help="Encoding of files that match PATTERN and are not UTF-8: 'src/**=cp1251'. Repeatable.",
    ),
]
FilesOption = Annotated[
    FilesKind,
    typer.Option(
        help="Files to index: code only, or all files of known languages, including Markdown and "
        "JSON."
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Index files that match PATTERN even if they would be left out, such as 'vendor/'. "
        "Patterns are as in .gitignore. Repeatable.",
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Do not index files that match PATTERN, such as 'docs/'. Patterns are as in "
        ".gitignore. Repeatable.",
    ),
]


def console() -> Console:
    """Standard output for tables, as wide as the terminal."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    # A name from outside may look like markup.
    return Console(width=None if terminal else WIDTH, highlight=False, markup=False, emoji=False)


def write(text: str) -> None:
    """Write a result."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def write_json(document: Mapping[str, Any]) -> None:
    """Write a document that any strict parser reads."""
    write(json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1))


def require_libraries(what: str, names: Sequence[str]) -> None:
    """Refuse to make a page without the libraries that it needs."""
    from importlib.util import find_spec

    from chunkers.errors import InputError, install_command

    if missing := [name for name in names if find_spec(name) is None]:
        raise InputError(f"a {what} needs {', '.join(missing)}; {install_command('report')}")


def refuse_foreign_file(path: Path, kind: str) -> None:
    """Refuse a file that holds something else than a page of this kind, or is not named .html."""
    from chunkers.errors import InputError
    from harness.support.files import unreadable

    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file with -o")
    if path.is_file():
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError as error:
            raise InputError(f"{unreadable(path, error)}\nname another file with -o") from None
        if head and f"<title>chunkmark {kind}</title>".encode() not in head:
            raise InputError(f"{path} exists and is not a {kind}; name another file with -o")
    if path.suffix.lower() not in _PAGES:
        raise InputError(f"-o {path}: a {kind} is HTML; name a file that ends in .html")


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Make the folder of a file, and name what cannot be written: the error's own, or this one."""
    from chunkers.errors import InputError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise InputError(
            f"{error.filename or path} cannot be written ({error.strerror}); name another place"
        ) from None


def write_rows(form: Format, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a plain table in a form other than JSON."""
    from harness.reports.plain import as_rows, print_rows

    if form is Format.TABLE:
        print_rows(columns, rows, console())
    else:
        write(as_rows(columns, rows, form))
