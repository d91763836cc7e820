"""Compares the means of a run with the published figures of its data sets' cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from chunkers.errors import InputError
from harness.datasets.cards import card_names, load_card
from harness.embedding.model_cards import find_model
from harness.runs.folder import read_manifest
from harness.runs.stored_values import read_stored_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.datasets.cards import Published
    from harness.runs.stored_values import StoredCell

TOLERANCE = 0.005
"""Allowed absolute difference from a published mean: half a point."""


@dataclass(frozen=True)
class Comparison:
    """A mean of a cell, and the published figure of the same measure, model and profile."""

    cell: str
    dataset: str
    embedder: str
    value: float
    published: Published

    @property
    def difference(self) -> float:
        """The cell's mean minus the published one."""
        return self.value - self.published.value

    @property
    def agrees(self) -> bool:
        """Whether the difference is within `TOLERANCE`."""
        return abs(self.difference) <= TOLERANCE

    def document(self) -> dict[str, Any]:
        """Its values as JSON."""
        own = {"cell": self.cell, "dataset": self.dataset, "embedder": self.embedder}
        figures = {"value": self.value, "difference": self.difference, "agrees": self.agrees}
        return own | figures | {"published": msgspec.structs.asdict(self.published)}


def compare_published(runs: Sequence[Path]) -> list[Comparison]:
    """Compare the last runs of run folders with published figures.

    A figure applies to a cell of the card's data set with all its queries, whole documents and
    dense retrieval, by the figure's profile and by its model as the model's card says.

    Raises:
        InputError: A folder is not a run folder, or no figure applies to any cell.
    """
    rows = []
    for run in runs:
        embedders = read_manifest(run)["embedders"]
        for cell in read_stored_cells(run, earlier=False):
            name, embedder = cell.names["dataset"], cell.names["embedder"]
            if name not in card_names() or not _is_plain(cell):
                continue
            for published in load_card(name).published:
                mean = cell.metrics["metrics"].get(published.measure, {}).get("mean")
                same = published.profile == cell.profile["name"] and _is_model(
                    published, embedder, embedders.get(embedder, {})
                )
                if same and mean is not None:
                    rows.append(Comparison(cell.folder.name, name, embedder, mean, published))
    if not rows:
        raise InputError(_why_none(runs))
    return rows


def _why_none(runs: Sequence[Path]) -> str:
    """Why no figure applies, and what to run so that one does."""
    problem = f"no published figure applies to {', '.join(map(str, runs))}"
    names = {
        cell.names["dataset"] for run in runs for cell in read_stored_cells(run, earlier=False)
    }
    known = {name: load_card(name).published for name in card_names()}
    figures = [(name, row) for name in sorted(names) for row in known.get(name, ())]
    if not figures:
        others = ", ".join(name for name, published in known.items() if published)
        return f"{problem}: none of its data sets has one\nthose with a figure are {others}"
    name, figure = figures[0]
    model = find_model(figure.model)
    embedder = f"st:{figure.model}" if model is None else model.specs[0]
    return (
        f"{problem}: figures are of whole documents and all queries\n"
        f"run `chunkmark run -d {name} -c whole-file -r dense -e {embedder} "
        f"--profile {figure.profile} -m {figure.measure}`"
    )


def _is_plain(cell: StoredCell) -> bool:
    """Whether a cell ranks whole documents for all queries by their vectors alone."""
    plain = (cell.names["chunker"], cell.names["retriever"]) == ("whole-file", "dense")
    return plain and cell.cell["identity"]["limit"] is None


def _is_model(published: Published, embedder: str, identity: Mapping[str, Any]) -> bool:
    """Whether an embedder is the model of a figure, used as the model's card says."""
    card = find_model(published.model)
    if card is None or card.revision != published.model_revision or embedder not in card.specs:
        return False
    loaded = {"name": card.hub, "revision": card.revision}
    return embedder == card.embedder or identity.get("model") == loaded
