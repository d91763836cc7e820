"""Chunkers for replays: one cuts as a stored `chunks.jsonl` says, one by lines."""

import hashlib
import json
from functools import cache
from pathlib import Path

from chunkers.errors import InputError
from chunkers.source import Span


@cache
def _rows(file):
    by_path = {}
    for line in Path(file).read_text("utf-8").splitlines():
        row = json.loads(line)
        by_path.setdefault(row["filepath"], []).append(row)
    return by_path


def recorded(source, file=""):
    """Spans that follow each other; the end of each is where the hash of its text fits."""
    spans, start = [], 0
    for row in _rows(file).get(source.path, []):
        digest = hashlib.sha256(source.text[start : source.lines.start_of(row["endLine"] + 1)]
                                .encode())  # fmt: skip
        end = source.lines.start_of(row["endLine"] + 1)
        while digest.hexdigest() != row["text_sha256"]:
            if end == len(source.text):
                raise InputError(f"{row['id']}: no text from {start} on has its hash")
            digest.update(source.text[end].encode())
            end += 1
        spans.append(Span(start, end, ref_id=row["id"]))
        start = end
    return spans


def lines(source):
    """One chunk a line; an empty file is one empty chunk."""
    spans = [Span(*source.lines.offsets_of(n, n)) for n in range(1, source.lines.count + 1)]
    return spans or [Span(0, 0)]


def overlapping(source):
    """Chunks of up to twenty lines, each of which shares ten with the next."""
    count = source.lines.count
    starts = range(1, max(2, count - 9), 10)
    return [Span(*source.lines.offsets_of(n, min(n + 19, count))) for n in starts if count]


def holed(source):
    """Chunks of up to nine lines, four of them shared, that each lack some text of their middle."""
    spans = []
    for first in range(1, source.lines.count + 1, 5):
        start, end = source.lines.offsets_of(first, min(first + 8, source.lines.count))
        third = (end - start) // 6
        gaps = ((start + third, start + 2 * third), (start + 4 * third, end - 3))
        gaps = tuple(gap for gap in gaps if gap[0] < gap[1])
        spans.append(Span(start, end, gaps=gaps))
    return spans
