"""`chunkmark dataset`: make data sets, and see what they are."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import fetch, validate
from harness.cli.output import (
    DataDirOption,
    Format,
    FormatOption,
    LanguageOption,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.model import Dataset

app = typer.Typer(no_args_is_help=True, help="Make data sets, and see what they are.")
app.command("fetch")(fetch.fetch)
app.command("validate")(validate.validate)


class FilesKind(StrEnum):
    """Which files of a repository are indexed."""

    CODE = "code"
    ALL = "all"


@app.command("build")
def build(
    repository: Annotated[Path, typer.Argument(metavar="REPO", help="A repository, or a folder.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FOLDER", help="What to write; -d built:FOLDER.")
    ],
    queries: Annotated[
        str, typer.Option(help="docstring, commits, calls, or a file of questions.")
    ] = "docstring",
    whole: Annotated[
        bool, typer.Option("--whole", help="All of a doc comment, not its first sentence.")
    ] = False,
    files: Annotated[
        FilesKind, typer.Option(help="Code, or all files of known languages.")
    ] = FilesKind.CODE,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Queries to draw; of commits 100 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample.")] = 0,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only commits from this date on.")
    ] = None,
    language: LanguageOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Make a data set out of a repository: queries, targets and a copy of the indexed files."""
    from chunkers.languages import parse_overrides
    from harness.building import build as building
    from harness.building.folder import refuse_folder, write_folder

    refuse_folder(out)
    overrides = parse_overrides(language or ())
    wanted = building.Wanted(queries, whole, files.value, limit, seed, since, overrides)
    made = building.build(repository, wanted)
    options: dict[str, Any] = {
        "queries": queries if queries in building.KINDS else Path(queries).name,
        "whole": whole,
        "files": files.value,
        "limit": limit,
        "seed": seed,
        "since": since,
        "languages": dict(overrides),
    }
    _show(form, {"folder": str(out), **write_folder(made, out, options)})


@app.command("info")
def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|FOLDER", help="As for `run -d`, or a folder that was built."
        ),
    ],
    language: LanguageOption = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Say what a data set is, what it measures and what is known to be wrong with it.

    A name alone shows its card. With an argument or options, as in repo:PATH, the data set is
    loaded, and what is in it is told too.
    """
    from chunkers.plugins.spec import parse_spec
    from harness.building.folder import CARD, read_card
    from harness.datasets.cards import card_names
    from harness.datasets.loaders.built import NEEDED
    from harness.datasets.loaders.files import find_folder
    from harness.datasets.loading import load_dataset

    if (Path(name) / CARD).is_file():
        _show(form, {"folder": name, **read_card(Path(name))})
        return
    if name in card_names():
        _show(form, _card(name, data_dir))
        return
    spec = None if Path(name).is_dir() else parse_spec(name)
    if spec is not None and spec.name == "built" and spec.argument and not spec.options:
        folder = find_folder(spec.argument, data_dir, NEEDED)
        _show(form, {"folder": str(folder), **read_card(folder)})
        return
    loaded = load_dataset(name, data_dir=data_dir, languages=language or ())
    card = _card(spec.name, data_dir) if spec and spec.name in card_names() else {}
    _show(form, {**card, **_loaded(loaded)})


def _card(name: str, data_dir: Path | None) -> dict[str, Any]:
    from harness.datasets.cards import load_card, missing_files

    card = load_card(name)
    found = card.model_dump(mode="json", exclude={"loader", "settings"})
    found["description"] = " ".join(card.description.split())
    return {**found, "missing": list(missing_files(card, data_dir))}


def _loaded(dataset: Dataset) -> dict[str, Any]:
    """What is in a data set, and what was left out of it."""
    reasons = Counter(one.reason for corpus in dataset.corpora for one in corpus.skipped)
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
            yield from ((f"{key}: {name}", one) for name, one in value.items() if one)
        elif isinstance(value, list):
            yield from ((key, one) for one in value)
        else:
            yield key, value
