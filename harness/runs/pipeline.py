"""The parts of a cell: embedders and retrievers by their specs, and the timing of its phases."""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from chunkers.errors import InputError
from chunkers.grammars.loading import grammar_versions
from chunkers.plugins.loading import load_chunker
from chunkers.plugins.registry import Registry
from chunkers.plugins.spec import bind, canonical, expand_spec, parse_spec
from harness.retrieval.indexes import flat
from harness.retrieval.options import RankingOptions, ranking_options
from harness.retrieval.vector_index import load_index
from harness.support.space import MEMORY
from harness.support.wording import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chunkers.plugins.loading import LoadedChunker
    from harness.embedding.embedder import Embedder
    from harness.measures.profiles import Profile
    from harness.retrieval.ranking import Index, Material, Order, Ranker, Retriever
    from harness.retrieval.vector_index import VectorIndex
    from harness.support.progress import Tell
    from harness.support.space import Space

EMBEDDERS = Registry("embedder", ("harness.embedding.embedders",), "chunkmark.embedders")
RETRIEVERS = Registry("retriever", ("harness.retrieval.retrievers",), "chunkmark.retrievers")


@dataclass(frozen=True)
class LoadedRetriever:
    """A retriever with the options that every retriever has, and the index of its vectors."""

    retriever: Retriever
    options: RankingOptions
    vector_index: VectorIndex = field(default_factory=flat.make)

    @property
    def dense(self) -> bool:
        """Whether it needs vectors."""
        return self.retriever.dense

    @property
    def version(self) -> str:
        """Changes whenever its scores may change."""
        version = self.retriever.version
        if self.options.expand == "parent":  # the parent of a chunk depends on the syntax tree
            version += f"; parents {grammar_versions()}"
        if self.vector_index.version:
            version += f"; index {self.vector_index.version}"
        return version

    def index(self, material: Material) -> Index | Ranker:
        """Index one corpus."""
        return self.retriever.index(replace(material, vector_index=self.vector_index))


@dataclass(frozen=True)
class Pipeline:
    """The parts that make one cell, and the space of its vectors.

    `embedder` is None for a lexical retriever.
    """

    chunker: LoadedChunker
    embedder: Embedder | None
    retriever: LoadedRetriever
    order: Order
    profile: Profile
    space: Space = MEMORY


@dataclass
class PhaseTimer:
    """Adds up the wall time of phases, in seconds, and reports their progress."""

    tell: Tell
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Time a phase; yields a function that takes the number of finished steps and of all."""
        started = time.perf_counter()
        try:
            yield lambda done, total: self.tell(name, done, total)
        finally:
            self.seconds[name] += time.perf_counter() - started


def load_chunkers(specs: Iterable[str]) -> list[LoadedChunker]:
    """The chunkers of specs, one for each value of a sweep; a warning names those given twice.

    Raises:
        InputError: A spec is invalid, or its chunker cannot be loaded.
    """
    every = (spec for text in specs for spec in expand_spec(text))
    return distinct("chunker", map(load_chunker, every), attrgetter("name"))


def refuse_unknown_embedder(text: str) -> None:
    """Check the name in a spec, also where no embedder is needed.

    Raises:
        InputError: No embedder has this name.
    """
    EMBEDDERS.find(parse_spec(text))


def load_embedder(text: str) -> Embedder:
    """The embedder of a spec; its model is loaded on first use.

    Raises:
        InputError: Unknown name or key, or the model is not installed.
    """
    entry, spec = EMBEDDERS.find(parse_spec(text))
    make = EMBEDDERS.load(entry)
    bound = bind(make, spec, EMBEDDERS.kind)
    embedder = EMBEDDERS.make(entry, make, bound, "fingerprint")
    return cast("Embedder", embedder).renamed(canonical(make, spec, bound))


def load_retriever(text: str, index: str | None = None) -> tuple[str, LoadedRetriever]:
    """The canonical name and the retriever of a spec.

    Args:
        text: The spec.
        index: Spec of the index of vectors, for a retriever that has vectors and names none.

    Raises:
        InputError: Unknown name, key or value, or an index for a retriever without vectors.
    """
    entry, spec = RETRIEVERS.find(parse_spec(text))
    make = RETRIEVERS.load(entry)
    bound = bind(make, spec, RETRIEVERS.kind, ranking_options)
    shared = inspect.signature(ranking_options).parameters.keys() & bound
    common = {key: bound.pop(key) for key in shared}
    retriever = cast("Retriever", RETRIEVERS.make(entry, make, bound, "index"))
    chosen = common.get("index", index)
    vector_index: VectorIndex = flat.make()
    exact = True
    if "index" in common and not retriever.dense:
        raise InputError(f"retriever {spec.name}: index= needs vectors; leave it out")
    if chosen is not None and retriever.dense:
        common["index"], vector_index = load_index(chosen)
        exact = not vector_index.version
        spec = spec.without("index").with_option("index", common["index"])
    name = canonical(make, spec, bound | common, ranking_options)
    options = replace(ranking_options(**common), exact=exact)
    return name, LoadedRetriever(retriever, options, vector_index)


def describe(
    registry: Registry, common: Callable[..., object] | None = None, *, options: bool = True
) -> list[dict[str, str]]:
    """Name, origin, options and summary of every registered part.

    The description of a part that cannot be loaded is the error. The parameters of `common` are
    options of every part. Without `options`, no built-in part is imported.
    """
    rows = []
    for name, entry in registry.entries().items():
        row = {"name": name, "origin": entry.origin, "options": "", "description": ""}
        rows.append(row)
        if not options and entry.origin == "built-in":
            row["description"] = registry.summary(entry)
            continue
        try:
            make = registry.load(entry)
        except InputError as error:
            row["description"] = f"not usable: {error}"
            continue
        functions = [make] if common is None else [make, common]
        row["options"] = ", ".join(
            f"{parameter.name}={'' if parameter.default is None else parameter.default}"
            for function in functions
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is not inspect.Parameter.empty
        )
        module = inspect.getmodule(make)
        text = (module.__doc__ if module else None) or make.__doc__ or ""
        row["description"] = text.strip().split("\n")[0]
    return rows
