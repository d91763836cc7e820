"""The run folder: cells appear whole or not at all, and other people's files are left alone."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.support.files import DAMAGE_ERRORS, PARTIAL, file_sha256
from harness.support.json_files import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.model import Dataset
    from harness.runs.failures import FailedCell
    from harness.runs.plan import Plan
    from harness.runs.query_set import QuerySet

MANIFEST = "chunkmark.manifest/"
"""How the schema of a manifest begins."""


def cell_key(identity: dict[str, Any]) -> str:
    """The key of a cell: sha256 of the canonical JSON of what its ranking depends on."""
    canonical = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


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
            # A run that was killed at once may have left no more than this.
            begun = all(
                one.name == "cells" or one.name.startswith(PARTIAL) for one in path.iterdir()
            )
            if not begun and not folder.is_run:
                raise InputError(f"{path} holds other files; name an empty or a new folder with -o")
            (path / "cells").mkdir(exist_ok=True)
            for left in sorted((path / "cells").glob(f"{PARTIAL}*")):
                if not _alive(left.name.rpartition("-")[2]):
                    shutil.rmtree(left)
            probe = path / f"{PARTIAL}{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise InputError(
                f"{path} cannot be written ({error.strerror}); name another folder with -o"
            ) from error
        return folder

    @property
    def is_run(self) -> bool:
        """Whether the manifest is one of ours."""
        try:
            found = json.loads(self.manifest.read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(found, dict) and str(found.get("schema", "")).startswith(MANIFEST)

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
        partial = self.path / "cells" / f"{PARTIAL}{key}-{os.getpid()}"
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


def stored_cells(run: Path) -> list[tuple[dict[str, str], Path]]:
    """Every cell of a run folder, those of earlier runs last, with its names.

    Returns:
        `dataset`, `chunker`, `embedder` and `retriever` of each, and its folder. A cell that the
        manifest does not list names data set and embedder by their fingerprints.

    Raises:
        InputError: It is no run folder, or manifest or cell are damaged.
    """
    if not (run / "manifest.json").is_file():
        raise InputError(f"{run} is no run folder: it has no manifest.json")
    try:
        listed = {one["key"]: one for one in read_json(run / "manifest.json")["cells"]}
    except (KeyError, TypeError) as error:
        raise InputError(f"{run / 'manifest.json'} is damaged; its cells have no keys") from error
    there = sorted(path.name for path in (run / "cells").glob("[0-9a-f]*") if path.is_dir())
    keys = [*listed, *(key for key in there if key not in listed)]
    folders = {key: run / "cells" / key for key in keys}
    return [(listed.get(key) or _own_names(folder), folder) for key, folder in folders.items()]


_CELL = {
    "identity": dict, "health": dict, "cost": dict, "latency_ms": dict, "failures": list,
    "files": dict, "targets_dropped": int, "queries_left_out": int,
}  # fmt: skip


def read_cell(folder: Path) -> dict[str, Any]:
    """The document `cell.json` of a cell.

    Raises:
        InputError: It is missing or damaged.
    """
    cell = read_json(folder / "cell.json")
    for name, kind in _CELL.items():
        if not isinstance(cell.get(name), kind):
            raise InputError(f"{folder / 'cell.json'} is damaged, at {name}; remove its folder")
    return cell


def check_files(folder: Path) -> dict[str, Any]:
    """The document `cell.json` of a cell whose other files are those that were written.

    Raises:
        InputError: One is missing or was changed.
    """
    cell = read_cell(folder)
    for name, digest in cell["files"].items():
        if not (folder / name).is_file() or file_sha256(folder / name) != digest:
            raise InputError(f"{folder / name} is not the file that was written; remove {folder}")
    return cell


def _own_names(folder: Path) -> dict[str, str]:
    try:
        identity = read_cell(folder)["identity"]
        return {
            "dataset": identity["dataset"][:12],
            "chunker": identity["chunker"][0],
            "embedder": identity["embedder"][0][:12] if identity["embedder"] else "none",
            "retriever": identity["retriever"][0],
        }
    except DAMAGE_ERRORS as error:
        raise InputError(f"{folder / 'cell.json'} is damaged; remove its folder") from error


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


LIBRARIES = (
    "chunkmark",
    "bm25s",
    "faiss-cpu",
    "numpy",
    "sentence-transformers",
    "torch",
    "transformers",
    "tree-sitter",
)


def version(name: str) -> str | None:
    """Installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


class Manifest:
    """`manifest.json`, written at the start, and again whenever more is known."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self._path = path
        self._document: dict[str, Any] = {
            "schema": f"{MANIFEST}1",
            "status": "running",
            "config": dataclasses.asdict(plan.config),
            "profile": dataclasses.asdict(plan.profile),
            "budget": plan.budget,
            "chunkers": {one.name: one.version for one in plan.chunkers},
            "embedders": {one.name: one.identity("document") for one in plan.embedders},
            "retrievers": {name: one.version for name, one in plan.retrievers},
            "vectors": "equal bytes on one machine with these versions, within 1e-5 elsewhere",
            "versions": {name: version(name) for name in LIBRARIES},
            "python": platform.python_version(),
            "platform": platform.platform(),
            "cores": os.cpu_count(),
            "datasets": {},
            "cells": [],
            "times": {},
        }
        self.write()

    def write(self) -> None:
        """Put what is known on disk."""
        write_json(self._path, self._document)

    def add_dataset(self, dataset: Dataset, prepared: QuerySet) -> None:
        """Note a data set and its query set."""
        self._document["datasets"][dataset.name] = {
            "fingerprint": dataset.fingerprint,
            "gold": dataset.gold,
            "corpora": len({one.name for one in prepared.corpora}),
            "queries": len(prepared.queries),
            "queries_masked": len(prepared.masks),
            "queries_left_out": [list(one) for one in prepared.left_out],
            "targets_dropped": prepared.targets_dropped,
            "left_out": dict(dataset.left_out),
            "information": dict(dataset.information),
            "absent": [dataclasses.asdict(one) for one in dataset.absent],
        }

    def add_cell(self, key: str, names: dict[str, str], *, stored: bool) -> None:
        """Note a finished cell."""
        self._document["cells"].append({"key": key, **names, "stored": stored})
        self.write()

    def add_failed(self, failed: FailedCell) -> None:
        """Note a cell that is no result."""
        self._document.setdefault("failed", []).append(dataclasses.asdict(failed))
        self.write()

    def note(self, text: str) -> None:
        """Note something out of the ordinary, such as smaller batches."""
        self._document.setdefault("notes", []).append(text)

    def complete(self, times: dict[str, float]) -> None:
        """Note the end and the seconds of each phase."""
        self._document["status"] = "complete"
        self._document["times"] = {name: round(seconds, 3) for name, seconds in times.items()}
        self.write()
