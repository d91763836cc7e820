"""Computes the numbers of a cell from its record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.measures.cell import Cell, Gold, Projection, Runs, Units
from harness.measures.evaluate import evaluate
from harness.measures.grammar import comparable, family_of
from harness.measures.id_ranks import rank_order
from harness.relevance.chunk_gold import ChunkTable, document_gold, span_gold
from harness.runs.record import digest, ref_lines
from harness.stats.intervals import LABELS, intervals
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.evaluate import Scores
    from harness.measures.profiles import Profile
    from harness.model import Relevance
    from harness.relevance.targets import LocatedTarget
    from harness.runs.metric_options import MetricOptions
    from harness.runs.record import ChunkRows, FileRow, QueryRow, RankingRow, Record

LINES_OF_RUN = 10
"""Non-blank lines of a run; the last run of a file may have fewer."""

_DOCUMENTS = "the gold is documents, not lines of files"


@dataclass(frozen=True)
class JudgedCell:
    """A record with its gold.

    `unit_ids` are in corpus order; `corpora` are the data set's, as `cell.groups` numbers them.
    """

    cell: Cell
    unit_ids: tuple[Sequence[str], ...]
    corpora: tuple[str, ...]


def judge(record: Record, relevance: Relevance, profile: Profile) -> JudgedCell:
    """Find the gold of a record by the rules of a relevance and a profile.

    Raises:
        InputError: The record does not fit its files or the profile.
    """
    if not profile.twins:
        record = _without_twins(record)
    corpus_of = {query.ranked: query.corpus for query in record.queries}
    corpora, groups = sorted(corpus_of), sorted(set(corpus_of.values()))
    chunks = record.ranked_chunks()
    ranked: dict[str, set[str]] = {corpus: set() for corpus in corpora}
    for query, ranking in zip(record.queries, record.rankings, strict=True):
        ranked[query.ranked].update(ranking.ids)
    units: list[Units] = []
    names: list[Sequence[str]] = []
    numbers: dict[str, dict[str, int]] = {}
    golds: dict[str, Gold] = {}
    for number, corpus in enumerate(corpora):
        queries = [query for query in record.queries if query.ranked == corpus]
        if record.gold == "span":
            table = table_of(chunks[corpus])
            corpus_units, ids = table.units, chunks[corpus].ids
            gold = {
                query.id: span_gold(query.places, table, number, relevance, profile.overlap)
                for query in queries
            }
            if profile.deliver == "embed":
                corpus_units, gold = _as_embedded(chunks[corpus], corpus_units, gold)
        else:
            corpus_units, ids = _documents(chunks[corpus])
            places = {name: at for at, name in enumerate(ids)}
            gold = {query.id: document_gold(query.qrels or {}, places, number) for query in queries}
        numbers[corpus] = {name: at for at, name in enumerate(ids) if name in ranked[corpus]}
        units.append(corpus_units)
        names.append(ids)
        golds |= gold
    rankings = [
        _numbered(query, ranking, numbers[query.ranked], profile)
        for query, ranking in zip(record.queries, record.rankings, strict=True)
    ]
    cell = Cell(
        queries=tuple(query.id for query in record.queries),
        corpora=tuple(units),
        gold=tuple(golds[query.id] for query in record.queries),
        ranking=tuple(units for units, _, _ in rankings),
        mrr_ranking=tuple(order for _, order, _ in rankings) if profile.own_order else None,
        spans=record.gold == "span",
        groups=tuple(groups.index(corpus_of[corpus]) for corpus in corpora),
        projection=_projection(
            record, {name: chunks[name] for name in corpora}, [s for _, _, s in rankings], profile
        ),
    )
    return JudgedCell(cell, tuple(names), tuple(groups))


def _without_twins(record: Record) -> Record:
    queries = tuple(
        replace(
            query, places=tuple(replace(place, twins=(), twin_lines=()) for place in query.places)
        )
        for query in record.queries
    )
    return replace(record, queries=queries)


def table_of(chunks: ChunkRows) -> ChunkTable:
    """The chunks of a corpus as a table, in its order."""
    return ChunkTable.of_files(chunks, ref_lines)


def _as_embedded(
    chunks: ChunkRows, units: Units, gold: Mapping[str, Gold]
) -> tuple[Units, dict[str, Gold]]:
    """Units that cost their embedded text; the offsets of their gold begin after the header."""
    before, after = chunks.column("before"), chunks.column("after")
    if (before < 0).any():
        changed = chunks.ids[int(np.flatnonzero(before < 0)[0])]
        raise InputError(
            f"{changed}: the embedded text does not contain the chunk's text, so deliver=embed "
            "cannot find the gold in it; leave deliver=embed out"
        )
    shifted = {}
    for query, unit_gold in gold.items():
        pieces = unit_gold.pieces
        pieces = replace(pieces, offset=pieces.offset + before[pieces.unit])
        shifted[query] = replace(unit_gold, pieces=pieces)
    return replace(units, size=units.size + before + after), shifted


def _documents(chunks: ChunkRows) -> tuple[Units, tuple[str, ...]]:
    """The documents of a corpus as units, and their ids."""
    sizes: dict[str, int] = {}
    for file in filter(len, chunks.files):
        sizes[file.path] = sizes.get(file.path, 0) + int(file.chars.sum())
    ids = sorted(sizes)
    size = np.array([sizes[name] for name in ids], dtype=np.int64)
    return Units(size, np.arange(len(ids))), tuple(ids)


def _numbered(
    query: QueryRow, ranking: RankingRow, numbers: Mapping[str, int], profile: Profile
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The units of a ranking; the same in the order of the profile's `mrr`; the scores."""
    kept = [
        (numbers[name], np.nan if score is None else score, name)
        for name, score in zip(ranking.ids, ranking.scores, strict=True)
        if profile.same_id == "kept" or name != query.id
    ]
    units = np.array([unit for unit, _, _ in kept], dtype=np.int64)
    scores = np.array([score for _, score, _ in kept], dtype=np.float64)
    if ranking.by_rank:  # then the scores decide nothing
        return units, units, scores
    if profile.mrr == "id-desc-unrounded":
        return units, units[rank_order(scores, [name for *_, name in kept], "id-desc")], scores
    return units, units[np.lexsort((units, -scores))], scores


def _projection(
    record: Record,
    chunks: Mapping[str, ChunkRows],
    scores: Sequence[NDArray[np.float64]],
    profile: Profile,
) -> Projection | None:
    """Runs of lines with their gold; None if the gold is documents."""
    if record.gold != "span":
        return None
    files = record.ranked_files()
    runs = [LineRuns.of(files[corpus], rows) for corpus, rows in chunks.items()]
    numbers = {corpus: number for number, corpus in enumerate(chunks)}
    if profile.ties == "float32-id-desc":  # such rankings have no finer scores
        scores = [values.astype(np.float32).astype(np.float64) for values in scores]
    gold = []
    for query in record.queries:
        number = numbers[query.ranked]
        gold.append(runs[number].gold(query.places, number))
    return Projection(tuple(corpus.runs for corpus in runs), tuple(gold), tuple(scores))


@dataclass(frozen=True)
class LineRuns:
    """The non-blank lines of one corpus in runs, to which scores of chunks are projected.

    `first` is the number of the first run of each file, by path.
    """

    runs: Runs
    first: Mapping[str, int]

    @classmethod
    def of(cls, files: Sequence[FileRow], chunks: ChunkRows) -> LineRuns:
        """Divide a corpus; only the lines of chunks depend on the chunker."""
        begin: dict[str, int] = {}
        first: dict[str, int] = {}
        edges: list[int] = []
        total = 0
        for file in files:
            begin[file.path], first[file.path] = total, len(edges)
            edges += range(total, total + file.lines, LINES_OF_RUN)
            total += file.lines
        of_file = [begin[file.path] if len(file) else 0 for file in chunks.files]
        base = np.array(of_file, dtype=np.int64)[chunks.file_of]
        ends = (base + chunks.column(name) for name in ("first", "stop"))
        runs = Runs(np.array([*edges, total], dtype=np.int64), *ends)
        return cls(runs, first)

    def gold(self, places: Sequence[LocatedTarget], corpus: int) -> Gold:
        """The runs with a line of a target, and those with a line of a copy as their twins."""
        own = [self._runs_of(place.path, place.lines) for place in places]
        unit = sorted({run for runs in own for run in runs})
        twins: dict[int, set[int]] = {}
        for place, runs in zip(places, own, strict=True):
            for (path, *_), lines in zip(place.twins, place.twin_lines, strict=True):
                for run in self._runs_of(path, lines):
                    if run not in unit:
                        twins.setdefault(run, set()).update(runs)
        return Gold(
            corpus=corpus,
            unit=np.array(unit, dtype=np.int64),
            grade=np.ones(len(unit)),
            twins=tuple((run, tuple(sorted(twins[run]))) for run in sorted(twins)),
        )

    def _runs_of(self, path: str, lines: tuple[int, int]) -> range:
        (first, end), begin = lines, self.first[path]
        return range(begin + first // LINES_OF_RUN, begin + (end - 1) // LINES_OF_RUN + 1)


def qrels_of(record: Record, judged: JudgedCell) -> Iterator[tuple[str, str, float]]:
    """Query id, unit id and grade of every judged unit, in order of query."""
    for query, gold in zip(record.queries, judged.cell.gold, strict=True):
        if query.qrels is not None:
            for name, grade in sorted(query.qrels.items()):
                yield query.id, name, grade
            continue
        names = judged.unit_ids[gold.corpus]
        for unit, grade in zip(gold.unit.tolist(), gold.grade.tolist(), strict=True):
            yield query.id, names[unit], grade


def score(
    record: Record,
    judged: JudgedCell,
    options: MetricOptions,
    digests: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The document metrics.json of a cell, and the rows of its per_query.jsonl.

    Args:
        record: The record.
        judged: The record with its gold.
        options: What to compute.
        digests: What `write_record` returned; computed again by default.
    """
    scores = evaluate(judged.cell, options.measures, options.profile)
    if digests is None:
        digests = list(map(digest, record.queries, record.rankings))
    return _metrics(record, judged, options, scores), _per_query(record, scores, digests)


def _metrics(
    record: Record, judged: JudgedCell, options: MetricOptions, scores: Scores
) -> dict[str, Any]:
    from harness.measures.chance import chance
    from harness.measures.oracle import oracle

    best = oracle(judged.cell, options.measures, options.profile)
    random = chance(judged.cell, options.measures, options.profile, options.seed)
    ends = intervals(
        scores.per_query,
        scores.counted,
        [query.member for query in record.queries],
        over_corpora=options.profile.mean != "queries",
        seed=options.seed,
    )
    metrics: dict[str, Any] = {}
    for measure in options.measures:
        name = str(measure)
        bound, expected, ci95 = best[name], random[name], ends[name]
        by_corpus = scores.corpus_means(name) or {}
        metrics[name] = {
            "mean": scores.mean[name],
            "ci95": None if ci95 is None else list(ci95),
            "n": int(scores.counted[name].sum()),
            "comparable": comparable(measure, spans=judged.cell.spans),
            "oracle": None if bound is None else bound.mean,
            "oracle_is_bound": bound is not None and not bound.exact,
            "random": None if expected is None else expected.mean,
            "random_error": None if expected is None else expected.standard_error,
            "mean_over_corpora": mean(list(by_corpus.values())) if by_corpus else None,
            "by_corpus": {judged.corpora[corpus]: mean for corpus, mean in by_corpus.items()},
        }
        if family_of(measure).projected and scores.per_query[name] is None:
            metrics[name]["why"] = _DOCUMENTS
    relevant = np.array([len(gold.unit) for gold in judged.cell.gold])[scores.included]
    return {
        "interval": LABELS[options.profile.mean],
        "mean_over": options.profile.mean,
        "n_queries": scores.n,
        "left_out": dict(scores.left_out),
        # Why chunk-level measures differ between chunkers.
        "relevant_units": float(relevant.mean()) if len(relevant) else None,
        "metrics": metrics,
        "by": _splits(record, scores),
    }


def _splits(record: Record, scores: Scores) -> dict[str, Any]:
    """Means over the queries of each value of each tag."""
    splits: dict[str, Any] = {}
    for tag in sorted({tag for query in record.queries for tag in query.tags}):
        values = np.array([query.tags.get(tag, "") for query in record.queries])
        for value in sorted(set(values.tolist())):
            rows = scores.included & (values == value)
            if rows.any():
                splits.setdefault(tag, {})[value] = {
                    "n": int(rows.sum()),
                    "metrics": {
                        name: None if column is None else mean(column[rows])
                        for name, column in scores.per_query.items()
                    },
                }
    return splits


def _per_query(record: Record, scores: Scores, digests: Sequence[str]) -> list[dict[str, Any]]:
    """For each query: its values, whether means count it, and a hash of its stored lines."""
    columns = {
        name: None if column is None else column.tolist()
        for name, column in scores.per_query.items()
    }
    return [
        {
            "query_id": query.id,
            "included": bool(scores.included[at]),
            "digest": digests[at],
            "metrics": {
                name: None if column is None else column[at] for name, column in columns.items()
            },
        }
        for at, query in enumerate(record.queries)
    ]
