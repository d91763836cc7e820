"""A run with bm25, from nothing and with everything stored; $CHUNKMARK_DATA has RepoEval."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.speed.pairs import Pair, chunkmark

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = "run -d repoeval-function -c ast -c fixed -r bm25"


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """The run in a new folder, and in the folder of the first one."""
    if "CHUNKMARK_DATA" not in os.environ:
        print("not measured: runs of RepoEval; set CHUNKMARK_DATA", file=sys.stderr)
        yield []
        return
    with tempfile.TemporaryDirectory() as folder:

        def new() -> float:
            shutil.rmtree(f"{folder}/new", ignore_errors=True)
            return chunkmark([*RUN.split(), "-o", f"{folder}/new"])()

        stored = chunkmark([*RUN.split(), "-o", f"{folder}/stored"])
        yield [
            Pair(f"`chunkmark {RUN}`", new, "", None, aim=4, rounds=3),
            Pair("the same, stored", stored, "`chunkmark --help`", chunkmark(["--help"]), aim=2.5),
        ]
