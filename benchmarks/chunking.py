"""How fast every chunker is, beside bare parsing of the same bytes.

    python -m benchmarks.chunking [ROUNDS]

The files are those of `benchmarks.adapters`. All are parsed, and cut by each chunker with its
defaults. The rounds of all alternate; the best round of each counts, in processor time. A chunker's
time holds everything from the text to the spans, the line index included. Vectors, which cost what
the embedder does, are those of the conformance kit, made once; so are counts of tokens.
"""

from __future__ import annotations

import functools
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.adapters import lost, sources
from chunkers import Services, Source, list_chunkers, load_chunker
from chunkers.languages import parser
from chunkers.testing.services import count_tokens, embed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MORE = ("ast:max_size=1500", "ast:overlap=3", "ast:header=on", "fixed:overlap=3")
PARSING = "bare parsing"


@dataclass
class Timed:
    """One chunker.

    Attributes:
        family: Its family.
        run: Cuts all files and returns the processor seconds.
        seconds: The best round.
        lost: Characters that are no white space and in no chunk.
        failed: Files on which it fails; they count in its time.
    """

    family: str
    run: Callable[[], float]
    seconds: float = float("inf")
    lost: int = 0
    failed: int = 0


def specs() -> list[tuple[str, str]]:
    """Every chunker that can be used here, and some variants, each with its family."""
    listed = {one.name: one.family for one in list_chunkers() if one.version}
    named = [*listed, *MORE]
    named.sort(key=lambda spec: (listed[spec.partition(":")[0]], spec))
    return [(spec, listed[spec.partition(":")[0]]) for spec in named]


def parsing(files: list[Source]) -> Timed:
    """Bare parsing; the bytes are at hand."""
    octets = [one.text.encode() for one in files]

    def run() -> float:
        parse = parser("python").parse
        start = time.process_time()
        for one in octets:
            parse(one)
        return time.process_time() - start

    return Timed("", run)


def cutting(files: list[Source], spec: str, family: str) -> Timed:
    """A chunker. What it imports and makes at first use is no part of its speed."""
    chunk = load_chunker(spec).chunk
    vector = functools.cache(lambda text: embed([text])[0])

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector(text) for text in texts])

    services = Services(vectors, functools.cache(count_tokens))

    def run() -> float:
        timed.lost = timed.failed = 0
        seconds = 0.0
        for one in files:
            source = replace(one)  # with no line index yet
            start = time.process_time()
            try:
                spans = chunk(source, services)
            # Other people's code may raise anything; it is counted.
            except Exception:
                spans = None
            seconds += time.process_time() - start
            if spans is None:
                timed.failed += 1
            else:
                timed.lost += lost(source, spans)
        return seconds

    timed = Timed(family, run)
    run()
    return timed


def main() -> None:
    """Print a table of MB/s, of the ratios to bare parsing, and of what was lost."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    files = sources()
    size = sum(len(one.text.encode()) for one in files) / 1e6
    jobs = {PARSING: parsing(files)}
    jobs |= {spec: cutting(files, spec, family) for spec, family in specs()}
    for _ in range(rounds):
        for one in jobs.values():
            one.seconds = min(one.seconds, one.run())
    print(f"{len(files)} files, {size:.1f} MB, best of {rounds} rounds\n")
    print("| chunker | family | MB/s | of bare parsing | characters lost | files failed |")
    print("|---|---|---:|---:|---:|---:|")
    bare = jobs[PARSING].seconds
    for name, one in jobs.items():
        speed, ratio = size / one.seconds, bare / one.seconds
        print(f"| {name} | {one.family} | {speed:.2f} | {ratio:.2f} | {one.lost} | {one.failed} |")
    whole = [
        (one.seconds, name)
        for name, one in jobs.items()
        if one.family == "syntax" and ":" not in name and not (one.lost or one.failed)
    ]
    print(f"\nthe fastest of family syntax that keeps every character: {min(whole)[1]}")


if __name__ == "__main__":
    main()
