"""The run folder: its manifest, and its cells, which are stored whole or not at all."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers import distributions
from chunkers.errors import InputError, did_you_mean
from chunkers.plugins.spec import Spec
from harness.retrieval.vector_index import public_name, public_retriever
from harness.runs.damage import lost_field
from harness.support.files import PARTIAL, file_sha256
from harness.support.json_files import AGAIN, read_json, require_schema, write_json
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chunkers.plugins.loading import LoadedChunker
    from harness.model import Dataset
    from harness.runs.config import RunConfig
    from harness.runs.damage import Fields
    from harness.runs.failures import FailedCell
    from harness.runs.plan import Plan
    from harness.runs.query_set import QuerySet

MANIFEST = "chunkmark.manifest/"
"""Prefix of a manifest's schema."""

_MANIFEST_SCHEMA = f"{MANIFEST}2"

CELL = "chunkmark.cell/2"
"""The schema of a cell. It is part of every key, so that a new version computes all cells again.

A new field of `_CELL_FIELDS` needs a new version: cells without it are refused.
"""

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

CONFIGURATION = ("chunker", "embedder", "retriever")
"""The parts that are compared on a data set."""

PARTS = ("dataset", *CONFIGURATION)
"""What a cell is named by."""

_MANIFEST_FIELDS: Fields = {
    "status": str, "config": ("languages", "margin", "match_size", "primary", "seed"),
    "chunkers": dict, "embedders": dict, "datasets": dict, "planned": int, "cells": list,
}  # fmt: skip

_DATASET_FIELDS = (
    "fingerprint", "gold", "corpora", "queries", "queries_masked", "queries_left_out",
    "targets_dropped", "left_out", "information", "absent",
)  # fmt: skip

_CELL_FIELDS: Fields = {
    "key": str,
    "names": PARTS,
    "identity": (
        "schema", "dataset", "relevance", "chunker", "tokenizer", "chunk_embedder", "embedder",
        "retriever", "depth", "budget", "limit", "mask_query", "seed", "file_timeout", "ranking",
        "code",
    ),
    "health": (
        "files_seen", "files_indexed", "files_skipped", "files_failed", "chunks", "coverage",
        "repeated", "embedded", "embedded_per_char", "fallback", "single_chunk_files",
        "duplicates", "limit_unit", "over_size", "size_max", "size_p95", "median_c", "unlocated",
        "blank", "notes", "gold_uncut", "unseen_chunk_tokens", "unseen_query_tokens",
        "unseen_second_query_tokens", "truncated_chunks", "unseen_rerank_tokens",
        "unseen_rerank_text_tokens", "truncated_pairs", "masked_copies", "masked_filled",
        "masked_syntax_errors", "zero_vectors", "zero_query_vectors", "unranked_queries",
        "short_rankings", "disturbed",
    ),
    "cost": (
        "tokens", "vectors", "index_bytes", "chars_delivered", "pairs", "pair_tokens",
        "embedded_now", "embedding_seconds", "chunking_texts", "chunking_embedding_seconds",
        "seconds",
    ),
    "latency_ms": ("embedding", "search", "total"),
    "times": dict,
    "failures": list,
    "targets_dropped": int,
    "queries_left_out": int,
    "files": (
        "chunks.jsonl", "files.jsonl", "qrels.trec", "queries.jsonl", "run.trec", "scores.jsonl",
        "targets.jsonl",
    ),
}  # fmt: skip


def cell_key(identity: dict[str, Any]) -> str:
    """The key of a cell: sha256 of the canonical JSON of everything its ranking depends on."""
    canonical = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def version(name: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return distributions.version_of(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class RunFolder:
    """A folder that holds the cells of one or more runs."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Create the folder, or open the folder of an earlier run and remove its partial cells.

        Raises:
            InputError: The folder cannot be written, or holds files that are not a run's, or
            a run of another version.
        """
        folder = cls(path)
        if path.is_file():
            raise InputError(f"{path} is a file; name a folder with -o")
        try:
            path.mkdir(parents=True, exist_ok=True)
            if folder.is_run:
                read_manifest(path)
            # A run that was killed at its start may have left only these.
            empty = all(
                file.name == "cells" or file.name.startswith(PARTIAL) for file in path.iterdir()
            )
            if not empty and not folder.is_run:
                known = folder.manifest.is_file() and (path / "cells").is_dir()
                problem = "has a damaged manifest.json" if known else "holds other files"
                raise InputError(f"{path} {problem}; name an empty or a new folder with -o")
            (path / "cells").mkdir(exist_ok=True)
            for partial in sorted((path / "cells").glob(f"{PARTIAL}*")):
                if not _is_alive(partial.name.rpartition("-")[2]):
                    shutil.rmtree(partial)
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
        """Whether the manifest is that of a run."""
        try:
            document = json.loads(self.manifest.read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(document, dict) and str(document.get("schema", "")).startswith(MANIFEST)

    @property
    def manifest(self) -> Path:
        """The manifest's path."""
        return self.path / "manifest.json"

    def cell(self, key: str) -> Path:
        """The folder of a cell."""
        return self.path / "cells" / key

    def has(self, key: str) -> bool:
        """Whether the cell is stored."""
        return (self.cell(key) / "cell.json").is_file()

    def add(self, key: str, write: Callable[[Path], None]) -> None:
        """Store a cell, whose files `write` writes, under a temporary name, then rename it."""
        partial = self.path / "cells" / f"{PARTIAL}{key}-{os.getpid()}"
        try:
            partial.mkdir()
            write(partial)
            try:
                partial.rename(self.cell(key))
            except OSError:
                if not self.cell(key).is_dir():  # else another process stored the same bytes
                    raise
        except OSError as error:
            raise InputError(f"{partial} cannot be written: {error.strerror or error}") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True


def _public(config: RunConfig) -> dict[str, Any]:
    """The configuration without the address of a server, which may hold a password."""
    index = None if config.index is None else public_name(config.index)
    retrievers = tuple(public_retriever(text) for text in config.retrievers)
    return dataclasses.asdict(config) | {"index": index, "retrievers": retrievers}


class Manifest:
    """`manifest.json`, written at the start of a run and after every cell."""

    def __init__(self, path: Path, plan: Plan, planned: int) -> None:
        """Write the manifest of a run of `planned` cells at most."""
        self._path = path
        self._document: dict[str, Any] = {
            "schema": _MANIFEST_SCHEMA,
            "status": "running",
            "config": _public(plan.config),
            "profile": dataclasses.asdict(plan.profile),
            "budget": plan.budget,
            "chunkers": {chunker.name: chunker.version for chunker in plan.chunkers},
            "embedders": {model.name: model.identity("document") for model in plan.embedders},
            "retrievers": {name: retriever.version for name, retriever in plan.retrievers},
            "vectors": "equal bytes on one machine with these versions, within 1e-5 elsewhere",
            "versions": {name: version(name) for name in LIBRARIES},
            "python": platform.python_version(),
            "platform": platform.platform(),
            "cores": os.cpu_count(),
            "datasets": {},
            "planned": planned,
            "cells": [],
            "times": {},
        }
        write_json(self._path, self._document)

    def add_dataset(self, dataset: Dataset, query_set: QuerySet) -> None:
        """Add a data set and its query set."""
        self._document["datasets"][dataset.name] = {
            "fingerprint": dataset.fingerprint,
            "gold": dataset.gold,
            "corpora": len({corpus.name for corpus in query_set.corpora}),
            "queries": len(query_set.queries),
            "queries_masked": len(query_set.masks),
            "queries_left_out": [list(query) for query in query_set.left_out],
            "targets_dropped": query_set.targets_dropped,
            "left_out": dict(dataset.left_out),
            "information": dict(dataset.information),
            "absent": [dataclasses.asdict(corpus) for corpus in dataset.absent],
        }

    def add_cell(self, key: str, names: dict[str, str], *, stored: bool) -> None:
        """Add a finished cell."""
        self._document["cells"].append({"key": key, **names, "stored": stored})
        write_json(self._path, self._document)

    def add_failed(self, failed: FailedCell) -> None:
        """Add a cell that is not scored."""
        self._document.setdefault("failed", []).append(dataclasses.asdict(failed))
        write_json(self._path, self._document)

    def match(self, chunkers: Sequence[LoadedChunker], lines: Sequence[str]) -> None:
        """Add the chunkers with the sizes that they were given, and a remark on each."""
        self._document["chunkers"] |= {chunker.name: chunker.version for chunker in chunkers}
        for line in lines:
            self.note(line)

    def note(self, text: str) -> None:
        """Add a remark, such as that batches were made smaller."""
        self._document.setdefault("notes", []).append(text)

    def complete(self, times: dict[str, float]) -> None:
        """Mark the run complete, with the seconds of each phase."""
        self._document["status"] = "complete"
        self._document["times"] = {name: round(seconds, 3) for name, seconds in times.items()}
        write_json(self._path, self._document)


def read_manifest(run: Path) -> dict[str, Any]:
    """The manifest of a run folder.

    Raises:
        InputError: The folder is not a run folder, or its manifest is damaged, or of another
            version.
    """
    if not (run / "manifest.json").is_file():
        raise InputError(_not_a_run(run))
    path, advice = run / "manifest.json", "run again into another folder with -o"
    manifest = read_json(path, f"restore it, or {advice}")
    require_schema(manifest, _MANIFEST_SCHEMA, path, f"{advice}, or delete {run} first")
    lost = lost_field(manifest, _MANIFEST_FIELDS)
    if not lost:
        cells = {f"cell {number}": row for number, row in enumerate(manifest["cells"], 1)}
        lost = lost_field(
            manifest["datasets"], dict.fromkeys(manifest["datasets"], _DATASET_FIELDS)
        ) or lost_field(cells, dict.fromkeys(cells, ("key", *PARTS)))
    if lost:
        raise InputError(f"{path} is damaged, at {lost}; restore it, or {advice}")
    return manifest


def why_no_cell(runs: Sequence[Path]) -> str:
    """Why no cell of some run folders is scored, and what to do."""
    manifests = map(read_manifest, runs)
    failed = [str(row["chunker"]) for each in manifests for row in each.get("failed", ())]
    names = f"{', '.join(map(str, runs))} {'have' if runs[1:] else 'has'}"
    if not failed:
        return f"{names} no cell; wait until the run is complete"
    return (
        f"{names} no scored cell: {', '.join(dict.fromkeys(failed))} failed\n"
        "rerun `chunkmark run` to see why, correct it, and run again"
    )


def _not_a_run(path: Path) -> str:
    """What a path is that is not a run folder, and what to do about it."""
    advice = "give the folder that `chunkmark run -o` wrote"
    if not path.exists():
        runs = [str(folder) for folder in path.parent.glob("*") if is_run_folder(folder)]
        near = did_you_mean(str(path), sorted(runs))
        return f"{path} does not exist" + (f"; {near}" if near else f"\n{advice}")
    if run := next(filter(is_run_folder, path.parents), None):
        return f"{path} is inside a run folder; give {run}"
    if not path.is_dir():
        return f"{path} is a file\n{advice}"
    if (path / "cells").is_dir():
        return (
            f"{path} is a damaged run folder: manifest.json is missing\n"
            "repeat the `chunkmark run` that wrote it; complete cells are not computed again"
        )
    if any(path.iterdir()):
        advice += f", or make a run of this folder by `chunkmark run -d {dataset_spec(path)}`"
    return f"{path} is not a run folder: manifest.json is missing\n{advice}"


def is_run_folder(folder: Path) -> bool:
    """Whether a folder looks like the one of a run."""
    return (folder / "manifest.json").is_file() and (folder / "cells").is_dir()


def dataset_spec(folder: Path) -> Spec:
    """The spec of the data set that a folder holds, which is not that of a run."""
    kind = "built" if (folder / "dataset.json").is_file() else "repo"
    return Spec("beir" if (folder / "corpus.jsonl").is_file() else kind, str(folder))


def read_complete_manifest(run: Path) -> dict[str, Any]:
    """The manifest of a run folder whose last run is complete.

    Raises:
        InputError: It is not complete, or the folder is not a run folder.
    """
    manifest = read_manifest(run)
    if manifest["status"] != "complete":
        raise InputError(f"run {run} is incomplete; rerun its `chunkmark run` command to resume")
    return manifest


def cell_folders(run: Path) -> list[Path]:
    """The folders of all cells of a run folder, in order of key.

    Raises:
        InputError: The folder is not a run folder.
    """
    read_manifest(run)
    return sorted(path for path in (run / "cells").glob("[0-9a-f]*") if path.is_dir())


def stored_cells(run: Path, *, earlier: bool = True) -> list[tuple[dict[str, str], Path]]:
    """Every cell of a run folder with its names; cells of earlier runs, if asked for, come last.

    Returns:
        `dataset`, `chunker`, `embedder` and `retriever` of each cell, and its folder.

    Raises:
        InputError: The folder is not a run folder, or its manifest or a cell is damaged.
    """
    listed = {str(cell["key"]): cell for cell in read_manifest(run)["cells"]}
    others = cell_folders(run) if earlier else []
    keys = [*listed, *(path.name for path in others if path.name not in listed)]
    folders = {key: run / "cells" / key for key in keys}
    lost = next((key for key, folder in folders.items() if not folder.is_dir()), None)
    if lost is not None:
        raise InputError(
            f"{run}: cell {lost[:12]} is listed in manifest.json, but not in cells\n"
            "rerun its `chunkmark run` command to restore it"
        )
    return [
        (listed.get(key) or read_cell(folder)["names"], folder) for key, folder in folders.items()
    ]


def other_cells_notes(run: Path) -> Iterator[str]:
    """A note for each data set of which the run folder has cells that are not of its last run."""
    try:
        last = {cell["key"] for cell in read_manifest(run)["cells"]}
        others = [names for names, folder in stored_cells(run) if folder.name not in last]
    except InputError:  # a damaged cell of another run is for `verify` to report
        return
    for name, count in Counter(names["dataset"] for names in others).items():
        earlier, them = counted(count, "earlier cell"), "it" if count == 1 else "them"
        yield (
            f"{run} also holds {earlier} of {name}; compare, leaderboard, gate and verify include "
            f"{them}; to keep runs apart, give each a folder with -o"
        )


def read_cell(folder: Path, *, check_files: bool = False) -> dict[str, Any]:
    """The document cell.json of a cell; `check_files` compares the hashes of its other files.

    Raises:
        InputError: A file is missing, damaged or changed.
    """
    cell = read_json(folder / "cell.json")
    require_schema(cell, CELL, folder / "cell.json", AGAIN)
    if lost := lost_field(cell, _CELL_FIELDS):
        raise InputError(f"{folder / 'cell.json'} is damaged, at {lost}; {AGAIN}")
    for name, digest in cell["files"].items() if check_files else ():
        if not (folder / name).is_file() or file_sha256(folder / name) != digest:
            raise InputError(f"{folder / name} was changed or removed; {AGAIN}")
    return cell
