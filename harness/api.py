"""The comparison as a function."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.chunking.cutters import SECONDS
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
    chunkers: Sequence[str] = (),
    embedder: str = "minilm",
    retriever: str = "dense",
    measures: Sequence[str] = (),
    profile: str = "default",
    depth: int = 1000,
    limit: int | None = None,
    seed: int = 0,
    mask_query: bool | None = None,
    max_failures: str = "1%",
    file_timeout: float = SECONDS,
    out: Path | str | None = None,
) -> RunResult:
    """Compare chunkers on one data set, as `chunkmark run` does.

    Args:
        dataset: From `load_dataset`, or made by hand.
        chunkers: Specs; the defaults of `chunkmark run` where empty.
        embedder: Spec.
        retriever: Spec.
        measures: Names; the defaults of `chunkmark run` where empty.
        profile: Spec.
        depth: Units in every ranking, at least.
        limit: Only so many queries, by a seeded choice.
        seed: Of every random choice.
        mask_query: Whether the lines that a query's text was taken from are taken out of its
            corpus, for that query alone; None leaves it to the data set.
        max_failures: How many files a chunker may fail on, `1%` of them or `3`; a cell that fails
            on more is in `failed` of the result.
        file_timeout: Seconds that a chunker may take for a file, and as much again for each
            million characters.
        out: The run folder; without one a temporary folder that is removed at the end, and
            `out` of the result is None.

    Returns:
        The cells; `cell.metrics["metrics"]["nDCG@10"]["mean"]` is a number.

    Raises:
        InputError: An unknown name, or a part that cannot be used.
    """
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"evaluate takes a data set, not {type(dataset).__name__}; load_dataset gives one"
        )
    config = RunConfig().over(
        datasets=(dataset.name,),
        chunkers=tuple(chunkers),
        embedders=(embedder,),
        retrievers=(retriever,),
        measures=tuple(measures),
        profile=profile,
        depth=depth,
        limit=limit,
        seed=seed,
        mask_query=mask_query,
        max_failures=max_failures,
        file_timeout=file_timeout,
    )
    plan = make_plan(config)
    if out is not None:
        return run(plan, [dataset], Path(out))
    with tempfile.TemporaryDirectory(prefix="chunkmark-") as folder:
        return replace(run(plan, [dataset], Path(folder)), out=None)
