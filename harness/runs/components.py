"""Makes embedders and retrievers from their specs."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from chunkers.errors import InputError
from chunkers.grammars.loading import grammar_versions
from chunkers.plugins.registry import Registry
from chunkers.plugins.spec import bind, canonical, parse_spec
from harness.retrieval.policy import make_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.embedding.embed import Embedder
    from harness.retrieval.policy import Policy
    from harness.retrieval.retriever import Index, Material, Ranker, Retriever

EMBEDDERS = Registry("embedder", ("harness.embedding.embedders",), "chunkmark.embedders")
RETRIEVERS = Registry("retriever", ("harness.retrieval.retrievers",), "chunkmark.retrievers")


@dataclass(frozen=True)
class LoadedRetriever:
    """A retriever, and what becomes of its rankings."""

    retriever: Retriever
    policy: Policy

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
    return cast("Embedder", make(**bound)).named(canonical(make, spec, bound))


def load_retriever(text: str) -> tuple[str, LoadedRetriever]:
    """The retriever that a spec names, and its name in canonical form.

    Raises:
        InputError: An unknown name, key or value.
    """
    entry, spec = RETRIEVERS.find(parse_spec(text))
    make = RETRIEVERS.load(entry)
    bound = bind(make, spec, RETRIEVERS.kind, make_policy)
    name = canonical(make, spec, bound, make_policy)
    policy = {
        key: bound.pop(key) for key in inspect.signature(make_policy).parameters.keys() & bound
    }
    return name, LoadedRetriever(make(**bound), make_policy(**policy))


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
