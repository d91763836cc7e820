"""`chunkmark dataset build`, `info` and `fetch`: build, describe and fetch data sets."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    PARTIAL,
    DataDirOption,
    EncodingOption,
    ExcludeOption,
    FilesKind,
    FilesOption,
    Format,
    FormatOption,
    IncludeOption,
    LanguageOption,
    SampleSeedOption,
    refuse_spec,
    warn_unused_languages,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.datasets.fetching.fetch import FileStatus
    from harness.model import Dataset


class LongLinesKind(StrEnum):
    """What is done about very long lines."""

    CUT = "cut"
    SKIP = "skip"


class NamesKind(StrEnum):
    """Whether doc comments keep the names of their definitions."""

    KEPT = "kept"
    STRIPPED = "stripped"


def build(
    repository: Annotated[
        Path,
        typer.Argument(
            metavar="REPO", help="Git repository, or folder without git.", callback=refuse_spec
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="FOLDER",
            help="Folder to write; other commands read it as the data set built:FOLDER.",
        ),
    ],
    queries: Annotated[
        str,
        typer.Option(
            help="What queries are made from: docstring (doc comments in any language), commits, "
            "calls, or a file (.jsonl, .csv or .yaml) of your own questions."
        ),
    ] = "docstring",
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="With --queries docstring: make each query from the whole doc comment, not from "
            "its first sentence alone.",
        ),
    ] = False,
    files: FilesOption = FilesKind.CODE,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of queries to draw. Default: all; 100 with --queries commits."
        ),
    ] = None,
    seed: SampleSeedOption = 0,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="With --queries commits: make queries only from commits of this date or later.",
        ),
    ] = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    encoding: EncodingOption = None,
    long_lines: Annotated[
        LongLinesKind,
        typer.Option(
            help="If a few lines of a file have over 10,000 characters: cut out the middle of "
            "these lines, or skip the file."
        ),
    ] = LongLinesKind.CUT,
    names: Annotated[
        NamesKind,
        typer.Option(
            help="With --queries docstring: keep the definition's own name in the query, or strip "
            "it."
        ),
    ] = NamesKind.KEPT,
    leave_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Leave out the queries whose ids are in this file, one a line. "
            "`dataset show --bad` writes such a file.",
        ),
    ] = None,
    language: LanguageOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Build a data set from a repository.

    The folder of --out holds the queries, their targets and a copy of the indexed files.
    """
    from chunkers.errors import InputError
    from chunkers.languages import parse_overrides
    from harness.building import build as building
    from harness.building.folder import refuse_folder, write_folder
    from harness.building.tree import Reading
    from harness.cli.progress import Progress

    refuse_folder(out)
    overrides = parse_overrides(language or ())
    included, excluded, encodings = (" ".join(t or ()) for t in (include, exclude, encoding))
    reading = Reading(files.value, overrides, included, excluded, encodings, long_lines.value)
    wanted = building.BuildOptions(
        queries, whole, limit, seed, since, reading, names=names.value, leave_out=leave_out
    )
    try:
        with Progress() as progress:
            made = building.build(repository, wanted, progress.tell)
    except InputError as error:
        raise InputError(_with_flags(str(error))) from error
    warn_unused_languages(language or (), made.corpora)
    if limit is not None and limit > len(made.queries):
        progress.note(f"--limit {limit}: no more than {len(made.queries)} can be built")
    options: dict[str, Any] = {
        "queries": queries if queries in building.KINDS else Path(queries).name,
        "whole": whole,
        "limit": limit,
        "seed": seed,
        "since": since,
        "names": names.value,
        "leave_out": leave_out and leave_out.name,
        **dataclasses.asdict(reading),
    }
    _show(form, {"folder": str(out), **write_folder(made, out, options)})


def _with_flags(message: str) -> str:
    """A message with the options of a spec written as those of the command line."""
    return re.sub(
        r"(?<!\S)(queries|files|whole|names|since|limit|include|exclude|leave_out)=(?=([^\s,;]?))",
        lambda match: f"--{match[1].replace('_', '-')}" + (" " if match[2] else ""),
        message,
    )


def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|FOLDER",
            help="Data set, such as stdlib or repo:PATH, or folder of a built one.",
        ),
    ],
    language: LanguageOption = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Describe a data set and its known faults.

    Shows its source, licence and files. If it has an argument or options, as in repo:PATH, also
    loads it and counts its contents.
    """
    from chunkers.plugins.spec import parse_spec
    from harness.building.folder import CARD, read_card
    from harness.datasets.cards import card_names
    from harness.datasets.loaders.built import NEEDED
    from harness.datasets.loaders.files import find_folder
    from harness.datasets.loading import load_dataset

    is_built = (Path(name) / CARD).is_file()
    if language:  # it counts files, so a card alone does not do
        name = f'built:"{name}"' if is_built else name
    elif is_built:
        _show(form, {"folder": name, **read_card(Path(name))})
        return
    elif name in card_names():
        _show(form, _card(name, data_dir))
        return
    spec = None if Path(name).is_dir() else parse_spec(name)
    plain = spec is not None and not spec.options and not language
    if plain and spec is not None and spec.name == "built" and spec.argument:
        folder = find_folder(spec.argument, data_dir, NEEDED)
        _show(form, {"folder": str(folder), **read_card(folder)})
        return
    loaded = load_dataset(name, data_dir=data_dir, languages=language or ())
    warn_unused_languages(language or (), loaded.corpora)
    card = _card(spec.name, data_dir) if spec and spec.name in card_names() else {}
    _show(form, {**card, **_contents(loaded)})


def _card(name: str, data_dir: Path | None) -> dict[str, Any]:
    import msgspec

    from harness.datasets.cards import load_card, missing_files
    from harness.datasets.loading import options_of

    card = load_card(name)
    document = msgspec.to_builtins(card)
    del document["loader"], document["settings"]
    document = json.loads(json.dumps(document))  # lists in place of tuples
    document["description"] = " ".join(card.description.split())
    document["options"] = list(options_of(card))
    return {**document, "missing": list(missing_files(card, data_dir))}


def _contents(dataset: Dataset) -> dict[str, Any]:
    """What is in a data set, and what was left out of it."""
    reasons = Counter(file.reason for corpus in dataset.corpora for file in corpus.skipped)
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "queries": len(dataset.queries),
        "corpora": len(dataset.corpora),
        "files indexed": sum(len(corpus.sources) for corpus in dataset.corpora),
        "files not indexed": dict(sorted(reasons.items())),
        "absent": len(dataset.absent),
        "left_out": dict(dataset.left_out),
        "information": dict(dataset.information),
    }


def fetch(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a data set, without options.")
    ],
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder to save files in. Default: $CHUNKMARK_DATA, else the cache folder.",
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Fetch and check the files of a data set.

    Files that exist already are checked and kept. Rerun the command to resume an interrupted
    download. A file without a known sha256 is not fetched: the output says where to get it and
    where to save it, and the exit code is 3.
    """
    from chunkers.errors import InputError, UnknownPartError, suggestion
    from harness.cli.progress import Progress
    from harness.datasets.cards import card_names, load_card
    from harness.datasets.fetching import fetch as fetching
    from harness.datasets.loaders.hub import fetch_from_hub, is_of_hub
    from harness.datasets.registry import DATASETS, LIST

    bare = re.split("[:,]", name)[0]
    if bare != name and bare in card_names():
        needed = load_card(bare).files or is_of_hub(load_card(bare))
        advice = f"write chunkmark dataset fetch {bare}" if needed else f"{bare} needs no fetching"
        raise InputError(f"{name}: dataset fetch takes a name without options; {advice}")
    if name not in card_names():
        message = f"unknown data set {name!r}; {suggestion(name, card_names(), LIST)}"
        raise UnknownPartError(message, DATASETS.kind, name)
    card = load_card(name)
    with Progress() as progress:
        rows = fetching.fetch(card, data_dir, progress.tell)
    if is_of_hub(card):
        rows = (fetch_from_hub(card),)
    if form is Format.JSON:
        write_json(fetching.document(card, rows))
    elif form is Format.TABLE:
        write("\n".join(map(_lines, rows)) or f"{name} needs no files")
    else:
        columns = ("file", "state", "bytes", "where", "source", "note")
        cells = [(r.path, r.state, r.bytes, r.where, r.source, r.note) for r in rows]
        write_rows(form, columns, [["" if c is None else c for c in row] for row in cells])
    return PARTIAL if any(row.state == "to place" for row in rows) else 0


def _lines(row: FileStatus) -> str:
    """The state of a file and its place, and the source of one to place by hand."""
    size = "" if row.bytes is None else f", {row.bytes} bytes"
    state = f"{row.state:8}  {row.path}{size}: {row.note}\n"
    if row.state == "to place":
        return f"{state}          from {row.source}\n          as   {row.where}"
    return f"{state}          {row.where}"


def _show(form: Format, card: Mapping[str, Any]) -> None:
    if form is Format.JSON:
        from harness.building.folder import SCHEMA

        rest = {key: value for key, value in card.items() if key != "schema"}
        write_json({"schema": SCHEMA, **rest})
    else:
        write_rows(form, ("what", "value"), list(_rows(card)))


def _rows(card: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in card.items():
        if key in ("schema", "files", "any_of") or value in (None, "", [], {}):
            continue
        if isinstance(value, dict):
            yield from ((f"{key}: {name}", item) for name, item in value.items() if item)
        elif key == "published":
            yield from (
                (key, "{value} {measure} of {model} by {harness}".format(**item)) for item in value
            )
        elif isinstance(value, list):
            yield from ((key, item) for item in value)
        else:
            yield key, value
