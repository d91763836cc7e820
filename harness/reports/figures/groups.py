"""The cells of a report that one figure compares."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.reports.answer import SHARED_PARTS
from harness.reports.figures import style
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.reports.columns import CellDocument
    from harness.runs.stored_values import StoredCell


@dataclass(frozen=True)
class Group:
    """The cells of one data set, embedder, retriever and profile.

    Attributes:
        parts: Data set, and embedder, retriever and profile where they say something.
        run: The number of the run, if several have the data set.
        cells: The cells of the document, by chunker.
        stored: The stored cells of the same names.
        answer: What the report says of them, if they can be compared.
    """

    parts: tuple[str, ...]
    run: tuple[str, ...]
    cells: Mapping[str, CellDocument]
    stored: Mapping[str, StoredCell]
    answer: Mapping[str, Any] | None

    @property
    def measure(self) -> str | None:
        """The measure that chunkers are compared by; None without one."""
        first = next(iter(self.cells.values()))
        measure: str | None = first["primary"]
        return measure

    @property
    def baseline(self) -> str | None:
        """The chunker that the others are compared with."""
        return None if self.answer is None else self.answer["baseline"]

    @property
    def embedder(self) -> str:
        """The embedder; empty without one."""
        name: str = next(iter(self.cells.values()))["embedder"]
        return "" if name == "none" else name

    @property
    def data(self) -> tuple[str, str, str]:
        """The run, data set and profile."""
        first = next(iter(self.cells.values()))
        return str(first.get("run", 0)), first["dataset"], first["profile"]

    @property
    def queries(self) -> int:
        """The number of queries."""
        count: int = next(iter(self.cells.values()))["n_queries"]
        return count

    @property
    def shared(self) -> tuple[str, ...]:
        """What all cells share."""
        return (*self.parts, *self.run)

    @property
    def subtitle(self) -> str:
        """What all cells share, and the number of queries."""
        return subtitle(self.shared, self.queries)

    def title(self, subject: str) -> str:
        """A subject, and what all cells share."""
        return f"{subject}: {', '.join(self.shared)}"

    def choose(self, names: Sequence[str], most: int) -> list[str]:
        """The chunkers that a figure has room for: the baseline and those with high means."""
        means = self.means(self.measure) if self.measure else {}
        return style.choose(names, means, most, [self.baseline or ""])

    def means(self, measure: str) -> dict[str, float]:
        """The means of the cells that have one."""
        return {
            name: cell["metrics"][measure]["mean"]
            for name, cell in self.cells.items()
            if measure in cell["metrics"] and cell["metrics"][measure]["mean"] is not None
        }


def subtitle(parts: Sequence[str], queries: int) -> str:
    """Parts and the number of queries, for the line under a title."""
    return " · ".join([*parts, counted(queries, "query", "queries")])


def groups_of(document: Mapping[str, Any], stored: Iterable[StoredCell]) -> list[Group]:
    """The groups of a report, in the order of its cells: cells of one run, data set and so on."""
    by_key = {cell.folder.name: cell for cell in stored}
    grouped: dict[tuple[Any, ...], dict[str, CellDocument]] = {}
    for cell in document["cells"]:
        own = grouped.setdefault(
            (cell.get("run", 0), *(cell[part] for part in (*SHARED_PARTS, "profile"))), {}
        )
        own.setdefault(cell["chunker"], cell)
    answers = {
        (answer.get("run", 0), *(answer[part] for part in SHARED_PARTS)): answer
        for answer in document["verdicts"]
    }
    times = Counter(dataset for _, dataset in {key[:2] for key in grouped})
    return [
        Group(
            parts=shown_parts(*key[1:]),
            run=(f"run {key[0] + 1}",) * (times[key[1]] > 1),
            cells=cells,
            stored={
                name: by_key[cell["key"]] for name, cell in cells.items() if cell["key"] in by_key
            },
            answer=answers.get(key[:4]),
        )
        for key, cells in grouped.items()
    ]


def shown_parts(dataset: str, *others: str) -> tuple[str, ...]:
    """The parts that say something: no embedder and the default profile are not named."""
    return (dataset, *(part for part in others if part not in ("none", "default")))
