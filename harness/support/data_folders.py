"""Where data and caches live on this machine. Looking makes no folder."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from chunkers.errors import InputError


def cache_dir() -> Path:
    """`$CHUNKMARK_CACHE`, else the user's cache folder for chunkmark."""
    chosen = os.environ.get("CHUNKMARK_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("chunkmark", appauthor=False)


def data_dirs(cli_dir: Path | None = None) -> tuple[Path, ...]:
    """The folders in which data is looked for, first to last.

    Args:
        cli_dir: What the user gave as `--data-dir`; `$CHUNKMARK_DATA` and the folder `data` of
            the cache follow it.

    Raises:
        InputError: `cli_dir` is no folder.
    """
    if cli_dir is not None and not cli_dir.is_dir():
        raise InputError(f"--data-dir {cli_dir} is no folder")
    chosen = os.environ.get("CHUNKMARK_DATA")
    named = [cli_dir, Path(chosen) if chosen else None, cache_dir() / "data"]
    return tuple(one for one in named if one is not None)


def find_data(name: str, cli_dir: Path | None = None, *, place: str = "it") -> Path:
    """The first file or folder of this name in a data folder.

    Args:
        name: Path inside a data folder, parts separated by `/`.
        cli_dir: As for `data_dirs`.
        place: What the user should place there when nothing is found, for the message.

    Raises:
        InputError: It is nowhere; the message says where was looked and what to place.
    """
    looked = data_dirs(cli_dir)
    for folder in looked:
        if (folder / name).exists():
            return folder / name
    raise InputError(
        f"{name} is in none of the data folders {', '.join(map(str, looked))}\n"
        f"place {place} in one of them, or name another by --data-dir or $CHUNKMARK_DATA"
    )
