"""Runs a chunker over a corpus and puts its spans into one table, with what went wrong."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunkers.processes.pool import Task
from chunkers.sizes import span_size
from chunkers.source import Services
from harness.chunking.cutters import cutter, limits_of
from harness.chunking.layout import Layout, squeezed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits, Outcome
    from chunkers.source import Source, Span
    from harness.model import Corpus

    Failed = tuple[str, str, str]
    _Sizes = Callable[[Source, Span], int]

NOTHING = "no chunk"
"""The note on a file with text of which a chunker gave no span: it may, but is not to hide it."""

_PATIENCE = 3  # files that took too long, behind which no more is found out about a lost cause


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a corpus.

    Attributes:
        id: `path:start_line-end_line`, with `#2`, `#3`, … for further chunks of the same range.
        path: Its source.
        start: First character.
        end: Behind the last character.
        start_line: Line of the first character.
        end_line: Line of the last character.
        nws: The interval of non-white-space characters of the file.
        lines: The interval of non-blank lines of the file.
        size: Size in the chunker's own unit.
        text: What is embedded.
        ref_id: What the system that the chunker reproduces calls the chunk.
        around: Non-white-space characters of `text` before and behind the chunk's own text; None
            where `text` does not hold that.
        gaps: Intervals of `nws`, in order and none of them empty, that the chunk does not have.
    """

    id: str
    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    nws: tuple[int, int]
    lines: tuple[int, int]
    size: int
    text: str
    ref_id: str | None = None
    around: tuple[int, int] | None = (0, 0)
    gaps: tuple[tuple[int, int], ...] = ()

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The intervals of `nws` that the chunk has, in order: one, if it has no gaps."""
        return without_gaps(self.nws, self.gaps)


def without_gaps(whole: tuple[int, int], gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What gaps, in order, leave of an interval; an empty one is itself."""
    begin, end = whole
    parts = []
    for low, high in gaps:
        parts.append((begin, min(low, end)))
        begin = max(begin, high)
    parts.append((begin, end))
    return [(low, high) for low, high in parts if low < high] or [(whole[0], whole[0])]


@dataclass(frozen=True)
class ChunkedCorpus:
    """A corpus cut by one chunker.

    Attributes:
        corpus: The corpus.
        layouts: One for each source.
        chunks: In corpus order: path, start, end.
        blank: Spans of white space alone; they are dropped.
        notes: What the chunker reported, in files.
        failures: Files on which it failed, with the reason.
        unlocated: Strings of its library that stand nowhere in their source.
    """

    corpus: Corpus
    layouts: tuple[Layout, ...]
    chunks: tuple[Chunk, ...]
    blank: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    failures: tuple[tuple[str, str], ...] = ()
    unlocated: int = 0


class TooManyFailuresError(Exception):
    """A chunker failed on more files than are allowed to fail.

    Attributes:
        failures: Corpus, path and reason of those that were found.
        tried: Files that were cut or failed.
        files: Files in all.
    """

    def __init__(self, failures: Sequence[Failed], tried: int, files: int) -> None:
        super().__init__(f"failed on {len(failures)} of {files} files")
        self.failures, self.tried, self.files = tuple(failures), tried, files


@dataclass
class _Tally:
    """Counts files, and those that failed.

    Attributes:
        files: How many there are.
        most: How many may fail; None for any number.
    """

    files: int
    most: int | None
    tried: int = 0
    late: int = 0
    failures: list[Failed] = field(default_factory=list)

    def add(self, corpus: Corpus, outcome: Outcome) -> None:
        """Count a file.

        Raises:
            TooManyFailuresError: There are, and to find more would take long.
        """
        self.tried += 1
        if outcome.failure is not None:
            self.failures.append((corpus.id, outcome.path, outcome.failure.reason))
            self.late += outcome.failure.kind == "timeout"
        if self.late >= _PATIENCE:
            self.end()

    def end(self) -> None:
        """Say that no file follows.

        Raises:
            TooManyFailuresError: There are.
        """
        if self.most is not None and len(self.failures) > self.most:
            raise TooManyFailuresError(self.failures, self.tried, self.files)


@dataclass
class _Part:
    """A corpus that is being cut; see `ChunkedCorpus`."""

    corpus: Corpus
    layouts: list[Layout] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    blank: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    unlocated: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def add(self, source: Source, outcome: Outcome, size_of: _Sizes, *, keep_blank: bool) -> None:
        """Add what became of the next source."""
        layout = Layout.of(source)
        self.layouts.append(layout)
        if outcome.failure is not None:
            self.failures.append((source.path, outcome.failure.reason))
        if outcome.spans is None:
            return
        self.notes.update(dict.fromkeys(outcome.notes, 1))
        self.unlocated += outcome.notes.get("unlocated", 0)
        if not outcome.spans and layout.size:
            self.notes[NOTHING] += 1
        full = [span for span in outcome.spans if keep_blank or not _is_blank(source, span)]
        self.blank += len(outcome.spans) - len(full)
        self.chunks += _rows(source, layout, full, functools.partial(size_of, source))

    def made(self) -> ChunkedCorpus:
        """The cut corpus."""
        return ChunkedCorpus(
            self.corpus,
            tuple(self.layouts),
            tuple(self.chunks),
            self.blank,
            self.notes,
            tuple(self.failures),
            self.unlocated,
        )


def chunk_corpus(
    corpus: Corpus,
    chunker: LoadedChunker,
    count_tokens: Callable[[str], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_blank: bool = False,
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
) -> ChunkedCorpus:
    """Cut one corpus; see `cut_all`."""
    given = Services(embed, count_tokens)
    return chunk_corpora((corpus,), chunker, given, progress, keep_blank=keep_blank)[0]


def chunk_corpora(
    corpora: Sequence[Corpus],
    chunker: LoadedChunker,
    services: Services,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_blank: bool = False,
    limits: Limits | None = None,
    most: int | None = None,
) -> list[ChunkedCorpus]:
    """Cut every source, on all cores. A chunker that fails on one file fails on that file alone.

    Args:
        corpora: What to cut.
        chunker: By what.
        services: For sizes in tokens, and for chunkers that ask for vectors.
        progress: Told how many of how many files are done.
        keep_blank: Whether spans of white space alone become chunks.
        limits: What a file may take.
        most: How many files may fail; None for any number.

    Raises:
        TooManyFailuresError: More fail. After a few that took too long no others are tried.
        OutOfMemoryError: A batch of texts did not fit.
        InputError: Other processes cannot load the chunker, or the embedder cannot be used.
    """
    parts = [_Part(corpus) for corpus in corpora]
    pairs = [(part, source) for part in parts for source in part.corpus.sources]
    tally = _Tally(len(pairs), most)
    tasks = [Task(source, part.corpus.name) for part, source in pairs]
    with cutter(chunker, services, limits or limits_of()) as cutting:
        for (part, source), outcome in zip(pairs, cutting.cut(tasks), strict=True):
            tally.add(part.corpus, outcome)
            sizing = Services(count_tokens=services.count_tokens)
            size_of = functools.partial(_size, chunker, sizing)
            part.add(source, outcome, size_of, keep_blank=keep_blank)
            if progress:
                progress(tally.tried, len(pairs))
    tally.end()
    return [part.made() for part in parts]


def _size(chunker: LoadedChunker, services: Services, source: Source, span: Span) -> int:
    return span_size(source, span, chunker.unit, services)


def _is_blank(source: Source, span: Span) -> bool:
    """Whether a span holds white space alone, or nothing else of it would be embedded."""
    embedded = span.embed_text
    if embedded is not None and not embedded.strip():
        return True
    return source.lines.size(span.start, span.end) == 0


def _rows(
    source: Source, layout: Layout, spans: Iterable[Span], size_of: Callable[[Span], int]
) -> list[Chunk]:
    rows = []
    seen: Counter[str] = Counter()
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        first, last = source.lines.lines_of(span.start, span.end)
        name = f"{source.path}:{first}-{last}"
        seen[name] += 1
        nws = layout.interval(span.start, span.end)
        text = span.kept(source.text)
        rows.append(
            Chunk(
                id=name if seen[name] == 1 else f"{name}#{seen[name]}",
                path=source.path,
                start=span.start,
                end=span.end,
                start_line=first,
                end_line=last,
                nws=nws,
                lines=layout.lines(*nws),
                size=size_of(span),
                text=text if span.embed_text is None else span.embed_text,
                ref_id=span.ref_id,
                around=_around(text, span.embed_text),
                gaps=tuple(layout.interval(*gap) for gap in span.gaps if source.lines.size(*gap)),
            )
        )
    return rows


def _around(text: str, embedded: str | None) -> tuple[int, int] | None:
    """Non-white-space characters of what is embedded before and behind a text that stands in it."""
    if embedded is None:
        return 0, 0
    own, whole = squeezed(text), squeezed(embedded)
    before = whole.rfind(own)
    return None if before < 0 else (before, len(whole) - before - len(own))


def uncovered(chunked: ChunkedCorpus) -> list[int]:
    """Of every chunk its characters (`c`) behind all that chunks before it in its file reach."""
    result = []
    reach: dict[str, int] = {}
    for chunk in chunked.chunks:
        begin = reach.get(chunk.path, 0)
        result.append(sum(max(0, high - max(low, begin)) for low, high in chunk.parts))
        reach[chunk.path] = max(begin, chunk.nws[1])
    return result


def duplicates(chunked: ChunkedCorpus) -> int:
    """Chunks whose embedded text another chunk of the corpus has too."""
    return not_alone(chunk.text for chunk in chunked.chunks)


def not_alone(texts: Iterable[str]) -> int:
    """How many texts stand more than once, each time counted."""
    return sum(count for count in Counter(texts).values() if count > 1)
