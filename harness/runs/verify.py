"""Checks a run folder: every number is computed again from what is stored.

Three independent ways. Hashes show which query's lines were changed. Our own code computes all
measures from chunks, targets and rankings. pytrec_eval computes the chunk-level measures from the
.trec files alone, where its conventions are those of the run's profile.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.model import Relevance
from harness.runs.folder import cell_key
from harness.runs.record import decode_id, encode_id, lines_digest, read_record
from harness.runs.results import MetricOptions, judge, qrels_of, score
from harness.support.files import DAMAGE_ERRORS, file_sha256
from harness.support.json_files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from harness.measures.grammar import Measure
    from harness.runs.record import Record
    from harness.runs.results import JudgedCell

TOLERANCE = 1e-12
"""How far pytrec_eval may be off; our own code may not be off at all."""

_THEIRS: dict[str, Callable[[int | None], str]] = {
    "nDCG": lambda k: f"ndcg_cut_{k}",
    "P": lambda k: f"P_{k}",
    "R": lambda k: f"recall_{k}",
    "MAP": lambda k: "map" if k is None else f"map_cut_{k}",
    "MRR": lambda k: "recip_rank" if k is None else "",
    "Hit": lambda k: f"success_{k}",
    "Rprec": lambda k: "Rprec",
}
_OUTSIDE_PROFILES = ("default", "trec")


@dataclass(frozen=True)
class Difference:
    """Something that is not as it was computed.

    Attributes:
        cell: Key of the cell.
        query: Id of the query; empty where it is a mean or a whole file.
        measure: Name of the measure; empty where no single one is concerned.
        detail: What differs, in one line.
    """

    cell: str
    query: str
    measure: str
    detail: str


@dataclass(frozen=True)
class Verified:
    """What was checked of one cell.

    Attributes:
        cell: Key of the cell.
        values: Values computed again by our own code.
        outside: Values compared with pytrec_eval.
        differences: What differs; empty for a sound cell.
    """

    cell: str
    values: int
    outside: int
    differences: tuple[Difference, ...]


def verify(run: Path) -> list[Verified]:
    """Check every cell of a run folder.

    Raises:
        InputError: It is no run folder, or holds no cell.
    """
    if not (run / "manifest.json").is_file():
        raise InputError(f"{run} is no run folder: it has no manifest.json")
    folders = sorted(path for path in (run / "cells").glob("[0-9a-f]*") if path.is_dir())
    if not folders:
        raise InputError(f"{run} holds no cell; let the run end first")
    return [_verify_cell(folder) for folder in folders]


def _verify_cell(folder: Path) -> Verified:
    cell = folder.name
    try:
        lines = {name: _raw_lines(folder / name) for name in _BY_QUERY}
        changed = [
            Difference(cell, query, measure, detail)
            for query, measure, detail in _changed_files(folder, lines)
        ]
        record = read_record(folder)
        asked = _asked(read_json(folder / "metrics.json"))
        judged = judge(record, asked.relevance, asked.profile)
        stored = [json.loads(line) for line in _raw_lines(folder / "per_query.jsonl")]
        own = list(_own(folder, record, judged, asked, stored))
        values, outside = _outside(folder, judged, asked, stored)
    except (InputError, *DAMAGE_ERRORS) as error:
        reason = " ".join(f"{error}".split()) or type(error).__name__
        return Verified(cell, 0, 0, (Difference(cell, "", "", f"cannot be read: {reason}"),))
    found = [Difference(cell, *one) for one in (*own, *outside)]
    return Verified(cell, len(stored) * len(asked.measures), values, (*changed, *found))


_BY_QUERY: dict[str, Callable[[str], str]] = {
    "targets.jsonl": lambda line: str(json.loads(line)["query_id"]),
    "run.trec": lambda line: decode_id(line.split(" ", 1)[0]),
    "scores.jsonl": lambda line: str(json.loads(line)["query_id"]),
}


def _raw_lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    return text.removesuffix("\n").split("\n") if text else []


_Found = tuple[str, str, str]


def _changed_files(folder: Path, lines: Mapping[str, list[str]]) -> Iterator[_Found]:
    """Queries whose stored lines are not those that were written, and other changed files."""
    cell = read_json(folder / "cell.json")
    if cell_key(cell["identity"]) != folder.name:
        yield "", "all", "the folder's name is not the hash of the cell's identity"
    names = [name for name, digest in cell["files"].items() if file_sha256(folder / name) != digest]
    for name in names:
        if name not in _BY_QUERY:
            yield "", "", f"{name} is not the file that was written"
    by_query: dict[str, list[str]] = defaultdict(list)
    for name, query_of in _BY_QUERY.items():
        for line in lines[name]:
            by_query[query_of(line)].append(line)
    rows = [json.loads(line) for line in _raw_lines(folder / "per_query.jsonl")]
    named = False
    for row in rows:
        if lines_digest(by_query.pop(row["query_id"], [])) != row["digest"]:
            named = True
            yield row["query_id"], "all", f"its lines changed in {' or '.join(names) or 'a file'}"
    for query in by_query:
        named = True
        yield query, "all", f"{' or '.join(names)} holds a query that the cell does not have"
    if not named:
        for name in (name for name in names if name in _BY_QUERY):
            yield "", "all", f"{name} is not the file that was written"


def _asked(document: Mapping[str, Any]) -> MetricOptions:
    asked = document["asked"]
    return MetricOptions(
        measures=tuple(parse_measure(name) for name in asked["measures"]),
        profile=load_profile(asked["profile"]["name"]),
        relevance=Relevance(**asked["relevance"]),
        seed=asked["seed"],
    )


def _own(
    folder: Path,
    record: Record,
    judged: JudgedCell,
    asked: MetricOptions,
    stored: list[dict[str, Any]],
) -> Iterator[_Found]:
    """What our own code computes otherwise than is stored."""
    numbers, again = score(record, judged, asked)
    if [row["query_id"] for row in again] != [row["query_id"] for row in stored]:
        yield "", "all", "per_query.jsonl holds other queries than queries.jsonl"
        return
    for row, was in zip(again, stored, strict=True):
        for name, value in row["metrics"].items():
            if was["metrics"].get(name) != value:
                text = f"stored {was['metrics'].get(name)}, computed {value}"
                yield row["query_id"], name, text
        if row["included"] != was["included"]:
            yield row["query_id"], "all", f"stored as included: {was['included']}"
    document = read_json(folder / "metrics.json")
    fresh = json.loads(json.dumps(numbers))
    for path, was, value in _unequal(fresh, document, ()):
        measure = path[1] if len(path) > 1 and path[0] == "metrics" else "all"
        yield "", measure, f"metrics.json {'.'.join(path)}: stored {was}, computed {value}"
    lines = [
        f"{encode_id(q)} 0 {encode_id(u)} {grade:g}" for q, u, grade in qrels_of(record, judged)
    ]
    if lines != _raw_lines(folder / "qrels.trec"):
        yield "", "all", "qrels.trec is not what chunks and targets give"


def _unequal(
    fresh: Any, stored: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(fresh, dict) and isinstance(stored, dict):
        names = fresh if not path else fresh.keys() | stored.keys()
        for name in sorted(names):
            yield from _unequal(fresh.get(name), stored.get(name), (*path, name))
    elif fresh != stored:
        yield path, stored, fresh


def _outside(
    folder: Path, judged: JudgedCell, asked: MetricOptions, stored: list[dict[str, Any]]
) -> tuple[int, list[_Found]]:
    """Compare with pytrec_eval: number of values compared, and what differs.

    Queries with copies of a target are left to our own code: qrels cannot say that a unit stands
    for another. So are grades that are no whole numbers.
    """
    names = {one: _their_name(one) for one in asked.measures}
    if asked.profile.mrr != "as-ranked" or asked.profile.same_id != "kept":
        names = {}  # BEIR's own rules, which no .trec file can express
    wanted = {name for name in names.values() if name}
    if asked.profile.name.partition(":")[0] not in _OUTSIDE_PROFILES or not wanted:
        return 0, []
    import pytrec_eval

    qrels = _columns(folder / "qrels.trec", 3)
    if any(not grade.lstrip("-").isdigit() for row in qrels.values() for grade in row.values()):
        return 0, []
    run = _columns(folder / "run.trec", 4)
    whole = {q: {unit: int(grade) for unit, grade in row.items()} for q, row in qrels.items()}
    ranking = {q: {unit: float(score) for unit, score in row.items()} for q, row in run.items()}
    theirs = pytrec_eval.RelevanceEvaluator(whole, wanted).evaluate(ranking)
    skipped = {
        query
        for query, gold in zip(judged.cell.queries, judged.cell.gold, strict=True)
        if gold.twins
    }
    found: list[_Found] = []
    compared = 0
    for row in stored:
        query = row["query_id"]
        values = theirs.get(encode_id(query), {})
        for measure, name in names.items():
            if name and query not in skipped:
                compared += 1
                mine, other = row["metrics"][str(measure)], values.get(name, 0.0)
                if mine is None or abs(mine - other) > TOLERANCE:
                    found.append((query, str(measure), f"stored {mine}, pytrec_eval {other}"))
    return compared, found


def _their_name(measure: Measure) -> str:
    name = _THEIRS.get(measure.family)
    return name(measure.cut) if name else ""


def _columns(path: Path, column: int) -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for line in _raw_lines(path):
        if line:
            parts = line.split(" ")
            rows[parts[0]][parts[2]] = parts[column]
    return rows
