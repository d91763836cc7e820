"""The data sets that there are; none is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.plugins.registry import Registry
from harness.datasets.cards import card_names, load_card, missing_files

if TYPE_CHECKING:
    from pathlib import Path

LIST = "chunkmark list datasets"
"""Lists the data sets, for messages."""

DATASETS = Registry("data set", (), "chunkmark.datasets")


@dataclass(frozen=True, slots=True)
class Listed:
    """A data set in a list.

    Attributes:
        name: What `load_dataset` takes.
        title: One line.
        missing: The reason that it cannot be loaded, such as a file to place; empty if it can.
    """

    name: str
    title: str
    missing: str = ""


def list_datasets(data_dir: Path | None = None) -> tuple[Listed, ...]:
    """All data sets in order of name; none is loaded, no plug-in is imported."""
    listed = {}
    for name, entry in DATASETS.entries().items():
        listed[name] = Listed(name, f"from {entry.origin}")
    for name in card_names():
        try:
            card = load_card(name)
        except InputError as error:
            listed[name] = Listed(name, "", str(error))
            continue
        missing = ", ".join(missing_files(card, data_dir))
        problem = f"needs files, see `chunkmark dataset fetch {name}`: {missing}"
        listed[name] = Listed(name, card.title, problem if missing else "")
    return tuple(listed[name] for name in sorted(listed))
