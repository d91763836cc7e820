"""What may be wrong with the spans of one source."""

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
    """Why what is embedded does not hold the source's text; empty where it does.

    A text of its own may have more before, behind and between, and other white space. Offsets
    outside the source and values of other types never come this far.
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
    """Which characters that are no white space are in no span, and which in several."""
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


def _share(source: Source, what: str, at: NDArray[np.int64], whole: int) -> str:
    if not len(at):
        return ""
    first = int(at[0])
    return (
        f"{len(at) / whole:.1%} {what}, first in line {source.lines.line_of(first)}: "
        f"{_shown(source.text[first : first + _SHOWN + 1])}"
    )


def too_large(
    source: Source, spans: Sequence[Span], limit: int, unit: Unit, services: Services
) -> str:
    """Which span of several lines is over the limit; empty for none."""
    for number, span in enumerate(spans, start=1):
        first, last = source.lines.lines_of(span.start, span.end)
        # White space at the ends of a chunk makes no lines of it.
        filled = [line for line in range(first, last + 1) if not source.lines.blank(line)]
        if len(filled) < 2:
            continue
        size = span_size(source, span, unit, services)
        if size > limit:
            return f"chunk {number}, lines {first}-{last}, is {size} {unit}; the limit is {limit}"
    return ""


def differing(one: Sequence[Span], other: Sequence[Span]) -> Iterator[str]:
    """How two cuts of one source differ."""
    if len(one) != len(other):
        yield f"{len(one)} and {len(other)} chunks"
    for number, (left, right) in enumerate(zip(one, other, strict=False), start=1):
        if left != right:
            yield (
                f"chunk {number} is [{left.start}, {left.end}) and [{right.start}, {right.end})"
                + ("" if left.embed_text == right.embed_text else ", and embeds other text")
            )
            return


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
