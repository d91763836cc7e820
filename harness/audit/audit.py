"""Audits data sets, and stored runs as far as their files allow."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from chunkers.source import Services
from harness.audit.self_retrieval import SelfRetrieval, find_leaks, summarise
from harness.chunking.corpus import chunk_corpora, count_repeated, duplicates
from harness.chunking.layout import squeezed
from harness.embedding.embedder import PassageEmbedder
from harness.relevance.chunk_gold import ChunkTable
from harness.relevance.masking import spliced
from harness.runs.chunking import counter
from harness.runs.folder import read_cell, stored_cells, why_no_cell
from harness.runs.health import TRUNCATION_MARK, unseen_share
from harness.runs.query_set import prepare
from harness.runs.record import read_record
from harness.runs.results import table_of
from harness.runs.texts import texts_of
from harness.support.arrays import mean, percentile
from harness.support.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.model import Corpus, Dataset, Query
    from harness.relevance.targets import LocatedTarget
    from harness.runs.query_set import QuerySet
    from harness.support.progress import Tell


@dataclass(frozen=True)
class Twins:
    """Targets whose text is also elsewhere; see `harness.relevance.targets`.

    `twins` counts the copies; `queries_touched` is the share of queries with such a target.
    """

    targets: int
    with_twins: int
    twins: int
    queries_touched: float


def count_twins(places: Sequence[Sequence[LocatedTarget]]) -> Twins:
    """Count the copies of the targets of every query."""
    targets = [place for query in places for place in query]
    touched = sum(any(place.twins for place in query) for query in places)
    return Twins(
        targets=len(targets),
        with_twins=sum(bool(place.twins) for place in targets),
        twins=sum(len(place.twins) for place in targets),
        queries_touched=touched / len(places) if places else 0.0,
    )


def identical_files(corpora: Iterable[Corpus]) -> int:
    """Non-blank files that equal another file of their corpus except for white space."""
    return sum(
        count_repeated(filter(None, (squeezed(source.text) for source in corpus.sources)))
        for corpus in corpora
    )


@dataclass(frozen=True)
class Duplicates:
    """Chunks whose embedded text is that of another chunk of their corpus."""

    chunks: int
    duplicates: int
    share: float = field(init=False)

    def __post_init__(self) -> None:
        share = self.duplicates / self.chunks if self.chunks else 0.0
        object.__setattr__(self, "share", share)


def count_duplicates(chunked: Sequence[ChunkedCorpus]) -> Duplicates:
    """Count the chunks that share their text with another."""
    return Duplicates(sum(len(corpus.chunks) for corpus in chunked), sum(map(duplicates, chunked)))


@dataclass(frozen=True)
class Sizes:
    """Sizes of chunks in non-white-space characters, whatever the chunker's unit; 0 without any."""

    median: int
    p95: int
    largest: int


def chunk_sizes(sizes: Sequence[NDArray[np.int64]]) -> Sizes:
    """The sizes of the chunks of corpora."""
    every = np.concatenate([own for own in sizes if len(own)] or [np.zeros(1, np.int64)])
    return Sizes(percentile(every, 50), percentile(every, 95), int(every.max()))


@dataclass(frozen=True)
class GoldCut:
    """How chunk boundaries cut the targets.

    A line is cut off if the target has another non-blank line and no chunk has characters of both:
    a decorator, a signature or a last statement without the rest. `whole` is the share of targets
    that one chunk holds whole; `chunks_per_target` is a mean; `uncovered` targets have no character
    in a chunk. The others count targets.
    """

    targets: int
    whole: float
    chunks_per_target: float
    uncovered: int
    first_line_cut: int
    last_line_cut: int


def count_cuts(queries: Iterable[tuple[ChunkTable, Sequence[LocatedTarget]]]) -> GoldCut:
    """Count over the targets of all queries, each with the chunks of its corpus."""
    whole, touching, first, last = [], [], [], []
    for table, places in queries:
        for place in places:
            units = table.touching(place.stretch)
            _, low, high = place.stretch
            begin, end = place.lines
            starts, ends = table.first[units], table.stop[units]
            several = end - begin > 1 and len(units) > 0
            touching.append(len(units))
            whole.append(bool((table.held(units, low, high) == high - low).any()))
            first.append(several and not ((starts <= begin) & (ends > begin + 1)).any())
            last.append(several and not ((starts < end - 1) & (ends >= end)).any())
    return GoldCut(
        targets=len(touching),
        whole=mean(whole) if whole else 0.0,
        chunks_per_target=mean(touching) if touching else 0.0,
        uncovered=touching.count(0),
        first_line_cut=sum(first),
        last_line_cut=sum(last),
    )


@dataclass(frozen=True)
class Truncation:
    """The tokens of texts that a model with a limit sees; None for counts that are not stored.

    `tokens` are without special ones, and `unseen` is the share beyond the limit. `truncated` texts
    are over it. `marked`: so much is unseen that scores say little about boundaries.
    """

    texts: int | None
    tokens: int | None
    unseen: float
    truncated: int | None
    limit: int | None
    marked: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "marked", self.unseen > TRUNCATION_MARK)


def chunk_truncation(
    chunked: Sequence[ChunkedCorpus], embedder: Embedder, windows: bool
) -> Truncation | None:
    """Truncation of chunks as a run embeds them; None if the limit is unknown.

    Only the tokenizer is used. With `windows`, chunks over the limit
    are embedded by windows.
    """
    if embedder.limit is None:
        return None
    if isinstance(embedder, PassageEmbedder):  # it sees whole files
        tokens = embedder.count_tokens([text for part in chunked for text in part.chunks.texts])
        return Truncation(len(tokens), int(tokens.sum()), 0.0, 0, None)
    texts = texts_of(chunked, embedder, windows)
    used = np.concatenate([corpus.values for corpus in texts.embedded_of_chunk])
    return _truncation(embedder.count_tokens(texts.embedded)[used], embedder.limit)


def query_truncation(queries: Sequence[Query], embedder: Embedder) -> Truncation | None:
    """Truncation of queries; None if the limit is unknown."""
    limit = embedder.query_limit or embedder.limit
    if limit is None:
        return None
    return _truncation(embedder.count_tokens([query.text for query in queries]), limit)


def _truncation(tokens: NDArray[np.int64], limit: int) -> Truncation:
    share, truncated = unseen_share(tokens, limit)
    return Truncation(len(tokens), int(tokens.sum()), share, truncated, limit)


NEEDS_TEXTS = ("self-retrieval", "identical files")
"""Audits that a run folder does not allow, because it holds no texts."""


@dataclass(frozen=True)
class ChunkerAudit:
    """What one chunker does to a data set.

    `gold_cut` is None if the gold is documents. `truncation` of its chunks is by embedder, None if
    the limit is unknown. `failures` are corpus, path and reason.
    """

    chunker: str
    duplicates: Duplicates
    sizes: Sizes
    gold_cut: GoldCut | None
    truncation: Mapping[str, Truncation | None] = field(default_factory=dict)
    failures: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Audit:
    """The numbers of an audit.

    `source` is `data set`, or the run folder. `twins` is None if the gold is documents; what needs
    texts is None if the source has none, and named in `needs_dataset`. `queries_truncated` is by
    embedder, None if the limit is unknown.
    """

    source: str
    dataset: str
    fingerprint: str
    mask_query: bool
    queries: int
    self_retrieval: SelfRetrieval | None
    twins: Twins | None
    identical_files: int | None
    queries_truncated: Mapping[str, Truncation | None]
    chunkers: tuple[ChunkerAudit, ...]
    needs_dataset: tuple[str, ...] = ()


def audit_dataset(
    dataset: Dataset,
    chunkers: Sequence[LoadedChunker],
    embedders: Sequence[Embedder],
    limit: int | None = None,
    *,
    seed: int = 0,
    tell: Tell = silent,
) -> Audit:
    """Audit a data set; nothing is embedded.

    `limit` and `seed` choose the same queries as in a run; None takes all. Queries are masked if a
    run masks them by default. The first embedder's tokenizer counts for chunkers by tokens. `tell`
    gets a phase and the numbers of finished steps and of all.

    Raises:
        InputError: No query has a target in the corpus, the data set cannot be masked, an embedder
            is not installed, or a chunker cuts by vectors.
    """
    for chunker in chunkers:
        if chunker.embeds:
            raise InputError(
                f"chunker {chunker.name} cuts by vectors, and an audit embeds nothing; "
                "run it, and audit the run folder"
            )
    query_set = prepare(dataset, limit, seed, mask=dataset.mask)
    return Audit(
        source="data set",
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        mask_query=dataset.mask,
        queries=len(query_set.queries),
        self_retrieval=summarise(find_leaks(query_set)),
        twins=count_twins(query_set.places) if dataset.gold == "span" else None,
        identical_files=identical_files([corpus for corpus in query_set.files if not corpus.of]),
        queries_truncated={
            model.name: query_truncation(query_set.queries, model) for model in embedders
        },
        chunkers=tuple(
            _audit_chunker(query_set, chunker, embedders, functools.partial(tell, chunker.name))
            for chunker in chunkers
        ),
    )


def _audit_chunker(
    query_set: QuerySet,
    chunker: LoadedChunker,
    embedders: Sequence[Embedder],
    progress: Callable[[int, int], None],
) -> ChunkerAudit:
    count = counter(embedders[0]) if embedders and chunker.unit == "tokens" else None
    chunked = chunk_corpora(query_set.files, chunker, Services(count_tokens=count), progress)
    span = query_set.dataset.gold == "span"
    gold_cut = None
    if span:
        tables = {
            corpus.corpus.id: ChunkTable.of_files(corpus.chunks)
            for corpus in spliced(query_set.corpora, query_set.masks, chunked)
        }
        pairs = zip(query_set.queries, query_set.places, strict=True)
        gold_cut = count_cuts((tables[query.corpus], places) for query, places in pairs)
    windows = span and chunker.windows == "max"
    return ChunkerAudit(
        chunker=chunker.name,
        duplicates=count_duplicates(chunked),
        sizes=chunk_sizes([corpus.chunks.chars for corpus in chunked]),
        gold_cut=gold_cut,
        truncation={model.name: chunk_truncation(chunked, model, windows) for model in embedders},
        failures=tuple(
            (part.corpus.id, path, why) for part in chunked for path, why in part.failures
        ),
    )


def audit_run(run: Path) -> tuple[Audit, ...]:
    """Audit every data set of a run folder from its stored cells.

    Raises:
        InputError: The folder is not a run folder, has no cell, or a cell is damaged.
    """
    groups: defaultdict[tuple[str, ...], list[tuple[dict[str, str], Path]]] = defaultdict(list)
    for names, folder in stored_cells(run):
        identity = read_cell(folder)["identity"]
        parts = ("dataset", "mask_query", "limit", "seed")
        groups[tuple(str(identity[part]) for part in parts)].append((names, folder))
    if not groups:
        raise InputError(why_no_cell([run]))
    return tuple(_audit_cells(run, cells) for cells in groups.values())


def _audit_cells(run: Path, cells: Sequence[tuple[dict[str, str], Path]]) -> Audit:
    """Audit the cells of one data set; what is the same for a chunker is read from its first."""
    chunkers: dict[str, ChunkerAudit] = {}
    truncation: defaultdict[str, dict[str, Truncation | None]] = defaultdict(dict)
    queries: dict[str, Truncation | None] = {}
    records = []
    for names, folder in cells:
        cell = read_cell(folder, check_files=True)
        health, chunker, embedder = cell["health"], names["chunker"], names["embedder"]
        if chunker not in chunkers:
            record = read_record(folder)
            records.append(record)
            tables = {name: table_of(rows) for name, rows in record.ranked_chunks().items()}
            gold_cut = count_cuts((tables[query.ranked], query.places) for query in record.queries)
            chunkers[chunker] = ChunkerAudit(
                chunker=chunker,
                duplicates=Duplicates(health["chunks"], health["duplicates"]),
                sizes=chunk_sizes([record.chunks.chars]),
                gold_cut=gold_cut if record.gold == "span" else None,
                failures=tuple((corpus, path, why) for corpus, path, why in cell["failures"]),
            )
        if embedder != "none":
            unseen, texts = health["unseen_chunk_tokens"], health["truncated_chunks"]
            truncation[chunker][embedder] = _stored(unseen, texts)
            queries[embedder] = _stored(health["unseen_query_tokens"], None)
    identity = read_cell(cells[0][1])["identity"]
    twins = count_twins([query.places for query in records[0].queries])
    return Audit(
        source=str(run),
        dataset=cells[0][0]["dataset"],
        fingerprint=identity["dataset"],
        mask_query=identity["mask_query"],
        queries=len(records[0].queries),
        self_retrieval=None,
        twins=twins if records[0].gold == "span" else None,
        identical_files=None,
        queries_truncated=queries,
        chunkers=tuple(
            replace(audit, truncation=truncation[name]) for name, audit in chunkers.items()
        ),
        needs_dataset=NEEDS_TEXTS,
    )


def _stored(share: float | None, truncated: int | None) -> Truncation | None:
    return None if share is None else Truncation(None, None, share, truncated, None)
