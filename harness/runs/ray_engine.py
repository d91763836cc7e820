"""Cuts and embeds on a Ray cluster, or in local processes of Ray, through Ray Data."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import socket
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from chunkers.errors import InputError, install_command
from chunkers.plugins.loading import load_chunker
from chunkers.processes.isolation import Limits, Outcome
from chunkers.processes.messages import pack_source, pack_spans, unpack_source
from chunkers.processes.pool import Task
from chunkers.source import Services
from harness.chunking.cutters import cutter, target_of
from harness.embedding.embedder import EmbedderBase, OutOfMemoryError
from harness.embedding.encoder import Encoder
from harness.embedding.vector_store import StoredVector
from harness.runs.pipeline import load_embedder
from harness.support.wording import last_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.cutters import Cutter
    from harness.embedding.embedder import Embedder, Role, Windows

_FILES, _TEXTS = 16, 256  # of a batch
_CHARACTERS = 1 << 26  # of the files that are handed out at once
_ATTEMPTS = 3  # at a batch whose process died
_OBJECTS = 256 << 20  # bytes of local Ray's object store
_PATIENCE = 5  # seconds for a connection
_SECONDS = 120  # until every machine has said what it computes with

Columns = dict[str, Any]
"""A batch of Ray Data: arrays of one length by name."""


def connect(address: str) -> RayEngine:
    """Join a cluster, or start Ray on this machine if there is no address.

    Raises:
        InputError: Ray is not installed, or the cluster does not answer.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it writes to this terminal
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError(f"engine ray: Ray is not installed; {install_command('ray')}") from None
    _start(address)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # the run has its own
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return RayEngine()


def _start(address: str) -> None:
    """Connect this process, once: Ray leaves the cluster when the process ends."""
    import ray

    if ray.is_initialized():
        joined = ray.get_runtime_context().gcs_address
        if address not in ("", "auto", joined):
            raise InputError(f"engine ray: this process is connected to {joined}, not {address}")
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    local: dict[str, Any] = {
        "address": "local",  # or Ray would join what another program has started here
        "num_cpus": len(os.sched_getaffinity(0)),
        "object_store_memory": _OBJECTS,
        "include_dashboard": False,
        # Plug-ins are found where this process finds them.
        "runtime_env": {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
    }
    where = f"no cluster at {address}" if address else "Ray did not start"
    try:
        _reach(address)
        ray.init(**quiet, **({"address": address} if address else local))
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"engine ray: {where} ({str(error).splitlines()[0]}); correct the address, or use "
            "local processes by --engine local"
        ) from None


def _reach(address: str) -> None:
    """Raise an OSError unless something listens at HOST:PORT: Ray itself would wait for minutes."""
    if "://" in address:
        raise ValueError("an address is HOST:PORT, without ray://")
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


@dataclass(frozen=True)
class RayEngine:
    """The cluster that this process is connected to."""

    @contextlib.contextmanager
    def cutter(
        self, chunker: LoadedChunker, services: Services, limits: Limits
    ) -> Iterator[Cutter]:
        """What cuts by a chunker.

        A chunker that needs vectors or token counts, or that other processes cannot load, cuts
        here: the texts that it embeds are embedded on the cluster.
        """
        here = chunker.embeds or chunker.unit == "tokens" or chunker.made_by.startswith("__main__:")
        try:
            target_of(chunker)
        except InputError:
            here = True
        if here:
            with cutter(chunker, services, limits) as cutting:
                yield cutting
        else:
            yield RayCutter(chunker, limits)

    def embedder(self, embedder: Embedder) -> Embedder:
        """The embedder on the cluster, if it runs a model; servers and stored vectors stay here."""
        return RayEmbedder(embedder) if isinstance(embedder, Encoder) else embedder


@dataclass(frozen=True)
class RayCutter:
    """Cuts files in tasks of the cluster, each with the limits of a local run."""

    chunker: LoadedChunker
    limits: Limits

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order.

        Raises:
            InputError: A machine cannot load the chunker, or has another version of it.
        """
        for group in _groups(tasks):
            yield from self._cut(group)

    def _cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        rows = [
            {
                "number": number,
                "task": json.dumps([pack_source(task.source), task.corpus]),
            }
            for number, task in enumerate(tasks)
        ]
        cut = functools.partial(
            _cut, spec=self.chunker.name, version=self.chunker.version, limits=self.limits
        )
        early: dict[int, Outcome] = {}
        following = 0
        for batch in _batches(rows, cut, _FILES):
            for number, answer in zip(batch["number"].tolist(), batch["answer"], strict=True):
                packed = json.loads(answer)
                early[number] = Outcome.of(tasks[number].source.path, packed, packed["peak"])
            while following in early:
                yield early.pop(following)
                following += 1

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """None: these chunkers want no vectors."""
        return iter([None] * len(tasks))


@dataclass(frozen=True)
class RayEmbedder(EmbedderBase):
    """A model whose texts are embedded by the machines of the cluster.

    Attributes:
        local: The model on this machine, which counts tokens.
        halvings: How often the rows of a batch were halved.
    """

    local: Encoder
    halvings: int = 0
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.local.name)

    @property
    def windows(self) -> Windows | None:
        """How texts over the limit are embedded."""
        return self.local.windows

    @property
    def limit(self) -> int | None:
        """Tokens of a document that the model sees."""
        return self.local.limit

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query that the model sees."""
        return self.local.query_limit

    def renamed(self, name: str) -> Self:
        """The same embedder under another name."""
        return replace(self, local=self.local.renamed(name))

    def with_fewer_rows(self) -> Self:
        """The same model with half the rows."""
        return replace(self, local=self.local.with_fewer_rows(), halvings=self.halvings + 1)

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,)."""
        return self.local.count_tokens(texts)

    def identity(self, role: Role) -> dict[str, Any]:
        """That of the machines, which is the local one's on equal hardware.

        A cluster of several kinds of machines has an identity of its own, which lists theirs: their
        vectors of a text agree within 1e-5 only.
        """
        kinds = [json.loads(kind) for kind in self._kinds[role]]
        return kinds[0] if len(kinds) == 1 else {"mixed": kinds}

    @functools.cached_property
    def _kinds(self) -> dict[str, list[str]]:
        """For each role, the distinct identities of the model on the machines."""
        import ray
        from ray.exceptions import RayError
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ask = ray.remote(_identities)
        cluster: Any = ray
        nodes = [node["NodeID"] for node in cluster.nodes() if node["Alive"]]
        asked = [
            ask.options(
                num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            ).remote(self.name, self.halvings)
            for node in sorted(nodes)
        ]
        try:
            answers = ray.get(asked, timeout=_SECONDS)
        except RayError as error:
            raise InputError(
                f"{self.name}: a machine of the cluster does not say what it computes with "
                f"({last_line(error):.200}); install chunkmark and the model on every machine"
            ) from None
        for answer in answers:
            if "error" in answer:
                raise InputError(f"engine ray: a machine of the cluster: {answer['error']}")
        return {role: sorted({answer[role] for answer in answers}) for role in answers[0]}

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed texts in actors of the cluster, and yield their vectors a batch at a time.

        Raises:
            OutOfMemoryError: A batch did not fit.
            InputError: A machine has joined whose processor or libraries differ.
        """
        # Batches of texts of similar length need the fewest dummy rows.
        order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
        rows = [{"number": number, "text": json.dumps(texts[number])} for number in order]
        actor = {"spec": self.name, "halvings": self.halvings, "role": role}
        known = set(self._kinds[role])
        for batch in _batches(rows, _Model, _TEXTS, actor):
            if not {*batch["identity"]} <= known:
                raise InputError(
                    f"{self.name}: a machine with another processor or other libraries has joined "
                    "the cluster; run the command again"
                )
            yield [
                (number, StoredVector(np.frombuffer(vector, dtype="<f4"), tokens, seconds, share))
                for number, vector, tokens, seconds, share in zip(
                    batch["number"].tolist(),
                    batch["vector"],
                    batch["tokens"].tolist(),
                    batch["seconds"].tolist(),
                    batch["share"].tolist(),
                    strict=True,
                )
            ]


def _groups(tasks: Sequence[Task]) -> Iterator[Sequence[Task]]:
    """Tasks in order, in groups whose texts together fit into memory."""
    first = size = 0
    for at, task in enumerate(tasks):
        if size + task.source.length > _CHARACTERS and at > first:
            yield tasks[first:at]
            first, size = at, 0
        size += task.source.length
    if tasks:
        yield tasks[first:]


def _batches(
    rows: list[dict[str, Any]], work: Any, size: int, actor: dict[str, Any] | None = None
) -> Iterator[Columns]:
    """Map rows in batches on the cluster, by a function or by actors; yield finished batches.

    Batches are read as they are finished. Ray repeats those of a process that died.

    Raises:
        OutOfMemoryError, InputError: As the work says in its column `error`.
    """
    import ray
    import ray.data
    from ray.exceptions import RayError

    if not rows:
        return
    blocks = -(-len(rows) // size)
    retries = {"max_retries": _ATTEMPTS}
    options: dict[str, Any] = {"batch_size": size, "num_cpus": 1}
    if actor is not None:
        cluster: Any = ray
        cores = int(cluster.cluster_resources().get("CPU", 1))
        concurrency = max(1, min(cores, blocks))
        options |= {"fn_constructor_kwargs": actor, "concurrency": concurrency}
        retries = {"max_restarts": _ATTEMPTS, "max_task_retries": _ATTEMPTS}
    data = ray.data.from_items(rows, override_num_blocks=blocks).map_batches(
        work, ray_remote_args_fn=lambda: retries, **options
    )
    try:
        for batch in data.iter_batches(batch_size=None):
            if "error" in batch:
                kind, text = json.loads(batch["error"][0])
                raise OutOfMemoryError(text) if kind == "memory" else InputError(text)
            yield batch
    except RayError as error:
        raise InputError(
            f"engine ray: a batch failed {_ATTEMPTS + 1} times ({last_line(error):.200}); run the "
            "command again, or without --engine"
        ) from None


def _cut(batch: Columns, spec: str, version: str, limits: Limits) -> Columns:
    """Cut files on a machine of the cluster."""
    try:
        chunker = load_chunker(spec)
        if chunker.version != version:
            raise InputError(
                f"chunker {spec} is {version} here and {chunker.version} on a machine of the "
                "cluster; install the same versions"
            )
        packed = [json.loads(task) for task in batch["task"]]
        tasks = [Task(unpack_source(source), corpus) for source, corpus in packed]
        # The cluster gives each task one core.
        with cutter(chunker, Services(), limits, processes=1) as cutting:
            answers = [json.dumps(_packed(outcome)) for outcome in cutting.cut(tasks)]
    except InputError as error:
        return _error("input", error)
    return {"number": batch["number"], "answer": np.array(answers, dtype=object)}


def _packed(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON values, as `Outcome.of` reads it."""
    if outcome.failure is not None:
        return {
            "failure": [outcome.failure.kind, outcome.failure.reason],
            "peak": outcome.peak,
        }
    return {
        "spans": pack_spans(outcome.spans or ()),
        "notes": outcome.notes,
        "seconds": outcome.seconds,
        "peak": outcome.peak,
    }


class _Model:
    """A model in a process of the cluster, loaded once."""

    def __init__(self, spec: str, halvings: int, role: Role) -> None:
        self._role = role
        self._failure: InputError | None = None
        try:
            self._embedder = _load(spec, halvings)
            self._identity = json.dumps(self._embedder.identity(role), sort_keys=True)
        except InputError as error:
            self._failure = error

    def __call__(self, batch: Columns) -> Columns:
        """Embed the texts of a batch."""
        if self._failure is not None:
            return _error("input", self._failure)
        texts = [json.loads(text) for text in batch["text"]]
        try:
            pairs = dict(pair for part in self._embedder.embed(texts, self._role) for pair in part)
        except OutOfMemoryError as error:
            return _error("memory", error)
        except InputError as error:
            return _error("input", error)
        rows = [pairs[number] for number in range(len(texts))]
        return {
            "number": batch["number"],
            "vector": np.array([row.vector.astype("<f4").tobytes() for row in rows], dtype=object),
            "tokens": np.array([row.tokens for row in rows], dtype=np.int64),
            "seconds": np.array([row.seconds for row in rows], dtype=np.float64),
            "share": np.array([row.batch for row in rows], dtype=np.float64),
            "identity": np.array([self._identity] * len(rows), dtype=object),
        }


def _load(spec: str, halvings: int) -> Embedder:
    embedder = load_embedder(spec)
    for _ in range(halvings):
        embedder = embedder.with_fewer_rows()
    return embedder


def _identities(spec: str, halvings: int) -> dict[str, str]:
    """The identity of a model on one machine, for each role, as JSON."""
    from typing import get_args

    from harness.embedding.embedder import Role

    try:
        embedder = _load(spec, halvings)
        return {
            role: json.dumps(embedder.identity(role), sort_keys=True) for role in get_args(Role)
        }
    except InputError as error:
        return {"error": str(error)}


def _error(kind: str, error: Exception) -> Columns:
    return {"error": np.array([json.dumps([kind, str(error)])], dtype=object)}
