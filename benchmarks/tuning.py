"""Tuning on the queries that are reported, against tuning on a dev half: by simulation.

    python -m benchmarks.tuning

An option has several values, and the true mean of each is known. In every trial the value with the
highest mean is chosen: on all queries, which then also report it (the fault), or on the dev half of
`harness.stats.halves`, while the other half reports it (right). Prints Markdown tables.

Columns: the bias is the mean reported minus the true mean of the value chosen, in points, ± its
standard error. "better" is how often the tuned chunker is called better than an untuned one of the
same true mean, by the test of `harness.stats.comparison`. "chosen" is the true mean of what is
chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.stats.clusters import clusters_of
from harness.stats.comparison import verdict_of
from harness.stats.halves import dev_half
from harness.stats.intervals import FLIPS
from harness.stats.sign_flips import estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRIALS = 1_000
CLUSTERS, SIZES = (20, 60, 200), (2, 5, 10)
WHOLE, NONE = 0.6, 0.2  # shares of queries answered whole and not at all; the rest are in between
TRUE = WHOLE + (1 - WHOLE - NONE) / 2
REDRAWN = 0.3  # share of queries, and of clusters, that a value answers in its own way
LIFT = 0.1  # share of queries that the better value answers whole in any case


def values_of(rng: np.random.Generator, queries: int) -> NDArray[np.float64]:
    """Values with the true mean `TRUE`, shaped like SpanR: most are 0 or 1."""
    kind, between = rng.random(queries), rng.random(queries)
    return np.where(kind < WHOLE, 1.0, np.where(kind < WHOLE + NONE, 0.0, between))


def world(
    rng: np.random.Generator, cluster: NDArray[np.int64], columns: int
) -> NDArray[np.float64]:
    """Values of queries, shape (q, columns), all with the true mean `TRUE`.

    Columns agree on most queries. What they answer in their own way comes singly and by clusters.
    """
    queries, clusters = len(cluster), int(cluster.max()) + 1
    shared = values_of(rng, queries)
    made = []
    for _ in range(columns):
        own = values_of(rng, queries)
        together = values_of(rng, clusters)[cluster]
        column = np.where(rng.random(queries) < REDRAWN, own, shared)
        made.append(np.where((rng.random(clusters) < REDRAWN)[cluster], together, column))
    return np.stack(made, axis=1)


def trial(
    seed: int, clusters: int, columns: int, lift: float = 0.0
) -> tuple[list[float], list[float], list[bool]]:
    """For the fault and for the right way: bias, true mean of what is chosen, and called better."""
    rng = np.random.default_rng([seed, clusters, columns])
    cluster = np.repeat(np.arange(clusters), rng.integers(1, 9, clusters))
    members = [("corpus", f"file {at:04}") for at in cluster.tolist()]
    values = world(rng, cluster, columns + 1)
    untuned, tuned = values[:, -1], values[:, :-1].copy()
    lifted = rng.random(len(cluster)) < lift
    tuned[lifted, 0] = 1.0
    true = np.full(columns, TRUE)
    true[0] += lift * (1 - TRUE)
    dev = dev_half(members, seed)
    everything = np.ones_like(dev)
    biases, chosen, better = [], [], []
    for choose, report in ((everything, everything), (dev, ~dev)):
        best = int(tuned[choose].mean(axis=0).argmax())
        biases.append(float(tuned[report, best].mean() - true[best]))
        chosen.append(float(true[best]))
        gaps = (tuned[report, best] - untuned[report])[:, None]
        own = clusters_of([members[at] for at in np.flatnonzero(report)])
        (test,) = estimates(gaps, own, seed, FLIPS, bounds=(-1.0, 1.0))
        better.append(verdict_of(test, test.p, 0.02).startswith("better"))
    return biases, chosen, better


def main() -> None:
    """Print a table with values that do not differ, and one with a value that is better."""
    heads = ("files", "values", "bias, test", "bias, dev/test", "better, test", "better, dev/test")
    print("\nAll values are equally good:\n")
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---:"] * len(heads)), "|")
    for clusters in CLUSTERS:
        for columns in SIZES:
            biases, _, better = zip(
                *(trial(seed, clusters, columns) for seed in range(TRIALS)), strict=True
            )
            row = [str(clusters), str(columns), *_biases(biases)]
            row += [f"{share:.1%}" for share in np.mean(better, axis=0)]
            print("|", " | ".join(row), "|", flush=True)
    gain = 100 * LIFT * (1 - TRUE)
    print(f"\nOne of 5 values is better by {gain:.1f} points; true means of what is chosen:\n")
    heads = ("files", "bias, test", "bias, dev/test", "chosen, test", "chosen, dev/test")
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---:"] * len(heads)), "|")
    for clusters in CLUSTERS:
        biases, chosen, _ = zip(
            *(trial(seed, clusters, 5, LIFT) for seed in range(TRIALS)), strict=True
        )
        row = [str(clusters), *_biases(biases)]
        row += [f"{100 * mean:.1f}" for mean in np.mean(chosen, axis=0)]
        print("|", " | ".join(row), "|", flush=True)


def _biases(biases: tuple[list[float], ...]) -> list[str]:
    """Mean and standard error of the bias of both ways, in points."""
    table = 100 * np.array(biases)
    means, errors = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return [f"{mean:+.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True)]


if __name__ == "__main__":
    main()
