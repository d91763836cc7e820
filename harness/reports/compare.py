"""The document of `chunkmark compare`, and its tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion
from harness.measures.grammar import parse_measure
from harness.reports.agreement import agreement_lines, agreements
from harness.reports.contests import adjusted_together, differences
from harness.reports.curves import Values, curve_lines, curve_table, curves
from harness.reports.front import front_line, pareto_front
from harness.reports.matched import matched_lines, matched_sizes
from harness.reports.plain import latex_table, markdown_escaped, markdown_table, plain, print_rows
from harness.reports.recommendation import (
    points,
    points_interval,
    primary_measure,
    recommendation,
    require_measure,
    verdict_sentence,
)
from harness.reports.tables import print_named
from harness.reports.tuning import tuning_lines
from harness.reports.variance import variance, variance_line
from harness.runs.record import read_ranked_ids
from harness.runs.stored_values import read_queries
from harness.stats import MARGIN
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from harness.reports.contests import Contest, MeasureResult
    from harness.runs.stored_values import StoredCell
    from harness.stats.comparison import Difference

_OPEN = ("undecided", "too few corpora")

SHOWN = 10
"""Queries that are shown of those that differ most."""

DELIVERED = 3
"""First chunks that are shown of a ranking."""

COLUMNS = ("a", "b", "difference", "95 %", "p", "wins", "ties", "losses", "verdict", "detects",
           "to decide")  # fmt: skip

_COLUMNS = (*COLUMNS[:2], "points", "95 %", "p", "wins, ties,\nlosses", "verdict", "detects",
            "to\ndecide")  # fmt: skip


def compare_document(
    contests: Sequence[Contest],
    measures: Sequence[str] = (),
    baseline: str | None = None,
    margin: float = MARGIN,
    seed: int = 0,
    *,
    with_curves: bool = True,
    cells: Sequence[StoredCell] = (),
    known: Values | None = None,
) -> dict[str, Any]:
    """The document `chunkmark.compare/1`.

    Args:
        contests: What to compare.
        measures: The first is the primary one; by default the headline of each contest.
        baseline: Compare with this one alone; by default all pairs.
        margin: The largest difference that does not matter.
        seed: 0 or above.
        with_curves: Whether to compute span curves, for which the rankings are read.
        cells: All cells, whose variance is attributed to the factors of the grid.
        known: Values of span curves that were computed before.

    Raises:
        InputError: A contest has no such measure or baseline.
    """
    parts = []
    known = {} if known is None else known
    family = sum(math.comb(len(contest.cells), 2) for contest in contests)
    computed: list[list[MeasureResult]] = []
    for contest in contests:
        computed.append(
            [
                differences(
                    contest,
                    name,
                    baseline,
                    margin=margin,
                    primary=not at,
                    seed=seed,
                    family=0 if at else family,
                )
                for at, name in enumerate(measures_of(contest, measures, baseline))
            ]
        )
    primaries = [results[0] for results in computed]
    adjusted = adjusted_together(list(zip(contests, primaries, strict=True)), margin)
    for contest, first, (_, *others) in zip(contests, adjusted, computed, strict=True):
        results = [first, *others]
        part = _part(contest, results, baseline, margin)
        part["front"] = pareto_front(contest, results[0])
        part["matched"] = matched_sizes(contest, results[0].measure, seed)
        if with_curves:
            part["curves"] = curves(contest, seed, known)
        parts.append(part)
    primary = parts[0]["primary"] if parts else None
    return {
        "schema": "chunkmark.compare/1",
        "primary": primary,
        "margin": margin,
        "pairs": [pair for part in parts for pair in part["pairs"]],
        "recommendation": [line for part in parts for line in part["recommendation"]],
        "contests": parts,
        "agreement": [
            row
            for measure in dict.fromkeys(part["primary"] for part in parts)
            for row in agreements(
                [c for c, p in zip(contests, parts, strict=True) if p["primary"] == measure],
                measure,
                seed,
            )
        ],
        # Means of different measures have no common variance.
        "variance": variance(cells, primary)
        if primary and {part["primary"] for part in parts} == {primary}
        else None,
    }


def measures_of(
    contest: Contest, measures: Sequence[str] = (), baseline: str | None = None
) -> list[str]:
    """The measures by which a contest can be compared: those asked for, or its headline.

    Raises:
        InputError: It has no query, no such measure or no such baseline.
    """
    if not contest.queries:
        raise InputError(f"{contest.dataset}: no query has a value, so nothing can be compared")
    names = [str(parse_measure(measure)) for measure in measures] or [primary_measure(contest)]
    for name in names:
        require_measure(contest, name)
    if baseline is not None and baseline not in contest.cells:
        raise InputError(
            f"--baseline {baseline}: not compared on {contest.dataset}; "
            f"{suggestion(baseline, sorted(contest.cells))}"
        )
    return names


def _part(
    contest: Contest, results: Sequence[MeasureResult], baseline: str | None, margin: float
) -> dict[str, Any]:
    primary = results[0]
    if baseline is None:
        sentences = recommendation(contest, primary, margin)
    else:
        sentences = [verdict_sentence(contest, primary, baseline, margin)]
    return {
        "dataset": contest.dataset,
        "shared": list(contest.shared),
        "n_queries": len(contest.queries),
        "clusters": len(set(contest.members)),
        "corpora": len({corpus for corpus, _ in contest.members}),
        "primary": primary.measure,
        "cells": {name: str(cell.folder) for name, cell in contest.cells.items()},
        "pairs": [
            _pair(contest, result, pair, margin)
            for result in results
            for pair in result.differences
        ],
        "best_share": dict(primary.best),
        "differing": _differing(contest, primary),
        "recommendation": sentences,
    }


def _pair(
    contest: Contest, result: MeasureResult, pair: Difference, margin: float
) -> dict[str, Any]:
    corpora, needed = pair.estimand == "new corpora", pair.to_decide(margin)
    return {
        "dataset": contest.dataset,
        "shared": list(contest.shared),
        "measure": result.measure,
        "exploratory": not result.primary,
        "a": pair.a,
        "b": pair.b,
        "estimand": pair.estimand,
        "difference": pair.estimate.mean,
        "ci95": _listed(pair.estimate.ci95),
        "ci90": _listed(pair.estimate.ci90),
        "p": pair.estimate.p,
        "p_adjusted": pair.p_adjusted,
        "verdict": pair.verdict,
        "mdd": pair.mdd,
        "queries_to_decide": None if corpora else needed,
        "corpora_to_decide": needed if corpora else None,
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
    }


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _differing(contest: Contest, result: MeasureResult) -> dict[str, Any] | None:
    """The queries on which the two contenders with the highest means differ most."""
    columns = contest.columns(result.measure)
    ranked = sorted(
        (name for name in columns if name in contest.contenders),
        key=lambda name: (-float(columns[name].mean()), name),
    )[:2]
    if len(ranked) < 2:
        return None
    a, b = ranked
    gaps = columns[a] - columns[b]
    order = sorted(range(len(gaps)), key=lambda at: (-abs(gaps[at]), contest.queries[at]))
    chosen = [at for at in order[:SHOWN] if gaps[at]]
    queries = [contest.queries[at] for at in chosen]
    first, second = (contest.cells[name] for name in ranked)
    rankings = [read_ranked_ids(cell.folder) for cell in (first, second)]
    readable = read_queries(first.folder)
    return {
        "a": a,
        "b": b,
        "measure": result.measure,
        "queries": [
            {
                "query_id": query,
                "text": readable[query].text,
                "targets": list(readable[query].targets),
                "difference": float(gaps[at]),
                "a": float(columns[a][at]),
                "b": float(columns[b][at]),
                "a_delivered": rankings[0].get(query, [])[:DELIVERED],
                "b_delivered": rankings[1].get(query, [])[:DELIVERED],
            }
            for at, query in zip(chosen, queries, strict=True)
        ],
    }


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print a comparison to a terminal."""
    for line in tuning_lines(document.get("tuning", ())):
        console.print(plain(line))
        console.print()
    for part in document["contests"]:
        console.print(plain(_heading(part)), style="bold")
        for line in part["recommendation"]:
            console.print(plain(line))
        console.print()
        for title, rows in _tables(part):
            console.print(plain(title), style="bold")
            narrow = [[*row[:5], "/".join(row[5:8]), *row[8:]] for row in rows]
            # The other columns take 68 characters.
            print_named(console, _COLUMNS, narrow, 2, max(16, (console.width - 68) // 2))
            console.print()
        for line in _lines_of(part):
            console.print(plain(line))
            console.print()
        if part.get("curves"):
            print_rows(*curve_table(part["curves"]), console)
            for line in curve_lines(part["curves"]):
                console.print(plain(line))
            console.print()
        for line in _differing_lines(part["differing"]):
            console.print(plain(line))
        for note in _notes(document, part):
            console.print(plain(note), style="dim")
        console.print()
    for line in _lines_over(document):
        console.print(plain(line))


def as_markdown(document: Mapping[str, Any]) -> str:
    """A comparison as Markdown."""
    lines = [f"- {markdown_escaped(line)}" for line in tuning_lines(document.get("tuning", ()))]
    for part in document["contests"]:
        lines += [f"### {markdown_escaped(_heading(part))}", ""]
        lines += [f"- {markdown_escaped(line)}" for line in part["recommendation"]]
        for title, rows in _tables(part):
            lines += ["", f"#### {markdown_escaped(title)}", ""]
            lines += markdown_table(COLUMNS, rows)
        lines += [f"- {markdown_escaped(line)}" for line in _lines_of(part)]
        if part.get("curves"):
            lines += ["", "#### Span curves", "", *markdown_table(*curve_table(part["curves"])), ""]
            lines += [f"- {markdown_escaped(line)}" for line in curve_lines(part["curves"])]
        lines += [f"- {markdown_escaped(note)}" for note in _notes(document, part)]
    lines += ["", *(f"- {markdown_escaped(line)}" for line in _lines_over(document))]
    return "\n".join([*lines, ""])


def sections(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A comparison in parts, for other forms than text.

    Returns:
        For each contest its `heading`, the lines `above` its `tables` (a title and rows of
        `COLUMNS`), those `below`, and `notes`; the last one also has what is said of all together.
    """
    for part in document["contests"]:
        curves = curve_lines(part["curves"]) if part.get("curves") else ()
        last = part is document["contests"][-1]
        yield {
            "heading": _heading(part),
            "above": part["recommendation"],
            "tables": list(_tables(part)),
            "below": [*_lines_of(part), *curves, *(_lines_over(document) if last else ())],
            "notes": list(_notes(document, part)),
        }


def _lines_of(part: Mapping[str, Any]) -> list[str]:
    """What is said of a contest under its tables."""
    return list(filter(None, [front_line(part["front"]), *matched_lines(part["matched"])]))


def _lines_over(document: Mapping[str, Any]) -> list[str]:
    """What is said of all contests together."""
    lines = list(agreement_lines(document["agreement"]))
    return [*lines, variance_line(document["variance"])] if document["variance"] else lines


def as_latex(document: Mapping[str, Any]) -> str:
    """The tables of a comparison as LaTeX."""
    return "\n".join(
        line
        for part in document["contests"]
        for title, rows in _tables(part)
        for line in latex_table(COLUMNS, rows, f"{_heading(part)}. {title}.")
    )


_CSV = ("dataset", "shared", "measure", "exploratory", "a", "b", "estimand", "difference",
        "ci95_low", "ci95_high", "p", "p_adjusted", "wins", "ties", "losses", "verdict", "mdd",
        "queries_to_decide", "corpora_to_decide")  # fmt: skip


def csv_rows(document: Mapping[str, Any]) -> tuple[tuple[str, ...], list[list[object]]]:
    """Columns, and a row for each pair, measure and estimand."""
    rows = []
    for pair in document["pairs"]:
        low, high = pair["ci95"] or ("", "")
        values = pair | {"ci95_low": low, "ci95_high": high, "shared": ", ".join(pair["shared"])}
        rows.append(["" if values[name] is None else values[name] for name in _CSV])
    return _CSV, rows


def _heading(part: Mapping[str, Any]) -> str:
    return ", ".join(
        [
            f"{part['dataset']}: {counted(part['n_queries'], 'query', 'queries')} in "
            f"{counted(part['clusters'], 'cluster')} of "
            f"{counted(part['corpora'], 'corpus', 'corpora')}",
            *part["shared"],
        ]
    )


def _tables(part: Mapping[str, Any]) -> Iterator[tuple[str, list[list[str]]]]:
    """A title and rows for each measure and estimand that can be estimated."""
    groups: dict[str, list[list[str]]] = {}
    for pair in part["pairs"]:
        if pair["estimand"] == "new corpora" and part["corpora"] == 1:
            continue
        exploratory = ", exploratory" if pair["exploratory"] else ""
        title = f"{pair['measure']}, {pair['estimand']}{exploratory}"
        groups.setdefault(title, []).append(_row(pair))
    yield from groups.items()


def _row(pair: Mapping[str, Any]) -> list[str]:
    corpora = pair["estimand"] == "new corpora"
    needed = pair["corpora_to_decide" if corpora else "queries_to_decide"]
    return [
        pair["a"],
        pair["b"],
        f"{points(pair['difference'])}",
        points_interval(pair["ci95"]) or "-",
        f"{pair['p_adjusted']:.3f}",
        *(str(pair[name]) for name in ("wins", "ties", "losses")),
        pair["verdict"],
        "-" if pair["mdd"] is None else points(pair["mdd"]),
        f"{needed:,}" if needed and pair["verdict"] in _OPEN else "-",
    ]


def _differing_lines(differing: Mapping[str, Any] | None) -> Iterator[str]:
    if differing is None or not differing["queries"]:
        return
    a, b = differing["a"], differing["b"]
    yield f"Queries on which {a} and {b} differ most, by {differing['measure']}:"
    for query in differing["queries"]:
        text = " ".join((query["text"] or query["query_id"]).split())
        yield f"{points(query['difference']):>7}  {text[:90]}"
        yield f"         target {', '.join(query['targets'][:3]) or '-'}"
        for name, key in ((a, "a"), (b, "b")):
            first = ", ".join(query[f"{key}_delivered"]) or "nothing"
            yield f"         {name} {query[key]:.2f}: {first}"
    yield ""


def _notes(document: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"differences a - b in points of the measure; margin {points(document['margin'])} points, "
        "as declared; p is adjusted for the pairs of a table (Holm; Benjamini-Hochberg where "
        "exploratory)"
    )
    yield (
        "detects: the smallest difference that these data show with a probability of 80 %; "
        "to decide: further queries, or corpora, that would show a difference of the margin; "
        "both at 5 % / pairs, the strictest level of the adjustment"
    )
    if part["best_share"]:
        shares = sorted(part["best_share"].items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{name} {share:.0%}" for name, share in shares)
        yield (
            "share of resamples in which a chunker has the highest mean (not a probability): "
            f"{shown}"
        )
