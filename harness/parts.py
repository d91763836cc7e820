"""Makes embedders and retrievers from their specs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

from chunkers.errors import InputError
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


def describe(registry: Registry) -> list[dict[str, str]]:
    """Name, origin, options and first line of documentation of every part of a kind.

    A part that cannot be loaded says why in place of its description.
    """
    rows = []
    for name, entry in registry.entries().items():
        row = {"name": name, "origin": entry.origin, "options": "", "description": ""}
        try:
            make = registry.load(entry)
        except InputError as error:
            rows.append(row | {"description": f"not usable: {error}"})
            continue
        parameters = inspect.signature(make).parameters.values()
        row["options"] = ", ".join(
            f"{one.name}={'' if one.default is None else one.default}"
            for one in parameters
            if one.default is not inspect.Parameter.empty
        )
        module = inspect.getmodule(make)
        text = (module.__doc__ if module else None) or make.__doc__ or ""
        rows.append(row | {"description": text.strip().split("\n")[0]})
    return rows
