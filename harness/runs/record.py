"""The record of a cell, and the files that it is stored in.

Metrics are computed from the record alone: a stored cell answers new measures without ranking
again, and anybody can recompute a number from the files.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from harness.chunking.chunks import (
    ChunkPlace,
    FileRows,
    FileSequence,
    Row,
    Special,
    id_of,
    table_of,
)
from harness.relevance.targets import LocatedTarget
from harness.runs.damage import undamaged
from harness.support.json_files import stored_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.chunking.chunks import Interval
    from harness.stats.clusters import Member

_LINES = re.compile(r":([0-9]+)-([0-9]+)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow(ChunkPlace):
    """What is stored of one chunk."""

    corpus: str


def ref_lines(ref_id: str) -> Interval | None:
    """The lines that a `ref_id` names, from 0; None if it names none."""
    match = _LINES.search(ref_id)
    return None if match is None else (int(match[1]), int(match[2]))


class ChunkRows(FileSequence[ChunkRow, FileRows]):
    """The chunks of the files of one or several corpora, in corpus order.

    Attributes:
        corpora: The corpus of each of `files`.
    """

    def __init__(self, files: Iterable[tuple[str, FileRows]]) -> None:
        pairs = tuple(files)
        self.corpora = tuple(corpus for corpus, _ in pairs)
        super().__init__((file for _, file in pairs), self._row)

    @classmethod
    def of(cls, rows: Iterable[ChunkRow]) -> ChunkRows:
        """Rows in corpus order."""
        grouped = itertools.groupby(rows, key=attrgetter("corpus", "path"))
        return cls((corpus, _file_rows(path, own)) for (corpus, path), own in grouped)

    @property
    def pairs(self) -> list[tuple[str, FileRows]]:
        """Corpus and file, as they were given."""
        return list(zip(self.corpora, self.files, strict=True))

    def _row(self, number: int, at: int) -> ChunkRow:
        return ChunkRow(corpus=self.corpora[number], **self.files[number].place(at))


def _file_rows(path: str, chunks: Iterable[ChunkRow]) -> FileRows:
    rows: list[Row] = []
    special: dict[int, Special] = {}
    for chunk in chunks:
        first, last = chunk.start_line, chunk.end_line
        copy = chunk.id.removeprefix(f"{path}:{first}-{last}").removeprefix("#")
        before, after = chunk.around or (-1, -1)
        place = Row(chunk.start, chunk.end, first, last, *chunk.nws, *chunk.lines)
        if chunk.ref_id is not None or chunk.gaps:
            special[len(rows)] = Special(ref_id=chunk.ref_id, gaps=chunk.gaps)
        rows.append(place._replace(copy=int(copy or 1), before=before, after=after))
        if chunk.id != id_of(path, first, last, rows[-1].copy):
            raise ValueError(f"{chunk.id} is not the id of its lines")
    return FileRows(path, table_of(rows), special)


@dataclass(frozen=True, slots=True)
class MaskRow:
    """The lines that are blank in the corpus of a masked query.

    Lines are those of the original file. `corpus` is the query's own corpus, which the chunks of
    its masked file name; `at` is the number of chunks of the whole corpus in the files before.
    """

    corpus: str
    path: str
    start_line: int
    end_line: int
    at: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of a corpus, with its numbers of non-white-space characters and non-blank lines."""

    corpus: str
    path: str
    nws: int
    lines: int


@dataclass(frozen=True)
class QueryRow:
    """One query with its gold: located targets, or grades of documents.

    `corpus` is the data set's, by which queries are grouped. A masked query is ranked against that
    corpus with the chunks of the masked file in place of those of the original file.
    """

    id: str
    corpus: str
    cluster: str
    text: str
    tags: Mapping[str, str]
    places: tuple[LocatedTarget, ...]
    qrels: Mapping[str, float] | None
    mask: MaskRow | None = None

    @property
    def ranked(self) -> str:
        """Id of the corpus that the query is ranked against."""
        return self.corpus if self.mask is None else self.mask.corpus

    @property
    def member(self) -> Member:
        """Its corpus and cluster."""
        return self.corpus, self.cluster or self.id


@dataclass(frozen=True)
class RankingRow:
    """Ids in rank order, and their scores; None for units without a score.

    `by_rank`: the order is not that of the scores, which may be on several scales or have ties.
    """

    ids: tuple[str, ...]
    scores: tuple[float | None, ...]
    by_rank: bool = False


@dataclass(frozen=True)
class Record:
    """A ranked cell: chunks in corpus order, queries and their rankings in order of query id.

    Chunks and files of whole corpora come before those of masked files.
    """

    gold: str
    files: tuple[FileRow, ...]
    chunks: ChunkRows
    queries: tuple[QueryRow, ...]
    rankings: tuple[RankingRow, ...]

    def ranked_chunks(self) -> dict[str, ChunkRows]:
        """The chunks of every corpus that a query is ranked against, by id, in corpus order."""
        stored: dict[str, list[tuple[str, FileRows]]] = {}
        for corpus, file in self.chunks.pairs:
            stored.setdefault(corpus, []).append((corpus, file))
        corpora = {}
        for query in self.queries:
            files, mask = stored.get(query.corpus, []), query.mask
            if mask is not None:
                starts = itertools.accumulate((len(file) for _, file in files), initial=0)
                at = next((n for n, start in enumerate(starts) if start >= mask.at), len(files))
                after = [pair for pair in files[at:] if pair[1].path != mask.path]
                files = [*files[:at], *stored.get(mask.corpus, []), *after]
            if query.ranked not in corpora:
                corpora[query.ranked] = ChunkRows(files)
        return corpora

    def ranked_files(self) -> dict[str, list[FileRow]]:
        """The files of the same corpora."""
        stored: dict[str, dict[str, FileRow]] = {}
        for file in self.files:
            stored.setdefault(file.corpus, {})[file.path] = file
        corpora = {}
        for query in self.queries:
            masked = {} if query.mask is None else stored.get(query.mask.corpus, {})
            # The masked file replaces the original one.
            corpora[query.ranked] = list({**stored.get(query.corpus, {}), **masked}.values())
        return corpora


@functools.lru_cache(maxsize=1 << 16)  # queries rank the same units
def encode_id(name: str) -> str:
    """Percent-encode white space, `%` and control characters, which would break a .trec line."""
    if name.isprintable() and "%" not in name and " " not in name:
        return name
    return "".join(
        "".join(f"%{byte:02X}" for byte in mark.encode("utf-8", "surrogatepass"))
        if mark.isspace() or mark == "%" or not mark.isprintable()
        else mark
        for mark in name
    )


def decode_id(encoded: str) -> str:
    """The id that `encode_id` encoded."""
    return unquote(encoded, errors="surrogatepass")


def write_record(
    folder: Path, record: Record, qrels: Iterable[tuple[str, str, float]]
) -> list[str]:
    """Write a record into a folder.

    Args:
        folder: The folder.
        record: The record.
        qrels: Query id, unit id and grade of judged units.

    Returns:
        The `digest` of every query.
    """
    files: dict[str, Iterable[str]] = {
        "files.jsonl": (_dump(_fields(file)) for file in record.files),
        "chunks.jsonl": _chunk_lines(record.chunks),
        "queries.jsonl": (_query_line(query, record.gold) for query in record.queries),
        "qrels.trec": (qrels_line(*row) for row in qrels),
    }
    for name, lines in files.items():
        path = folder / name
        with path.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.writelines(line + "\n" for line in lines)
    digests = [hashlib.sha256() for _ in record.queries]
    for name, lines_of in _OF_QUERIES.items():
        with (folder / name).open("wb") as out:
            pairs = zip(record.queries, record.rankings, strict=True)
            for own, (query, ranking) in zip(digests, pairs, strict=True):
                octets = lines_of(query, ranking).encode("utf-8", "surrogatepass")
                out.write(octets)
                own.update(octets)
    return [own.hexdigest() for own in digests]


def _query_line(query: QueryRow, gold: str) -> str:
    row = {
        "query_id": query.id,
        "corpus": query.corpus,
        "cluster": query.cluster,
        "tags": dict(query.tags),
        "gold": gold,
        "text": query.text,
    }
    return _dump(row if query.mask is None else row | {"mask": _fields(query.mask)})


def qrels_line(query: str, unit: str, grade: float) -> str:
    """A line of qrels.trec."""
    exact = int(grade) if grade == int(grade) else grade
    return f"{encode_id(query)} 0 {encode_id(unit)} {exact}"


def digest(query: QueryRow, ranking: RankingRow) -> str:
    """sha256 of all lines of a query in targets.jsonl, run.trec and scores.jsonl, in this order."""
    text = "".join(lines_of(query, ranking) for lines_of in _OF_QUERIES.values())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lines_digest(lines: Iterable[str]) -> str:
    """sha256 of lines, each with a line feed."""
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _chunk_lines(chunks: ChunkRows) -> Iterator[str]:
    """A line for each chunk; `around` and `gaps` only where they are not the default."""
    uses = Counter(map(id, chunks.files))
    shared: dict[int, list[str]] = {}  # corpora share most of their files
    for corpus, file in chunks.pairs:
        start = _dump({"corpus": corpus})[:-1]
        lines = shared.get(id(file))
        if lines is None:
            lines = [*_file_lines(file)]
            if uses[id(file)] > 1:
                shared[id(file)] = lines
        for line in lines:
            yield f"{start}, {line}"


def _file_lines(file: FileRows) -> Iterator[str]:
    """The line of each chunk of a file, after its corpus."""
    defaults = {"around": (0, 0), "gaps": ()}
    for place in map(file.place, range(len(file))):
        left_out = {name for name, value in defaults.items() if place[name] == value}
        yield _dump({name: value for name, value in place.items() if name not in left_out})[1:]


def _fields(row: MaskRow | FileRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__slots__}


def _target_lines(query: QueryRow, _: RankingRow) -> str:
    rows: list[dict[str, Any]] = [
        {"query_id": query.id, "document": unit, "grade": grade}
        for unit, grade in sorted((query.qrels or {}).items())
    ]
    for place in query.places:
        rows.append(
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
    return "".join(f"{_dump(row)}\n" for row in rows)


def _run_lines(query: QueryRow, ranking: RankingRow) -> str:
    name, rows = encode_id(query.id), len(ranking.ids)
    # Scores that descend by one, so that every scorer keeps the order.
    lines = [
        f"{name} Q0 {unit} {rank} {rows - rank + 1} chunkmark\n"
        for rank, unit in enumerate(map(encode_id, ranking.ids), 1)
    ]
    return "".join(lines)


def _scores_line(query: QueryRow, ranking: RankingRow) -> str:
    row = {"query_id": query.id, "scores": list(ranking.scores)}
    return _dump(row | {"by_rank": True} if ranking.by_rank else row) + "\n"


_OF_QUERIES: dict[str, Callable[[QueryRow, RankingRow], str]] = {
    "targets.jsonl": _target_lines,
    "run.trec": _run_lines,
    "scores.jsonl": _scores_line,
}
"""File -> a query's lines in it, in the order in which `digest` takes them."""


def read_record(folder: Path) -> Record:
    """Read the files that `write_record` wrote.

    Raises:
        InputError: A file is missing or damaged.
    """
    with undamaged(folder):
        return _read_record(folder)


def _read_record(folder: Path) -> Record:
    places: dict[str, list[LocatedTarget]] = {}
    qrels: dict[str, dict[str, float]] = {}
    for row in stored_rows(folder / "targets.jsonl"):
        if "document" in row:
            qrels.setdefault(row["query_id"], {})[row["document"]] = row["grade"]
        else:
            places.setdefault(row["query_id"], []).append(_place(row))
    query_rows = list(stored_rows(folder / "queries.jsonl"))
    ranked = read_ranked_ids(folder)
    return Record(
        gold=query_rows[0]["gold"] if query_rows else "span",
        files=tuple(FileRow(**row) for row in stored_rows(folder / "files.jsonl")),
        chunks=ChunkRows.of(map(_chunk, stored_rows(folder / "chunks.jsonl"))),
        queries=tuple(
            QueryRow(
                id=row["query_id"],
                corpus=row["corpus"],
                cluster=row["cluster"],
                text=row["text"],
                tags=row["tags"],
                places=tuple(places.get(row["query_id"], ())),
                qrels=qrels.get(row["query_id"], {}) if row["gold"] == "document" else None,
                mask=MaskRow(**row["mask"]) if "mask" in row else None,
            )
            for row in query_rows
        ),
        rankings=tuple(
            RankingRow(
                tuple(ranked.get(row["query_id"], ())),
                tuple(row["scores"]),
                row.get("by_rank", False),
            )
            for row in stored_rows(folder / "scores.jsonl")
        ),
    )


def _chunk(row: dict[str, Any]) -> ChunkRow:
    pairs = {name: tuple(row[name]) for name in ("nws", "lines", "around") if row.get(name)}
    gaps = tuple((low, high) for low, high in row.get("gaps", ()))
    return ChunkRow(**{**row, **pairs, "gaps": gaps})


def read_ranked_ids(folder: Path) -> dict[str, list[str]]:
    """The ids that a stored cell ranked for each query; a query without any is absent.

    Raises:
        InputError: The file is missing or damaged.
    """
    ranked: dict[str, list[str]] = {}
    decode = functools.cache(decode_id)  # queries rank the same units
    with undamaged(folder):
        for line in (folder / "run.trec").read_text("utf-8").split("\n"):
            if line:
                query, _, unit, *_ = line.split(" ", 3)
                ranked.setdefault(decode(query), []).append(decode(unit))
    return ranked


def _place(row: Mapping[str, Any]) -> LocatedTarget:
    low, high = row["nws"]
    first, stop = row["lines"]
    return LocatedTarget(
        path=row["path"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        grade=row["grade"],
        stretch=(row["path"], low, high),
        lines=(first, stop),
        twins=tuple((twin["path"], *twin["nws"]) for twin in row["twins"]),
        twin_lines=tuple((twin["lines"][0], twin["lines"][1]) for twin in row["twins"]),
    )


def finite(scores: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Scores as JSON can hold them: None if one is not finite."""
    if np.isfinite(scores).all():
        return tuple(scores.tolist())
    return tuple(score if math.isfinite(score) else None for score in scores.tolist())


def _plain(value: object) -> object:
    if isinstance(value, np.integer | np.floating):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not written to a run folder")


def _dump(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain)
