"""Folders and rows that several loaders read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.support.data_folders import data_dirs, shown_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from harness.model import Corpus
    from harness.support.rows import Kind


def find_folder(argument: str, data_dir: Path | None, needed: str) -> Path:
    """The folder of this path, or of this name in a data folder.

    Args:
        argument: The path or name.
        data_dir: A folder looked into before the other data folders.
        needed: What the folder must be, for the message.

    Raises:
        InputError: It does not exist.
    """
    looked = [Path(argument), *(folder / argument for folder in data_dirs(data_dir))]
    for folder in looked:
        if folder.is_dir():
            return folder
    if Path(argument).is_absolute():
        raise InputError(f"{argument} does not exist; name {needed}")
    folders = shown_folders(data_dirs(data_dir))
    raise InputError(f"no folder {argument} here or in the data folders: {folders}\nname {needed}")


def unique_rows(
    rows: Iterable[tuple[str, Kind]], id_of: Callable[[Kind], str]
) -> Iterator[tuple[str, Kind]]:
    """Rows, each with its place for messages.

    Raises:
        InputError: Two rows have the same id.
    """
    first: dict[str, str] = {}
    for where, row in rows:
        key = id_of(row)
        if key in first:
            raise InputError(f"{where}: the id {key!r} is already at {first[key]}")
        first[key] = where
        yield where, row


def blank(corpora: Iterable[Corpus]) -> int:
    """How many documents of corpora are without text."""
    return sum(not source.text.strip() for corpus in corpora for source in corpus.sources)
