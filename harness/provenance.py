"""Which code made a result: a hash of source files, so that no edit meets a stale result."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

_ROOT = Path(__file__).parents[1]

CHUNKING = (
    "chunkers/**/*.py",
    "harness/chunk_vectors.py",
    "harness/chunking.py",
    "harness/cutters.py",
    "harness/runs/cuts.py",
)
RANKING = (
    "harness/checkpoints.py",
    "harness/cross_encoder.py",
    "harness/cover.py",
    "harness/embedding.py",
    "harness/expansion.py",
    "harness/hops.py",
    "harness/index.py",
    "harness/lexical.py",
    "harness/masking.py",
    "harness/measures/inputs.py",
    "harness/parsing.py",
    "harness/parity/dot_over_norms.py",
    "harness/policy.py",
    "harness/relevance.py",
    "harness/retrieval.py",
    "harness/retrievers/*.py",
    "harness/runs/compute.py",
    "harness/runs/context.py",
    "harness/runs/health.py",
    "harness/runs/prepare.py",
    "harness/runs/ranking.py",
    "harness/runs/record.py",
    "harness/runs/searching.py",
    "harness/runs/texts.py",
    "harness/twins.py",
)
SCORING = (
    "harness/measures/**/*.py",
    "harness/profiles.py",
    "harness/relevance.py",
    "harness/runs/line_runs.py",
    "harness/runs/results.py",
    "harness/textual.py",
)


@functools.cache
def code_hash(*patterns: str) -> str:
    """sha256 over the names and contents of the files that match, relative to the packages."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in _ROOT.glob(pattern)}):
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
