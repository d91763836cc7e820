"""Columns of the tables of a run: names with their signs, formatted numbers, losses and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.runs.health import TRUNCATION_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CellDocument = dict[str, Any]
"""A cell in the document `chunkmark.run/1`."""

NAMES = 32
"""Width of the column of chunkers; a longer name wraps."""

NONE = "-"
"""Shown if there is no number."""

MOST_FALLBACK = 0.5
"""Share of files cut in another way above which a row says little about its chunker."""

MARKS: tuple[tuple[str, Callable[[CellDocument], bool], str], ...] = (
    (
        "!",
        lambda cell: bool(cell["truncated"]),
        f"a model never saw over {TRUNCATION_MARK:.0%} of the chunk tokens, so the scores say "
        "little about boundaries",
    ),
    ("<", lambda cell: cell["health"]["coverage"] < 1, "part of the text is in no chunk"),
    (">", lambda cell: cell["health"]["over_size"] > 0, "some chunks are over the size limit"),
    (
        "e",
        lambda cell: cell["health"]["embedded"] < 1 - TRUNCATION_MARK,
        f"over {TRUNCATION_MARK:.0%} of the chunks' text is not in what is embedded for it",
    ),
    (
        "f",
        lambda cell: cell["health"]["fallback"] > MOST_FALLBACK,
        f"over {MOST_FALLBACK:.0%} of the files are cut in another way than the chunker's own",
    ),
    ("x", lambda cell: cell["health"]["files_failed"] > 0, "the chunker failed on some files"),
)
"""Signs after a chunker's name, each with its condition and meaning."""


def marked(cell: CellDocument) -> str:
    """The name of a cell's chunker, with its signs."""
    signs = "".join(sign for sign, applies, _ in MARKS if applies(cell))
    return f"{cell['chunker']} {signs}".rstrip()


def legend(cells: Sequence[CellDocument]) -> list[str]:
    """The meaning of each sign that some cell has."""
    return [
        f"{sign} after a name: {meaning}"
        for sign, applies, meaning in MARKS
        if any(map(applies, cells))
    ]


def column_name(name: str, cell: CellDocument) -> str:
    """A measure's name, with `*` if it is not comparable between chunkers."""
    return name if cell["metrics"][name]["comparable"] else f"{name}*"


def number(value: float | None, form: str = ".3f") -> str:
    """A formatted number."""
    return NONE if value is None else format(value, form)


def ends(interval: Sequence[float] | None, decimals: int = 2) -> str:
    """Both ends of an interval."""
    return NONE if interval is None else "-".join(brief(value, decimals) for value in interval)


def brief(value: float, decimals: int = 2) -> str:
    """A number without zeros that say nothing."""
    text = f"{value:.{decimals}f}".removeprefix("0")
    return text.removesuffix("." + decimals * "0") or "0"


def short(value: float | None) -> str:
    """A number in few characters: three digits and a suffix if it is large."""
    if value is None:
        return NONE
    for bound, divisor, suffix in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= bound:
            return f"{value / divisor:.1f}{suffix}"
    return f"{value:.0f}"


def share(value: float | None) -> str:
    """A share in per cent."""
    return NONE if value is None else f"{100 * value:.1f} %"


def coverage(value: float | None) -> str:
    """A share in per cent, rounded down: 100.0 % means all."""
    return NONE if value is None else f"{math.floor(round(1000 * value, 6)) / 10:.1f} %"


def milliseconds(times: Mapping[str, float] | None) -> str:
    """The median and the 95th percentile; two digits if they are small."""
    if times is None:
        return NONE
    return " ".join(
        format(value, ".0f" if value >= 9.95 else ".1f" if value >= 0.095 else ".2f")
        for value in (times["p50"], times["p95"])
    )


@dataclass(frozen=True)
class Fact:
    """A loss or a cost of a cell, as a column.

    Attributes:
        title: Its heading, in lines.
        part: The part of the cell's document that has it; empty for the document itself.
        key: Its key in the part.
        form: Formats its value.
    """

    title: str
    part: str
    key: str
    form: Callable[[Any], str]

    def value(self, cell: CellDocument) -> Any:
        """Its value in a cell; None if there is none, such as a price."""
        return (cell[self.part] if self.part else cell).get(self.key)

    def show(self, cell: CellDocument) -> str:
        """Its value in a cell, formatted."""
        return self.form(self.value(cell))


FACTS = (
    Fact("chunks", "health", "chunks", str),
    Fact("median\nc", "health", "median_c", str),
    Fact("gold\nchunks", "", "relevant_units", lambda value: number(value, ".1f")),
    Fact("cover-\nage", "health", "coverage", coverage),
    Fact("em-\nbedded", "health", "embedded", coverage),
    Fact("gold\nuncut", "health", "gold_uncut", str),
    Fact("over\nsize", "health", "over_size", str),
    Fact("unseen\nchunk", "health", "unseen_chunk_tokens", share),
    Fact("unseen\nquery", "health", "unseen_query_tokens", share),
    Fact("tokens", "cost", "tokens", short),
    Fact("price", "cost", "price", lambda value: number(value, ".4g")),
    Fact("vectors", "cost", "vectors", short),
    Fact("seconds", "cost", "seconds", lambda value: number(value, ".1f")),
    Fact("embed\nms", "latency_ms", "embedding", milliseconds),
    Fact("search\nms", "latency_ms", "search", milliseconds),
    Fact("total\nms", "latency_ms", "total", milliseconds),
    Fact("c in\ntop 10", "cost", "chars_delivered", short),
    Fact("index\nMB", "cost", "index_bytes", lambda value: number(value / 1e6, ".2f")),
)
"""Losses and costs, in the order of the tables; the milliseconds are those of a query."""

LATENCY = tuple((fact.title, fact.show) for fact in FACTS if fact.part == "latency_ms")
"""Columns of the milliseconds of a query."""


def health_columns(
    cells: Sequence[CellDocument],
) -> tuple[tuple[str, Callable[[CellDocument], str]], ...]:
    """The columns of the second table; what is embedded if some text is not, and prices."""
    left_out = set()
    if "price" not in cells[0]["cost"]:
        left_out.add("price")
    if all(cell["health"]["embedded"] == 1 for cell in cells):
        left_out.add("embedded")
    return tuple((fact.title, fact.show) for fact in FACTS if fact.key not in left_out)


def in_line(title: str) -> str:
    """The heading of a column without its line breaks."""
    return title.replace("-\n", "").replace("\n", " ")
