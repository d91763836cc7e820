"""`chunkmark list`: what there is to choose from. Nothing heavy is imported for it."""

from __future__ import annotations

import dataclasses
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import DataDirOption, Format, FormatOption, write_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Rows = list[dict[str, Any]]

_FEW = 5
_MANY = re.compile(r"(, [^,]*), .*")


class Kind(StrEnum):
    """What can be listed."""

    CHUNKERS = "chunkers"
    DATASETS = "datasets"
    EMBEDDERS = "embedders"
    RETRIEVERS = "retrievers"
    MEASURES = "measures"
    PROFILES = "profiles"
    LANGUAGES = "languages"


def list_parts(
    kind: Annotated[Kind | None, typer.Argument(help="Only this kind; all without it.")] = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """List chunkers, data sets, embedders, retrievers, measures, profiles or languages."""
    kinds = list(Kind) if kind is None else [kind]
    found = {one.value: _ROWS[one](data_dir) for one in kinds}
    if form is Format.JSON:
        write_json({"schema": "chunkmark.list/1", **found})
        return
    if Kind.PROFILES in kinds:
        from harness.measures.profiles import explain_profiles

        # As a table profiles stand side by side, each field with what it decides.
        found[Kind.PROFILES.value] = [dict(row) for row in explain_profiles()]
    if Kind.CHUNKERS in kinds and form is Format.TABLE:
        found[Kind.CHUNKERS.value] = [_brief(row) for row in found[Kind.CHUNKERS.value]]
    for name, rows in found.items():
        if kind is None and form is Format.TABLE:
            typer.echo(f"{name}:")
        columns = list(rows[0]) if rows else []
        write_rows(form, columns, [[_shown(row[column]) for column in columns] for row in rows])


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _chunkers(data_dir: Path | None) -> Rows:
    del data_dir
    from chunkers.plugins.loading import list_chunkers

    return [dataclasses.asdict(one) for one in list_chunkers()]


def _brief(chunker: dict[str, Any]) -> dict[str, Any]:
    """What there is room for: many languages are counted, of many versions two are named."""
    languages = chunker["languages"].split()
    return {
        "name": chunker["name"],
        "family": chunker["family"],
        "languages": " ".join(languages) if len(languages) <= _FEW else str(len(languages)),
        "version": _MANY.sub(r"\1, …)", chunker["version"]),
        "usable here": chunker["problem"] or "yes",
        "options": chunker["options"],
        "description": chunker["description"],
    }


def _datasets(data_dir: Path | None) -> Rows:
    from harness.datasets.loading import list_datasets

    return [dataclasses.asdict(one) for one in list_datasets(data_dir)]


def _embedders(data_dir: Path | None) -> Rows:
    del data_dir
    from harness.runs.pipeline import EMBEDDERS, describe

    return describe(EMBEDDERS)


def _retrievers(data_dir: Path | None) -> Rows:
    del data_dir
    from harness.retrieval.options import ranking_options
    from harness.runs.pipeline import RETRIEVERS, describe

    return describe(RETRIEVERS, ranking_options)


def _measures(data_dir: Path | None) -> Rows:
    del data_dir
    from harness.measures.grammar import list_all

    cuts = {"rank": "@k", "optional": "@k or none", "none": "", "budget": "@Nc"}
    return [
        {
            "name": one.name,
            "cut-off": cuts[one.cut],
            "description": one.description,
            "source": one.source,
            "aliases": ", ".join(one.aliases),
        }
        for one in list_all()
    ]


def _profiles(data_dir: Path | None) -> Rows:
    del data_dir
    from harness.measures.profiles import list_profiles

    return [dataclasses.asdict(one) for one in list_profiles()]


def _languages(data_dir: Path | None) -> Rows:
    del data_dir
    from chunkers.languages import list_languages

    return [dataclasses.asdict(one) for one in list_languages()]


_ROWS: dict[Kind, Callable[[Path | None], Rows]] = {
    Kind.CHUNKERS: _chunkers,
    Kind.DATASETS: _datasets,
    Kind.EMBEDDERS: _embedders,
    Kind.RETRIEVERS: _retrievers,
    Kind.MEASURES: _measures,
    Kind.PROFILES: _profiles,
    Kind.LANGUAGES: _languages,
}
