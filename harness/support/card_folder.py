"""The cards of data sets and models: their folder, which has the built-in suites too; reading."""

from __future__ import annotations

import functools
import sysconfig
import tomllib
from pathlib import Path
from typing import TypeVar

from chunkers.errors import InputError
from harness.support.files import unreadable
from harness.support.rows import validated
from harness.support.toml_files import parse_toml

_SHARE = Path("share/chunkmark/datasets")

AnyCard = TypeVar("AnyCard")


def cards_dir() -> Path:
    """The folder of the cards: beside this package in a checkout, else where a wheel put them.

    A checkout is known by its own pyproject.toml, for site-packages may hold another `datasets`.

    Raises:
        InputError: There is none; the installation is broken.
    """
    above = Path(__file__).resolve().parents[2:]
    if _is_checkout(above[0]):
        return above[0] / "datasets"
    # An installer maps `share` to a prefix above the package (`--target`: right beside it).
    for prefix in (*above, Path(sysconfig.get_path("data"))):
        if (prefix / _SHARE).is_dir():
            return prefix / _SHARE
    raise InputError(
        f"no data set cards: {above[0]} is not a checkout, and there is no {_SHARE} above it\n"
        "reinstall chunkmark"
    )


def read_toml(file: Path, kind: type[AnyCard]) -> AnyCard:
    """Read and check a card.

    Raises:
        InputError: It is missing, invalid TOML, or has a wrong, missing or unknown field.
    """
    try:
        table = parse_toml(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise InputError(unreadable(file, error)) from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8; save it as UTF-8") from None
    return validated(kind, table, f"{file}: invalid card")


@functools.cache
def _is_checkout(root: Path) -> bool:
    if not (root / "datasets").is_dir():
        return False
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    table = project.get("project")
    return isinstance(table, dict) and table.get("name") == "chunkmark"
