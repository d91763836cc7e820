"""Faults that the spans of one source may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunkers.sizes import span_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from chunkers.sizes import Unit
    from chunkers.source import Services, Source, Span

_SHOWN = 30


def not_verbatim(source: Source, spans: Sequence[Span]) -> str:
    """The first embedded text that lacks the text of its span; empty if there is none.

    An embedded text may have additions anywhere, and other white space. Types and offsets are
    checked before.
    """
    for number, span in enumerate(spans, start=1):
        if span.embed_text is None:
            continue
        text = span.kept(source.text)
        if "".join(text.split()) not in "".join(span.embed_text.split()):
            return (
                f"chunk {number} embeds {_shown(span.embed_text)}, which does not hold its own "
                f"text, {_shown(text)}"
            )
    return ""


def not_once(source: Source, spans: Sequence[Span]) -> tuple[str, str]:
    """The non-white-space characters that are in no span, and those in several, as messages."""
    depth = np.zeros(len(source.text) + 1, dtype=np.int64)
    np.add.at(depth, [span.start for span in spans], 1)
    np.subtract.at(depth, [span.end for span in spans], 1)
    gaps = [gap for span in spans for gap in span.gaps]
    np.subtract.at(depth, [start for start, _ in gaps], 1)
    np.add.at(depth, [end for _, end in gaps], 1)
    times = np.cumsum(depth)[:-1]
    visible = np.diff(source.lines.nws) > 0
    whole = int(visible.sum())
    lost, repeated = np.flatnonzero(visible & (times == 0)), np.flatnonzero(visible & (times > 1))
    return _share(source, "lost", lost, whole), _share(source, "repeated", repeated, whole)


def _share(source: Source, fault: str, offsets: NDArray[np.int64], whole: int) -> str:
    if not len(offsets):
        return ""
    first = int(offsets[0])
    return (
        f"{len(offsets) / whole:.1%} {fault}, first in line {source.lines.line_of(first)}: "
        f"{_shown(source.text[first : first + _SHOWN + 1])}"
    )


def too_large(
    source: Source, spans: Sequence[Span], limit: int, unit: Unit, services: Services
) -> str:
    """The first span of several lines over the limit; empty if there is none."""
    for number, span in enumerate(spans, start=1):
        first, last = source.lines.lines_of(span.start, span.end)
        # Blank lines do not count.
        filled = [line for line in range(first, last + 1) if not source.lines.blank(line)]
        if len(filled) < 2:
            continue
        size = span_size(source, span, unit, services)
        if size > limit:
            return f"chunk {number}, lines {first}-{last}, is {size} {unit}; the limit is {limit}"
    return ""


def differing(spans: Sequence[Span], others: Sequence[Span]) -> Iterator[str]:
    """The differences between two cuts of one source."""
    if len(spans) != len(others):
        yield f"{len(spans)} and {len(others)} chunks"
    for number, (left, right) in enumerate(zip(spans, others, strict=False), start=1):
        if left != right:
            yield (
                f"chunk {number} is [{left.start}, {left.end}) and [{right.start}, {right.end})"
                + ("" if left.embed_text == right.embed_text else ", and embeds other text")
            )
            return


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
