"""What a cell stores of itself, and the files it is stored in.

Metrics are computed from a record alone, so a stored cell answers new measures without ranking
again, and anybody can recompute a number from the files.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from chunkers.errors import InputError
from harness.relevance.targets import LocatedTarget
from harness.support.files import DAMAGE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Interval = tuple[int, int]

_LINES = re.compile(r":([0-9]+)-([0-9]+)\Z")


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One chunk; see `harness.chunking.corpus.Chunk` for the fields."""

    corpus: str
    id: str
    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    nws: Interval
    lines: Interval
    ref_id: str | None = None
    around: Interval | None = (0, 0)
    gaps: tuple[Interval, ...] = ()

    @property
    def ref_lines(self) -> tuple[int, int]:
        """First and last line, from 0: those in the reproduced system's id, else ours."""
        told = _LINES.search(self.ref_id or "")
        if told is None:
            return self.start_line - 1, self.end_line - 1
        return int(told[1]), int(told[2])


@dataclass(frozen=True, slots=True)
class MaskRow:
    """What was taken out of the corpus that a query is ranked against.

    Attributes:
        corpus: Id of the query's own corpus; the chunks of its masked file bear it.
        path: The masked file.
        start_line: First line that was taken out, in the file as it was.
        end_line: Last line.
        at: Chunks of the whole corpus that lie in the files before.
    """

    corpus: str
    path: str
    start_line: int
    end_line: int
    at: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of a corpus, cut into chunks or not: its characters and its non-blank lines."""

    corpus: str
    path: str
    nws: int
    lines: int


@dataclass(frozen=True)
class QueryRow:
    """One query: its gold as places, or as document grades.

    `corpus` is the data set's, by which queries are grouped; with a mask, what is ranked is that
    corpus with the chunks of the masked file in the place of the file's.
    """

    id: str
    corpus: str
    cluster: str
    tags: Mapping[str, str]
    places: tuple[LocatedTarget, ...]
    qrels: Mapping[str, float] | None
    mask: MaskRow | None = None

    @property
    def ranked(self) -> str:
        """Id of the corpus that is ranked for the query."""
        return self.corpus if self.mask is None else self.mask.corpus


@dataclass(frozen=True)
class RankingRow:
    """Ids in rank order and their scores; None for what the retriever did not score.

    `by_rank`: the order says more than the scores, which stand on several scales, or leave equal
    ones in an order of their own.
    """

    ids: tuple[str, ...]
    scores: tuple[float | None, ...]
    by_rank: bool = False


@dataclass(frozen=True)
class Record:
    """A ranked cell: chunks in corpus order, queries and their rankings in order of query id.

    With masks the chunks are those of every whole corpus, then those of every masked file. So are
    the `files`; None where an older program wrote the cell without them.
    """

    gold: str
    chunks: tuple[ChunkRow, ...]
    queries: tuple[QueryRow, ...]
    rankings: tuple[RankingRow, ...]
    files: tuple[FileRow, ...] | None = None

    def ranked(self) -> dict[str, list[ChunkRow]]:
        """The chunks of every corpus that a query is ranked against, by id, in corpus order."""
        stored: dict[str, list[ChunkRow]] = {}
        for chunk in self.chunks:
            stored.setdefault(chunk.corpus, []).append(chunk)
        found = {}
        for query in self.queries:
            rows, mask = stored.get(query.corpus, []), query.mask
            if mask is not None:
                behind = [row for row in rows[mask.at :] if row.path != mask.path]
                rows = [*rows[: mask.at], *stored.get(mask.corpus, []), *behind]
            found[query.ranked] = rows
        return found

    def ranked_files(self) -> dict[str, list[FileRow]] | None:
        """The files of the same corpora, cut or not; None where they are not known."""
        if self.files is None:
            return None
        stored: dict[str, dict[str, FileRow]] = {}
        for file in self.files:
            stored.setdefault(file.corpus, {})[file.path] = file
        found = {}
        for query in self.queries:
            masked = {} if query.mask is None else stored.get(query.mask.corpus, {})
            # The masked file takes the place of the file that it was.
            found[query.ranked] = list({**stored.get(query.corpus, {}), **masked}.values())
        return found


def encode_id(name: str) -> str:
    """Percent-encode what would break a line of a .trec file: white space, `%`, controls."""
    if name.isprintable() and "%" not in name and " " not in name:
        return name
    return "".join(
        "".join(f"%{byte:02X}" for byte in mark.encode("utf-8", "surrogatepass"))
        if mark.isspace() or mark == "%" or not mark.isprintable()
        else mark
        for mark in name
    )


def decode_id(encoded: str) -> str:
    """What `encode_id` encoded."""
    return unquote(encoded, errors="surrogatepass")


def write_record(folder: Path, record: Record, qrels: Iterable[tuple[str, str, float]]) -> None:
    """Write a record into a folder.

    Args:
        folder: An existing folder.
        record: The record.
        qrels: Query id, unit id and grade of what is judged, in order.
    """
    if record.files is not None:
        _write_lines(folder / "files.jsonl", (_dump(_fields(one)) for one in record.files))
    _write_lines(folder / "chunks.jsonl", (_dump(_chunk_fields(one)) for one in record.chunks))
    _write_lines(
        folder / "queries.jsonl",
        (
            _dump(
                {
                    "query_id": query.id,
                    "corpus": query.corpus,
                    "cluster": query.cluster,
                    "tags": dict(query.tags),
                    "gold": record.gold,
                    **({} if query.mask is None else {"mask": _fields(query.mask)}),
                }
            )
            for query in record.queries
        ),
    )
    _write_lines(
        folder / "targets.jsonl",
        (line for query in record.queries for line in _target_lines(query)),
    )
    _write_lines(
        folder / "qrels.trec",
        (qrels_line(*row) for row in qrels),
    )
    pairs = list(zip(record.queries, record.rankings, strict=True))
    _write_lines(folder / "run.trec", (line for pair in pairs for line in _run_lines(*pair)))
    _write_lines(folder / "scores.jsonl", (_scores_line(*pair) for pair in pairs))


def qrels_line(query: str, unit: str, grade: float) -> str:
    """A line of qrels.trec."""
    exact = int(grade) if grade == int(grade) else grade
    return f"{encode_id(query)} 0 {encode_id(unit)} {exact}"


def digest(query: QueryRow, ranking: RankingRow) -> str:
    """Hash of all lines of a query in targets.jsonl, run.trec and scores.jsonl, in this order."""
    lines = [*_target_lines(query), *_run_lines(query, ranking), _scores_line(query, ranking)]
    return lines_digest(lines)


def lines_digest(lines: Iterable[str]) -> str:
    """sha256 of lines, each ended by LF."""
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _chunk_fields(row: ChunkRow) -> dict[str, Any]:
    """The fields of a chunk, those that few chunks have only where they say something."""
    rare = {"around": (0, 0), "gaps": ()}
    return {name: it for name, it in _fields(row).items() if name not in rare or it != rare[name]}


def _fields(row: ChunkRow | MaskRow | FileRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__slots__}


def _target_lines(query: QueryRow) -> Iterator[str]:
    for unit, grade in sorted((query.qrels or {}).items()):
        yield _dump({"query_id": query.id, "document": unit, "grade": grade})
    for place in query.places:
        yield _dump(
            {
                "query_id": query.id,
                "path": place.path,
                "start_line": place.start_line,
                "end_line": place.end_line,
                "grade": place.grade,
                "nws": place.stretch[1:],
                "lines": place.lines,
                "twins": [
                    {"path": path, "nws": nws, "lines": lines}
                    for (path, *nws), lines in zip(place.twins, place.twin_lines, strict=True)
                ],
            }
        )


def _run_lines(query: QueryRow, ranking: RankingRow) -> Iterator[str]:
    name, rows = encode_id(query.id), len(ranking.ids)
    # The score column is the place from the end, so that an outside scorer ranks alike.
    for rank, unit in enumerate(ranking.ids, 1):
        yield f"{name} Q0 {encode_id(unit)} {rank} {rows - rank + 1} chunkmark"


def _scores_line(query: QueryRow, ranking: RankingRow) -> str:
    row = {"query_id": query.id, "scores": list(ranking.scores)}
    return _dump(row | {"by_rank": True} if ranking.by_rank else row)


def read_record(folder: Path) -> Record:
    """Read what `write_record` wrote.

    Raises:
        InputError: A file is missing or damaged.
    """
    try:
        chunks = tuple(_chunk(row) for row in _read_jsonl(folder / "chunks.jsonl"))
        files = None
        if (folder / "files.jsonl").is_file():
            files = tuple(FileRow(**row) for row in _read_jsonl(folder / "files.jsonl"))
        places: dict[str, list[LocatedTarget]] = {}
        qrels: dict[str, dict[str, float]] = {}
        for row in _read_jsonl(folder / "targets.jsonl"):
            if "document" in row:
                qrels.setdefault(row["query_id"], {})[row["document"]] = row["grade"]
            else:
                places.setdefault(row["query_id"], []).append(_place(row))
        listed = list(_read_jsonl(folder / "queries.jsonl"))
        queries = tuple(
            QueryRow(
                id=row["query_id"],
                corpus=row["corpus"],
                cluster=row["cluster"],
                tags=row["tags"],
                places=tuple(places.get(row["query_id"], ())),
                qrels=qrels.get(row["query_id"], {}) if row["gold"] == "document" else None,
                mask=MaskRow(**row["mask"]) if "mask" in row else None,
            )
            for row in listed
        )
        ranked: dict[str, list[str]] = {}
        for line in (folder / "run.trec").read_text("utf-8").split("\n"):
            if line:
                query, _, unit, *_ = line.split(" ")
                ranked.setdefault(decode_id(query), []).append(decode_id(unit))
        rankings = tuple(
            RankingRow(
                tuple(ranked.get(row["query_id"], ())),
                tuple(row["scores"]),
                row.get("by_rank", False),
            )
            for row in _read_jsonl(folder / "scores.jsonl")
        )
    except DAMAGE_ERRORS as error:
        raise InputError(
            f"{folder}: the stored cell is damaged ({type(error).__name__}: {error}); remove it"
        ) from error
    gold = listed[0]["gold"] if listed else "span"
    return Record(gold, chunks, queries, rankings, files)


def _chunk(row: dict[str, Any]) -> ChunkRow:
    pairs = {name: tuple(row[name]) for name in ("nws", "lines", "around") if row.get(name)}
    gaps = tuple((low, high) for low, high in row.get("gaps", ()))
    return ChunkRow(**{**row, **pairs, "gaps": gaps})


def _place(row: Mapping[str, Any]) -> LocatedTarget:
    low, high = row["nws"]
    first, behind = row["lines"]
    return LocatedTarget(
        path=row["path"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        grade=row["grade"],
        stretch=(row["path"], low, high),
        lines=(first, behind),
        twins=tuple((twin["path"], *twin["nws"]) for twin in row["twins"]),
        twin_lines=tuple((twin["lines"][0], twin["lines"][1]) for twin in row["twins"]),
    )


def finite(score: float) -> float | None:
    """A score as JSON can hold it: None for what is not a finite number."""
    return float(score) if math.isfinite(score) else None


def _plain(value: object) -> object:
    if isinstance(value, np.integer | np.floating):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not written to a run folder")


def _dump(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def _read_jsonl(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for line in file:
            yield json.loads(line)
