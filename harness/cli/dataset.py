"""`chunkmark dataset`: make data sets, and see what they are."""

from __future__ import annotations

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
        "repository": repository.resolve().name,
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
        str, typer.Argument(metavar="NAME|FOLDER", help="A data set, or a folder that was built.")
    ],
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Say what a data set is, what it measures and what is known to be wrong with it."""
    from harness.building.folder import CARD, read_card

    folder = Path(name.removeprefix("built:"))
    if name.startswith("built:") or (folder / CARD).is_file():
        _show(form, {"folder": str(folder), **read_card(folder)})
    else:
        _show(form, _card(name, data_dir))


def _card(name: str, data_dir: Path | None) -> dict[str, Any]:
    from chunkers.errors import InputError
    from chunkers.registry import suggestion
    from harness.cards import card_names, load_card, missing_files

    if name not in card_names():
        near = suggestion(name, card_names())
        raise InputError(f"no data set {name!r} has a card, and no folder holds one; {near}")
    card = load_card(name)
    found = card.model_dump(mode="json", exclude={"loader", "settings"})
    found["description"] = " ".join(card.description.split())
    return {**found, "missing": list(missing_files(card, data_dir))}


def _show(form: Format, card: Mapping[str, Any]) -> None:
    if form is Format.JSON:
        rest = {key: value for key, value in card.items() if key != "schema"}
        write_json({"schema": "chunkmark.dataset/1", **rest})
    else:
        write_rows(form, ("what", "value"), list(_rows(card)))


def _rows(card: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in card.items():
        if key in ("schema", "files") or value in (None, "", [], {}):
            continue
        if isinstance(value, dict):
            yield from ((f"{key}: {name}", one) for name, one in value.items() if one)
        elif isinstance(value, list):
            yield from ((key, one) for one in value)
        else:
            yield key, value
