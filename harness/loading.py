"""Finds a data set by its spec and loads it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.registry import Entry, Registry, suggestion
from chunkers.spec import Spec, bind, canonical, parse_spec
from harness.cards import card_names, load_card, missing_files
from harness.model import Dataset, Relevance, Rule

if TYPE_CHECKING:
    from pathlib import Path

_PLUG_INS = Registry("dataset", (), "chunkmark.datasets")


@dataclass(frozen=True, slots=True)
class Listed:
    """A data set in a list.

    Attributes:
        name: What `load_dataset` takes.
        title: One line.
        missing: What keeps it from being loaded, such as a file to place; empty if at hand.
    """

    name: str
    title: str
    missing: str = ""


def load_dataset(spec: str | Spec, *, data_dir: Path | None = None) -> Dataset:
    """Load a data set.

    Cards come first, then the entry points of the group `chunkmark.datasets`, then `module:attr`.
    A card names a function `load(card, data_dir, *, key=default, ...)`; the other two are a
    function `load(data_dir, *, key=default, ...)`. Its keyword-only parameters are the spec's
    keys, and `argument` is the bare argument. Every data set also has the keys `relevance`
    (`overlap`, `iou`, `share` or `graded`) and `threshold`.

    Args:
        spec: Such as `repoeval-function:target=body`.
        data_dir: A folder looked into before `$CHUNKMARK_DATA`.

    Returns:
        The data set, named by the spec in canonical form.

    Raises:
        InputError: The spec names nothing, has unknown keys or values, or the data is missing or
            damaged.
    """
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    given: tuple[Any, ...]
    if spec.name in card_names():
        card = load_card(spec.name)
        load = _PLUG_INS.load(Entry(card.name, card.loader, "its card"))
        given = (card, data_dir)
    else:
        entry, spec = _plug_in(spec)
        load = _PLUG_INS.load(entry)
        given = (data_dir,)
    bound = bind(load, spec, "dataset", _judging)
    name = canonical(load, spec, bound, _judging)
    judging = {key: bound.pop(key) for key in ("relevance", "threshold") if key in bound}
    relevance = _judging(**judging)
    dataset = load(*given, **bound)
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"dataset {spec.name}: its loader returned {type(dataset).__name__}, not a Dataset"
        )
    if judging and dataset.gold == "document":
        raise InputError(f"dataset {spec.name}: its gold is documents; relevance= is for lines")
    return dataclasses.replace(dataset, name=name, relevance=relevance)


def _judging(*, relevance: Rule = "overlap", threshold: float = 0.5) -> Relevance:
    return Relevance(relevance, threshold)


def list_datasets(data_dir: Path | None = None) -> tuple[Listed, ...]:
    """All data sets in order of name; none is loaded, no plug-in is imported."""
    listed = {}
    for name, entry in _PLUG_INS.entries().items():
        listed[name] = Listed(name, f"from {entry.origin}")
    for name in card_names():
        try:
            card = load_card(name)
        except InputError as error:
            listed[name] = Listed(name, "", str(error))
            continue
        missing = ", ".join(missing_files(card, data_dir))
        listed[name] = Listed(name, card.title, f"place {missing} in a data folder" * bool(missing))
    return tuple(listed[name] for name in sorted(listed))


def _plug_in(spec: Spec) -> tuple[Entry, Spec]:
    """The entry point or the Python object that a spec names, and the spec of its options."""
    names = _PLUG_INS.entries()
    if spec.name not in names and spec.argument is None:
        near = suggestion(spec.name, sorted({*names, *card_names()}))
        raise InputError(f"unknown dataset {spec.name!r}; {near}")
    return _PLUG_INS.find(spec)
