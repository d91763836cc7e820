"""Speed of every chunker, compared with parsing alone.

    python -m benchmarks.chunking [ROUNDS]

The files are those of `benchmarks.adapters`. Each chunker cuts all of them with its default
options. Rounds alternate between chunkers; the best round of each counts, in processor time. The
time covers everything from text to spans, including the line index. Vectors and token counts come
from the conformance kit and are cached, because their cost is the embedder's.
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
PARSING = "parsing alone"


@dataclass
class Timed:
    """The timings of a chunker.

    Attributes:
        family: Its family; empty for parsing alone.
        run: Cuts all files and returns the processor seconds.
        seconds: Time of the best round.
        lost: Non-white-space characters in no chunk.
        failed: Files on which it fails; their time counts.
    """

    family: str
    run: Callable[[], float]
    seconds: float = float("inf")
    lost: int = 0
    failed: int = 0


def specs() -> list[tuple[str, str]]:
    """Every installed chunker and some variants, each with its family."""
    families = {each.name: each.family for each in list_chunkers() if each.version}
    pairs = [(spec, families[spec.partition(":")[0]]) for spec in (*families, *MORE)]
    return sorted(pairs, key=lambda pair: pair[::-1])


def parsing(files: list[Source]) -> Timed:
    """Parsing alone, from bytes."""
    octets = [file.text.encode() for file in files]

    def run() -> float:
        parse = parser("python").parse
        start = time.process_time()
        for text in octets:
            parse(text)
        return time.process_time() - start

    return Timed("", run)


def cutting(files: list[Source], spec: str, family: str) -> Timed:
    """A chunker, warmed up: imports and first use are not timed."""
    chunk = load_chunker(spec).chunk
    vector = functools.cache(lambda text: embed([text])[0])

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector(text) for text in texts])

    services = Services(vectors, functools.cache(count_tokens))

    def run() -> float:
        timed.lost = timed.failed = 0
        seconds = 0.0
        for file in files:
            source = replace(file)  # without its cached line index
            start = time.process_time()
            try:
                spans = chunk(source, services)
            # A library may raise anything; failures are counted.
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
    """Print a table of MB/s, the ratio to parsing alone, and losses."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    files = sources()
    size = sum(len(file.text.encode()) for file in files) / 1e6
    jobs = {PARSING: parsing(files)}
    jobs |= {spec: cutting(files, spec, family) for spec, family in specs()}
    for _ in range(rounds):
        for job in jobs.values():
            job.seconds = min(job.seconds, job.run())
    print(f"{len(files)} files, {size:.1f} MB, best of {rounds} rounds\n")
    print("| chunker | family | MB/s | ratio to parsing | characters lost | files failed |")
    print("|---|---|---:|---:|---:|---:|")
    bare = jobs[PARSING].seconds
    for name, job in jobs.items():
        speed, ratio = size / job.seconds, bare / job.seconds
        print(f"| {name} | {job.family} | {speed:.2f} | {ratio:.2f} | {job.lost} | {job.failed} |")
    whole = [
        (job.seconds, name)
        for name, job in jobs.items()
        if job.family == "syntax" and ":" not in name and not (job.lost or job.failed)
    ]
    print(f"\nfastest chunker of family syntax that loses no character: {min(whole)[1]}")


if __name__ == "__main__":
    main()
