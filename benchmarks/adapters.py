"""Losses and oversized chunks of every chunker, over the standard library without its tests.

    python -m benchmarks.adapters [SPEC ...]

All modules are read, with their docstrings. The size limit is 1,500 characters if a chunker can
count them. Vectors are the cheap ones of the conformance kit, so semantic chunkers cut differently
than in a run. Prints a Markdown table.
"""

from __future__ import annotations

import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chunkers import list_chunkers, load_chunker
from chunkers.errors import MissingError
from chunkers.sizes import span_size
from chunkers.testing.services import cheap_services
from harness.model import Skipped
from harness.reading.reader import ReadRules, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from chunkers import LoadedChunker, Source, Span

_TESTS = {"test", "tests", "idle_test"}
_PACKAGES = {"site-packages", "dist-packages"}
_LIMIT = ":max_size=1500,unit=chars"
_OPTIONS = {
    "astchunk": ":max_size=1100",  # non-white-space characters
    "chonkie-token": ":max_size=1500",
    "langchain-code": f"{_LIMIT},strip=off",
    "langchain-recursive": f"{_LIMIT},strip=off",
    "memorybench-fixed": ":max_size=1500",
}
_COLUMNS = (
    "chunker", "chunks", "files that chunks join to", "files with a loss", "characters lost",
    "chunks over the limit", "median size", "largest", "files failed",
)  # fmt: skip


def specs() -> list[str]:
    """Every installed chunker, in order of family and name."""
    chunkers = [chunker for chunker in list_chunkers() if chunker.version]
    chunkers.sort(key=lambda chunker: (chunker.family, chunker.name))
    return [f"{each.name}{_OPTIONS.get(each.name, _limit(each.options))}" for each in chunkers]


def _limit(options: Mapping[str, str]) -> str:
    return _LIMIT if {"max_size", "unit"} <= set(options) else ""


def sources() -> list[Source]:
    """The modules of the standard library, without tests and installed packages."""
    root = Path(sysconfig.get_path("stdlib"))
    rules = ReadRules(suffixes=(".py",))
    files = []
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root)
        if (_TESTS | _PACKAGES).isdisjoint(path.parts):
            read = read_file(file, path.as_posix(), rules)
            if not isinstance(read, Skipped):
                files.append(read)
    return files


def lost(source: Source, spans: Sequence[Span]) -> int:
    """Number of non-white-space characters of a file that are in no chunk."""
    # Repeated text would hide a loss, so positions are counted, not characters.
    seen = np.zeros(len(source.text), dtype=bool)
    for span in spans:
        borders = [span.start, *(border for gap in span.gaps for border in gap), span.end]
        for start, end in zip(borders[::2], borders[1::2], strict=True):
            seen[start:end] = True
    return int(np.diff(source.lines.nws)[~seen].sum())


def measure(chunker: LoadedChunker, files: list[Source]) -> dict[str, str]:
    """The values of a chunker, by column."""
    counts: Counter[str] = Counter()
    sizes: list[int] = []
    for source in files:
        services = cheap_services()
        try:
            spans = chunker.chunk(source, services)
        # A library may raise anything; failures are counted.
        except Exception:
            counts["failed"] += 1
            continue
        kept = [span.kept(source.text) for span in spans]
        loss = lost(source, spans)
        counts["lost"] += loss
        counts["lossy"] += loss > 0
        counts["joined"] += "".join(kept) == source.text
        sizes += [span_size(source, span, chunker.unit, services) for span in spans]
    limit = chunker.max_size
    over = "no limit" if limit is None else f"{sum(size > limit for size in sizes):,}"
    return {
        "chunks": f"{len(sizes):,}",
        "files that chunks join to": f"{counts['joined']:,}",
        "files with a loss": f"{counts['lossy']:,}",
        "characters lost": f"{counts['lost']:,}",
        "chunks over the limit": over,
        "median size": f"{int(np.median(sizes or [0])):,}",
        "largest": f"{max(sizes, default=0):,}",
        "files failed": f"{counts['failed']:,}",
    }


def rows(chosen: list[str], files: list[Source]) -> Iterator[dict[str, str]]:
    """Yield the row of each chunker as soon as it is measured."""
    for spec in chosen:
        try:
            chunker = load_chunker(spec)
        except MissingError as error:
            print(error, file=sys.stderr)
            continue
        yield {"chunker": f"`{spec}`"} | measure(chunker, files)


def main() -> None:
    """Print the table."""
    files = sources()
    size = sum(source.lines.size(0, len(source.text)) for source in files)
    print(f"{len(files)} files, {size:,} non-white-space characters\n")
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|---|" + "---:|" * (len(_COLUMNS) - 1))
    for row in rows(sys.argv[1:] or specs(), files):
        print("| " + " | ".join(row[column] for column in _COLUMNS) + " |", flush=True)


if __name__ == "__main__":
    main()
