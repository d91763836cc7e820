"""`chunkmark dataset show`: the queries of a data set and the lines that answer them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkers.errors import InputError
from harness.cli.output import DataDirOption, Format, SampleSeedOption, write, write_json
from harness.reports.plain import plain
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Dataset, Query

SAMPLE = 25
"""Queries that are drawn by default."""
CONTEXT = 2
"""Lines shown above and below a target."""
MOST_LINES = 40
"""Lines of a target that are shown."""


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|FOLDER",
            help="Data set, such as stdlib or repo:PATH, or folder of a built one.",
        ),
    ],
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of queries to draw. Default: 25.")
    ] = None,
    seed: SampleSeedOption = 0,
    query: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Show the query with this id instead of drawn ones. Repeatable."
        ),
    ] = None,
    bad: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask whether each query is good, and add the ids of bad ones to FILE. "
            "`dataset build --leave-out FILE` leaves them out.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
    form: Annotated[
        Format, typer.Option("--format", metavar="table|json", help="Output format.")
    ] = Format.TABLE,
) -> None:
    """Show queries and the lines that answer them.

    Draws queries at random. Shows the text, tags and target lines of each.
    """
    from harness.datasets.loading import load_dataset

    if form not in (Format.TABLE, Format.JSON):
        raise InputError(f"--format {form.value}: dataset show writes table or json")
    if bad is not None and (form is Format.JSON or not sys.stdin.isatty()):
        raise InputError("--bad asks about each query, so it needs a terminal and --format table")
    if query and (sample is not None or seed):
        raise InputError("--sample and --seed draw queries; remove them, or remove --query")
    folder = (Path(name) / "dataset.json").is_file()
    spec = f'built:"{name}"' if folder else name
    dataset = load_dataset(spec, data_dir=data_dir)
    rows = [_row(dataset, item) for item in _chosen(dataset, query or (), sample or SAMPLE, seed)]
    if form is Format.JSON:
        write_json({"schema": "chunkmark.queries/1", "dataset": dataset.name, "queries": rows})
    elif bad is None:
        write("\n".join(map(_text, rows)))
    else:
        _ask(rows, bad)


def _chosen(dataset: Dataset, ids: Sequence[str], sample: int, seed: int) -> Sequence[Query]:
    from chunkers.errors import did_you_mean
    from harness.building.built_queries import draw

    if not ids:
        return draw(dataset.queries, sample, seed, lambda query: query.id)
    queries = {query.id: query for query in dataset.queries}
    for wanted in ids:
        if wanted not in queries:
            such = f"ids are such as {', '.join([*queries][:3])}"
            hint = did_you_mean(wanted, queries) or such
            raise InputError(f"no query has the id {wanted!r}; {hint}")
    return [queries[wanted] for wanted in ids]


def _row(dataset: Dataset, query: Query) -> dict[str, Any]:
    """A query with its targets, each with the lines that are shown, numbered from 1."""
    corpus = next(corpus for corpus in dataset.corpora if corpus.id == query.corpus)
    sources = {source.path: source for source in corpus.sources}
    targets = [
        {
            "path": target.path,
            "start_line": target.start_line,
            "end_line": target.end_line,
            "lines": _lines(sources.get(target.path), target.start_line, target.end_line),
        }
        for target in query.targets
    ]
    return {
        "id": query.id,
        "corpus": query.corpus,
        "text": query.text,
        "tags": dict(sorted(query.tags.items())),
        "targets": targets,
    }


def _lines(source: Source | None, start: int | None, end: int | None) -> list[tuple[int, str]]:
    """The lines of a target and `CONTEXT` around them, at most `MOST_LINES` of the target."""
    if source is None:
        return []
    first, last = start or 1, end or source.lines.count
    below = min(last + CONTEXT, first + MOST_LINES - 1, source.lines.count)
    lines = source.text.split("\n")
    return [(n, lines[n - 1].rstrip("\r")) for n in range(max(1, first - CONTEXT), below + 1)]


def _text(row: Mapping[str, Any]) -> str:
    tags = ", ".join(f"{name} {value}" for name, value in row["tags"].items())
    parts = [f"{row['id']}\n  {_printable(row['text'])}\n  [{tags}]"]
    for target in row["targets"]:
        first, last = target["start_line"], target["end_line"]
        place = target["path"] + ("" if first is None else f":{first}-{last}")
        lines = [
            f"  {'>' if (first or 1) <= n <= (last or n) else ' '}{n:6} {_printable(line)}"
            for n, line in target["lines"]
        ]
        shown = target["lines"][-1][0] if target["lines"] else 0
        rest = [f"         … {counted(last - shown, 'more line')}"] if last and last > shown else []
        parts.append("\n".join([f"  {place}", *lines, *rest]))
    return "\n".join(parts) + "\n"


def _printable(text: str) -> str:
    """A text that cannot steer a terminal, its further lines indented."""
    return "\n  ".join(plain(line.replace("\t", "    ")) for line in text.split("\n"))


def _ask(rows: Sequence[Mapping[str, Any]], bad: Path) -> None:
    """Show each query and ask; the id of every rejected one is written at once."""
    for number, row in enumerate(rows, start=1):
        write(_text(row))
        while (
            answer := _answer(f"{number} of {len(rows)}: [g]ood, [b]ad or [q]uit? ")
        ) not in "gbq":
            pass
        if answer == "q":
            return
        if answer == "b":
            try:
                with bad.open("a", encoding="utf-8") as file:
                    file.write(row["id"] + "\n")
            except OSError as error:
                raise InputError(f"cannot write {bad}: {error.strerror}") from None


def _answer(question: str) -> str:
    try:
        return input(question).strip().lower()[:1] or "?"
    except EOFError:
        return "q"
