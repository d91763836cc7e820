"""How fast every chunker is, beside bare parsing of the same bytes.

    python benchmarks/chunking.py [ROUNDS]

Every `.py` file of the running Python's standard library is parsed, and cut by each chunker. The
rounds of all of them alternate; the best round of each counts, in processor time. A chunker's time
holds everything from the text to the spans, the line index included. Those that go by meaning are
left out, for theirs is the embedder's; tokens are counted by the conformance kit's counter.
"""

from __future__ import annotations

import contextlib
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers import Source, list_chunkers, load_chunker
from chunkers.languages import parser
from chunkers.testing.services import cheap_services

if TYPE_CHECKING:
    from collections.abc import Callable

SPECS = (
    "ast",
    "ast:max_size=1500",
    "ast:overlap=3",
    "ast:header=on",
    "function",
    "random-cuts",
    "fixed",
    "fixed:overlap=3",
    "fixed-chars",
)


def specs() -> list[str]:
    """SPECS, and all other chunkers that can be used here, with their defaults."""
    chosen = {spec.partition(":")[0] for spec in SPECS}
    others = [one for one in list_chunkers() if one.version and one.family != "semantic"]
    return [*SPECS, *(one.name for one in others if one.name not in chosen)]


def texts() -> list[tuple[str, str]]:
    """Path and text of every file."""
    root = Path(sysconfig.get_path("stdlib"))
    found = []
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root)
        if not {"site-packages", "dist-packages"} & set(path.parts):
            content = file.read_bytes()
            try:
                found.append((path.as_posix(), content.decode("utf-8-sig")))
            except UnicodeDecodeError:
                found.append((path.as_posix(), content.decode("latin-1")))
    return found


def parse_all(files: list[tuple[str, str]]) -> Callable[[], float]:
    """Processor seconds that bare parsing takes; the bytes are at hand."""
    octets = [text.encode() for _, text in files]

    def timed() -> float:
        parse = parser("python").parse
        start = time.process_time()
        for one in octets:
            parse(one)
        return time.process_time() - start

    return timed


def cut_all(files: list[tuple[str, str]], spec: str) -> Callable[[], float]:
    """Processor seconds that a chunker takes, those of files included on which it fails."""
    chunk = load_chunker(spec).chunk
    # Imports are no part of its speed.
    chunk(Source("x = 1\n", "file", "python"), cheap_services())

    def timed() -> float:
        services = cheap_services()
        start = time.process_time()
        for path, text in files:
            with contextlib.suppress(RecursionError, ValueError):
                chunk(Source(text, path, "python"), services)
        return time.process_time() - start

    return timed


def main() -> None:
    """Print a table of MB/s and of the ratios to bare parsing."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    files = texts()
    size = sum(len(text.encode()) for _, text in files) / 1e6
    jobs = {"bare parsing": parse_all(files)} | {spec: cut_all(files, spec) for spec in specs()}
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, timed in jobs.items():
            best[name] = min(best[name], timed())
    print(f"{len(files)} files, {size:.1f} MB, best of {rounds} rounds")
    for name, seconds in best.items():
        ratio = best["bare parsing"] / seconds
        print(f"{name:<20}{size / seconds:8.1f} MB/s{ratio:8.2f} of bare parsing")


if __name__ == "__main__":
    main()
