"""What the tests of chunkers share: a program in every language, and the checks on spans."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from chunkers import LoadedChunker, Source, Span, load_chunker
from chunkers.sizes import span_size
from chunkers.testing.services import cheap_services

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def programs() -> dict[str, str]:
    """A program for each language that has a grammar."""
    return {file.stem: file.read_bytes().decode("utf-8") for file in sorted(PROGRAMS.glob("*.txt"))}


@pytest.fixture(scope="session")
def cut() -> Callable[..., list[str]]:
    """Cuts a text by a spec; gives the texts of its spans."""

    def cut_text(spec: str, text: str, language: str | None = "python") -> list[str]:
        source = Source(text, "folder/file", language)
        spans = load_chunker(spec).chunk(source, cheap_services())
        return [text[span.start : span.end] for span in spans]

    return cut_text


@pytest.fixture(scope="session")
def spans_of() -> Callable[..., list[Span]]:
    """Cuts a source; checks that the spans are exactly-once, not blank and within the limit.

    They are whole lines, except in lines over the limit. What they repeat, up to so many lines as
    are declared, counts to the limit alone.
    """

    def checked(chunker: LoadedChunker, source: Source, overlap: int = 0) -> list[Span]:
        given = cheap_services()
        spans = chunker.chunk(source, given)

        def over(span: Span) -> bool:
            size = span_size(source, span, chunker.unit, given)
            return chunker.max_size is not None and size > chunker.max_size

        lines = (Span(*source.lines.offsets_of(n, n)) for n in range(1, source.lines.count + 1))
        long = [line for line in lines if over(line)]
        exactly_once(source, _own(source, spans, overlap) if overlap else spans, long)
        for span in spans:
            assert not over(span) or span.end - span.start == 1, f"{source.path}: {span}"
        return spans

    return checked


def _own(source: Source, spans: Sequence[Span], overlap: int) -> list[Span]:
    """What each span does not repeat; at most `overlap` lines before it are repeated."""
    lines = source.lines
    own: list[Span] = []
    for span in spans:
        start = max(span.start, own[-1].end if own else 0)
        # Blank lines between a span and what it repeats do not count.
        while start > span.start and lines.blank(lines.line_of(start - 1)):
            start = lines.start_of(lines.line_of(start - 1))
        if start > span.start:
            assert lines.line_of(start - 1) - lines.line_of(span.start) + 1 <= overlap
        while start < span.end and lines.blank(lines.line_of(start)):
            start = lines.end_of(lines.line_of(start))
        own.append(Span(start, span.end))
    return own


def exactly_once(source: Source, spans: Sequence[Span], long: Sequence[Span] = ()) -> None:
    """Every non-blank character is in exactly one span; no span is blank.

    None cuts a line but those that are `long`, or joins a part of one with another line.
    """
    nws = source.lines.nws
    starts = np.array([span.start for span in spans], dtype=np.int64)
    ends = np.array([span.end for span in spans], dtype=np.int64)
    assert (starts[1:] >= ends[:-1]).all(), f"{source.path}: spans overlap"
    assert (nws[ends] > nws[starts]).all(), f"{source.path}: a span is blank"
    borders = np.concatenate(([0], np.stack((nws[starts], nws[ends]), axis=1).ravel(), nws[-1:]))
    assert (borders[::2] == borders[1::2]).all(), f"{source.path}: characters are in no span"
    inside = np.zeros(len(spans), dtype=bool)
    for line in long:
        inside |= (starts >= line.start) & (ends <= line.end)
    line_ends = np.append(source.lines.starts, len(source.text))
    assert np.isin(starts, line_ends)[~inside].all(), f"{source.path}: a span starts in a line"
    assert np.isin(ends, line_ends)[~inside].all(), f"{source.path}: a span ends in a line"
