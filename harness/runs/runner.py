"""Runs the grid: finds each cell in the run folder or computes it, and scores it."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections import defaultdict
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.source import Services
from harness.chunking.limits import TooManyFailuresError
from harness.embedding.embedder import OutOfMemoryError, plain
from harness.embedding.vector_store import VectorStore
from harness.measures.grammar import family_of
from harness.reading.stored_text import text_space
from harness.relevance.masking import refuse_mask
from harness.retrieval.options import refuse_dataset
from harness.runs.failures import FailedCell, RewrittenError, failure_lines
from harness.runs.folder import CELL, Manifest, RunFolder, cell_key, read_cell
from harness.runs.health import file_counts
from harness.runs.metric_options import MetricOptions
from harness.runs.pipeline import PhaseTimer, Pipeline
from harness.runs.plan import needs_embedder
from harness.runs.provenance import RANKING, SCORING, code_hash
from harness.runs.query_set import prepare
from harness.support.data_folders import cache_dir
from harness.support.files import file_sha256
from harness.support.json_files import read_json, write_json, write_json_lines
from harness.support.progress import RESULTS, silent
from harness.support.wording import distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder, Role
    from harness.model import Absent, Dataset
    from harness.runs.chunking import ChunkingCache
    from harness.runs.pipeline import LoadedRetriever
    from harness.runs.plan import Plan
    from harness.runs.query_set import QuerySet
    from harness.runs.record import Record
    from harness.runs.results import JudgedCell
    from harness.support.progress import Tell


@dataclass(frozen=True)
class CellResult:
    """A scored cell, with the documents cell.json and metrics.json."""

    dataset: str
    chunker: str
    embedder: str
    retriever: str
    profile: str
    key: str
    cell: dict[str, Any]
    metrics: dict[str, Any]


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    `out` is None for a temporary folder; `cells` and `failed` are in the order of the grid.
    `left_out` is data set, reason and count of what data sets left out while loading. `matched` are
    lines on the sizes that chunkers were given.
    """

    out: Path | None
    cells: tuple[CellResult, ...]
    absent: tuple[tuple[str, Absent], ...]
    failed: tuple[FailedCell, ...] = ()
    left_out: tuple[tuple[str, str, int], ...] = ()
    matched: tuple[str, ...] = ()

    @property
    def failures(self) -> list[str]:
        """One line for each failed cell, and for the first few failed files of each chunker."""
        scored = [(cell.chunker, cell.dataset, cell.cell["failures"]) for cell in self.cells]
        return list(failure_lines(scored, self.failed))


@dataclass
class _Session:
    """The shared state of the cells of one run."""

    plan: Plan
    folder: RunFolder
    manifest: Manifest
    store: VectorStore
    tell: Tell
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    matched: list[str] = field(default_factory=list)
    computed: int = 0  # cells that were not stored


def run(
    plan: Plan,
    datasets: Sequence[Dataset],
    out: Path,
    tell: Tell = silent,
) -> RunResult:
    """Run a plan.

    Stored cells of the folder are not computed again. Of several data sets with the same name the
    last one counts. `tell` gets a phase and the numbers of finished steps and of all.

    Raises:
        InputError: A part cannot be used, a data set has no query left or cannot be masked, or
            the folder cannot be written.
    """
    started = time.perf_counter()
    datasets = distinct("data set", datasets, attrgetter("name"))
    for dataset in datasets:
        if plan.config.masks(dataset):
            refuse_mask(dataset)
        for name, retriever in plan.retrievers:
            refuse_dataset(name, retriever.options, dataset)
    folder = RunFolder.open(out)
    store = VectorStore(cache_dir() / "vectors.sqlite")
    total = len(datasets) * plan.cells
    manifest = Manifest(folder.manifest, plan, total)
    session = _Session(plan, folder, manifest, store, tell)
    try:
        if plan.embedders:
            store.open()  # an unusable store is refused before any work
        cells = []
        tell(RESULTS, 0, total)
        for cell in (cell for dataset in datasets for cell in _cells(session, dataset)):
            cells.append(cell)
            tell(RESULTS, session.computed, session.computed + total - len(cells))
    finally:
        store.close()
    session.manifest.complete({**session.seconds, "total": time.perf_counter() - started})
    return RunResult(
        out=out,
        cells=tuple(cell for cell in cells if isinstance(cell, CellResult)),
        absent=tuple((dataset.name, corpus) for dataset in datasets for corpus in dataset.absent),
        failed=tuple(cell for cell in cells if isinstance(cell, FailedCell)),
        left_out=tuple(
            (dataset.name, reason, count)
            for dataset in datasets
            for reason, count in dataset.left_out.items()
            if count
        ),
        matched=tuple(session.matched),
    )


def _cells(session: _Session, dataset: Dataset) -> Iterator[CellResult | FailedCell]:
    plan, config = session.plan, session.plan.config
    started = time.perf_counter()
    with text_space(plan.space):  # masked files are new texts
        query_set = prepare(dataset, config.limit, config.seed, mask=config.masks(dataset))
    _refuse_unscored(query_set, plan)
    session.seconds["preparing"] += time.perf_counter() - started
    session.manifest.add_dataset(dataset, query_set)
    for chunker in _chunkers(session, query_set):
        cells = _ChunkerCells(session, query_set, chunker)
        for name, retriever in plan.retrievers:
            for embedder in plan.embedders if retriever.dense else (None,):
                yield cells.cell(name, retriever, embedder)


def _refuse_unscored(query_set: QuerySet, plan: Plan) -> None:
    """Refuse a data set of documents that leaves every mean without a query."""
    name, queries = query_set.dataset.name, list(query_set.queries)
    if query_set.dataset.gold == "span":
        return  # its queries are in every mean
    if all(family_of(measure).lines for measure in plan.measures):
        raise InputError(
            f"{name}: its targets are documents, but all measures are of lines; add -m nDCG@10"
        )
    if plan.profile.nothing_relevant == "left-out":
        least = plan.profile.least_grade
        queries = [q for q in queries if max((q.qrels or {"": 0}).values()) >= least]
    if not queries:
        raise InputError(f"{name}: no query has a relevant document, so nothing can be averaged")


def _chunkers(session: _Session, query_set: QuerySet) -> Sequence[LoadedChunker]:
    """The chunkers of a data set, with sizes that match if that was asked for."""
    plan = session.plan
    if plan.match is None:
        return plan.chunkers
    from harness.chunking.corpus import chunk_corpora
    from harness.chunking.cutters import limits_of
    from harness.runs.chunking import counter
    from harness.runs.matching import match_sizes

    timer = PhaseTimer(session.tell)

    def cut(chunker: LoadedChunker) -> Sequence[ChunkedCorpus]:
        helper = next(iter(plan.embedders), None) if chunker.unit == "tokens" else None
        with timer.phase("matching sizes") as progress:
            return chunk_corpora(
                query_set.files,
                chunker,
                Services(count_tokens=None if helper is None else counter(helper)),
                progress,
                keep_blank=plan.profile.blank == "index",
                limits=limits_of(plan.config.file_timeout),
                make_cutter=plan.engine.cutter,
            )

    chunkers, lines = match_sizes(plan.chunkers, plan.match, cut)
    session.seconds["matching sizes"] += timer.seconds["matching sizes"]
    session.matched += [f"{query_set.dataset.name}: {line}" for line in lines]
    session.manifest.match(chunkers, lines)
    return chunkers


class _ChunkerCells:
    """The cells of one data set and one chunker, which share the chunks."""

    def __init__(self, session: _Session, query_set: QuerySet, chunker: LoadedChunker) -> None:
        self._session, self._query_set, self._chunker = session, query_set, chunker
        plan = session.plan
        self._files = sum(len(corpus.sources) for corpus in query_set.files)
        # A chunker that fails on every file has nothing to score.
        self._most = min(plan.max_failures.of(self._files), max(self._files - 1, 0))
        self._options = MetricOptions(
            plan.measures, plan.profile, query_set.dataset.relevance, plan.config.seed
        )
        # A lexical cell of a chunker that needs an embedder borrows the first one.
        self._borrowed = next(iter(plan.embedders), None)

    @functools.cached_property
    def _chunks(self) -> ChunkingCache:
        from harness.chunking.cutters import limits_of
        from harness.runs.chunking import ChunkingCache

        plan = self._session.plan
        return ChunkingCache(
            self._query_set,
            self._chunker,
            self._session.store,
            keep_blank=plan.profile.blank == "index",
            limits=limits_of(plan.config.file_timeout),
            most=self._most,
            engine=plan.engine,
        )

    def cell(
        self, name: str, retriever: LoadedRetriever, embedder: Embedder | None
    ) -> CellResult | FailedCell:
        """Find or compute a cell, and its metrics; halve the batches if memory runs out."""
        session = self._session
        names = {
            "dataset": self._query_set.dataset.name,
            "chunker": self._chunker.name,
            "embedder": "none" if embedder is None else embedder.name,
            "retriever": name,
        }
        while True:
            helper = (embedder or self._borrowed) if needs_embedder(self._chunker) else None
            helper = helper and plain(helper)  # what a chunker embeds has no file
            identity = self._identity(name, retriever, embedder, helper)
            key = cell_key(identity)
            stored = session.folder.has(key)
            if stored:
                break
            try:
                self._compute(names, identity, retriever, embedder, helper)
                break
            except (TooManyFailuresError, RewrittenError) as error:
                return self._failed(names, error)
            except OutOfMemoryError:
                if embedder is not None:
                    embedder = smaller = embedder.with_fewer_rows()
                elif helper is not None:
                    self._borrowed = smaller = helper.with_fewer_rows()
                else:
                    raise
                session.manifest.note(f"{smaller.name}: out of memory, batches are halved")
        return self._result(names, key, stored=stored)

    def _identity(
        self,
        name: str,
        retriever: LoadedRetriever,
        embedder: Embedder | None,
        helper: Embedder | None,
    ) -> dict[str, Any]:
        """Everything that the ranking of a cell depends on; its hash is the key."""
        plan, dataset = self._session.plan, self._query_set.dataset
        roles: tuple[Role, ...] = ("document", "query-head", "query-tail")
        helped = helper and helper.fingerprint()
        return {
            "schema": CELL,
            "dataset": dataset.fingerprint,
            "relevance": dataclasses.asdict(dataset.relevance),
            "chunker": [self._chunker.name, self._chunker.version],
            "tokenizer": helped if self._chunker.unit == "tokens" else None,
            "chunk_embedder": helped if self._chunker.embeds else None,
            "embedder": embedder and [*map(embedder.fingerprint, roles), embedder.windows],
            "retriever": [name, retriever.version],
            "depth": plan.depth,
            "budget": plan.budget,
            "limit": plan.config.limit,
            "mask_query": plan.config.masks(dataset),
            "seed": plan.config.seed,
            "file_timeout": plan.config.file_timeout,
            "ranking": plan.profile.ranking_fields(),
            "code": code_hash(*RANKING),
        }

    def _compute(
        self,
        names: dict[str, str],
        identity: dict[str, Any],
        retriever: LoadedRetriever,
        embedder: Embedder | None,
        helper: Embedder | None,
    ) -> None:
        """Compute a cell, and store it with its metrics."""
        from harness.retrieval.ranking import Order
        from harness.runs.cell import compute
        from harness.runs.record import write_record
        from harness.runs.results import qrels_of

        key = cell_key(identity)
        session, plan = self._session, self._session.plan
        session.computed += 1
        timer = PhaseTimer(session.tell)
        files = self._chunks.get(helper, timer)
        budget = plan.budget if self._query_set.dataset.gold == "span" else 0
        order = Order(plan.depth, budget, plan.profile.ties)
        pipeline = Pipeline(self._chunker, embedder, retriever, order, plan.profile, plan.space)
        computed = compute(self._query_set, files, pipeline, session.store, timer)
        for name, seconds in timer.seconds.items():
            session.seconds[name] += seconds
        document = {
            "schema": CELL,
            "key": key,
            "names": names,
            "identity": identity,
            "health": computed.health,
            "cost": computed.cost,
            "latency_ms": computed.latency_ms,
            "times": {name: round(seconds, 4) for name, seconds in timer.seconds.items()},
            "failures": [list(failure) for failure in computed.failures],
            "targets_dropped": self._query_set.targets_dropped,
            "queries_left_out": len(self._query_set.left_out),
        }
        record = computed.record
        judged = self._judge(record)

        def write(folder: Path) -> None:
            digests = write_record(folder, record, qrels_of(record, judged))
            hashes = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
            self._score(folder, record, judged, digests)
            write_json(folder / "cell.json", document | {"files": hashes})

        session.folder.add(key, write)

    def _result(self, names: dict[str, str], key: str, *, stored: bool) -> CellResult | FailedCell:
        """A stored cell with its metrics, unless more files failed than this run allows."""
        session = self._session
        path = session.folder.cell(key)
        cell = read_cell(path)
        # Files that are not indexed are not part of the key, so they are counted anew.
        cell["health"] |= file_counts(self._query_set.files)
        failures = [(corpus, file, reason) for corpus, file, reason in cell["failures"]]
        if len(failures) > self._most:
            return self._failed(names, TooManyFailuresError(failures, self._files, self._files))
        session.manifest.add_cell(key, names, stored=stored)
        profile = session.plan.profile.name
        return CellResult(**names, profile=profile, key=key, cell=cell, metrics=self._metrics(path))

    def _failed(
        self, names: dict[str, str], error: TooManyFailuresError | RewrittenError
    ) -> FailedCell:
        many = error if isinstance(error, TooManyFailuresError) else None
        failed = FailedCell(
            **names,
            files=self._files,
            tried=many.tried if many else self._files,
            allowed=self._session.plan.max_failures.text,
            failures=many.failures if many else (),
            refused="" if many else str(error),
        )
        self._session.manifest.add_failed(failed)
        return failed

    def _metrics(self, path: Path) -> dict[str, Any]:
        """The stored metrics if they answer the same question, else new ones."""
        rows = path / "per_query.jsonl"
        try:
            document = read_json(path / "metrics.json")
        except InputError:
            document = {}  # metrics can always be computed again
        whole = rows.is_file() and document.get("per_query_sha256") == file_sha256(rows)
        if whole and document.get("asked") == self._question():
            return document
        from harness.runs.record import read_record

        read_cell(path, check_files=True)
        record = read_record(path)
        return self._score(path, record, self._judge(record))

    def _judge(self, record: Record) -> JudgedCell:
        from harness.runs.results import judge

        return judge(record, self._options.relevance, self._options.profile)

    def _score(
        self, path: Path, record: Record, judged: JudgedCell, digests: Sequence[str] | None = None
    ) -> dict[str, Any]:
        from harness.runs.results import score

        started = time.perf_counter()
        numbers, rows = score(record, judged, self._options, digests)
        write_json_lines(path / "per_query.jsonl", rows)
        document = {
            "schema": "chunkmark.metrics/1",
            "asked": self._question(),
            "per_query_sha256": file_sha256(path / "per_query.jsonl"),
            **numbers,
        }
        write_json(path / "metrics.json", document)
        self._session.seconds["scoring"] += time.perf_counter() - started
        return document

    def _question(self) -> dict[str, Any]:
        """The code and options that metrics depend on, besides the record."""
        return {
            "code": code_hash(*SCORING),
            "measures": [str(measure) for measure in self._options.measures],
            "profile": dataclasses.asdict(self._options.profile),
            "relevance": dataclasses.asdict(self._options.relevance),
            "seed": self._options.seed,
        }
