"""Chunks corpora by one chunker: its spans as a table of chunks, and its failures."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.sizes import span_size
from chunkers.source import Services
from harness.chunking.chunks import Chunks, FileChunks, Row, Special, table_of
from harness.chunking.cutters import cutter, limits_of, tasks_of
from harness.chunking.layout import Layout, squeezed
from harness.chunking.limits import TooManyFailuresError
from harness.support.arrays import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits, Outcome
    from chunkers.processes.pool import Task
    from chunkers.source import Source, Span
    from harness.chunking.chunks import Interval
    from harness.chunking.cutters import MakeCutter
    from harness.model import Corpus

    Failed = tuple[str, str, str]

NOTHING = "no chunk"
"""The note on a file with text for which a chunker returned no span."""

_WORD = re.compile(r"\w+|[^\w\s]")

_TIMEOUTS = 3  # after so many timeouts, too many failures end the chunking at once


@dataclass(frozen=True)
class ChunkedCorpus:
    """A corpus chunked by one chunker.

    Chunks are in order of path, start and end, and there is a layout for each source. `blank`
    counts dropped spans of white space alone, `notes` the files for each note of the chunker,
    `unlocated` the strings of its library that are nowhere in their source. `failures` are path and
    reason.
    """

    corpus: Corpus
    layouts: tuple[Layout, ...]
    chunks: Chunks
    blank: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    failures: tuple[tuple[str, str], ...] = ()
    unlocated: int = 0


def chunk_corpus(
    corpus: Corpus,
    chunker: LoadedChunker,
    count_tokens: Callable[[str], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_blank: bool = False,
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
) -> ChunkedCorpus:
    """Chunk one corpus; see `chunk_corpora`."""
    services = Services(embed, count_tokens)
    return chunk_corpora((corpus,), chunker, services, progress, keep_blank=keep_blank)[0]


def chunk_corpora(
    corpora: Sequence[Corpus],
    chunker: LoadedChunker,
    services: Services,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_blank: bool = False,
    limits: Limits | None = None,
    most: int | None = None,
    make_cutter: MakeCutter | None = None,
) -> list[ChunkedCorpus]:
    """Chunk every source, on all cores. A failure on one file affects that file alone.

    Equal files of several corpora are cut once, unless the chunker may read the corpus's id; the
    corpora share their chunks. `progress` gets the numbers of distinct files that are
    finished and of all.
    `keep_blank` makes chunks of spans of white space alone. `limits` are those of a file; `most` is
    how many may fail, None for any; `make_cutter` makes what
    cuts, which are local processes by default.

    Raises:
        TooManyFailuresError: More files fail, or there is text and no file has a chunk; after a few
            timeouts it is raised at once.
        OutOfMemoryError: A batch of texts did not fit into memory.
        InputError: Other processes cannot load the chunker, or the embedder cannot be used.
    """
    tasks = [tasks_of(corpus, chunker) for corpus in corpora]
    holders: dict[Task, list[str]] = {}
    for corpus, own in zip(corpora, tasks, strict=True):
        for task in own:
            holders.setdefault(task, []).append(corpus.id)
    maker = _ChunkMaker(chunker, services, keep_blank)
    files: dict[Task, _CutFile] = {}
    failures: list[Failed] = []
    tried = timeouts = 0
    total = sum(map(len, tasks))
    with (make_cutter or cutter)(chunker, services, limits or limits_of()) as cutting:
        for (task, ids), outcome in zip(holders.items(), cutting.cut([*holders]), strict=True):
            tried += len(ids)
            if outcome.failure is not None:
                failures += [(name, outcome.path, outcome.failure.reason) for name in ids]
                timeouts += outcome.failure.kind == "timeout"
            too_many = most is not None and len(failures) > most
            if too_many and (timeouts >= _TIMEOUTS or tried == total):
                raise TooManyFailuresError(failures, tried, total)
            files[task] = maker.file(task.source, outcome)
            if progress:
                progress(len(files), len(holders))
    if most is not None and most < total and _returned_nothing(files.values()):
        pairs = [(name, task) for task, names in holders.items() for name in names]
        failures = [(name, task.source.path, NOTHING) for name, task in pairs]
        raise TooManyFailuresError(failures, tried, total)
    return [
        _assembled(corpus, [files[task] for task in own])
        for corpus, own in zip(corpora, tasks, strict=True)
    ]


@dataclass(frozen=True)
class _CutFile:
    """The chunks of one file, which corpora share; see `ChunkedCorpus`."""

    layout: Layout
    chunks: FileChunks
    blank: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)
    failure: tuple[tuple[str, str], ...] = ()


def _returned_nothing(files: Iterable[_CutFile]) -> bool:
    """Whether there is text, and none of it is in a chunk."""
    files = list(files)
    return any(file.layout.size for file in files) and not any(len(file.chunks) for file in files)


def _assembled(corpus: Corpus, files: Sequence[_CutFile]) -> ChunkedCorpus:
    notes = [note for file in files for note in file.notes]
    return ChunkedCorpus(
        corpus,
        tuple(file.layout for file in files),
        Chunks(file.chunks for file in files),
        sum(file.blank for file in files),
        Counter(notes),
        tuple(failure for file in files for failure in file.failure),
        sum(file.notes.get("unlocated", 0) for file in files),
    )


class _ChunkMaker:
    """Turns outcomes into chunks."""

    def __init__(self, chunker: LoadedChunker, services: Services, keep_blank: bool) -> None:
        self._unit = chunker.unit
        self._sizing = Services(count_tokens=services.count_tokens)
        self._keep_blank = keep_blank

    def file(self, source: Source, outcome: Outcome) -> _CutFile:
        """The chunks of a source."""
        layout = Layout.of(source)
        if outcome.failure is not None:
            nothing = FileChunks(source.path, table_of(()), source=source)
            return _CutFile(layout, nothing, failure=((source.path, outcome.failure.reason),))
        every_span = outcome.spans or ()
        spans = [span for span in every_span if self._keep_blank or not _is_blank(source, span)]
        seen: Counter[Interval] = Counter()
        rows: list[Row] = []
        special: dict[int, Special] = {}
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            lines = source.lines.lines_of(span.start, span.end)
            seen[lines] += 1
            row, kind = self._row(source, layout, span, lines)
            if kind is not None:
                special[len(rows)] = kind
            rows.append(row._replace(copy=seen[lines]))
        chunks = FileChunks(source.path, table_of(rows), special, source=source)
        notes = outcome.notes if every_span or not layout.size else {**outcome.notes, NOTHING: 1}
        return _CutFile(layout, chunks, len(every_span) - len(spans), notes)

    def _row(
        self, source: Source, layout: Layout, span: Span, lines: Interval
    ) -> tuple[Row, Special | None]:
        nws = layout.interval(span.start, span.end)
        size = span_size(source, span, self._unit, self._sizing)
        row = Row(span.start, span.end, *lines, *nws, *layout.lines(*nws), size=size)
        if span.embed_text is None and span.ref_id is None and not span.gaps:
            return row, None
        gaps = tuple(layout.interval(*gap) for gap in span.gaps if source.lines.size(*gap))
        if span.embed_text is None:
            return row, Special(ref_id=span.ref_id, cut=span.gaps, gaps=gaps)
        text = span.kept(source.text)
        before, after = _around(text, span.embed_text) or (-1, -1)
        row = row._replace(before=before, after=after, lacking=lacking(text, span.embed_text))
        wrap: tuple[str, ...] = (span.embed_text,)
        if (at := span.embed_text.rfind(text)) >= 0:
            wrap = (span.embed_text[:at], span.embed_text[at + len(text) :])
        return row, Special(wrap, span.ref_id, span.gaps, gaps)


def _is_blank(source: Source, span: Span) -> bool:
    """Whether the span, or its embedded text, is white space alone."""
    if span.embed_text is not None and not span.embed_text.strip():
        return True
    return source.lines.size(span.start, span.end) == 0


def lacking(text: str, embedded: str) -> int:
    """Non-white-space characters of a text that are not in what is embedded for it.

    Both are compared word by word, in any order: a word counts as often as it occurs in both. White
    space decides nothing, so that text which is only indented anew lacks nothing.
    """
    if squeezed(text) in squeezed(embedded):
        return 0
    missing = Counter(_WORD.findall(text)) - Counter(_WORD.findall(embedded))
    return sum(len(word) * count for word, count in missing.items())


def _around(text: str, embedded: str) -> Interval | None:
    """Non-white-space characters of an embedded text before and after the chunk's own text."""
    own, whole = squeezed(text), squeezed(embedded)
    before = whole.rfind(own)
    return None if before < 0 else (before, len(whole) - before - len(own))


def duplicates(chunked: ChunkedCorpus) -> int:
    """Chunks whose embedded text is that of another chunk of the corpus."""
    return count_repeated(chain.from_iterable(file.digests() for file in chunked.chunks.files))


def count_repeated(texts: Iterable[str | bytes]) -> int:
    """Number of texts that equal another one."""
    return sum(count for count in Counter(texts).values() if count > 1)


def covered_chars(chunked: ChunkedCorpus) -> tuple[int, int, int]:
    """Distinct characters in some chunk, characters in chunks, characters in the corpus (`c`)."""
    distinct = total = 0
    for file in chunked.chunks.files:
        _, parts = file.parts()
        low, high = parts[np.argsort(parts[:, 0], kind="stable")].T
        before = np.maximum.accumulate(np.append(0, high))[:-1]
        distinct += int(np.maximum(0, high - np.maximum(low, before)).sum())
        total += int((high - low).sum())
    return distinct, total, sum(layout.size for layout in chunked.layouts)


def coverage_shares(chunked: Sequence[ChunkedCorpus]) -> dict[str, float]:
    """Shares of the non-white-space characters of corpora.

    Returns:
        `coverage` (of what is in some chunk; 1 where there is nothing to cover), `repeated` (of
        what is in a further chunk, counted each time), and `embedded` (of the chunks' characters,
        those that are in the texts embedded for them; 1 without any). `embedded_per_char` is the
        number of characters embedded for each character of a chunk.
    """
    distinct, total, whole = np.sum([covered_chars(corpus) for corpus in chunked], axis=0).tolist()
    lost = sum(int(corpus.chunks.column("lacking").sum()) for corpus in chunked)
    embedded = sum(file.embedded_chars for corpus in chunked for file in corpus.chunks.files)
    return {
        "coverage": distinct / whole if whole else 1.0,
        "embedded": 1 - lost / total if total else 1.0,
        "embedded_per_char": embedded / total if total else 1.0,
        "repeated": (total - distinct) / whole if whole else 0.0,
    }


def size_statistics(chunked: Sequence[ChunkedCorpus], chunker: LoadedChunker) -> dict[str, Any]:
    """Sizes of chunks.

    Returns:
        `size_max`, `size_p95` in the chunker's own unit, `median_c` in non-white-space characters
        (0 without a chunk), `over_size` (chunks over the declared limit), `limit_unit` (the unit of
        the limit; None without one).
    """
    chunks = [corpus.chunks for corpus in chunked if len(corpus.chunks)]
    sizes = np.concatenate([own.column("size") for own in chunks] or [np.zeros(1, np.int64)])
    chars = np.concatenate([own.chars for own in chunks] or [np.zeros(1, np.int64)])
    limit = chunker.max_size
    return {
        "size_max": int(sizes.max()),
        "size_p95": percentile(sizes, 95),
        "median_c": percentile(chars, 50),
        "over_size": 0 if limit is None else int((sizes > limit).sum()),
        "limit_unit": None if limit is None else chunker.unit,
    }
