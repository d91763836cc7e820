"""The folder of the cards of data sets and models, and of the built-in suites."""

from __future__ import annotations

import sysconfig
import tomllib
from pathlib import Path

from chunkers.errors import InputError

_SHARE = Path("share/chunkmark/datasets")


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


def _is_checkout(root: Path) -> bool:
    if not (root / "datasets").is_dir():
        return False
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    table = project.get("project")
    return isinstance(table, dict) and table.get("name") == "chunkmark"
