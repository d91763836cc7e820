"""Built-in suites: files of run options that come with chunkmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError, suggestion
from harness.datasets.cards import cards_dir
from harness.runs.config import read_suite

if TYPE_CHECKING:
    from pathlib import Path


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
        Suite(name, str(read_suite(file).get("description", "")), str(file))
        for name, file in _files().items()
    ]


def find_suite(suite: Path) -> Path:
    """The file of a suite: the argument itself, or the built-in suite of that name.

    Raises:
        InputError: There is neither.
    """
    if suite.is_file():
        return suite
    files = _files()
    if str(suite) in files:
        return files[str(suite)]
    problem = "is a folder" if suite.is_dir() else "does not exist"
    hint = suggestion(str(suite), files, "chunkmark list suites")
    raise InputError(
        f"suite {suite} {problem}; {hint}\n"
        "give a TOML file or a built-in suite, or name a data set by -d, a chunker by -c"
    )


def _files() -> dict[str, Path]:
    return {file.stem: file for file in sorted((cards_dir() / "suites").glob("*.toml"))}
