"""What the query browser and the file browser of a report read, as one compressed block.

Rankings are integers: numbers of chunks, which are numbered over the files of a data set. Offsets
are in UTF-16 units, which JavaScript counts in; `templates/browser.js` reads every field.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from harness.reports.contests import contends
from harness.reports.curves import curve_values
from harness.reports.page.evidence import budgets_of, evidence
from harness.reports.page.sources import coloured, load_sources
from harness.reports.recommendation import headline
from harness.runs.folder import CONFIGURATION
from harness.runs.stored_values import read_judged
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from chunkers.source import Source
    from harness.reports.curves import Values
    from harness.reports.page.evidence import Evidence
    from harness.reports.page.sources import File, LoadedSources
    from harness.runs.metric_options import MetricOptions
    from harness.runs.record import ChunkRow, QueryRow, Record
    from harness.runs.stored_values import StoredCell

SOURCES = 4_000_000
"""Characters of source text in a report by default."""

FILES = 5_000
"""Most files of a data set in the list of files."""

FIRST = 50
"""Files with the most different cuts, whose sources come right after those of targets."""

MISSED = 5
"""Relevant chunks outside the shown ranks that are named."""

FEW = 10
"""Added to the number of boundaries, so that files with few of them do not come first."""


@dataclass(frozen=True)
class BrowserData:
    """The data of both browsers.

    Attributes:
        block: JSON, compressed as a raw deflate stream, in base64; empty without a query.
        notes: What is left out, and why.
    """

    block: str
    notes: tuple[str, ...] = ()


def browser_data(
    cells: Sequence[StoredCell],
    data_dir: Path | None = None,
    limit: int = SOURCES,
    known: Values | None = None,
) -> BrowserData:
    """The data of the browsers.

    Args:
        cells: The cells of one or more runs.
        data_dir: A folder looked into for data sets before `$CHUNKMARK_DATA`.
        limit: Characters of source text, 0 or above.
        known: Gets the values of the span curves of all cells: each record is read once.

    Raises:
        InputError: A file of a cell is damaged.
    """
    groups: dict[tuple[str, str, bool], list[StoredCell]] = {}
    for cell in cells:
        identity = cell.cell["identity"]
        key = (cell.names["dataset"], identity["dataset"], identity["mask_query"])
        groups.setdefault(key, []).append(cell)
    texts = _Texts(limit)
    sets = []
    for key, group in groups.items():
        part = _DataSet(_name(key, groups), [_Cell.of(cell, known) for cell in group])
        sets.append(part.document(_load(part, key[0], key[1], data_dir), texts))
    if not any(part["queries"] for part in sets):
        return BrowserData("")
    document = {"schema": "chunkmark.browser/1", "few": FEW, "sets": sets, "texts": texts.rows}
    notes = [f"{part['name']}: {note}" for part in sets for note in part["notes"]]
    return BrowserData(compressed(document), tuple(notes))


def compressed(document: Mapping[str, Any]) -> str:
    """A document as a block; equal documents give equal bytes."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


def _name(key: tuple[str, str, bool], keys: Iterable[tuple[str, str, bool]]) -> str:
    """The data set, with what else tells it from the others."""
    name, fingerprint, masked = key
    same = [other for other in keys if other[0] == name]
    parts = [name]
    if len({other[2] for other in same}) > 1:
        parts.append("masked" if masked else "not masked")
    if len({other[1] for other in same}) > 1:
        parts.append(fingerprint[:8])
    return ", ".join(parts)


@dataclass
class _Texts:
    """The source texts of a report, each once, up to a number of characters."""

    left: int
    rows: list[list[str]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, source: Source) -> int:
        """The number of a text; -1 if it does not fit."""
        if source.text not in self.numbers:
            if len(source.text) > self.left:
                return -1
            self.left -= len(source.text)
            self.numbers[source.text] = len(self.rows)
            self.rows.append([source.text, coloured(source)])
        return self.numbers[source.text]


@dataclass(frozen=True)
class _Cell:
    """A cell as the browsers read it.

    Attributes:
        stored: The stored cell.
        record: Its record.
        evidence: By query.
        files: The chunks of each file, in corpus order.
        units: The shown units of each corpus by number: chunks, or documents as files.
    """

    stored: StoredCell
    record: Record
    options: MetricOptions
    evidence: Mapping[str, Evidence]
    files: Mapping[File, Sequence[ChunkRow]]
    units: Mapping[str, Mapping[int, ChunkRow | File]]

    @classmethod
    def of(cls, stored: StoredCell, known: Values | None) -> _Cell:
        reading = read_judged(stored)
        record = reading.record
        if known is not None:
            known[stored.folder] = curve_values(stored, reading)
        shown = dict(zip((q.id for q in record.queries), evidence(reading), strict=True))
        files: dict[File, list[ChunkRow]] = {}
        for chunk in record.chunks:
            files.setdefault((chunk.corpus, chunk.path), []).append(chunk)
        units = _units_of(record, shown.values())
        # The rest of the rankings would take most of the memory.
        return cls(stored, replace(record, rankings=()), reading.options, shown, files, units)

    @property
    def chunks_key(self) -> str:
        """Equal for cells with the same chunks."""
        return str(self.stored.cell["files"]["chunks.jsonl"])

    def shown_files(self) -> Iterator[File]:
        """The file of every shown unit."""
        for shown in self.evidence.values():
            for number in shown.units:
                yield _file_of(self.units[shown.corpus][number])

    def known_files(self) -> Iterator[tuple[File, int]]:
        """The files of the corpora and of masked queries, and their `c`."""
        for row in self.record.files:
            yield (row.corpus, row.path), row.nws


def _units_of(record: Record, shown: Iterable[Evidence]) -> dict[str, dict[int, ChunkRow | File]]:
    """The units that evidence names, by corpus and number."""
    units: dict[str, dict[int, ChunkRow | File]] = {}
    ranked = record.ranked_chunks()
    documents = {
        corpus: sorted({chunk.path for chunk in chunks})
        for corpus, chunks in (ranked if record.gold == "document" else {}).items()
    }
    for row in shown:
        late = [unit for unit, _ in row.missed[:MISSED] if unit >= 0]
        stands = [unit for reason in row.reasons for unit in reason.stands]
        for unit in (*row.units, *late, *stands):
            units.setdefault(row.corpus, {})[unit] = (
                (row.corpus, documents[row.corpus][unit]) if documents else ranked[row.corpus][unit]
            )
    return units


def _file_of(unit: ChunkRow | File) -> File:
    return unit if isinstance(unit, tuple) else (unit.corpus, unit.path)


@dataclass(frozen=True)
class _Files:
    """The files of a data set that a report names.

    Attributes:
        order: In the order in which their sources are added.
        number: Their numbers, in order of corpus and path.
        unlisted: How many files are not named.
    """

    order: Sequence[File]
    number: Mapping[File, int]
    unlisted: int


@dataclass(frozen=True)
class _DataSet:
    """The cells of a data set."""

    name: str
    cells: Sequence[_Cell]

    @property
    def queries(self) -> dict[str, QueryRow]:
        """The queries of all cells in order of id."""
        rows = {query.id: query for cell in self.cells for query in cell.record.queries}
        return dict(sorted(rows.items()))

    def document(self, loaded: LoadedSources, texts: _Texts) -> dict[str, Any]:
        """The data set with its cells, files and queries."""
        queries = self.queries
        files = self._files(queries.values())
        sources = _sources(files, loaded, queries.values(), texts)
        without = sum(source == -1 for source in sources)
        notes = [loaded.problem] if loaded.problem else []
        if without and not loaded.problem:
            notes.append(
                f"the text of {counted(without, 'file')} of {len(sources)} is not in this report, "
                "which holds as many characters as --sources says; their chunks are shown by lines"
            )
        if files.unlisted:
            notes.append(f"{counted(files.unlisted, 'file')} that no query ranks are not listed")
        cuts = {cell.chunks_key: _Cuts.of(cell.files, files, loaded) for cell in self.cells}
        measures = list(dict.fromkeys(m for cell in self.cells for m in cell.stored.measures))
        first = self.cells[0]
        own = first.stored
        primary = headline(own.metrics["metrics"], own.primary) or next(iter(measures), "")
        sizes = dict(pair for cell in self.cells for pair in cell.known_files())
        labels = _labels([cell.stored for cell in self.cells])
        return {
            "name": self.name,
            "gold": first.record.gold,
            "problem": loaded.problem,
            "notes": notes,
            "measures": measures,
            "primary": primary,
            "files": [
                [*file, sizes[file], source]
                for file, source in zip(sorted(files.number), sources, strict=True)
            ],
            "cuts": [cut.columns for cut in cuts.values()],
            "queries": [_query_row(query, files, self.cells) for query in queries.values()],
            "cells": [
                _cell_row(cell, cuts[cell.chunks_key], files, list(queries), measures)
                | {"label": label, "cuts": list(cuts).index(cell.chunks_key)}
                for cell, label in zip(self.cells, labels, strict=True)
            ],
            "pair": _pair([cell.stored for cell in self.cells], primary),
        }

    def _files(self, queries: Iterable[QueryRow]) -> _Files:
        """Choose the files: those of targets, the most different, the most ranked, the others."""
        targets = {file for query in queries for file in _target_files(query)}
        ranks = Counter(file for cell in self.cells for file in cell.shown_files())
        distinct = {cell.chunks_key: cell.files for cell in self.cells}
        corpora = {query.corpus for query in queries}
        known = {file for cell in self.cells for file, _ in cell.known_files()}
        if self.cells[0].record.gold == "document":
            targets &= known  # a judged document may not be in the corpus
        listed = {file for file in known if file[0] in corpora}
        differing = {
            file: disagreement([edges(cut.get(file, ())) for cut in distinct.values()])
            for file in listed
        }
        shown = targets | ranks.keys()
        most = sorted(listed, key=lambda file: (-differing[file], file))
        first = set(most[:FIRST])
        rest = [file for file in most if file not in shown][: max(0, FILES - len(shown))]
        order = sorted(
            {*shown, *rest},
            key=lambda file: (
                file not in targets,
                file not in first,
                -ranks[file],
                -differing.get(file, 0),
                file,
            ),
        )
        number = {file: at for at, file in enumerate(sorted(order))}
        return _Files(order, number, len(listed - number.keys()))


def edges(chunks: Iterable[ChunkRow]) -> frozenset[int]:
    """Where the chunks of a file begin and end, in `c` of the file."""
    return frozenset(edge for chunk in chunks for edge in chunk.nws)


def disagreement(cuts: Sequence[frozenset[int]]) -> float:
    """How much cuts of a file differ: boundaries that not all have ÷ (all boundaries + `FEW`)."""
    every = frozenset().union(*cuts)
    shared = every.intersection(*cuts)
    return (len(every) - len(shared)) / (len(every) + FEW)


def _target_files(query: QueryRow) -> Iterator[File]:
    """The files of the targets and their copies, as the query is ranked against them."""
    for document, grade in (query.qrels or {}).items():
        if grade > 0:
            yield query.corpus, document
    for place in query.places:
        for path in (place.path, *(twin[0] for twin in place.twins)):
            yield _ranked_file(query, path)


def _ranked_file(query: QueryRow, path: str) -> File:
    masked = query.mask is not None and query.mask.path == path
    return (query.ranked if masked else query.corpus), path


def _load(part: _DataSet, name: str, fingerprint: str, data_dir: Path | None) -> LoadedSources:
    """The sources of a data set as the run of its first cell has read them."""
    masks = {q.id: (q.corpus, q.mask) for q in part.queries.values() if q.mask is not None}
    return load_sources(name, fingerprint, part.cells[0].stored.config, masks, data_dir)


def _sources(
    files: _Files, loaded: LoadedSources, queries: Iterable[QueryRow], texts: _Texts
) -> list[Any]:
    """The source of each file by number: of a text, -1, or a text with lines replaced."""
    masks = {query.ranked: query for query in queries if query.mask is not None}
    numbers: dict[File, Any] = dict.fromkeys(files.number, -1)
    for file in files.order:
        source = loaded.files.get(file)
        if source is None:
            continue
        query = masks.get(file[0])
        if query is None or query.mask is None:
            numbers[file] = texts.add(source)
            continue
        base = texts.add(loaded.files[query.corpus, file[1]])
        if base >= 0:
            first, last = query.mask.start_line, query.mask.end_line
            begin, end = source.lines.offsets_of(first, last)
            numbers[file] = [base, first, last, source.text[begin:end]]
    return [numbers[file] for file in sorted(files.number)]


@dataclass(frozen=True)
class _Cuts:
    """The chunks of the named files.

    Attributes:
        columns: `of`, the row of each file, or -1; `rows`, six numbers for each chunk, each but
            the lengths from the end of the chunk before: start, length, first line, lines, first
            `c`, `c`; `gaps`, the `c` that a chunk lacks inside, by its number.
        number: The number of each chunk by corpus and id, over the files in order.
    """

    columns: Mapping[str, Any]
    number: Mapping[tuple[str, str], int]

    @classmethod
    def of(
        cls, by_file: Mapping[File, Sequence[ChunkRow]], files: _Files, loaded: LoadedSources
    ) -> _Cuts:
        rows: dict[tuple[int, ...], int] = {}
        of: list[int] = []
        number: dict[tuple[str, str], int] = {}
        gaps: dict[int, list[tuple[int, int]]] = {}
        for file in sorted(files.number):
            chunks = by_file.get(file, ())
            for chunk in chunks:
                at = number[chunk.corpus, chunk.id] = len(number)
                if chunk.gaps:
                    gaps[at] = list(chunk.gaps)
            row = tuple(_deltas(chunks, loaded.files.get(file)))
            of.append(rows.setdefault(row, len(rows)) if chunks else -1)
        return cls({"of": of, "rows": list(rows), "gaps": gaps}, number)


def _deltas(chunks: Sequence[ChunkRow], source: Source | None) -> Iterator[int]:
    end = line = high = 0
    units = None if source is None or source.text.isascii() else _units(source.text)
    for chunk in chunks:
        start, stop = chunk.start, chunk.end
        if units is not None:
            start, stop = units[start], units[stop]
        yield from (start - end, stop - start)
        yield from (chunk.start_line - line, chunk.end_line - chunk.start_line)
        yield from (chunk.nws[0] - high, chunk.nws[1] - chunk.nws[0])
        end, line, high = stop, chunk.end_line, chunk.nws[1]


def _units(text: str) -> list[int]:
    """The UTF-16 units before every character, and in all."""
    return [0, *accumulate(2 if mark > "\uffff" else 1 for mark in text)]


def _labels(cells: Sequence[StoredCell]) -> list[str]:
    """What tells each cell of a data set from the others."""
    parts = [
        [cell.names[name] for name in CONFIGURATION if len({c.names[name] for c in cells}) > 1]
        or [cell.names["chunker"]]
        for cell in cells
    ]
    labels = [", ".join(row) for row in parts]
    runs = [str(cell.folder.parent.parent) for cell in cells]
    return [
        label if labels.count(label) == 1 else f"{label} ({run}, {cell.folder.name[:8]})"
        for label, run, cell in zip(labels, runs, cells, strict=True)
    ]


def _pair(cells: Sequence[StoredCell], measure: str) -> list[int]:
    """The two cells to begin with: the best contender, and the best other one on equal terms."""

    def key(at: int) -> tuple[bool, float, int]:
        mean = cells[at].metrics["metrics"].get(measure, {}).get("mean")
        return not contends(cells[at].names["chunker"]), -(mean or 0.0), at

    def terms(at: int) -> tuple[str, str]:
        return cells[at].names["embedder"], cells[at].names["retriever"]

    best, *others = sorted(range(len(cells)), key=key)
    others.sort(key=lambda at: (terms(at) != terms(best), key(at)))
    return [best, others[0] if others else best]


def _query_row(query: QueryRow, files: _Files, cells: Sequence[_Cell]) -> dict[str, Any]:
    begins = next(c.evidence[query.id].targets for c in cells if query.id in c.evidence)
    if query.qrels is not None:
        targets = [
            [files.number.get((query.corpus, document), -1), document, grade]
            for document, grade in sorted(query.qrels.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
    else:
        targets = [
            [
                files.number[_ranked_file(query, place.path)],
                place.start_line,
                place.end_line,
                place.grade,
                *place.stretch[1:],
                begin,
                [[files.number[_ranked_file(query, path)], *nws] for path, *nws in place.twins],
            ]
            for place, (begin, _) in zip(query.places, begins, strict=True)
        ]
    mask = query.mask
    return {
        "id": query.id,
        "corpus": query.corpus,
        "tags": dict(query.tags),
        "text": query.text,
        "targets": targets,
        "mask": None if mask is None else [mask.path, mask.start_line, mask.end_line],
    }


def _cell_row(
    cell: _Cell, cuts: _Cuts, files: _Files, queries: Sequence[str], measures: Sequence[str]
) -> dict[str, Any]:
    """A cell; lists of queries have null where it does not have the query."""
    shown = [cell.evidence.get(query) for query in queries]
    values = [cell.stored.values.get(query) for query in queries]
    return {
        **{name: cell.stored.names[name] for name in CONFIGURATION},
        "profile": cell.options.profile.name,
        "rule": cell.options.relevance.rule,
        "threshold": cell.options.relevance.threshold,
        "twins": cell.options.profile.twins,
        "merge": cell.options.profile.assemble == "merge",
        "embed": cell.options.profile.deliver == "embed",
        "budgets": budgets_of(cell.options) if cell.record.gold == "span" else [],
        "values": [row and [row.get(measure) for measure in measures] for row in values],
        "shown": [
            row and _shown_row(row, cell.units.get(row.corpus, {}), cuts, files) for row in shown
        ],
    }


def _shown_row(
    shown: Evidence, units: Mapping[int, ChunkRow | File], cuts: _Cuts, files: _Files
) -> list[Any]:
    def number(at: int) -> int:
        unit = units[at]
        return files.number[unit] if isinstance(unit, tuple) else cuts.number[unit.corpus, unit.id]

    reasons = [
        [
            reason.rank,
            reason.kind,
            reason.grade,
            round(reason.iou, 4),
            reason.shares,
            [number(unit) for unit in reason.stands],
        ]
        for reason in shown.reasons
    ]
    ends = [[d.rank, d.last, d.chars, d.gold] for d in shown.deliveries]
    missed = [(number(unit), rank) for unit, rank in shown.missed[:MISSED] if unit >= 0]
    return [
        [number(unit) for unit in shown.units],
        [None if score is None else float(f"{score:.6g}") for score in shown.scores],
        reasons,
        ends,
        missed,
        [shown.relevant, shown.ranked],
    ]
