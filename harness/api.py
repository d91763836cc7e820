"""The comparison as a function."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.model import Dataset
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.runner import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.runs.runner import RunResult


def evaluate(
    dataset: Dataset,
    *,
    chunkers: Sequence[str] = RunConfig.chunkers,
    embedder: str = RunConfig.embedders[0],
    retriever: str = RunConfig.retrievers[0],
    index: str | None = RunConfig.index,
    measures: Sequence[str] = RunConfig.measures,
    primary: str | None = RunConfig.primary,
    margin: float = RunConfig.margin,
    profile: str = RunConfig.profile,
    match_size: str | None = RunConfig.match_size,
    depth: int = RunConfig.depth,
    limit: int | None = RunConfig.limit,
    seed: int = RunConfig.seed,
    mask_query: bool | None = RunConfig.mask_query,
    max_failures: str = RunConfig.max_failures,
    engine: str = RunConfig.engine,
    memory: str | None = RunConfig.memory,
    file_timeout: float = RunConfig.file_timeout,
    out: Path | str | None = None,
) -> RunResult:
    """Compare chunkers on one data set, as `chunkmark run` does.

    Args:
        dataset: A data set from `load_dataset`, or built by hand.
        chunkers: Chunker, such as ast or fixed:max_size=300; 300|600 makes two chunkers.
        embedder: Embedder, such as minilm or st:FOLDER.
        retriever: Retriever, such as dense or bm25.
        index: Index that searches vectors: flat (exact), hnsw, ivf or pgvector:DSN. Default: flat.
        measures: Measure to compute. See `chunkmark list measures`.
        primary: Measure that the verdicts are about. Default: SpanR@10000c, or nDCG@10 for data
            sets whose targets are documents.
        margin: Largest difference that does not matter: 0.02 is 2 points.
        profile: Scoring conventions. See `chunkmark list profiles`.
        match_size: Set each chunker's max_size so that all have the same median chunk size: C
            non-white-space characters, or that of CHUNKER.
        depth: Least number of chunks to rank for each query. Measures with a larger cut-off raise
            it.
        limit: Number of queries to draw from each data set. Default: all.
        seed: Random seed of drawn queries, random rankings and intervals.
        mask_query: Hide from each query the lines that it was made from. Default: only if the data
            set asks for it, as for queries made from calls.
        max_failures: Number or share of files, such as 3 or 1%, that a chunker may fail on and
            still be scored.
        engine: Where files are cut and texts embedded: local; ray, on this machine; or ray:ADDRESS,
            on a Ray cluster.
        memory: Memory for texts, vectors and postings, such as 500MB or 2GB. More than that is
            kept in files. Default: no limit.
        file_timeout: Seconds that a chunker may take for a file, such as 120. Each million
            characters of the file adds the same time again.
        out: The run folder. Without it, a temporary folder is used and removed, and `out` of the
            result is None.

    Returns:
        The cells; `cell.metrics["metrics"]["nDCG@10"]["mean"]` is a number.

    Raises:
        InputError: An unknown name, a wrong value, or a part that is not available.
    """
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"evaluate takes a data set, not {type(dataset).__name__}; use load_dataset"
        )
    config = RunConfig().over(
        datasets=(dataset.name,),
        chunkers=chunkers,
        embedders=(embedder,),
        retrievers=(retriever,),
        index=index,
        measures=measures,
        primary=primary,
        margin=margin,
        match_size=match_size,
        profile=profile,
        depth=depth,
        limit=limit,
        seed=seed,
        mask_query=mask_query,
        max_failures=max_failures,
        engine=engine,
        memory=memory,
        file_timeout=file_timeout,
    )
    plan = make_plan(config)
    if out is not None:
        return run(plan, [dataset], Path(out))
    with tempfile.TemporaryDirectory(prefix="chunkmark-") as folder:
        return replace(run(plan, [dataset], Path(folder)), out=None)
