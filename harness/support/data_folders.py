"""The folders of data and caches. None is created by looking for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def cache_dir() -> Path:
    """`$CHUNKMARK_CACHE`, else the user's cache folder for chunkmark."""
    chosen = os.environ.get("CHUNKMARK_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("chunkmark", appauthor=False)


def data_dirs(cli_dir: Path | None = None) -> tuple[Path, ...]:
    """The folders in which data is searched, in order.

    Args:
        cli_dir: The user's `--data-dir`; `$CHUNKMARK_DATA` and the cache's folder `data` follow.

    Raises:
        InputError: `cli_dir` is not a folder.
    """
    refuse_data_dir(cli_dir)
    chosen = os.environ.get("CHUNKMARK_DATA")
    folders = [cli_dir, Path(chosen) if chosen else None, cache_dir() / "data"]
    return tuple(folder for folder in folders if folder is not None)


def refuse_data_dir(folder: Path | None) -> None:
    """Refuse a `--data-dir` that is not a folder, also where no data is searched in it.

    Raises:
        InputError: It is not a folder.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(f"--data-dir {folder} is not a folder; give an existing folder")


def find_data(name: str, cli_dir: Path | None = None, *, advice: str = "") -> Path:
    """The first file or folder of this name in a data folder.

    Args:
        name: Path inside a data folder, parts separated by `/`.
        cli_dir: As for `data_dirs`.
        advice: What to do before it is placed there, for the message.

    Raises:
        InputError: It is in none of them; the message lists them and says what to place.
    """
    folders = data_dirs(cli_dir)
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    raise InputError(
        f"{name} is in none of the data folders: {shown_folders(folders)}\n"
        f"{advice}place it in one of them, or name another folder by --data-dir or $CHUNKMARK_DATA"
    )


def shown_folders(folders: Iterable[Path]) -> str:
    """Data folders for messages, with those that do not exist marked."""
    marks = [str(each) if each.is_dir() else f"{each} (does not exist)" for each in folders]
    return ", ".join(marks)
