"""The published comparison of code-chunk's AST chunker with lines, replayed without an API key.

    python -m benchmarks.published

Needs the data set `repoeval-function` (`chunkmark dataset fetch repoeval-function`). Ranks by bm25,
so that anybody gets the same numbers; the published runs ranked by OpenAI vectors. Prints Markdown
tables: the published means and those of the replay; what the size of chunks alone does to them;
and the differences at equal budgets, with the body of the function as the target.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
from harness.reports.compare import compare_document
from harness.reports.contests import contests
from harness.reports.recommendation import points, points_interval
from harness.runs.stored_values import read_stored_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.model import Dataset

SOURCE = "supermemoryai/code-chunk c37bf0f, eval/results, 2025-12-18"
PUBLISHED = {
    ("AST", 1500): (0.440, 0.790, 0.789),
    ("fixed", 1500): (0.386, 0.802, 0.796),
    ("AST", 1800): (0.409, 0.809, 0.799),
    ("fixed", 1800): (0.386, 0.899, 0.854),
}
"""P@5, R@5 and nDCG@5, means over queries and then over six repositories; 1800: the warm run."""

REPOS = (
    "amazon-science_patchcore-inspection",
    "deepmind_tracr",
    "google_lightweight_mmm",
    "lucidrains_imagen-pytorch",
    "maxhumber_redframes",
)
"""Five of the six published repositories; the licence of omnivore is non-commercial."""

RANKS = ("P@5", "R@5", "nDCG@5")
SPANS = ("SpanR@10000c", "SpanR@2500c")
CHUNKERS = {"AST": "code-chunk-ast:header=off", "fixed": "code-chunk-fixed"}


def means(dataset: Dataset, specs: Sequence[str]) -> list[tuple[list[float], float, int]]:
    """Macro means by the published rules, relevant chunks for each query, and chunks."""
    run = harness.evaluate(
        dataset, chunkers=specs, retriever="bm25", measures=RANKS, profile="code-chunk:empty=drop"
    )
    return [
        (
            [cell.metrics["metrics"][name]["mean"] for name in RANKS],
            cell.metrics["relevant_units"],
            cell.cell["health"]["chunks"],
        )
        for cell in run.cells
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---"] + ["---:"] * (len(heads) - 1)), "|")
    for row in rows:
        print("|", " | ".join(row), "|")
    print(flush=True)


def replay(dataset: Dataset) -> None:
    """The published means beside those by bm25, then those of one chunker at several sizes."""
    keys = list(PUBLISHED)
    specs = [_sized(CHUNKERS[name], size) for name, size in keys]
    rows = [
        [f"{name}, {size}", *_three(PUBLISHED[name, size]), *_three(values), f"{relevant:.2f}",
         str(chunks)]
        for (name, size), (values, relevant, chunks) in zip(
            keys, means(dataset, specs), strict=True
        )
    ]  # fmt: skip
    heads = [f"{name}, {how}" for how in ("published", "bm25") for name in RANKS]
    table(["chunker, max_size", *heads, "relevant chunks", "chunks"], rows)
    sizes = (500, 1000, 1500, 3000, 6000)
    specs = [_sized(CHUNKERS["fixed"], size) for size in sizes]
    rows = [
        [str(size), *_three(values), f"{relevant:.2f}", str(chunks)]
        for size, (values, relevant, chunks) in zip(sizes, means(dataset, specs), strict=True)
    ]
    table(["max_size of fixed", *RANKS, "relevant chunks", "chunks"], rows)


def at_equal_budgets(dataset: Dataset) -> None:
    """The differences AST - fixed in SpanR, as the published sizes are, and at matched size."""
    rows: list[list[str]] = []
    specs = list(CHUNKERS.values())
    for title, match in (("1500", None), ("matched", CHUNKERS["fixed"])):
        with tempfile.TemporaryDirectory() as folder:
            harness.evaluate(
                dataset, chunkers=specs, retriever="bm25", measures=SPANS, match_size=match,
                out=Path(folder),
            )  # fmt: skip
            cells = list(read_stored_cells(Path(folder)))
            for measure in SPANS:
                document = compare_document(contests(cells), [measure], with_curves=False)
                rows += [[title, measure, *_pair(pair)] for pair in document["pairs"]]
            print("sizes,", f"{title}:", ", ".join(cell.names["chunker"] for cell in cells), "\n")
    table(["size", "measure", "of", "AST - fixed", "95 %", "p", "verdict", "detects"], rows)


def _pair(pair: dict[str, Any]) -> list[str]:
    detects = "-" if pair["mdd"] is None else points(pair["mdd"])
    interval = points_interval(pair["ci95"]) or "-"
    values = [points(pair["difference"]), interval, f"{pair['p']:.3f}", pair["verdict"], detects]
    return [pair["estimand"], *values]


def _sized(spec: str, size: int) -> str:
    return f"{spec}{',' if ':' in spec else ':'}max_size={size}"


def _three(values: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def main() -> None:
    """Print all tables."""
    spec = f'repoeval-function:repos="{",".join(REPOS)}"'
    dataset = harness.load_dataset(spec)
    print(f"\n{len(dataset.queries)} queries in {', '.join(REPOS)}; published: {SOURCE}\n")
    replay(dataset)
    print("replay done, now at equal budgets", file=sys.stderr, flush=True)
    at_equal_budgets(harness.load_dataset(f"{spec},target=body"))


if __name__ == "__main__":
    main()
