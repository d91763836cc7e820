"""The values of every query in stored cells, as statistics need them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.measures.grammar import comparable, parse_measure
from harness.model import GOLD_FOLLOWS
from harness.runs.damage import lost_field, undamaged
from harness.runs.folder import read_cell, read_manifest, stored_cells
from harness.runs.metric_options import options_of
from harness.stats import MARGIN
from harness.support.json_files import AGAIN, read_json, stored_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.measures.grammar import Measure
    from harness.runs.damage import Fields
    from harness.runs.metric_options import MetricOptions
    from harness.runs.record import Record
    from harness.runs.results import JudgedCell
    from harness.stats.clusters import Member

_METRICS_FIELDS: Fields = {
    "asked": ("profile", "measures", "relevance", "seed"), "interval": str, "mean_over": str,
    "n_queries": int, "left_out": dict, "relevant_units": object, "metrics": dict, "by": dict,
}  # fmt: skip


@dataclass(frozen=True)
class StoredCell:
    """A cell of a run folder.

    Attributes:
        folder: Its folder.
        names: Its data set, chunker, embedder and retriever.
        cell: The document cell.json.
        metrics: The document metrics.json.
        members: Corpus and cluster of each included query, in the order of their ids.
        values: The value of each included query, by measure, in the same order.
        gold_follows: What its targets are, if one family of chunkers cuts there; else empty.
        primary: The measure that its run declared the verdicts to be about, if any.
        margin: The largest difference that does not matter, by its run.
        config: The options of its run.
        gold: `span` or `document`.
    """

    folder: Path
    names: Mapping[str, str]
    cell: Mapping[str, Any]
    metrics: Mapping[str, Any]
    members: Mapping[str, Member]
    values: Mapping[str, Mapping[str, float | None]]
    gold_follows: str = ""
    primary: str | None = None
    margin: float = MARGIN
    config: Mapping[str, Any] = field(default_factory=dict)
    gold: str = "span"

    @property
    def measures(self) -> list[str]:
        """The names of its measures."""
        return list(self.metrics["metrics"])

    def compares_chunkers(self, measure: str) -> bool:
        """Whether values of different chunkers are comparable, of a measure that may be missing."""
        metrics = self.metrics["metrics"]
        if measure in metrics:
            return bool(metrics[measure]["comparable"])
        return comparable(parse_measure(measure), spans=self.gold == "span")

    @property
    def profile(self) -> Mapping[str, Any]:
        """Its scoring conventions."""
        profile: Mapping[str, Any] = self.metrics["asked"]["profile"]
        return profile

    def column(self, measure: str) -> NDArray[np.float64] | None:
        """The values of a measure, shape (included queries,); None if it has none."""
        values = [row.get(measure) for row in self.values.values()]
        if not values or any(value is None for value in values):
            return None
        return np.array(values, dtype=np.float64)


def read_stored_cells(run: Path, *, earlier: bool = True) -> Iterator[StoredCell]:
    """The cells of a run folder, in the order of the run's grid.

    Args:
        run: The run folder.
        earlier: Whether cells of earlier runs follow.

    Raises:
        InputError: The folder is not a run folder, or a file is damaged.
    """
    manifest = read_manifest(run)
    datasets = manifest["datasets"]
    for names, folder in stored_cells(run, earlier=earlier):
        # The manifest has the data sets of the last run alone.
        entry = datasets.get(names["dataset"], {"information": {}})
        yield with_declared(read_stored_cell(folder, names, entry["information"]), manifest)


def with_declared(cell: StoredCell, manifest: Mapping[str, Any]) -> StoredCell:
    """A cell with the options of its run, and the primary measure and the margin among them."""
    config = manifest["config"]
    primary = config["primary"]
    return replace(
        cell,
        primary=None if primary is None else str(parse_measure(primary)),
        margin=config["margin"],
        config=config,
    )


def read_stored_cell(
    folder: Path, names: Mapping[str, str], information: Mapping[str, str], *, check: bool = False
) -> StoredCell:
    """A cell of a run folder.

    Args:
        folder: Its folder.
        names: Its data set, chunker, embedder and retriever.
        information: The facts about its data set, as in the manifest.
        check: Whether to compare the hashes of its files.

    Raises:
        InputError: A file is missing or damaged.
    """
    cell, metrics = read_cell(folder, check_files=check), read_json(folder / "metrics.json")
    if lost := lost_field(metrics, _METRICS_FIELDS):
        raise InputError(f"{folder / 'metrics.json'} is damaged, at {lost}; {AGAIN}")
    with undamaged(folder):
        rows = [row for row in stored_rows(folder / "per_query.jsonl") if row["included"]]
        queries = {row["query_id"]: row for row in stored_rows(folder / "queries.jsonl")}
        members = {
            row["query_id"]: (
                queries[row["query_id"]]["corpus"],
                queries[row["query_id"]]["cluster"] or row["query_id"],
            )
            for row in rows
        }
        values = {row["query_id"]: dict(row["metrics"]) for row in rows}
    follows = information.get(GOLD_FOLLOWS, "")
    gold = next((row["gold"] for row in queries.values()), "span")
    return StoredCell(folder, names, cell, metrics, members, values, follows, gold=gold)


@dataclass(frozen=True)
class Reading:
    """The record of a stored cell, and its gold.

    Attributes:
        record: As it was ranked.
        options: The options of its metrics.
        judged: The record with its gold.
    """

    record: Record
    options: MetricOptions
    judged: JudgedCell

    def values(self, measures: Sequence[Measure]) -> dict[str, list[float]] | None:
        """The values of measures by query, in the order of `measures`.

        Returns:
            None if a measure does not apply to the cell.
        """
        from harness.measures.evaluate import evaluate

        scores = evaluate(self.judged.cell, measures, self.options.profile)
        columns = [scores.per_query[str(measure)] for measure in measures]
        if any(column is None for column in columns):
            return None
        rows = np.array(columns).T.tolist()
        return dict(zip(scores.queries, rows, strict=True))


def read_judged(cell: StoredCell) -> Reading:
    """Read the record of a cell, whose rankings take much memory, and find its gold.

    Raises:
        InputError: A file is missing, damaged or changed.
    """
    read_cell(cell.folder, check_files=True)
    from harness.runs.record import read_record
    from harness.runs.results import judge

    record, options = read_record(cell.folder), options_of(cell.metrics["asked"])
    return Reading(record, options, judge(record, options.relevance, options.profile))


@dataclass(frozen=True)
class ReadableQuery:
    """A query as a person reads it: its text, and the places or documents of its targets."""

    text: str
    targets: tuple[str, ...]


def read_queries(cell: Path) -> dict[str, ReadableQuery]:
    """The queries of a stored cell.

    Raises:
        InputError: A file is missing or damaged.
    """
    targets: dict[str, list[str]] = {}
    with undamaged(cell):
        for row in stored_rows(cell / "targets.jsonl"):
            place = row.get("document") or row["path"]
            if row.get("start_line") is not None:
                place += f":{row['start_line']}-{row['end_line']}"
            targets.setdefault(row["query_id"], []).append(place)
        return {
            row["query_id"]: ReadableQuery(row["text"], tuple(targets.get(row["query_id"], ())))
            for row in stored_rows(cell / "queries.jsonl")
        }
