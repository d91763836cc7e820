"""What context in a vector does, apart from boundaries: chunks plain, under headers, and late.

    python -m benchmarks.context

Chunks of the built-in data set are embedded as they are (`plain`), after a header of path and
enclosing definitions (`header=on`), and with late vectors (`pool=late`). Prints two Markdown
tables: means, with the differences from plain and between chunkers, in points; and what embedding
costs. Holm's method counts all differences of the first table.

Chunks are small enough for the model to see nearly all of every one, so that no difference is one
of unseen text. Everything is embedded anew in a temporary store, in four minutes of processor time.
Seconds are those of the processor too, which other programs change little.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
from benchmarks.published import table
from chunkers import load_chunker
from chunkers.source import Services
from harness.chunking.corpus import chunk_corpora
from harness.embedding.text_vectors import embed_texts
from harness.embedding.vector_store import VectorStore
from harness.reports.contests import adjusted_together, contest_of, differences
from harness.reports.recommendation import points, points_interval
from harness.runs.pipeline import load_embedder
from harness.runs.stored_values import read_stored_cells
from harness.runs.texts import embed_chunks, texts_of
from harness.stats import MARGIN
from harness.support.data_folders import cache_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.model import Dataset
    from harness.runs.stored_values import StoredCell
    from harness.stats.comparison import Difference

CHUNKERS = {"ast": "ast:max_size=400", "fixed": "fixed:max_size=400"}
WAYS = {
    "plain": ("", "minilm"),
    "header": (",header=on", "minilm"),
    "late": ("", "minilm:pool=late"),
}
"""The option of a chunker, and the embedder."""

MEASURE = "SpanR@10000c"

Cells = dict[tuple[str, str], Any]
"""By chunker and way."""


def main() -> None:
    """Embed, run, and print both tables."""
    dataset = harness.load_dataset("stdlib")
    cache = os.environ.get("CHUNKMARK_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CHUNKMARK_CACHE"] = folder
        try:
            seconds = embed(dataset)
            cells = evaluate(dataset, Path(folder))
        finally:
            del os.environ["CHUNKMARK_CACHE"]
            if cache is not None:
                os.environ["CHUNKMARK_CACHE"] = cache
        print(f"{len(dataset.queries)} queries, data {dataset.fingerprint[:12]}\n")
        table(*quality(cells))
        table(*cost(cells, seconds))


def embed(dataset: Dataset) -> dict[tuple[str, str], float]:
    """Embed the chunks into the store; the processor's seconds, by chunker and way."""
    store = VectorStore(cache_dir() / "vectors.sqlite")
    embedders = {name: load_embedder(name) for name in ("minilm", "minilm:pool=late")}
    for model in embedders.values():  # a first batch takes longer
        embed_texts(["warm"], model, store, "document")
    seconds = {}
    for chunker, spec in CHUNKERS.items():
        for way, (option, embedder) in WAYS.items():
            print(f"embedding: {chunker}, {way}", file=sys.stderr, flush=True)
            chunked = chunk_corpora(dataset.corpora, load_chunker(spec + option), Services())
            texts = texts_of(chunked, embedders[embedder], windows=False)
            started = time.process_time()
            embed_chunks(texts, embedders[embedder], store, lambda done, total: None)
            seconds[chunker, way] = time.process_time() - started
    store.close()
    return seconds


def evaluate(dataset: Dataset, folder: Path) -> Cells:
    """The stored cells."""
    cells: Cells = {}
    for way, (option, embedder) in WAYS.items():
        out = folder / way
        specs = [spec + option for spec in CHUNKERS.values()]
        harness.evaluate(dataset, chunkers=specs, embedder=embedder, measures=[MEASURE], out=out)
        for chunker, cell in zip(CHUNKERS, read_stored_cells(out), strict=True):
            cells[chunker, way] = cell
    return cells


def quality(cells: Mapping[tuple[str, str], StoredCell]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of means and differences."""
    first, last = CHUNKERS
    groups = [
        *([(chunker, way) for way in WAYS] for chunker in CHUNKERS),
        *([(chunker, way) for chunker in CHUNKERS] for way in WAYS),
    ]
    contests = [
        contest_of("stdlib", (), [(" ".join(key), cells[key]) for key in group]) for group in groups
    ]
    baselines = [*(f"{chunker} plain" for chunker in CHUNKERS), *(f"{last} {way}" for way in WAYS)]
    family = len(CHUNKERS) * (len(WAYS) - 1) + len(WAYS)
    results = adjusted_together(
        [
            (contest, differences(contest, MEASURE, baseline, margin=MARGIN, family=family))
            for contest, baseline in zip(contests, baselines, strict=True)
        ],
        MARGIN,
    )
    pairs = {(pair.a, pair.b): pair for result in results for pair in result.of_these_corpora}
    means = {key: f"{_metric(cell)['mean']:.3f}" for key, cell in cells.items()}
    others = [way for way in WAYS if way != "plain"]
    rows = [
        [
            chunker,
            *(means[chunker, way] for way in WAYS),
            *(_shown(pairs[f"{chunker} {way}", f"{chunker} plain"]) for way in others),
        ]
        for chunker in CHUNKERS
    ]
    between = [_shown(pairs[f"{first} {way}", f"{last} {way}"]) for way in WAYS]
    rows.append([f"{first} - {last}", *between, *("" for _ in others)])
    return [MEASURE, *WAYS, *(f"{way} - plain" for way in others)], rows


def cost(
    cells: Mapping[tuple[str, str], StoredCell], seconds: Mapping[tuple[str, str], float]
) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of what embedding costs."""
    rows = []
    for (chunker, way), cell in sorted(cells.items(), key=lambda item: item[0][0]):
        health, spent = cell.cell["health"], seconds[chunker, way]
        ratio = spent / seconds[chunker, "plain"]
        tokens = f"{cell.cell['cost']['tokens']:,}"
        unseen = f"{health['unseen_chunk_tokens']:.1%}"
        rows.append([f"{chunker}, {way}", str(health["chunks"]), tokens, unseen,
                     f"{spent:.0f}", f"{ratio:.2f}"])  # fmt: skip
    return ["chunks of", "chunks", "tokens", "unseen", "processor seconds", "times plain"], rows


def _metric(cell: StoredCell) -> Mapping[str, Any]:
    metric: Mapping[str, Any] = cell.metrics["metrics"][MEASURE]
    return metric


def _shown(pair: Difference) -> str:
    """A difference in points, its interval and its verdict."""
    interval = points_interval(pair.estimate.ci95) or "-"
    return f"{points(pair.estimate.mean, '+')} {interval} {pair.verdict}"


if __name__ == "__main__":
    main()
