"""Boards in the layouts of MTEB's and CoIR's result files, from the stored rankings."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from chunkers.errors import InputError
from harness.measures.score import score
from harness.reports.leaderboard.board import run_of
from harness.runs.folder import CONFIGURATION, read_cell
from harness.runs.record import read_record
from harness.support.json_files import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.measures.id_ranks import Ranking
    from harness.reports.leaderboard.board import Board, Configuration
    from harness.runs.record import RankingRow
    from harness.runs.stored_values import StoredCell

LAYOUTS = ("mteb", "coir")

MAIN = 10
"""The cut-off of the main score, nDCG@10."""

_MTEB_CUTS, _COIR_CUTS = (1, 3, 5, 10, 20, 100, 1000), (1, 3, 5, 10, 100, 1000)
_MTEB = {
    "nDCG": "ndcg", "MAP": "map", "R": "recall", "P": "precision", "MRR": "mrr", "Hit": "hit_rate",
}  # fmt: skip
_COIR = {"NDCG": ("nDCG", "NDCG"), "MAP": ("MAP", "MAP"), "Recall": ("R", "Recall"),
         "Precision": ("P", "P")}  # fmt: skip

# What MTEB's loader requires of a model; chunkmark does not know it.
_UNKNOWN = (
    "loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens",
    "embed_dim", "license", "open_weights", "public_training_code", "public_training_data",
    "similarity_fn_name", "use_instructions", "training_datasets",
)  # fmt: skip


def export_board(board: Board, layout: str, folder: Path) -> None:
    """Write all results of a board as others store theirs.

    Args:
        board: Its tasks have documents as gold.
        layout: `mteb` or `coir`.
        folder: Created if it does not exist; files of the same name are replaced.

    Raises:
        InputError: A task's gold is lines, a run had a limit or too short rankings, a stored file
            was changed, or the folder cannot be written.
    """
    files: dict[Path, dict[str, Any]] = {}
    for row in board.rows:
        name = quote("+".join(_parts(row.configuration)), safe="+=,").replace("__", "%5F%5F")
        revision = _revision(next(iter(row.cells.values())), row.configuration)
        own = folder / "results" / f"chunkmark__{name}" / revision if layout == "mteb" else (
            folder / name
        )  # fmt: skip
        for task, cell in row.cells.items():
            document = mteb_result(cell) if layout == "mteb" else coir_result(cell)
            files[own / f"{quote(task, safe='')}.json"] = document
        if layout == "mteb":
            meta = _model_meta(f"chunkmark/{name}", revision, row.configuration)
            files[own / "model_meta.json"] = meta
    try:
        for path, document in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, document)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder} cannot be written ({error.strerror}); name another folder"
        ) from None


def mteb_result(cell: StoredCell) -> dict[str, Any]:
    """The result of a cell as MTEB stores it, by `trec:variant=mteb`.

    Raises:
        InputError: See `export_board`.
    """
    means = _means(cell, list(_MTEB), _MTEB_CUTS, "trec:variant=mteb")
    scores = {
        f"{_MTEB[family]}_at_{cut}": value
        for (family, _, cut), value in ((name.partition("@"), mean) for name, mean in means.items())
    }
    rest = {
        "main_score": scores[f"ndcg_at_{MAIN}"],
        "hf_subset": "default",
        "languages": ["und-Zyyy"],  # of no known language; MTEB passes over a score of none
    }
    return {
        "dataset_revision": cell.cell["identity"]["dataset"],
        "task_name": cell.names["dataset"],
        "mteb_version": None,  # it did not compute the scores
        "evaluation_time": cell.cell["cost"]["seconds"],
        "scores": {"test": [scores | rest]},
    }


def coir_result(cell: StoredCell) -> dict[str, Any]:
    """The result of a cell as CoIR stores it, by `trec:variant=beir`.

    Raises:
        InputError: See `export_board`.
    """
    families = [family for family, _ in _COIR.values()]
    means = _means(cell, families, _COIR_CUTS, "trec:variant=beir")
    cuts = dict.fromkeys(name.partition("@")[2] for name in means)
    return {
        "metrics": {
            group: {f"{label}@{cut}": means[f"{family}@{cut}"] for cut in cuts}
            for group, (family, label) in _COIR.items()
        }
    }


def _means(
    cell: StoredCell, families: Sequence[str], cuts: Sequence[int], profile: str
) -> dict[str, float]:
    """The means of measures, at the cut-offs that the depth of the stored rankings allows."""
    task, limit = cell.names["dataset"], cell.cell["identity"]["limit"]
    if limit is not None:
        raise InputError(
            f"{run_of(cell)} has {limit} of the queries of {task} (--limit); a leaderboard needs "
            "all: run it without --limit"
        )
    read_cell(cell.folder, check_files=True)
    record = read_record(cell.folder)
    if record.gold != "document":
        raise InputError(
            f"the gold of {task} is lines, but MTEB and CoIR store scores of documents; "
            "remove --export"
        )
    rankings = {
        query.id: _ranking(ranking)
        for query, ranking in zip(record.queries, record.rankings, strict=True)
    }
    depth = cell.cell["identity"]["depth"]
    if profile.endswith("beir"):  # where the query's own id is dropped, one place is lost
        depth -= any(query in ranking for query, ranking in rankings.items())
    if depth < MAIN:
        raise InputError(
            f"{run_of(cell)} ranks {depth} documents for a query of {task}; nDCG@{MAIN} needs "
            f"{MAIN}: run it with --depth 1000"
        )
    names = [f"{family}@{cut}" for family in families for cut in cuts if cut <= depth]
    qrels = {query.id: query.qrels or {} for query in record.queries}
    result = score(rankings, qrels, names, profile)
    return {name: mean for name, mean in result.mean.items() if mean is not None}


def _ranking(row: RankingRow) -> Ranking:
    """Scores by id; the ids in rank order where the order is not that of scores."""
    scores = {
        name: value for name, value in zip(row.ids, row.scores, strict=True) if value is not None
    }
    return list(row.ids) if row.by_rank or len(scores) < len(row.ids) else scores


def _parts(configuration: Configuration) -> tuple[str, ...]:
    return configuration.chunker, configuration.embedder, configuration.retriever


def _revision(cell: StoredCell, configuration: Configuration) -> str:
    """A hash of all that a configuration's rankings depend on, beside the data."""
    identity = cell.cell["identity"]
    parts = [identity[part] for part in ("chunker", "embedder", "retriever", "ranking")]
    canonical = json.dumps([parts, configuration.profile], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:40]


def _model_meta(name: str, revision: str, configuration: Configuration) -> dict[str, Any]:
    return {
        "name": name,
        "revision": revision,
        **dict.fromkeys(_UNKNOWN),
        "loader_kwargs": dict(zip(CONFIGURATION, _parts(configuration), strict=True)),
        "framework": [],
        "model_type": ["sparse" if configuration.embedder == "none" else "dense"],
    }
