"""Verifies a run folder: every number is computed again from the stored files.

In three independent ways: hashes show which query's lines were changed; chunkmark computes all
measures again from chunks, targets and rankings; and pytrec_eval computes the chunk-level measures
from the .trec files, where its conventions are those of the run's profile.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.runs.damage import undamaged
from harness.runs.folder import cell_folders, cell_key, read_cell, read_manifest, why_no_cell
from harness.runs.metric_options import options_of
from harness.runs.record import decode_id, encode_id, lines_digest, qrels_line, read_record
from harness.runs.results import judge, qrels_of, score
from harness.support.files import file_sha256
from harness.support.json_files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from harness.runs.metric_options import MetricOptions
    from harness.runs.record import Record
    from harness.runs.results import JudgedCell

TOLERANCE = 1e-12
"""Allowed difference from pytrec_eval; chunkmark's own values must be equal."""

_PYTREC_NAMES: dict[str, Callable[[int | None], str]] = {
    "nDCG": lambda k: "ndcg" if k is None else f"ndcg_cut_{k}",
    "P": lambda k: "set_P" if k is None else f"P_{k}",
    "R": lambda k: "set_recall" if k is None else f"recall_{k}",
    "MAP": lambda k: "map" if k is None else f"map_cut_{k}",
    "MRR": lambda k: "recip_rank" if k is None else "",
    "Hit": lambda k: f"success_{k}",
    "Rprec": lambda k: "Rprec",
}

_BY_QUERY: dict[str, Callable[[str], str]] = {
    "targets.jsonl": lambda line: str(json.loads(line)["query_id"]),
    "run.trec": lambda line: decode_id(line.split(" ", 1)[0]),
    "scores.jsonl": lambda line: str(json.loads(line)["query_id"]),
}
"""Files whose lines belong to a query each, with the id of the query of a line."""

_Rows = list[dict[str, Any]]
_Fault = tuple[str, str, str]  # query, measure and detail of a `Difference`


@dataclass(frozen=True)
class Difference:
    """A stored value or file that is not what was computed.

    `query` is empty for a mean or a whole file. `measure` may be `all`; it is empty for a file that
    no measure is named after.
    """

    cell: str
    query: str
    measure: str
    detail: str


@dataclass(frozen=True)
class Verified:
    """The checks of one cell.

    `values` were computed again, and `outside` of them compared with pytrec_eval.
    """

    cell: str
    values: int
    outside: int
    differences: tuple[Difference, ...]


def verify(run: Path) -> list[Verified]:
    """Verify every cell of a run folder.

    Raises:
        InputError: The folder is not a run folder, or has no cell.
    """
    folders = {folder.name: folder for folder in cell_folders(run)}
    listed = [str(cell["key"]) for cell in read_manifest(run)["cells"]]
    if not folders and not listed:
        raise InputError(why_no_cell([run]))
    lost = "listed in manifest.json, but not in cells; rerun `chunkmark run` to restore it"
    return [
        *(_verify_cell(folder) for folder in folders.values()),
        *(
            Verified(key, 0, 0, (Difference(key, "", "", lost),))
            for key in listed
            if key not in folders
        ),
    ]


def _verify_cell(folder: Path) -> Verified:
    key = folder.name
    try:
        with undamaged(folder):
            faults = list(_changed_files(folder))
            record = read_record(folder)
            options = options_of(read_json(folder / "metrics.json")["asked"])
            judged = judge(record, options.relevance, options.profile)
            stored = [json.loads(line) for line in _lines(folder / "per_query.jsonl")]
            faults += _compare_own(folder, record, judged, options, stored)
            compared, differing = _compare_pytrec(folder, judged, options, stored)
    except InputError as error:
        return Verified(key, 0, 0, (Difference(key, "", "", str(error)),))
    differences = tuple(Difference(key, *fault) for fault in (*faults, *differing))
    return Verified(key, len(stored) * len(options.measures), compared, differences)


def _lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    return text.removesuffix("\n").split("\n") if text else []


def _changed_files(folder: Path) -> Iterator[_Fault]:
    """Queries with changed lines, and other changed files."""
    cell = read_cell(folder)
    if cell_key(cell["identity"]) != folder.name:
        yield "", "all", "the folder's name is not the hash of the cell's identity"
    changed = [
        name for name, digest in cell["files"].items() if file_sha256(folder / name) != digest
    ]
    files = " or ".join(changed) or "a file"
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for name, query_of in _BY_QUERY.items():
        for line in _lines(folder / name):
            lines[query_of(line)].append(line)
    traced = False
    for row in map(json.loads, _lines(folder / "per_query.jsonl")):
        if lines_digest(lines.pop(row["query_id"], [])) != row["digest"]:
            traced = True
            yield row["query_id"], "all", f"its lines changed in {files}"
    for query in lines:
        traced = True
        yield query, "all", f"{files} holds a query that the cell does not have"
    for name in changed:
        if name not in _BY_QUERY:
            yield "", "", f"{name} was changed"
        elif not traced:
            yield "", "all", f"{name} was changed"


def _compare_own(
    folder: Path, record: Record, judged: JudgedCell, options: MetricOptions, stored: _Rows
) -> Iterator[_Fault]:
    """Differences from what chunkmark computes."""
    numbers, rows = score(record, judged, options)
    if [row["query_id"] for row in rows] != [row["query_id"] for row in stored]:
        yield "", "all", "per_query.jsonl and queries.jsonl hold different queries"
        return
    for row, old in zip(rows, stored, strict=True):
        for name, value in row["metrics"].items():
            if old["metrics"].get(name) != value:
                text = f"stored {old['metrics'].get(name)}, computed {value}"
                yield row["query_id"], name, text
        if row["included"] != old["included"]:
            yield row["query_id"], "all", f"stored as included: {old['included']}"
    document = read_json(folder / "metrics.json")
    computed = json.loads(json.dumps(numbers))
    for path, old, value in _unequal(computed, {name: document.get(name) for name in computed}):
        measure = path[1] if len(path) > 1 and path[0] == "metrics" else "all"
        yield "", measure, f"metrics.json {'.'.join(path)}: stored {old}, computed {value}"
    grades = [qrels_line(*row) for row in qrels_of(record, judged)]
    if grades != _lines(folder / "qrels.trec"):
        yield "", "all", "qrels.trec does not follow from chunks and targets"


def _unequal(
    computed: Any, stored: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Path, stored and computed value of every difference between two documents."""
    if isinstance(computed, dict) and isinstance(stored, dict):
        for name in sorted(computed.keys() | stored.keys()):
            yield from _unequal(computed.get(name), stored.get(name), (*path, name))
    elif computed != stored:
        yield path, stored, computed


def _compare_pytrec(
    folder: Path, judged: JudgedCell, options: MetricOptions, stored: _Rows
) -> tuple[int, list[_Fault]]:
    """Compare with pytrec_eval: number of compared values, and the differences.

    It cannot express that a unit counts as another one, so queries with copies of a target are not
    compared; nor are fractional grades, and profiles with other conventions.
    """
    profile = options.profile
    names = {
        measure: name
        for measure in options.measures
        if measure.family in _PYTREC_NAMES and (name := _PYTREC_NAMES[measure.family](measure.cut))
    }
    conventions = (profile.name.partition(":")[0], profile.mrr, profile.same_id)
    if not names or conventions not in {
        (name, "as-ranked", "kept") for name in ("default", "trec")
    }:
        return 0, []
    import pytrec_eval

    qrels = _columns(folder / "qrels.trec", 3)
    if any(not grade.lstrip("-").isdigit() for row in qrels.values() for grade in row.values()):
        return 0, []
    run = _columns(folder / "run.trec", 4)
    grades = {q: {unit: int(grade) for unit, grade in row.items()} for q, row in qrels.items()}
    ranking = {q: {unit: float(score) for unit, score in row.items()} for q, row in run.items()}
    least = math.ceil(profile.least_grade)  # the grades are whole
    evaluator = pytrec_eval.RelevanceEvaluator(grades, set(names.values()), relevance_level=least)
    results = evaluator.evaluate(ranking)
    copied = {
        query
        for query, gold in zip(judged.cell.queries, judged.cell.gold, strict=True)
        if gold.twins
    }
    rows = [row for row in stored if row["query_id"] not in copied]
    faults: list[_Fault] = []
    for row in rows:
        query = row["query_id"]
        for measure, name in names.items():
            value = row["metrics"][str(measure)]
            other = results.get(encode_id(query), {}).get(name, 0.0)
            if value is None or abs(value - other) > TOLERANCE:
                faults.append((query, str(measure), f"stored {value}, pytrec_eval {other}"))
    return len(rows) * len(names), faults


def _columns(path: Path, column: int) -> dict[str, dict[str, str]]:
    """Query id -> unit id -> value of a column of a .trec file."""
    table: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for line in filter(None, _lines(path)):
        cells = line.split(" ")
        table[cells[0]][cells[2]] = cells[column]
    return table
