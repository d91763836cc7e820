"""The run folder: cells appear whole or not at all, and other people's files are left alone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

_PARTIAL = ".partial-"


@dataclass(frozen=True)
class RunFolder:
    """A folder that holds one run, or grows by further cells."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Make the folder, or take one that a run made; clear what a killed run left half-done.

        Raises:
            InputError: It cannot be written, or holds other files than a run's.
        """
        folder = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()) and not folder.manifest.is_file():
                raise InputError(f"{path} holds other files; name an empty or a new folder with -o")
            (path / "cells").mkdir(exist_ok=True)
            for left in sorted((path / "cells").glob(f"{_PARTIAL}*")):
                if not _alive(left.name.rpartition("-")[2]):
                    shutil.rmtree(left)
            probe = path / f"{_PARTIAL}{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise InputError(
                f"{path} cannot be written ({error.strerror}); name another folder with -o"
            ) from error
        return folder

    @property
    def manifest(self) -> Path:
        """The manifest's path."""
        return self.path / "manifest.json"

    def cell(self, key: str) -> Path:
        """The folder of a cell."""
        return self.path / "cells" / key

    def has(self, key: str) -> bool:
        """Whether the cell is there; then it is whole."""
        return (self.cell(key) / "cell.json").is_file()

    def add(self, key: str, write: Callable[[Path], None]) -> None:
        """Write a cell under a temporary name and put it in place.

        Args:
            key: Of the cell.
            write: Writes the files of the cell into the folder that it is given.
        """
        partial = self.path / "cells" / f"{_PARTIAL}{key}-{os.getpid()}"
        try:
            partial.mkdir()
            write(partial)
            with contextlib.suppress(FileExistsError):
                # Another process may have put the same cell there: the bytes are the same.
                _rename_new(partial, self.cell(key))
        except OSError as error:
            raise InputError(f"{partial} cannot be written: {error.strerror or error}") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _rename_new(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:
        if target.is_dir():
            raise FileExistsError(str(target)) from error
        raise


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document so that the file is always whole."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    _replace(path, text)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, one a line, so that the file is always whole."""
    dumped = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    _replace(path, "".join(line + "\n" for line in dumped))


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{_PARTIAL}{path.name}-{os.getpid()}")
    partial.write_bytes(text.encode("utf-8", "surrogatepass"))
    partial.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Read a document.

    Raises:
        InputError: It is missing or damaged.
    """
    try:
        found = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); remove its folder") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged; remove its folder")
    return found
