"""Runs the grid: finds each cell in the run folder or computes it, and scores it."""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.chunking.corpus import TooManyFailuresError
from harness.chunking.cutters import limits_of
from harness.embedding.embedder import OutOfMemoryError
from harness.embedding.vector_store import VectorStore
from harness.relevance.masking import refuse_mask
from harness.retrieval.options import refuse_dataset
from harness.retrieval.ranking import Order
from harness.runs.cell import ComputedCell, compute, cost_of, latency_of
from harness.runs.chunking import ChunkingCache
from harness.runs.failures import FailedCell, failure_lines
from harness.runs.folder import Manifest, RunFolder, cell_key, check_files, read_cell
from harness.runs.health import file_counts
from harness.runs.pipeline import PhaseTimer, Pipeline
from harness.runs.plan import needs_embedder
from harness.runs.provenance import RANKING, SCORING, code_hash
from harness.runs.query_set import prepare
from harness.runs.record import read_record, write_record
from harness.runs.results import JudgedCell, MetricOptions, judge, qrels_of, score
from harness.support.data_folders import cache_dir
from harness.support.files import file_sha256
from harness.support.json_files import read_json, write_json, write_json_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chunkers.plugins.loading import LoadedChunker
    from harness.embedding.embedder import Embedder, Role
    from harness.model import Absent, Dataset
    from harness.runs.chunking import ChunkedFiles
    from harness.runs.pipeline import LoadedRetriever
    from harness.runs.plan import Plan
    from harness.runs.query_set import QuerySet
    from harness.runs.record import Record

SCHEMA = 1
"""Of cells: part of every key, so that a change of meaning computes them again."""


@dataclass(frozen=True)
class CellResult:
    """One cell as reports show it.

    Attributes:
        dataset: Name of the data set.
        chunker: Name of the chunker.
        embedder: Name of the embedder; `none` for a lexical retriever.
        retriever: Name of the retriever.
        profile: Name of the profile.
        key: Of the cell.
        cell: The document `cell.json`.
        metrics: The document `metrics.json`.
    """

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

    Attributes:
        out: Its folder; None where it was a temporary one.
        cells: In the order of the grid.
        absent: What was absent, with the name of its data set.
        failed: Cells that are no result, in the order of the grid.
        left_out: What data sets left out when they were loaded: data set, reason, count over 0.
    """

    out: Path | None
    cells: tuple[CellResult, ...]
    absent: tuple[tuple[str, Absent], ...]
    failed: tuple[FailedCell, ...] = ()
    left_out: tuple[tuple[str, str, int], ...] = ()

    @property
    def failures(self) -> list[str]:
        """One line for each part that failed: failed cells, the first few files of each chunker."""
        scored = [(cell.chunker, cell.cell["failures"]) for cell in self.cells]
        return list(failure_lines(scored, self.failed))


@dataclass
class _Session:
    """What the cells of one run share."""

    plan: Plan
    folder: RunFolder
    manifest: Manifest
    store: VectorStore
    tell: Callable[[str, int, int], None]
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


def run(
    plan: Plan,
    datasets: Sequence[Dataset],
    out: Path,
    tell: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> RunResult:
    """Run a plan.

    Args:
        plan: What to run.
        datasets: On what; of several with the same name the last one counts.
        out: The run folder; cells that are there are not computed again.
        tell: Told the phase, and how many of how many are done.

    Raises:
        InputError: A part cannot be used, a data set has no query left or cannot be masked, or
            the folder cannot be written.
    """
    started = time.perf_counter()
    distinct = {dataset.name: dataset for dataset in datasets}.values()
    for dataset in distinct:
        if plan.config.masks(dataset):
            refuse_mask(dataset)
        for name, retriever in plan.retrievers:
            refuse_dataset(name, retriever.policy, dataset)
    folder = RunFolder.open(out)
    session = _Session(
        plan,
        folder,
        Manifest(folder.manifest, plan),
        VectorStore(cache_dir() / "vectors.sqlite"),
        tell,
    )
    try:
        if plan.embedders:
            session.store.open()  # what is unusable is refused before any work
        made = [cell for dataset in distinct for cell in _cells(session, dataset)]
    finally:
        session.store.close()
    session.manifest.complete({**session.seconds, "total": time.perf_counter() - started})
    absent = tuple((dataset.name, one) for dataset in distinct for one in dataset.absent)
    cells = tuple(one for one in made if isinstance(one, CellResult))
    failed = tuple(one for one in made if isinstance(one, FailedCell))
    left_out = tuple(
        (one.name, reason, n) for one in distinct for reason, n in one.left_out.items() if n
    )
    return RunResult(out, cells, absent, failed, left_out)


def _cells(session: _Session, dataset: Dataset) -> Iterator[CellResult | FailedCell]:
    plan = session.plan
    started = time.perf_counter()
    config = plan.config
    prepared = prepare(dataset, config.limit, config.seed, mask=config.masks(dataset))
    session.seconds["preparing"] += time.perf_counter() - started
    session.manifest.add_dataset(dataset, prepared)
    for chunker in plan.chunkers:
        bench = _Bench(session, prepared, chunker)
        for name, retriever in plan.retrievers:
            for embedder in plan.embedders if retriever.dense else (None,):
                yield bench.cell(name, retriever, embedder)


class _Bench:
    """The cells of one data set and one chunker; the corpora are cut at most once."""

    def __init__(self, session: _Session, prepared: QuerySet, chunker: LoadedChunker) -> None:
        self._session = session
        self._prepared = prepared
        self._chunker = chunker
        plan = session.plan
        self._files = sum(len(corpus.sources) for corpus in prepared.files)
        self._most = plan.max_failures.of(self._files)
        self._cuts = ChunkingCache(
            prepared,
            chunker,
            session.store,
            keep_blank=plan.profile.blank == "index",
            limits=limits_of(plan.config.file_timeout),
            most=self._most,
        )
        self._borrowed = next(iter(session.plan.embedders), None)

    def cell(
        self, name: str, retriever: LoadedRetriever, embedder: Embedder | None
    ) -> CellResult | FailedCell:
        """Find or compute a cell, and its metrics."""
        session = self._session
        while True:
            helper = self._helper(embedder)
            identity = self._identity(name, retriever, embedder, helper)
            key = cell_key(identity)
            stored = session.folder.has(key)
            if stored:
                break
            try:
                watch = PhaseTimer(session.tell)
                cut = self._cuts.by(helper, watch)
                computed = self._compute(retriever, embedder, cut, watch)
            except TooManyFailuresError as error:
                return self._failed(self._names(name, embedder), error)
            except OutOfMemoryError:
                if embedder is not None:
                    embedder = fewer = embedder.with_fewer_rows()
                elif helper is not None:
                    self._borrowed = fewer = helper.with_fewer_rows()
                else:
                    raise
                session.manifest.note(f"{fewer.name}: out of memory, batches are halved")
                continue
            self._store(key, identity, computed, cut, watch)
            break
        return self._result(self._names(name, embedder), key, stored=stored)

    def _names(self, retriever: str, embedder: Embedder | None) -> dict[str, str]:
        return {
            "dataset": self._prepared.dataset.name,
            "chunker": self._chunker.name,
            "embedder": "none" if embedder is None else embedder.name,
            "retriever": retriever,
        }

    def _result(self, names: dict[str, str], key: str, *, stored: bool) -> CellResult | FailedCell:
        """What is stored, unless more files failed then than may fail now."""
        session = self._session
        path = session.folder.cell(key)
        cell = read_cell(path)
        # Of the files of today: what is not indexed is no part of the key.
        cell["health"] |= file_counts(self._prepared.files)
        failures = [(corpus, file, reason) for corpus, file, reason in cell["failures"]]
        if len(failures) > self._most:
            return self._failed(names, TooManyFailuresError(failures, self._files, self._files))
        session.manifest.add_cell(key, names, stored=stored)
        profile = session.plan.profile.name
        return CellResult(**names, profile=profile, key=key, cell=cell, metrics=self._metrics(path))

    def _failed(self, names: dict[str, str], error: TooManyFailuresError) -> FailedCell:
        allowed = self._session.plan.max_failures.text
        failed = FailedCell(
            **names,
            files=error.files,
            tried=error.tried,
            allowed=allowed,
            failures=error.failures,
        )
        self._session.manifest.add_failed(failed)
        return failed

    def _helper(self, embedder: Embedder | None) -> Embedder | None:
        """Whose tokens and vectors the chunker cuts by; a lexical cell borrows the first one's."""
        return (embedder or self._borrowed) if needs_embedder(self._chunker) else None

    def _identity(
        self,
        name: str,
        retriever: LoadedRetriever,
        embedder: Embedder | None,
        helper: Embedder | None,
    ) -> dict[str, Any]:
        """What the ranking of a cell depends on; its hash is the key."""
        plan, dataset = self._session.plan, self._prepared.dataset
        roles: tuple[Role, ...] = ("document", "query-head", "query-tail")
        helped = helper and helper.fingerprint()
        return {
            "schema": SCHEMA,
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
        retriever: LoadedRetriever,
        embedder: Embedder | None,
        cut: ChunkedFiles,
        watch: PhaseTimer,
    ) -> ComputedCell:
        session = self._session
        budget = session.plan.budget if self._prepared.dataset.gold == "span" else 0
        profile = session.plan.profile
        order = Order(session.plan.depth, budget, profile.ties)
        parts = Pipeline(self._chunker, embedder, retriever, order, profile)
        return compute(self._prepared, cut.corpora, parts, session.store, watch)

    def _asked(self) -> MetricOptions:
        plan = self._session.plan
        return MetricOptions(
            plan.measures, plan.profile, self._prepared.dataset.relevance, plan.config.seed
        )

    def _judged(self, record: Record) -> JudgedCell:
        asked = self._asked()
        return judge(record, asked.relevance, asked.profile)

    def _store(
        self,
        key: str,
        identity: dict[str, Any],
        computed: ComputedCell,
        cut: ChunkedFiles,
        watch: PhaseTimer,
    ) -> None:
        judged = self._judged(computed.record)
        # Copies are stored with the targets; whether they count is the profile's, not the file's.
        document = {
            "schema": "chunkmark.cell/1",
            "key": key,
            "identity": identity,
            "health": computed.health,
            "cost": cost_of(computed, cut, watch),
            "latency_ms": latency_of(computed.latency),
            "times": {name: round(seconds, 4) for name, seconds in watch.seconds.items()},
            "failures": [list(one) for one in computed.failures],
            "targets_dropped": self._prepared.targets_dropped,
            "queries_left_out": len(self._prepared.left_out),
        }
        for name, seconds in watch.seconds.items():
            self._session.seconds[name] += seconds

        def write(folder: Path) -> None:
            write_record(folder, computed.record, qrels_of(computed.record, judged))
            written = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
            self._score(folder, computed.record, judged)
            write_json(folder / "cell.json", document | {"files": written})

        self._session.folder.add(key, write)

    def _metrics(self, path: Path) -> dict[str, Any]:
        """The cell's metrics: those that are there where they answer the same question."""
        found, rows = _found(path / "metrics.json"), path / "per_query.jsonl"
        whole = rows.is_file() and found.get("per_query_sha256") == file_sha256(rows)
        if whole and found.get("asked") == self._question():
            return found
        check_files(path)
        record = read_record(path)
        return self._score(path, record, self._judged(record))

    def _score(self, path: Path, record: Record, judged: JudgedCell) -> dict[str, Any]:
        started = time.perf_counter()
        asked = self._asked()
        numbers, rows = score(record, judged, asked)
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
        asked = self._asked()
        return {
            "code": code_hash(*SCORING),
            "measures": [str(measure) for measure in asked.measures],
            "profile": dataclasses.asdict(asked.profile),
            "relevance": dataclasses.asdict(asked.relevance),
            "seed": asked.seed,
        }


def _found(path: Path) -> dict[str, Any]:
    """A document that can be computed again; empty where it is missing or damaged."""
    try:
        return read_json(path)
    except InputError:
        return {}
