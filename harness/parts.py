"""Makes embedders and retrievers from their specs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from chunkers.registry import Registry
from chunkers.spec import bind, canonical, parse_spec

if TYPE_CHECKING:
    from harness.embedding import Embedder
    from harness.retrieval import Retriever

EMBEDDERS = Registry("embedder", ("harness.embedders",), "chunkmark.embedders")
RETRIEVERS = Registry("retriever", ("harness.retrievers",), "chunkmark.retrievers")


def _make(registry: Registry, text: str) -> tuple[str, object]:
    entry, spec = registry.find(parse_spec(text))
    make = registry.load(entry)
    bound = bind(make, spec, registry.kind)
    return canonical(make, spec, bound), make(**bound)


def load_embedder(text: str) -> Embedder:
    """The embedder that a spec names; its model is not loaded yet.

    Raises:
        InputError: An unknown name or key, or a model that is not at hand.
    """
    name, made = _make(EMBEDDERS, text)
    return cast("Embedder", made).named(name)


def load_retriever(text: str) -> tuple[str, Retriever]:
    """The retriever that a spec names, and its name in canonical form.

    Raises:
        InputError: An unknown name or key.
    """
    name, made = _make(RETRIEVERS, text)
    return name, cast("Retriever", made)
