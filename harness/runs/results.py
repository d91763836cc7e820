"""The runs of lines that scores of chunks are carried over to, and the gold among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.measures.cell import Cell, Gold, Projection, Runs, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import comparable, family_of
from harness.measures.oracle import oracle
from harness.relevance.chunk_gold import ChunkTable, document_gold, span_gold
from harness.runs.record import digest
from harness.stats import intervals
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.evaluate import Scores
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.model import Relevance
    from harness.relevance.chunk_gold import Overlap
    from harness.relevance.targets import LocatedTarget
    from harness.runs.record import ChunkRow, FileRow, QueryRow, RankingRow, Record

RUN = 10
"""Non-blank lines of a run; the last one of a file may have fewer."""


@dataclass(frozen=True)
class LineRuns:
    """One corpus in runs.

    Attributes:
        runs: Its runs and the lines of its chunks.
        first: Number of the first run of each file, by path.
        lines: Non-blank lines of each file, by path.
    """

    runs: Runs
    first: Mapping[str, int]
    lines: Mapping[str, int]

    @classmethod
    def of(cls, files: Sequence[FileRow], chunks: Sequence[ChunkRow]) -> LineRuns:
        """Cut a corpus; nothing but `Runs.first` and `Runs.behind` depends on its chunks.

        Raises:
            InputError: A chunk lies in none of the files, or beyond the end of one.
        """
        lines = {file.path: file.lines for file in files}
        for chunk in chunks:
            _check(chunk.path, chunk.lines, lines)
        begin: dict[str, int] = {}
        first: dict[str, int] = {}
        edges: list[int] = []
        total = 0
        for path, count in lines.items():
            begin[path], first[path] = total, len(edges)
            edges += range(total, total + count, RUN)
            total += count
        base = np.array([begin[chunk.path] for chunk in chunks], dtype=np.int64)
        of_chunk = np.array([chunk.lines for chunk in chunks], dtype=np.int64).reshape(-1, 2)
        runs = Runs(np.array([*edges, total], dtype=np.int64), *(of_chunk + base[:, None]).T)
        return cls(runs, first, lines)

    def gold(self, places: Sequence[LocatedTarget], corpus: int) -> Gold:
        """Runs with a line of a target and, for runs with a line of a copy, what they stand for.

        Raises:
            InputError: A place lies in none of the files, or beyond the end of one.
        """
        own = [self._touched(place.path, place.lines) for place in places]
        unit = sorted({run for runs in own for run in runs})
        stands: dict[int, set[int]] = {}
        for place, runs in zip(places, own, strict=True):
            for (path, *_), lines in zip(place.twins, place.twin_lines, strict=True):
                for run in self._touched(path, lines):
                    if run not in unit:
                        stands.setdefault(run, set()).update(runs)
        return Gold(
            corpus=corpus,
            unit=np.array(unit, dtype=np.int64),
            grade=np.ones(len(unit)),
            twins=tuple((run, tuple(sorted(stands[run]))) for run in sorted(stands)),
        )

    def _touched(self, path: str, lines: tuple[int, int]) -> range:
        _check(path, lines, self.lines)
        first, behind = lines
        return range(self.first[path] + first // RUN, self.first[path] + (behind - 1) // RUN + 1)


def _check(path: str, lines: tuple[int, int], known: Mapping[str, int]) -> None:
    if lines[1] > known.get(path, -1):
        raise InputError(f"files.jsonl does not fit: {path} has no non-blank line {lines[1]}")


_NO_LINES = "the cell was written without the lines of its files; run it again"
_DOCUMENTS = "the gold is documents, not lines of files"


@dataclass(frozen=True)
class JudgedCell:
    """A record with its gold.

    Attributes:
        cell: What measures are computed from.
        unit_ids: Ids of the units of each corpus, in corpus order.
        corpora: Ids of the data set's corpora, as `cell.groups` numbers them.
    """

    cell: Cell
    unit_ids: tuple[tuple[str, ...], ...]
    corpora: tuple[str, ...]


def judge(record: Record, relevance: Relevance, profile: Profile) -> JudgedCell:
    """Work out the gold of a record.

    Args:
        record: The record.
        relevance: Which chunks that touch a target are relevant.
        profile: Says what touching is, and whether copies of a target count.
    """
    of = {query.ranked: query.corpus for query in record.queries}
    corpora, groups = sorted(of), sorted(set(of.values()))
    by_corpus = record.ranked()
    if not profile.twins:
        record = _without_twins(record)
    golds: dict[str, Gold] = {}
    units: list[Units] = []
    names: list[tuple[str, ...]] = []
    places: dict[str, dict[str, int]] = {}
    for number, corpus in enumerate(corpora):
        queries = [query for query in record.queries if query.ranked == corpus]
        if record.gold == "span":
            rule = (relevance, profile.overlap)
            of_corpus, ids, found = _judge_spans(by_corpus[corpus], queries, number, rule)
            if profile.deliver == "embed":
                of_corpus, found = _as_embedded(by_corpus[corpus], of_corpus, found)
        else:
            of_corpus, ids, found = _judge_documents(by_corpus[corpus], queries, number)
        golds.update(found)
        units.append(of_corpus)
        names.append(ids)
        places[corpus] = {name: at for at, name in enumerate(ids)}
    rankings = [
        _numbered(query, ranking, places[query.ranked], profile)
        for query, ranking in zip(record.queries, record.rankings, strict=True)
    ]
    scores = tuple(scores for _, _, scores in rankings)
    as_given = None if profile.mrr == "as-ranked" else tuple(given for _, given, _ in rankings)
    cell = Cell(
        queries=tuple(query.id for query in record.queries),
        corpora=tuple(units),
        gold=tuple(golds[query.id] for query in record.queries),
        ranking=tuple(ranked for ranked, _, _ in rankings),
        as_given=as_given,
        spans=record.gold == "span",
        groups=tuple(groups.index(of[corpus]) for corpus in corpora),
        projection=_projection(record, {one: by_corpus[one] for one in corpora}, scores, profile),
    )
    return JudgedCell(cell, tuple(names), tuple(groups))


def _numbered(
    query: QueryRow, ranking: RankingRow, places: Mapping[str, int], profile: Profile
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Unit numbers in rank order, and with equal scores in corpus order if scores decide.

    Behind them a score for each, NaN where there is none.
    """
    kept = [
        (places[name], np.nan if score is None else score)
        for name, score in zip(ranking.ids, ranking.scores, strict=True)
        if profile.same_id == "kept" or name != query.id
    ]
    units = np.array([unit for unit, _ in kept], dtype=np.int64)
    scores = np.array([score for _, score in kept], dtype=np.float64)
    if ranking.by_rank:
        return units, units, scores
    return units, units[np.lexsort((units, -scores))], scores


def _projection(
    record: Record,
    by_corpus: Mapping[str, Sequence[ChunkRow]],
    scores: Sequence[NDArray[np.float64]],
    profile: Profile,
) -> Projection | None:
    """Runs of lines, where the record knows all lines and the gold is lines."""
    files = record.ranked_files()
    if files is None or record.gold != "span":
        return None
    runs = [LineRuns.of(files[corpus], chunks) for corpus, chunks in by_corpus.items()]
    numbers = {corpus: number for number, corpus in enumerate(by_corpus)}
    if profile.ties == "float32-id-desc":  # such rankings know no finer scores
        scores = [one.astype(np.float32).astype(np.float64) for one in scores]
    gold = []
    for query in record.queries:
        number = numbers[query.ranked]
        gold.append(runs[number].gold(query.places, number))
    return Projection(tuple(one.runs for one in runs), tuple(gold), tuple(scores))


def _without_twins(record: Record) -> Record:
    queries = tuple(
        replace(
            query, places=tuple(replace(place, twins=(), twin_lines=()) for place in query.places)
        )
        for query in record.queries
    )
    return replace(record, queries=queries)


_Parts = tuple[Units, tuple[str, ...], dict[str, "Gold"]]


def _judge_spans(
    chunks: Sequence[ChunkRow],
    queries: Sequence[QueryRow],
    number: int,
    rule: tuple[Relevance, Overlap],
) -> _Parts:
    table = table_of(chunks)
    gold = {query.id: span_gold(query.places, table, number, *rule) for query in queries}
    return table.units, tuple(chunk.id for chunk in chunks), gold


def table_of(chunks: Sequence[ChunkRow]) -> ChunkTable:
    """The chunks of a corpus, in its order, as what gold is looked up in."""
    rows = [(one.path, one.nws, one.lines, one.ref_lines) for one in chunks]
    return ChunkTable.of(rows, [one.gaps for one in chunks])


def _as_embedded(
    chunks: Sequence[ChunkRow], units: Units, gold: Mapping[str, Gold]
) -> tuple[Units, dict[str, Gold]]:
    """Units that cost what was embedded of them; what is gold in them begins behind the header."""
    lost = next((one.id for one in chunks if one.around is None), None)
    if lost is not None:
        raise InputError(
            f"{lost}: what was embedded does not hold the chunk's text, so deliver=embed cannot "
            "tell what of it is gold; leave deliver=embed"
        )
    around = np.array([one.around for one in chunks], dtype=np.int64).reshape(-1, 2)
    shifted = {
        query: replace(
            one,
            pieces=replace(one.pieces, offset=one.pieces.offset + around[one.pieces.unit, 0]),
        )
        for query, one in gold.items()
    }
    return replace(units, size=units.size + around.sum(axis=1)), shifted


def _judge_documents(
    chunks: Sequence[ChunkRow], queries: Sequence[QueryRow], number: int
) -> _Parts:
    ids = sorted({chunk.path for chunk in chunks})
    places = {name: at for at, name in enumerate(ids)}
    size = np.zeros(len(ids), dtype=np.int64)
    for chunk in chunks:
        gaps = sum(high - low for low, high in chunk.gaps)
        size[places[chunk.path]] += chunk.nws[1] - chunk.nws[0] - gaps
    gold = {query.id: document_gold(query.qrels or {}, places, number) for query in queries}
    return Units(size, np.arange(len(ids))), tuple(ids), gold


def qrels_of(record: Record, judged: JudgedCell) -> Iterator[tuple[str, str, float]]:
    """Query id, unit id and grade of everything that is judged, in order of query."""
    for query, gold in zip(record.queries, judged.cell.gold, strict=True):
        if query.qrels is not None:
            for name, grade in sorted(query.qrels.items()):
                yield query.id, name, grade
            continue
        names = judged.unit_ids[gold.corpus]
        for unit, grade in zip(gold.unit.tolist(), gold.grade.tolist(), strict=True):
            yield query.id, names[unit], grade


@dataclass(frozen=True)
class MetricOptions:
    """What is computed from a record: these decide every byte of the metrics.

    Attributes:
        measures: The measures.
        profile: The conventions.
        relevance: Which chunks are relevant.
        seed: Of resampling and random orders.
    """

    measures: tuple[Measure, ...]
    profile: Profile
    relevance: Relevance
    seed: int


def score(
    record: Record, judged: JudgedCell, asked: MetricOptions
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The document `metrics.json` of a cell, and the lines of its `per_query.jsonl`."""
    scores = evaluate(judged.cell, asked.measures, asked.profile)
    return _metrics(record, judged, asked, scores), _per_query(record, scores)


def _metrics(
    record: Record, judged: JudgedCell, asked: MetricOptions, scores: Scores
) -> dict[str, Any]:
    best = oracle(judged.cell, asked.measures, asked.profile)
    random = chance(judged.cell, asked.measures, asked.profile, asked.seed)
    ends = _intervals(scores, asked)
    found: dict[str, Any] = {}
    for measure in asked.measures:
        name = str(measure)
        anchor, expected, ci95 = best[name], random[name], ends[name]
        by_corpus = scores.corpus_means(name) or {}
        found[name] = {
            "mean": scores.mean[name],
            "ci95": None if ci95 is None else list(ci95),
            "n": int(scores.counted[name].sum()),
            "comparable": comparable(measure, spans=judged.cell.spans),
            "oracle": None if anchor is None else anchor.mean,
            "oracle_is_bound": anchor is not None and not anchor.exact,
            "random": None if expected is None else expected.mean,
            "random_error": None if expected is None else expected.standard_error,
            "mean_over_corpora": mean(list(by_corpus.values())) if by_corpus else None,
            "by_corpus": {judged.corpora[corpus]: mean for corpus, mean in by_corpus.items()},
        }
        if family_of(measure).projected and scores.per_query[name] is None:
            found[name]["why"] = _NO_LINES if judged.cell.spans else _DOCUMENTS
    return {
        "interval": intervals.LABEL,
        "mean_over": asked.profile.mean,
        "n_queries": scores.n,
        "left_out": dict(scores.left_out),
        "relevant_units": _relevant_units(judged.cell, scores),
        "metrics": found,
        "by": _splits(record, scores),
    }


def _intervals(scores: Scores, asked: MetricOptions) -> dict[str, tuple[float, float] | None]:
    """Of each mean over the queries that it counts; a mean over corpora has none from queries."""
    found: dict[str, tuple[float, float] | None] = dict.fromkeys(scores.per_query)
    if asked.profile.mean != "queries":
        return found
    masks = {mask.tobytes(): mask for mask in scores.counted.values()}
    for key, mask in masks.items():
        mine = {
            name: values
            for name, values in scores.per_query.items()
            if scores.counted[name].tobytes() == key
        }
        found |= intervals.intervals(mine, mask, asked.seed)
    return found


def _relevant_units(cell: Cell, scores: Scores) -> float | None:
    """Relevant units of a query on average: why chunk-level columns differ between chunkers."""
    counts = np.array([len(gold.unit) for gold in cell.gold])[scores.included]
    return float(counts.mean()) if len(counts) else None


def _splits(record: Record, scores: Scores) -> dict[str, Any]:
    """Means over the queries of each value of each tag."""
    result: dict[str, Any] = {}
    for tag in sorted({tag for query in record.queries for tag in query.tags}):
        values = np.array([query.tags.get(tag, "") for query in record.queries])
        for value in sorted(set(values.tolist())):
            rows = scores.included & (values == value)
            if not rows.any():
                continue
            result.setdefault(tag, {})[value] = {
                "n": int(rows.sum()),
                "metrics": {
                    name: None if one is None else mean(one[rows])
                    for name, one in scores.per_query.items()
                },
            }
    return result


def _per_query(record: Record, scores: Scores) -> list[dict[str, Any]]:
    """The value of every measure, whether it is in a mean, and a hash of what it rests on."""
    columns = {n: None if one is None else one.tolist() for n, one in scores.per_query.items()}
    return [
        {
            "query_id": query.id,
            "included": bool(scores.included[at]),
            "digest": digest(query, record.rankings[at]),
            "metrics": {n: None if one is None else one[at] for n, one in columns.items()},
        }
        for at, query in enumerate(record.queries)
    ]
