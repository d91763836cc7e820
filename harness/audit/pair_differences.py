"""The differences between every pair of chunkers that a run scored on a data set."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError, suggestion
from harness.measures.grammar import parse_measure
from harness.runs.folder import read_cell, stored_cells
from harness.support.files import DAMAGE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from harness.model import Dataset


@dataclass(frozen=True)
class Pair:
    """Two chunkers with the same embedder and retriever.

    `beside` names both; `differences` are the value of `a` minus that of `b`, by query.
    """

    a: str
    b: str
    beside: str
    differences: Mapping[str, float]


def pairs_of(run: Path, dataset: Dataset, measure: str | None = None) -> tuple[str, list[Pair]]:
    """The differences of every pair of chunkers of a run folder on a data set.

    The data set's fingerprint must be the run's. The measure is by default the headline for the
    kind of gold. Returns its name and the pairs.

    Raises:
        InputError: The folder is damaged, or has no two chunkers on this data set and measure.
    """
    headline = "SpanR@10000c" if dataset.gold == "span" else "nDCG@10"
    name = str(parse_measure(measure or headline))
    groups: defaultdict[str, list[tuple[dict[str, str], dict[str, float]]]] = defaultdict(list)
    others: set[str] = set()
    measures: set[str] = set()
    for names, folder in stored_cells(run):
        identity = dict(read_cell(folder)["identity"])
        if identity.get("dataset") != dataset.fingerprint:
            others.add(names["dataset"])
            continue
        read_cell(folder, check_files=True)
        values, known = _values(folder, name)
        measures |= known
        if values is not None:
            identity.pop("chunker", None)
            key = json.dumps(identity, sort_keys=True) + names["embedder"] + names["retriever"]
            groups[key].append((names, values))
    pairs = [
        Pair(
            a["chunker"],
            b["chunker"],
            f"{a['embedder']}, {a['retriever']}",
            {query: values_a[query] - values_b[query] for query in values_a if query in values_b},
        )
        for cells in groups.values()
        for (a, values_a), (b, values_b) in itertools.combinations(cells, 2)
    ]
    if pairs:
        return name, pairs
    if measures and name not in measures:
        raise InputError(f"{run} has no values of {name}; {suggestion(name, sorted(measures))}")
    found = f"it has {', '.join(sorted(others))}, " if others else ""
    raise InputError(
        f"{run} has no two chunkers on this very data set ({dataset.name}, "
        f"{dataset.fingerprint[:12]})\n{found}maybe of another version or with other options"
    )


def _values(folder: Path, name: str) -> tuple[dict[str, float] | None, set[str]]:
    """A measure's value of every included query, and the names of all stored measures."""
    try:
        with (folder / "per_query.jsonl").open(encoding="utf-8", errors="surrogatepass") as lines:
            rows = list(map(json.loads, lines))
        known = {measure for row in rows for measure in row["metrics"]}
        values = {row["query_id"]: row["metrics"].get(name) for row in rows if row["included"]}
    except DAMAGE_ERRORS as error:
        raise InputError(f"{folder / 'per_query.jsonl'} is damaged ({error})") from None
    if not values or None in values.values():
        return None, known
    return {query: float(value) for query, value in values.items()}, known
