"""How well chunks keep to the structure of code, without a query: what boundaries cut."""

from __future__ import annotations

import dataclasses
import textwrap
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.grammars.definitions import definitions
from chunkers.sizes import measure
from chunkers.source import Services, Source
from harness.chunking.corpus import coverage_shares, covered_chars, duplicates
from harness.chunking.parsing import UnparsedError, outline, parse, prepare
from harness.support.arrays import mean, percentile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.chunking.chunks import Chunk
    from harness.chunking.corpus import ChunkedCorpus
    from harness.chunking.layout import Layout

BINS = (0, 50, 100, 200, 300, 400, 500, 600, 800, 1000, 1500, 2000)
"""Lower bounds of the bins of sizes, in non-white-space characters; the last one has no upper."""


@dataclass(frozen=True)
class Boundaries:
    """What the chunks of a corpus do to its structure.

    A definition is an outermost function or method; its head are decorators, attributes and
    comments right above it. Shares are of 1, and None where there is nothing to count.
    `definitions` are in files whose language has a grammar: `whole` in one chunk with their heads,
    `head_cut` without all of their head, `split` or lost in part, or `lost`. `parsed` is the share
    of chunks without a syntax error once dedented, of files that have none themselves. `sizes` are
    p5, p50, p95 and the maximum (nearest rank), and `histogram` has the chunks of each bin of
    `BINS`, in non-white-space characters. `repeated` is the share of these in further chunks,
    `duplicates` the chunks whose embedded text is that of another. `failures` are path and reason
    of files whose parser does not return: they count neither in definitions nor in `parsed`.
    """

    definitions: int
    whole: int
    head_cut: int
    split: int
    lost: int
    parsed: float | None
    sizes: tuple[int, int, int, int] | None
    histogram: tuple[int, ...]
    repeated: float | None
    duplicates: int
    per_1000_lines: float | None
    failures: tuple[tuple[str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON holds it."""
        document = dataclasses.asdict(self)
        names = ("p5", "p50", "p95", "max")
        document["sizes"] = self.sizes and dict(zip(names, self.sizes, strict=True))
        document["histogram"] = [
            {"from": low, "chunks": count} for low, count in zip(BINS, self.histogram, strict=True)
        ]
        return document


def boundaries(chunked: ChunkedCorpus) -> Boundaries:
    """Look at the boundaries of all chunks of a corpus.

    Raises:
        InputError: The wheel of a grammar is missing.
    """
    fates: Counter[str] = Counter()
    alone: list[bool] = []
    failures: list[tuple[str, str]] = []
    prepare(chunked.corpus.sources)
    for file, layout in zip(chunked.chunks.files, chunked.layouts, strict=True):
        source, chunks = file.source, [*file]
        try:
            fate, parsed = [*_fates(source, layout, chunks)], [*_alone(source, chunks)]
        except UnparsedError as error:
            failures.append((error.path, error.reason))
            continue
        fates.update(fate)
        alone += parsed
    sizes = chunked.chunks.column("high") - chunked.chunks.column("low")
    p5, p50, p95, most = (percentile(sizes, p) if len(sizes) else 0 for p in (5, 50, 95, 100))
    bins = Counter(bisect_right(BINS, size) - 1 for size in sizes)
    characters = covered_chars(chunked)[2]
    lines = sum(source.lines.count for source in chunked.corpus.sources)
    return Boundaries(
        definitions=fates.total(),
        whole=fates["whole"],
        head_cut=fates["head_cut"],
        split=fates["split"],
        lost=fates["lost"],
        parsed=mean(alone) if alone else None,
        sizes=(p5, p50, p95, most) if len(sizes) else None,
        histogram=tuple(bins[at] for at in range(len(BINS))),
        repeated=coverage_shares([chunked])["repeated"] if characters else None,
        duplicates=duplicates(chunked),
        per_1000_lines=1000 * len(sizes) / lines if lines else None,
        failures=tuple(failures),
    )


def _fates(source: Source, layout: Layout, chunks: Sequence[Chunk]) -> Iterator[str]:
    """What became of every definition of a source."""
    kept = [piece for chunk in chunks for piece in chunk.parts]
    for head, start, end in definition_lines(source):
        whole = layout.interval(source.lines.start_of(head), source.lines.end_of(end))
        body = layout.interval(source.lines.start_of(start), source.lines.end_of(end))
        if any(low <= whole[0] and whole[1] <= high for low, high in kept):
            yield "whole"
        elif any(low <= body[0] and body[1] <= high for low, high in kept):
            yield "head_cut"
        elif any(low < body[1] and body[0] < high for low, high in kept):
            yield "split"
        else:
            yield "lost"


def definition_lines(source: Source) -> list[tuple[int, int, int]]:
    """Every outermost function or method: first line of its head, its own first and last line.

    Lines count from 1. The first two are the same where nothing belongs to it from above.
    """
    root = parse(source)
    if root is None:
        return []
    lines = measure(source, Services(), "nws")
    starts = sorted(scope.start_line for scope in outline(source))
    functions = []
    for first, last in definitions(root, lines):
        head, end = int(lines.rows[first]) + 1, int(lines.rows[last]) + 1
        at = bisect_right(starts, head - 1)
        start = starts[at] if at < len(starts) and starts[at] <= end else head
        functions.append((head, start, end))
    return functions


def syntax_error_line(source: Source) -> int | None:
    """The line, from 1, of the first syntax error; None without one, or without a grammar.

    Raises:
        UnparsedError: The parser does not return.
    """
    node = parse(source)
    if node is None or not node.has_error:
        return None
    while child := next((c for c in node.children if c.has_error or c.is_missing), None):
        node = child
    return node.start_point.row + 1


def _alone(source: Source, chunks: Iterable[Chunk]) -> Iterator[bool]:
    """For every chunk of a source without syntax errors, whether it has none."""
    if not _parses(source):
        return
    texts = [_indented(source, chunk) for chunk in chunks]
    parts = [Source(textwrap.dedent(text), source.path, source.language) for text in texts]
    prepare(parts)
    yield from map(_parses, parts)


def _indented(source: Source, chunk: Chunk) -> str:
    """The text of a chunk with the indentation of its first line, which dedent must see."""
    if chunk.gaps:
        return chunk.text
    start = source.lines.start_of(chunk.start_line)
    begin = start if not source.text[start : chunk.start].strip() else chunk.start
    return source.text[begin : chunk.end]


def _parses(source: Source) -> bool:
    root = parse(source)
    return root is not None and not root.has_error
