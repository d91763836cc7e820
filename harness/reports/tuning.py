"""Tuning: the value of an option is chosen on one half of the files and reported on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.reports.contests import GROUPS, contests
from harness.reports.recommendation import (
    points,
    points_interval,
    primary_measure,
    require_measure,
)
from harness.runs.folder import CONFIGURATION
from harness.stats.clusters import clusters_of
from harness.stats.halves import dev_half
from harness.stats.intervals import FLIPS
from harness.stats.sign_flips import estimates
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.contests import Contest
    from harness.runs.stored_values import StoredCell


def tune(
    cells: Sequence[StoredCell],
    option: str,
    measure: str | None = None,
    seed: int = 0,
    *,
    allow_truncated: bool = False,
) -> tuple[list[dict[str, Any]], list[Contest]]:
    """Choose the value of an option for each chunker that was run with several.

    Args:
        cells: Stored cells.
        option: An option of chunkers, such as `max_size`.
        measure: What to choose by; by default the headline of the cells.
        seed: Of the halves; 0 or above.
        allow_truncated: See `contests`.

    Returns:
        What was chosen for each sweep, with the means of all values on both halves; and the
        contests of the chosen chunkers, and those without a sweep, on the queries of the test half.
        Empty if no option was swept.

    Raises:
        InputError: The factor is no option, or the queries are in one cluster.
    """
    if option in (*CONFIGURATION, *GROUPS):
        raise InputError(
            f"--tune compares values of an option of chunkers, not of {option!r}; "
            "write --over max_size or another option"
        )
    sweeps = contests(cells, option, allow_truncated=allow_truncated)
    chosen, out = [], []
    for sweep in sweeps:
        document = _choice(sweep, option, measure, seed)
        chosen.append(document)
        out += [cell for name, cell in sweep.cells.items() if name != document["chosen"]]
    if not sweeps:
        return [], []
    rest = [cell for cell in cells if all(cell is not other for other in out)]
    finals = contests(rest, allow_truncated=allow_truncated)
    return chosen, [
        contest.part(~dev_half(contest.members, seed), "test half") for contest in finals
    ]


def _choice(sweep: Contest, option: str, measure: str | None, seed: int) -> dict[str, Any]:
    measure = measure or primary_measure(sweep)
    require_measure(sweep, measure)
    columns = sweep.columns(measure)
    dev = dev_half(sweep.members, seed)
    if dev.all():
        raise InputError(
            f"{sweep.dataset}: all queries are in one cluster, so they have no two halves"
        )
    means = {name: float(values[dev].mean()) for name, values in columns.items()}
    chosen = max(means, key=lambda name: means[name])  # of equal values the first of the sweep
    halves = {}
    for half, rows in (("dev", dev), ("test", ~dev)):
        own = clusters_of([sweep.members[at] for at in np.flatnonzero(rows)])
        halves[half] = {"n_queries": int(rows.sum()), "clusters": len(own.sizes)}
    (reported,) = estimates(columns[chosen][~dev][:, None], own, seed, FLIPS, bounds=(0.0, 1.0))
    return {
        "dataset": sweep.dataset,
        "shared": list(sweep.shared),
        "option": option,
        "measure": measure,
        **halves,
        "values": [
            {"chunker": name, "dev": means[name], "test": float(values[~dev].mean())}
            for name, values in columns.items()
        ],
        "chosen": chosen,
        "mean": reported.mean,
        "ci95": None if reported.ci95 is None else list(reported.ci95),
    }


def tuning_lines(choices: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What was chosen, and its mean on the half that had no part in the choice."""
    for choice in choices:
        values = {row["chunker"]: row for row in choice["values"]}
        chosen = choice["chosen"]
        dev, test = choice["dev"], choice["test"]
        yield (
            f"{', '.join([choice['dataset'], *choice['shared']])}: `{chosen}` has the highest "
            f"{choice['measure']} of {len(values)} values of {choice['option']} on the dev half "
            f"({_half(dev)}): {points(values[chosen]['dev'])}. On the test half ({_half(test)}): "
            f"{points(choice['mean'])} {points_interval(choice['ci95'])}".rstrip()
        )


def _half(half: Mapping[str, int]) -> str:
    queries = counted(half["n_queries"], "query", "queries")
    return f"{queries} in {counted(half['clusters'], 'cluster')}"
