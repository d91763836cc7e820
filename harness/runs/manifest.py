"""The manifest: what a run was asked for, what it rests on, and how long it took."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
from typing import TYPE_CHECKING, Any

from harness.runs.folder import MANIFEST
from harness.support.json_files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from harness.model import Dataset
    from harness.runs.failures import FailedCell
    from harness.runs.plan import Plan
    from harness.runs.prepare import Prepared

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
            "config": plan.config.model_dump(mode="json"),
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

    def add_dataset(self, dataset: Dataset, prepared: Prepared) -> None:
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
