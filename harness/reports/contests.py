"""Contests: stored cells that differ in one factor, and what their differences say."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chunkers.errors import InputError, did_you_mean, similar_names, suggestion
from chunkers.plugins.spec import parse_spec
from harness.reports.breakdowns import values_by_query
from harness.runs.folder import CONFIGURATION
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.stats.comparison import adjust, best_shares, compare, verdict_of
from harness.stats.new_corpora import FEWEST_FOR_TEST
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.runs.stored_values import StoredCell
    from harness.stats.clusters import Member
    from harness.stats.comparison import Adjustment, Difference, Estimand

CONTROLS = ("whole-file", "random-cuts")
"""Chunkers to read the others against; as a baseline, one may be recommended."""

_Value = TypeVar("_Value")

GROUPS = ("language", "corpus")
"""Factors that are compared within each of their values."""

ESTIMANDS: tuple[Estimand, ...] = ("these corpora", "new corpora")

SAME = {
    "dataset": "data",
    "limit": "--limit",
    "mask_query": "--mask-query",
    "seed": "--seed",
    "ranking": "rules of ranking",
    "relevance": "relevance",
    "depth": "--depth",
    "budget": "largest budget of a measure",
}
"""What cells share in their identity where they are compared, in words. The rest is the parts and
what follows from them, and versions of the program, between which `gate` compares."""


@dataclass(frozen=True)
class Contest:
    """Cells with the same queries, by the value of the factor in which they differ.

    Attributes:
        dataset: Their data set.
        shared: The other parts that they share, for a heading.
        cells: By name: the chunker, embedder or retriever.
        queries: The ids of the queries that count.
        members: Corpus and cluster of each query.
    """

    dataset: str
    shared: tuple[str, ...]
    cells: Mapping[str, StoredCell]
    queries: tuple[str, ...]
    members: tuple[Member, ...]

    @property
    def profile(self) -> Mapping[str, Any]:
        """The profile, which all cells share."""
        return next(iter(self.cells.values())).profile

    @property
    def contenders(self) -> list[str]:
        """The names that may win."""
        return [name for name in self.cells if contends(name)]

    def compares(self, measure: str) -> bool:
        """Whether a measure can compare its cells: not all compare chunkers."""
        chunkers = {cell.names["chunker"] for cell in self.cells.values()}
        cell = next(iter(self.cells.values()))
        return len(chunkers) == 1 or cell.compares_chunkers(measure)

    def columns(self, measure: str) -> dict[str, NDArray[np.float64]]:
        """The values of each cell that has the measure, shape (q,)."""
        columns = {}
        for name, cell in self.cells.items():
            values = [cell.values[query].get(measure) for query in self.queries]
            if None not in values:
                columns[name] = np.array(values, dtype=np.float64)
        return columns

    def part(self, queries: NDArray[np.bool_], name: str) -> Contest:
        """The contest on some of its queries, marked in an array of shape (q,)."""
        chosen = np.flatnonzero(queries).tolist()
        return replace(
            self,
            shared=(*self.shared, name),
            queries=tuple(self.queries[at] for at in chosen),
            members=tuple(self.members[at] for at in chosen),
        )


@dataclass(frozen=True)
class MeasureResult:
    """The differences of a contest by one measure.

    Attributes:
        measure: Its name.
        primary: Whether it was declared; the others are exploratory.
        differences: Of all pairs, for each estimand.
        best: The share of resamples in which each has the highest mean.
    """

    measure: str
    primary: bool
    differences: tuple[Difference, ...]
    best: Mapping[str, float]

    @property
    def of_these_corpora(self) -> list[Difference]:
        """The differences over the queries of these corpora."""
        return [pair for pair in self.differences if pair.estimand == "these corpora"]


def contests(
    cells: Iterable[StoredCell], over: str = "chunker", *, allow_truncated: bool = False
) -> list[Contest]:
    """The contests over a factor.

    Args:
        cells: Stored cells, of one or more runs.
        over: A part of a cell, an option of chunkers such as `max_size`, or `language` or `corpus`:
            chunkers are compared within each of its values.
        allow_truncated: Whether cells take part of which the embedder never saw over 10 % of the
            chunk tokens; their scores say little about boundaries.

    Returns:
        Empty if no two cells differ in the factor alone; `why_none` says in what they differ.

    Raises:
        InputError: A cell is truncated, or cells that are compared have different queries.
    """
    cells = list(cells)
    for cell in cells:
        if truncated(cell.cell["health"]) and not allow_truncated:
            raise InputError(
                f"{cell.folder}: the embedder never saw over {TRUNCATION_MARK:.0%} of the chunk "
                f"tokens of {cell.names['chunker']}, so nothing can be said of its boundaries\n"
                "use a smaller max_size, or windows=max, or add --allow-truncated"
            )
    result = [contest_of(*shared, group) for shared, group in _groups(cells, over) if group[1:]]
    if over in GROUPS:
        result = [part for contest in result for part in _parts(contest, over)]
    return result


def alone(cells: Iterable[StoredCell], over: str = "chunker") -> list[str]:
    """A line for each cell that is in no contest over a factor, since no other differs in it."""
    what = over if over in CONFIGURATION else "chunker" if over in GROUPS else f"value of {over}"
    lines = []
    for (dataset, parts), group in _groups(cells, over):
        if not group[1:]:
            where = f"{dataset} ({', '.join(parts)})" if parts else dataset
            lines.append(
                f"{group[0][0]} on {where} is not compared: no other {what} was run there with the "
                "same options"
            )
    return lines


def _groups(
    cells: Iterable[StoredCell], over: str
) -> list[tuple[tuple[str, tuple[str, ...]], list[tuple[str, StoredCell]]]]:
    """The cells that differ in a factor alone, by name, each group with data set and heading."""
    groups: dict[str, list[tuple[str, StoredCell]]] = {}
    shared: dict[str, tuple[str, tuple[str, ...]]] = {}
    for cell in cells:
        key, name, parts = _key(cell, over)
        group = groups.setdefault(key, [])
        if any(name == other and cell.folder.parent == kept.folder.parent for other, kept in group):
            continue  # the same cell as computed by an earlier version of the program
        group.append((name, cell))
        shared[key] = (cell.names["dataset"], parts)
    first, headings = {key: group[0][1] for key, group in groups.items()}, dict(shared)
    for key, (dataset, parts) in list(shared.items()):
        others = [first[other] for other in groups if headings[other] == (dataset, parts)]
        shared[key] = dataset, (*parts, *_what_differs(first[key], others))
    return [(shared[key], group) for key, group in groups.items()]


def _what_differs(cell: StoredCell, others: Sequence[StoredCell]) -> Iterator[str]:
    """The profile and the options of a cell that some of the others do not share."""
    if any(other.profile != cell.profile for other in others):
        yield f"profile {cell.profile['name']}"
    for name, what in SAME.items():
        value = cell.cell["identity"][name]
        different = [
            other.cell["identity"][name]
            for other in others
            if other.cell["identity"][name] != value
        ]
        if different and isinstance(value, dict):
            changed = (
                key for key in value if any(value[key] != each.get(key) for each in different)
            )
            yield f"{what} {', '.join(f'{key} {value[key]}' for key in changed)}"
        elif different:
            yield f"{what} {'none' if value is None else str(value)[:12]}"


def contends(name: str) -> bool:
    """Whether a chunker, with any options and of any run, may be named a winner."""
    return re.split("[: ]", name, maxsplit=1)[0] not in CONTROLS


def differences(
    contest: Contest,
    measure: str,
    baseline: str | None = None,
    *,
    margin: float,
    primary: bool = True,
    seed: int = 0,
    family: int = 0,
    estimands: Sequence[Estimand] = ESTIMANDS,
) -> MeasureResult:
    """The differences of a contest by a measure.

    Args:
        contest: The contest.
        measure: The measure; a cell without it takes no part.
        baseline: Compare each with this one; by default all pairs.
        margin: The largest difference that does not matter.
        primary: Whether the measure was declared, so that Holm adjusts its p-values.
        seed: 0 or above.
        family: Number of pairs that `adjusted_together` will count, at most.
        estimands: What to estimate.
    """
    columns = contest.columns(measure)
    pairs = (
        list(itertools.combinations(columns, 2))
        if baseline is None
        else [(name, baseline) for name in columns if name != baseline and baseline in columns]
    )
    differences = {(a, b): columns[a] - columns[b] for a, b in pairs}
    adjustment: Adjustment = "holm" if primary else "benjamini-hochberg"
    every = [
        difference
        for estimand in estimands
        for difference in compare(
            differences,
            contest.members,
            estimand=estimand,
            margin=margin,
            adjustment=adjustment,
            seed=seed,
            family=family,
        )
    ]
    if not contest.compares(measure):
        every = [replace(difference, verdict="not comparable") for difference in every]
    contenders = {name: columns[name] for name in contest.contenders if name in columns}
    best = best_shares(contenders, contest.members, seed) if contenders else {}
    return MeasureResult(measure, primary, tuple(every), best)


def adjusted_together(
    parts: Sequence[tuple[Contest, MeasureResult]], margin: float
) -> list[MeasureResult]:
    """The results of contests, whose p-values of one data set and measure are one family.

    Embedders, retrievers and parts of one data set are shown together, so Holm's method counts all
    of their pairs.

    Args:
        parts: Contests with their results by a primary measure.
        margin: The largest difference that does not matter.
    """
    families: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for at, (contest, result) in enumerate(parts):
        for place, pair in enumerate(result.differences):
            key = (contest.dataset, result.measure, pair.estimand)
            families.setdefault(key, []).append((at, place))
    rows = [list(result.differences) for _, result in parts]
    for (*_, estimand), family in families.items():
        p = adjust([rows[at][place].estimate.p for at, place in family], "holm")
        for (at, place), value in zip(family, p, strict=True):
            corpora = {corpus for corpus, _ in parts[at][0].members}
            few = estimand == "new corpora" and len(corpora) < FEWEST_FOR_TEST
            pair = rows[at][place]
            verdict = pair.verdict
            if verdict != "not comparable":
                verdict = verdict_of(pair.estimate, value, margin, few_corpora=few)
            rows[at][place] = replace(pair, p_adjusted=value, family=len(family), verdict=verdict)
    return [
        replace(result, differences=tuple(pairs))
        for (_, result), pairs in zip(parts, rows, strict=True)
    ]


def _key(cell: StoredCell, over: str) -> tuple[str, str, tuple[str, ...]]:
    """What a cell shares with those it is compared with, its own name, and a heading of both."""
    identity = [cell.cell["identity"][key] for key in SAME]
    factor = over if over in CONFIGURATION else "chunker"
    names = {part: cell.names[part] for part in CONFIGURATION}
    name = names.pop(factor)
    if over not in (*CONFIGURATION, *GROUPS):
        spec = parse_spec(name)
        names["chunker"] = str(spec.without(over))
    key = json.dumps([identity, dict(cell.profile), names], sort_keys=True)
    return key, name, tuple(value for value in names.values() if value != "none")


def contest_of(
    dataset: str, shared: tuple[str, ...], group: Sequence[tuple[str, StoredCell]]
) -> Contest:
    """The contest of named cells.

    Raises:
        InputError: They have different queries.
    """
    names = [name for name, _ in group]
    cells: dict[str, StoredCell] = {}
    for name, cell in group:
        # The same part in two runs is told apart by the run folder.
        unique = name if names.count(name) == 1 else f"{name} ({cell.folder.parent.parent.name})"
        while unique in cells:
            unique += "'"
        cells[unique] = cell
    first, *rest = cells.values()
    queries = tuple(first.values)
    for cell in rest:
        if cell.values.keys() != first.values.keys():
            missing = sorted(cell.values.keys() ^ first.values.keys())
            raise InputError(
                f"{first.folder} and {cell.folder} have different queries; "
                f"{counted(len(missing), 'is', 'are')} in one alone, such as {missing[0]!r}"
            )
    return Contest(dataset, shared, cells, queries, tuple(first.members[q] for q in queries))


def _parts(contest: Contest, over: str) -> list[Contest]:
    """A contest for each value of a break-down, in order of the value."""
    folder = next(iter(contest.cells.values())).folder
    values = values_by_query(folder, over)
    own = np.array([values[query] for query in contest.queries])
    return [contest.part(own == value, f"{over}={value}") for value in sorted(set(own.tolist()))]


_COMMON = {"max_size", "overlap", "header", "unit"}
"""Options that chunkers have, whether or not a run sets them."""


def _factor_to_choose(cells: Sequence[StoredCell], over: str, options: set[str]) -> str:
    """What to write for an unknown factor: of these cells, or of a run to come."""
    if hint := did_you_mean(over, (*CONFIGURATION, *GROUPS, *options)):
        return hint
    parts = {part for part in CONFIGURATION if len({cell.names[part] for cell in cells}) > 1}
    groups = GROUPS if "chunker" in parts else ()
    sweeps = [
        f"; for {option}, run a sweep, as in -c 'fixed:{option}=A|B'"
        for option in similar_names(over, sorted(_COMMON))[:1]
    ]
    return suggestion(over, sorted({*parts, *groups, *options})) + "".join(sweeps)


def why_none(cells: Sequence[StoredCell], over: str) -> str:
    """Why no two cells can be compared."""
    if len(cells) < 2:
        return "nothing to compare: one cell is scored; run a second chunker, or give another run"
    options = {key for cell in cells for key, _ in parse_spec(cell.names["chunker"]).options}
    options |= {over} & _COMMON
    if over not in {*CONFIGURATION, *GROUPS, *options}:
        return f"--over {over}: {_factor_to_choose(cells, over, options)}"
    if over in CONFIGURATION and len({cell.names[over] for cell in cells}) == 1:
        name = cells[0].names[over]
        problem = f"all cells have the {over} {name}; give a run with another"
        if name == "none":
            problem = f"the run has no {over}; give a run with two or more"
        return f"--over {over}: {problem}"
    if over in options and len(_specs(cells, over)) == len(_specs(cells)):
        return (
            f"--over {over}: no chunker has two values of it; run a sweep, as in "
            f"-c 'fixed:{over}=A|B'"
        )
    for a, b in itertools.combinations(cells, 2):
        differing = "; ".join(ways(a, b, over))
        if differing:
            return (
                f"{a.folder.parent.parent} and {b.folder.parent.parent} cannot be compared: they "
                f"differ in {differing}\nrun both with the same"
            )
    return f"no two cells differ in {over} alone"


def _specs(cells: Iterable[StoredCell], without: str = "") -> set[str]:
    """The specs of the chunkers of cells, without an option."""
    return {str(parse_spec(cell.names["chunker"]).without(without)) for cell in cells}


def agreed(what: str, values: Iterable[_Value], remedy: str) -> _Value:
    """The value that the cells' runs declare alike.

    Raises:
        InputError: They declare different ones.
    """
    different = list(dict.fromkeys(values))
    if len(different) > 1:
        names = sorted("the default" if value is None else str(value) for value in different)
        raise InputError(f"the runs have different {what}: {', '.join(names)}; {remedy}")
    return different[0]


def ways(a: StoredCell, b: StoredCell, over: str = "") -> Iterable[str]:
    """In what two cells differ, other than a factor, so that they are not compared."""
    for key, what in SAME.items():
        values = [cell.cell["identity"][key] for cell in (a, b)]
        if values[0] == values[1] or (key == "ranking" and a.profile != b.profile):
            continue
        if key == "dataset":
            data = zip((a, b), values, strict=True)
            values = [f"{cell.names['dataset']} {value[:12]}" for cell, value in data]
        shown = ["none" if value is None else str(value) for value in values]
        yield what if isinstance(values[0], dict) else f"{what} ({', '.join(shown)})"
    if a.profile != b.profile:
        yield f"profile ({a.profile['name']}, {b.profile['name']})"
    for part in CONFIGURATION:
        if part != over and a.names[part] != b.names[part]:
            yield f"{part} ({a.names[part]}, {b.names[part]})"


def cost_of(cell: Mapping[str, Any]) -> tuple[str, float]:
    """What a cell costs: tokens to embed, or chunks to index without an embedder.

    Args:
        cell: A document with its `cost` and `health`.
    """
    tokens = cell["cost"]["tokens"]
    if tokens is not None:
        return "tokens to embed", float(tokens)
    return "chunks to index", float(cell["health"]["chunks"])


def cost_in_words(what: str, cost: float) -> str:
    """What `cost_of` returns: `43,944 tokens to embed`, `1 chunk to index`."""
    return f"{cost:,.0f} {what.replace('s ', ' ', 1) if cost == 1 else what}"
