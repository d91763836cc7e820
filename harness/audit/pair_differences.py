"""What a run says of how much chunkers differ on a data set: the differences of every pair."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.plugins.registry import suggestion
from harness.measures.grammar import parse_measure
from harness.runs.folder import check_files, read_cell, stored_cells
from harness.support.files import DAMAGE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from harness.model import Dataset


@dataclass(frozen=True)
class Pair:
    """Two chunkers under the same embedder and retriever.

    Attributes:
        a: The first chunker.
        b: The second one.
        beside: Embedder and retriever.
        differences: a less b, by query.
    """

    a: str
    b: str
    beside: str
    differences: Mapping[str, float]


def pairs_of(run: Path, dataset: Dataset, measure: str | None = None) -> tuple[str, list[Pair]]:
    """The differences of every pair of chunkers that a run folder scored on a data set.

    Args:
        run: The folder.
        dataset: The data set; its fingerprint must be the run's.
        measure: Which measure; the headline for its kind of gold without it.

    Returns:
        The measure's name and the pairs.

    Raises:
        InputError: The folder is damaged, or holds no two chunkers on this data set and measure.
    """
    asked = measure or ("SpanR@10000c" if dataset.gold == "span" else "nDCG@10")
    name = str(parse_measure(asked))
    groups: dict[str, list[tuple[dict[str, str], dict[str, float]]]] = {}
    others: set[str] = set()
    seen: set[str] = set()
    for names, folder in stored_cells(run):
        identity = dict(read_cell(folder)["identity"])
        if identity.get("dataset") != dataset.fingerprint:
            others.add(names["dataset"])
            continue
        check_files(folder)
        values, known = _values(folder, name)
        seen.update(known)
        if values is not None:
            identity.pop("chunker", None)
            key = json.dumps(identity, sort_keys=True) + names["embedder"] + names["retriever"]
            groups.setdefault(key, []).append((names, values))
    pairs = [
        Pair(
            a["chunker"],
            b["chunker"],
            f"{a['embedder']}, {a['retriever']}",
            {query: va[query] - vb[query] for query in va if query in vb},
        )
        for cells in groups.values()
        for (a, va), (b, vb) in itertools.combinations(cells, 2)
    ]
    if pairs:
        return name, pairs
    if seen and name not in seen:
        raise InputError(f"{run} has no values of {name}; {suggestion(name, sorted(seen))}")
    found = f"it has {', '.join(sorted(others))}, " if others else ""
    raise InputError(
        f"{run} has no two chunkers on this very data set ({dataset.name}, "
        f"{dataset.fingerprint[:12]})\n{found}maybe of another version or with other options"
    )


def _values(folder: Path, name: str) -> tuple[dict[str, float] | None, set[str]]:
    """A measure's value of every query that counts, and the names of all measures."""
    try:
        with (folder / "per_query.jsonl").open(encoding="utf-8", errors="surrogatepass") as lines:
            rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        known = {one for row in rows for one in row["metrics"]}
        found = {row["query_id"]: row["metrics"].get(name) for row in rows if row["included"]}
    except DAMAGE_ERRORS as error:
        raise InputError(f"{folder / 'per_query.jsonl'} is damaged ({error})") from None
    if not found or any(value is None for value in found.values()):
        return None, known
    return {query: float(value) for query, value in found.items() if value is not None}, known
