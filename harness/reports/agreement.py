"""Whether the order of chunkers holds over the embedders and retrievers that were run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.stats.comparison import resampled_means
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.reports.contests import Contest

FEWEST = 3
"""Chunkers that have an order worth comparing."""


def agreements(contests: Sequence[Contest], measure: str, seed: int = 0) -> list[dict[str, Any]]:
    """Kendall's τ-b between the orders of chunkers in two contests of the same queries and profile.

    Args:
        contests: All contests; those of one data set differ in embedder or retriever.
        measure: What orders the chunkers.
        seed: 0 or above.

    Returns:
        For each pair of contests: `columns` (their headings), the number `n` of chunkers, `tau`,
        and `ci95`: the middle 95 % of τ over resamples of the clusters of queries, drawn with
        replacement within their stratum. Noise of the means lowers τ in resamples, so the interval
        is rather too low than too high. `tau` is None where one column has equal means throughout.
    """
    rows = []
    for a, b in itertools.combinations(contests, 2):
        if (a.dataset, a.queries, a.members, a.profile) != (
            b.dataset, b.queries, b.members, b.profile,
        ):  # fmt: skip
            continue
        first, second = a.columns(measure), b.columns(measure)
        names = [name for name in a.contenders if name in first and name in second]
        if len(names) < FEWEST:
            continue
        values = np.stack([side[name] for side in (first, second) for name in names], axis=1)
        means = np.concatenate(
            [values.mean(axis=0)[None], resampled_means(values, a.members, seed)]
        )
        taus = kendall_tau(means[:, : len(names)], means[:, len(names) :])
        spread = taus[1:][np.isfinite(taus[1:])]
        known = np.isfinite(taus[0]) and len(spread)
        ends = np.percentile(spread, [2.5, 97.5]).tolist() if known else None
        rows.append(
            {
                "dataset": a.dataset,
                "measure": measure,
                "columns": [list(a.shared), list(b.shared)],
                "n": len(names),
                "tau": float(taus[0]) if known else None,
                "ci95": ends,
            }
        )
    return rows


def kendall_tau(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's τ-b of each row of two arrays of shape (n, m), shape (n,); NaN where all are tied.

    Values within 1e-12 are tied.
    """
    i, j = np.triu_indices(a.shape[1], 1)
    signs = []
    for values in (a, b):
        gaps = values[:, i] - values[:, j]
        signs.append(np.where(np.abs(gaps) <= 1e-12, 0, np.sign(gaps)))
    first, second = signs
    untied = (np.abs(first).sum(axis=1)) * (np.abs(second).sum(axis=1))
    tau: NDArray[np.float64] = np.full(len(a), np.nan)
    np.divide((first * second).sum(axis=1), np.sqrt(untied), out=tau, where=untied > 0)
    return tau


def agreement_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each data set: its pair of columns with the lowest τ."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["dataset"], []).append(row)
    for dataset, group in groups.items():
        known = [row for row in group if row["tau"] is not None]
        if not known:
            continue
        low = min(known, key=lambda row: row["tau"])
        low_end, high_end = low["ci95"]
        a, b = (", ".join(column) for column in low["columns"])
        of = f"lowest of {counted(len(known), 'pair')} of columns, " if len(known) > 1 else ""
        yield (
            f"{dataset}: order of {low['n']} by {low['measure']}, {of}{a} against {b}: "
            f"Kendall's tau {low['tau']:.2f} [{low_end:.2f}, {high_end:.2f}] (1: the same order)"
        )
