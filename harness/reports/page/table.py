"""The table of all cells: names, measures with intervals and references, losses and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.reports.columns import FACTS, MARKS, NONE, in_line, number
from harness.reports.contests import contends

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.reports.columns import CellDocument

SHOWN = ("SpanR@10000c", "SpanR@2500c", "SpanP@10000c", "Complete@10000c", "nDCG@10", "MRR")
"""Measures that are shown before the reader chooses, if chunkers can be compared by them."""

_NAMES = ("chunker", "dataset", "embedder", "retriever", "profile")


_FACTS = {f"{fact.part}.{fact.key}": fact for fact in FACTS if fact.part in ("health", "cost")}


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        title: Its heading.
        kind: `name`, `measure` or `fact`.
        key: What it shows: a name, a measure, or `health.` or `cost.` and a key.
        shown: Whether it is shown before the reader chooses.
        comparable: Whether chunkers can be compared by it.
    """

    title: str
    kind: str
    key: str
    shown: bool = True
    comparable: bool = True


@dataclass(frozen=True)
class Value:
    """A value of a row.

    Attributes:
        text: As it is printed.
        number: In full; None if there is none.
        interval, oracle, random: What stands beside a measure; None without.
        bound: Whether the oracle is an upper bound.
    """

    text: str
    number: float | str | None
    interval: Sequence[float] | None = None
    oracle: float | None = None
    random: float | None = None
    bound: bool = False


@dataclass(frozen=True)
class Row:
    """A cell: its values in the order of the columns, and its signs with their meaning."""

    values: tuple[Value, ...]
    signs: tuple[tuple[str, str], ...]
    control: bool


def columns_of(document: Mapping[str, Any]) -> list[Column]:
    """The columns; those of names that all cells share are left out, but never the chunker."""
    cells: list[CellDocument] = document["cells"]
    names = [
        Column("data set" if name == "dataset" else name, "name", name)
        for name in _NAMES
        if name == "chunker" or len({cell[name] for cell in cells}) > 1
    ]
    if len(document["runs"]) > 1:
        names.append(Column("run", "name", "run"))
    return [*names, Column("queries", "fact", "n_queries"), *_measures(cells), *_facts(cells)]


def _measures(cells: Sequence[CellDocument]) -> list[Column]:
    measures = dict.fromkeys(name for cell in cells for name in cell["metrics"])
    firsts = {cell["primary"] for cell in cells}
    out = []
    for name in measures:
        metrics = [cell["metrics"][name] for cell in cells if name in cell["metrics"]]
        comparable = all(metric["comparable"] for metric in metrics)
        shown = name in firsts or (comparable and name in SHOWN)
        out.append(Column(name, "measure", name, shown or None in firsts, comparable))
    return out


def _facts(cells: Sequence[CellDocument]) -> list[Column]:
    """Losses and costs of which some cell has a record."""
    return [
        Column(in_line(fact.title), "fact", key)
        for key, fact in _FACTS.items()
        if any(fact.value(cell) is not None for cell in cells)
    ]


def rows_of(document: Mapping[str, Any], columns: Sequence[Column]) -> list[Row]:
    """A row for each cell, in the order of the runs."""
    return [
        Row(
            tuple(_value(document, cell, column) for column in columns),
            tuple((sign, why) for sign, applies, why in MARKS if applies(cell)),
            not contends(cell["chunker"]),
        )
        for cell in document["cells"]
    ]


def _value(document: Mapping[str, Any], cell: CellDocument, column: Column) -> Value:
    if column.kind == "name":
        name = document["runs"][cell["run"]]["path"] if column.key == "run" else cell[column.key]
        return Value(str(name), str(name))
    if column.kind == "measure":
        return _metric(cell["metrics"].get(column.key))
    if column.key == "n_queries":
        return Value(f"{cell['n_queries']:,}", cell["n_queries"])
    fact = _FACTS[column.key]
    value = fact.value(cell)
    return Value(NONE if value is None else fact.form(value), value)


def _metric(metric: Mapping[str, Any] | None) -> Value:
    if metric is None or metric["mean"] is None:
        return Value(NONE, None)
    return Value(
        number(metric["mean"]),
        metric["mean"],
        metric["ci95"],
        metric["oracle"],
        metric["random"],
        bool(metric["oracle_is_bound"]),
    )
