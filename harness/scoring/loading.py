"""Loads what is scored: rankings with judgements, or records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.scoring import trec
from harness.scoring.dictionaries import grades_of, rankings_of
from harness.scoring.formats import MOST_QUERIES, shape_of
from harness.scoring.records import from_array, from_lines, from_table, rows_of
from harness.support.json_files import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from harness.scoring.values import Record

    Tell = Callable[[int], None]
    Grades = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Rankings:
    """Rankings of ids.

    Attributes:
        rankings: Query -> document -> score, or query -> documents in rank order.
        unjudged: Queries of the file that are not in them, for nobody judged them.
    """

    rankings: Mapping[str, Mapping[str, float] | list[str]]
    unjudged: int = 0


def load_grades(path: Path, run: Path) -> trec.Judgements:
    """Read judgements of any format.

    Args:
        path: The file.
        run: What is to be scored: its format decides whether ids of a TREC file are decoded.

    Raises:
        InputError: The file is damaged, or holds no judgements.
    """
    shape = shape_of(path)
    if shape in ("qrels", "judgements"):
        ours = trec.is_ours(run) if shape_of(run) == "run" else None
        return trec.read_qrels(path, table=shape == "judgements", ours=ours)
    if shape == "run":
        raise InputError(f"{path} is a run, not judgements: six fields a line")
    return trec.Judgements(_grades(path))


def _grades(path: Path) -> dict[str, dict[str, float]]:
    loaded = _load(path)
    if not isinstance(loaded, dict):
        return {one.query: dict.fromkeys(one.relevant, 1.0) for one in once(loaded)}
    return grades_of(loaded, str(path))


def load_run(
    path: Path, grades: Grades | None, *, root: str, unjudged: bool, tell: Tell
) -> Rankings | Iterator[Record]:
    """Read what is to be scored: rankings, which need judgements, or records.

    Args:
        path: The file.
        grades: The judgements, if there are any.
        root: Below which the paths of records are made relative, or nothing.
        unjudged: Whether queries that nobody judged are kept.
        tell: Told how many lines are read.

    Raises:
        InputError: The file is damaged, or holds rankings and there are no judgements. Damaged
            records are found when they are iterated over.
    """
    shape = shape_of(path)
    if shape == "run":
        judged = _need(path, grades)
        wanted = None if unjudged else judged
        return Rankings(*trec.read_run(path, wanted, ours=trec.is_ours(path), tell=tell))
    if shape in ("qrels", "judgements"):
        raise InputError(
            f"{path} looks like judgements, not like a run\n"
            "a run has six fields a line: query, Q0, document, rank, score, tag"
        )
    loaded = _load(path, root)
    if isinstance(loaded, dict):
        _need(path, grades)
        return Rankings(rankings_of(loaded, str(path)))
    return once(loaded)


def _need(path: Path, grades: Grades | None) -> Grades:
    if grades is None:
        raise InputError(f"{path} holds rankings alone; give their judgements by --qrels FILE")
    return grades


def _load(path: Path, root: str = "") -> dict[str, Any] | Iterator[Record]:
    """A dictionary, or records."""
    shape = shape_of(path)
    if shape == "table":
        return from_table(path)
    if shape == "jsonl":
        return from_lines(path, root)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    document = parse_json(raw, str(path))
    rows = rows_of(document)
    if rows is None:
        if not isinstance(document, dict):
            raise InputError(f"{path} holds neither records nor a dictionary of queries")
        return document
    return from_array(rows, path, root)


def once(records: Iterator[Record]) -> Iterator[Record]:
    """The records, of which no two may be of one query.

    Raises:
        InputError: Two are.
    """
    first: dict[str, str] = {}
    for record in records:
        if record.query in first:
            raise InputError(
                f"{record.where}: query {record.query} stands already at {first[record.query]}"
            )
        first[record.query] = record.where
        if len(first) > MOST_QUERIES:
            raise InputError(f"{record.where}: over {MOST_QUERIES:,} queries; score them in parts")
        yield record
