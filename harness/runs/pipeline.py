"""Makes embedders and retrievers from their specs."""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from chunkers.errors import InputError
from chunkers.grammars.loading import grammar_versions
from chunkers.plugins.registry import Registry
from chunkers.plugins.spec import bind, canonical, parse_spec
from harness.retrieval.options import ranking_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chunkers.plugins.loading import LoadedChunker
    from harness.embedding.embedder import Embedder
    from harness.measures.profiles import Profile
    from harness.retrieval.options import RankingOptions
    from harness.retrieval.ranking import Index, Material, Order, Ranker, Retriever

EMBEDDERS = Registry("embedder", ("harness.embedding.embedders",), "chunkmark.embedders")
RETRIEVERS = Registry("retriever", ("harness.retrieval.retrievers",), "chunkmark.retrievers")


@dataclass(frozen=True)
class LoadedRetriever:
    """A retriever, and what becomes of its rankings."""

    retriever: Retriever
    policy: RankingOptions

    @property
    def dense(self) -> bool:
        """Whether it needs vectors."""
        return self.retriever.dense

    @property
    def version(self) -> str:
        """Changes whenever its scores may."""
        version = self.retriever.version
        if self.policy.expand == "parent":  # what encloses a chunk is read off the syntax tree
            version += f"; parents {grammar_versions()}"
        return version

    def index(self, material: Material) -> Index | Ranker:
        """Make one corpus searchable."""
        return self.retriever.index(material)


def load_embedder(text: str) -> Embedder:
    """The embedder that a spec names; its model is not loaded yet.

    Raises:
        InputError: An unknown name or key, or a model that is not at hand.
    """
    entry, spec = EMBEDDERS.find(parse_spec(text))
    make = EMBEDDERS.load(entry)
    bound = bind(make, spec, EMBEDDERS.kind)
    return cast("Embedder", make(**bound)).renamed(canonical(make, spec, bound))


def load_retriever(text: str) -> tuple[str, LoadedRetriever]:
    """The retriever that a spec names, and its name in canonical form.

    Raises:
        InputError: An unknown name, key or value.
    """
    entry, spec = RETRIEVERS.find(parse_spec(text))
    make = RETRIEVERS.load(entry)
    bound = bind(make, spec, RETRIEVERS.kind, ranking_options)
    name = canonical(make, spec, bound, ranking_options)
    policy = {
        key: bound.pop(key) for key in inspect.signature(ranking_options).parameters.keys() & bound
    }
    return name, LoadedRetriever(make(**bound), ranking_options(**policy))


def describe(
    registry: Registry, common: Callable[..., object] | None = None
) -> list[dict[str, str]]:
    """Name, origin, options and first line of documentation of every part of a kind.

    A part that cannot be loaded says why in place of its description.

    Args:
        registry: The kind.
        common: A function whose parameters are options of every part.
    """
    rows = []
    for name, entry in registry.entries().items():
        row = {"name": name, "origin": entry.origin, "options": "", "description": ""}
        try:
            make = registry.load(entry)
        except InputError as error:
            rows.append(row | {"description": f"not usable: {error}"})
            continue
        parameters = [
            parameter
            for one in (make, common)
            if one is not None
            for parameter in inspect.signature(one).parameters.values()
        ]
        row["options"] = ", ".join(
            f"{one.name}={'' if one.default is None else one.default}"
            for one in parameters
            if one.default is not inspect.Parameter.empty
        )
        module = inspect.getmodule(make)
        text = (module.__doc__ if module else None) or make.__doc__ or ""
        rows.append(row | {"description": text.strip().split("\n")[0]})
    return rows


@dataclass
class PhaseTimer:
    """Wall time of phases, in seconds, and where progress is told."""

    tell: Callable[[str, int, int], None]
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Time a phase; yields what is to be told how many of how many are done."""
        started = time.perf_counter()
        try:
            yield lambda done, total: self.tell(name, done, total)
        finally:
            self.seconds[name] += time.perf_counter() - started


@dataclass(frozen=True)
class Pipeline:
    """What a cell is made with; `embedder` is None for a lexical retriever.

    Of the profile the fields count that speak of a run.
    """

    chunker: LoadedChunker
    embedder: Embedder | None
    retriever: LoadedRetriever
    order: Order
    profile: Profile
