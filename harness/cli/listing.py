"""`chunkmark list`: the available parts."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import DataDirOption, Format, FormatOption, write, write_json, write_rows

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]

WIDTH = 100


class Kind(StrEnum):
    """What can be listed."""

    CHUNKERS = "chunkers"
    DATASETS = "datasets"
    EMBEDDERS = "embedders"
    RETRIEVERS = "retrievers"
    INDEXES = "indexes"
    MEASURES = "measures"
    PROFILES = "profiles"
    LANGUAGES = "languages"
    SUITES = "suites"
    MODELS = "models"


def list_parts(
    kind: Annotated[Kind | None, typer.Argument(help="What to list. Default: all.")] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name in that list, to show in full.")
    ] = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """List chunkers, data sets and other parts, or show one in full.

    The table shows one line for each part. The other formats show every field.
    """
    kinds = list(Kind) if kind is None else [kind]
    whole = form is not Format.TABLE or name is not None
    parts = {one.value: _parts(one, data_dir, whole=whole) for one in kinds}
    if kind is not None and name is not None:
        parts = {kind.value: [_part(kind, name, parts[kind.value])]}
    if form is Format.JSON:
        write_json({"schema": "chunkmark.list/1", **parts})
        return
    if kind is not None and name is not None:
        (part,) = parts[kind.value]
        write_rows(form, ("field", "value"), [(key, _text(part[key])) for key in part])
        return
    if form is Format.TABLE:
        for one in kinds:
            _write_lines(one, parts[one.value], title=kind is None)
        return
    if Kind.PROFILES in kinds:
        from harness.measures.profiles import explain_profiles

        # One column a profile, with the meaning of each field.
        parts[Kind.PROFILES.value] = [dict(row) for row in explain_profiles()]
    for rows in parts.values():
        columns = list(rows[0]) if rows else []
        write_rows(form, columns, [[_text(row[column]) for column in columns] for row in rows])


def _part(kind: Kind, name: str, parts: list[Row]) -> Row:
    from chunkers.errors import InputError, suggestion
    from chunkers.languages import known_language

    rows = {row["name"]: row for row in parts}
    if kind is Kind.MEASURES and name not in rows:
        from harness.measures.grammar import family_named

        name = family_named(name)
    bare = name.partition(":")[0]
    if name not in rows and bare in rows:
        raise InputError(
            f"{name}: list takes a name without options; write chunkmark list {kind.value} {bare}"
        )
    if name not in rows and kind is Kind.LANGUAGES:
        known_language(name)
    if name not in rows:
        title = {"datasets": "data set", "indexes": "index"}.get(kind.value, kind.value[:-1])
        raise InputError(
            f"unknown {title} {name!r}; {suggestion(name, rows, f'chunkmark list {kind.value}')}"
        )
    return rows[name]


def _write_lines(kind: Kind, parts: list[Row], *, title: bool) -> None:
    """Write one line for each part, cut at `WIDTH` columns."""
    from harness.cli.output import console
    from harness.reports.plain import print_lines

    shown = console()
    if title:
        write(f"{kind}:")
    lines = [_line(kind, part) for part in parts]
    columns = list(lines[0]) if lines else []
    print_lines(columns, [list(line.values()) for line in lines], shown, min(WIDTH, shown.width))


def _line(kind: Kind, part: Row) -> dict[str, str]:
    """The columns of a part in a table; the last one says why a part cannot be used."""
    problem = part.get("problem") or part.get("missing")
    text = part.get("description") or part.get("title") or ""
    text = f"not usable: {problem}" if problem else text
    if kind is Kind.CHUNKERS:
        languages = part["languages"].split()
        count = str(len(languages)) if len(languages) > 1 else part["languages"]
        columns = {"family": part["family"], "languages": count, "description": text}
    elif kind is Kind.MEASURES:
        columns = {"cut-off": part["cut-off"], "description": text}
    elif kind is Kind.LANGUAGES:
        grammar = f"{part['grammar']} {part['version']}".strip()
        columns = {"grammar": "" if problem else grammar, "files": text or part["files"]}
    else:
        columns = {"description": text}
    return {"name": part["name"], **columns}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _parts(kind: Kind, data_dir: Path | None, *, whole: bool) -> list[Row]:
    """Every part of a kind with all its fields, or with those that the table shows."""
    if kind is Kind.CHUNKERS:
        from chunkers.plugins.loading import list_chunkers

        return [dataclasses.asdict(one) for one in list_chunkers()]
    if kind is Kind.DATASETS:
        from harness.datasets.registry import list_datasets

        return [dataclasses.asdict(one) for one in list_datasets(data_dir)]
    if kind in (Kind.EMBEDDERS, Kind.RETRIEVERS, Kind.INDEXES):
        from harness.retrieval.options import ranking_options
        from harness.retrieval.vector_index import INDEXES
        from harness.runs.pipeline import EMBEDDERS, RETRIEVERS, describe

        registries = {Kind.EMBEDDERS: EMBEDDERS, Kind.RETRIEVERS: RETRIEVERS, Kind.INDEXES: INDEXES}
        common = ranking_options if kind is Kind.RETRIEVERS else None
        return describe(registries[kind], common, options=whole)
    if kind in (Kind.MEASURES, Kind.MODELS):
        return _measures() if kind is Kind.MEASURES else _models()
    if kind is Kind.PROFILES:
        from harness.measures.profiles import list_profiles

        return [dataclasses.asdict(one) for one in list_profiles()]
    from chunkers.languages import list_languages
    from harness.datasets.suites import list_suites

    rows = list_suites() if kind is Kind.SUITES else list_languages()
    return [dataclasses.asdict(row) for row in rows]


def _models() -> list[Row]:
    from msgspec.structs import asdict

    from harness.embedding.model_cards import list_models

    return [{**asdict(card), "description": card.description} for card in list_models()]


def _measures() -> list[Row]:
    from harness.measures.grammar import list_all

    cuts = {"rank": "@k", "optional": "@k or none", "none": "", "budget": "@Nc"}
    return [
        {
            "name": family.name,
            "cut-off": cuts[family.cut],
            "description": family.description,
            "source": family.source,
            "aliases": ", ".join(family.aliases),
        }
        for family in list_all()
    ]
