"""Suites: TOML files of run options, a user's own or one that comes with chunkmark."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from chunkers.errors import InputError, suggestion
from chunkers.plugins.loading import CHUNKERS
from chunkers.plugins.spec import with_argument
from harness.datasets.cards import card_names
from harness.datasets.registry import DATASETS
from harness.runs.config import RunConfig
from harness.runs.pipeline import EMBEDDERS, RETRIEVERS
from harness.support.card_folder import cards_dir
from harness.support.data_folders import find_data
from harness.support.files import unreadable
from harness.support.toml_files import parse_toml

_DESCRIPTION = "description"
"""The key that says what a suite compares; it is not an option."""

_SPECS = {"datasets", "chunkers", "embedders"}
"""The keys whose specs may have paths in the data folders."""


@dataclass(frozen=True)
class Suite:
    """A built-in suite.

    Attributes:
        name: What `chunkmark run` takes.
        description: What it compares.
        file: Its TOML file.
    """

    name: str
    description: str
    file: str


def list_suites() -> list[Suite]:
    """The built-in suites, in order of name.

    Raises:
        InputError: The installation is broken.
    """
    return [
        Suite(name, str(_read(file).get(_DESCRIPTION, "")), str(file))
        for name, file in _built_in().items()
    ]


def load_suite(suite: Path, data_dir: Path | None = None) -> RunConfig:
    """The options of a suite.

    Args:
        suite: Its file, or the name of a built-in suite.
        data_dir: The first of the data folders in which `<data>/PATH` is searched.

    Raises:
        InputError: There is none, or it cannot be read, is not TOML, has an unknown key or a wrong
            value, or names what is in no data folder.
    """
    path = _find(suite)
    names = [option.name for option in fields(RunConfig)]
    options: dict[str, Any] = {}
    for key, value in _read(path).items():
        if isinstance(value, dict):
            raise InputError(f"suite {path}: options need no table; remove the line [{key}]")
        if key not in (*names, _DESCRIPTION):
            raise InputError(f"suite {path}: unknown key {key!r}; {suggestion(key, names)}")
        options[key] = tuple(value) if isinstance(value, list) else value
        if key in _SPECS and isinstance(value, list):
            options[key] = tuple(_with_data(spec, path, data_dir) for spec in value)
    if not isinstance(options.pop(_DESCRIPTION, ""), str):
        raise InputError(f"suite {path}: {_DESCRIPTION} must be a string")
    try:
        return RunConfig(**options)
    except InputError as error:
        raise InputError(f"suite {path}: {error}") from None


def _built_in() -> dict[str, Path]:
    return {file.stem: file for file in sorted((cards_dir() / "suites").glob("*.toml"))}


def _find(suite: Path) -> Path:
    """The file of a suite; a file goes before a built-in suite of its name."""
    if suite.is_file():
        return suite
    files = _built_in()
    if str(suite) in files:
        return files[str(suite)]
    from harness.runs.folder import dataset_spec, is_run_folder

    if is_run_folder(suite):
        raise InputError(
            f"{suite} is a run folder, not a suite; to add to it, write -o {suite}, "
            f"to read it, `chunkmark compare {suite}`"
        )
    if suite.is_dir():
        raise InputError(
            f"{suite} is a folder, not a suite; to use its code, write -d {dataset_spec(suite)}"
        )
    if part := part_of(str(suite)):
        raise InputError(f"{suite} is {part}, not a suite; write {part.option}")
    hint = suggestion(str(suite), files, "chunkmark list suites")
    raise InputError(
        f"suite {suite} does not exist; {hint}\ngive a TOML file, or the name of a built-in suite"
    )


@dataclass(frozen=True)
class Part:
    """The kind of a part that a run is made of, and how to give it, such as `-d repo:PATH`."""

    kind: str
    flag: str
    spec: str = ""

    @property
    def option(self) -> str:
        """The flag with the spec."""
        return f"{self.flag} {self.spec}"

    def __str__(self) -> str:
        return f"an {self.kind}" if self.kind[0] in "aeio" else f"a {self.kind}"


def part_of(spec: str) -> Part | None:
    """The part that a spec names; None if there is none of that name."""
    from harness.runs.folder import dataset_spec

    name = spec.partition(":")[0]
    for flag, registry in (
        ("-d", DATASETS),
        ("-c", CHUNKERS),
        ("-e", EMBEDDERS),
        ("-r", RETRIEVERS),
    ):
        if name in registry.entries() or (registry is DATASETS and name in card_names()):
            is_folder = spec in ("built", "repo") and Path(spec).is_dir()
            form = dataset_spec(Path(spec)) if is_folder else with_argument(spec)
            return Part(registry.kind, flag, str(form))
    return None


def of_another_kind(name: str, wanted: str, *, has_flags: bool) -> str:
    """What a name is that is not of the wanted kind, and how to give it; empty if it is unknown.

    Args:
        name: What was given.
        wanted: The kind that it should have.
        has_flags: Whether the command takes parts of all kinds by their flags.
    """
    listed = f"see `chunkmark list {wanted.replace(' ', '')}s`"
    if name in _built_in():
        return f"{name} is a suite; write chunkmark run {name}" if has_flags else ""
    part = part_of(name)
    if part is None or part.kind == wanted:
        return ""
    advice = f"write {part.option}" if has_flags else listed
    return f"{name} is {part}, not {Part(wanted, '')}; {advice}"


def _with_data(spec: Any, suite: Path, data_dir: Path | None) -> Any:
    """A spec with the paths in place of `<data>/PATH`; what is no text stays as it is."""
    if not isinstance(spec, str):
        return spec

    def place(match: re.Match[str]) -> str:
        try:
            # As a JSON string, for a folder's name may have a comma.
            return json.dumps(str(find_data(match[1], data_dir)), ensure_ascii=False)
        except InputError as error:
            raise InputError(f"suite {suite}: {error}") from None

    return re.sub(r"<data>/([^,\"|]+)", place, spec)


def _read(path: Path) -> dict[str, Any]:
    """The keys and values of a suite file, unchecked."""
    try:
        return parse_toml(path.read_text("utf-8"), f"suite {path}")
    except OSError as error:
        raise InputError(f"suite {unreadable(path, error)}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"suite {path} is not UTF-8 text; give a TOML file of run options, saved as UTF-8"
        ) from error
    except InputError as error:
        if path.suffix.lower() == ".toml":
            raise
        raise InputError(
            f"{str(error).rpartition('; ')[0]}\n"
            'give a TOML file of run options, such as chunkers = ["ast"]; '
            "for a data set write -d, as in -d repo:PATH"
        ) from error
