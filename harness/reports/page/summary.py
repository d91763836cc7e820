"""The first screen of a report: the answer, how sure it is, what it costs, what was lost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.model import GOLD_FOLLOWS
from harness.reports.answer import SHARED_PARTS
from harness.reports.columns import coverage, number, share
from harness.reports.contests import contends, cost_of
from harness.reports.notes import chance, few_queries
from harness.reports.page.pairs import folder_of, pairs_of
from harness.reports.recommendation import NEGLIGIBLE, listed, points, points_interval
from harness.stats.new_corpora import FEWEST_FOR_TEST
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Document = Mapping[str, Any]

STANDING = 8
"""Chunkers of the first screen; the table of results has all."""

# In full and in words; the table of results has them in few characters.
_COSTS = (
    ("vectors", "cost", "vectors", ",.0f"),
    ("chunks", "health", "chunks", ",.0f"),
    ("tokens to embed", "cost", "tokens", ",.0f"),
    ("seconds to embed", "cost", "embedding_seconds", ",.1f"),
    ("seconds in all", "cost", "seconds", ",.1f"),
    ("characters in the first ten chunks", "cost", "chars_delivered", ",.0f"),
    ("price of embedding", "cost", "price", ",.4g"),
)


def summary_of(document: Document) -> dict[str, Any]:
    """The first screen.

    Args:
        document: `runs`, `cells`, `verdicts`, `failed`, `absent` and `compare` of a report.

    Returns:
        `headline`, a sentence, and `parts`: for each data set, embedder and retriever the names,
        `choice` (a chunker or None), `level`, `headline`, `verdict` (the sentence that `run`
        prints), `legend`, the sentences `sure`, `lost` and `decide`, `standing` (contenders with
        `mean` and `difference`, the highest first), how many `more` there are and a `note` on
        them, and `costs`: rows of a name and a number for each of `costs_of`: the choice, the
        baseline, and the chunker with the highest mean.
    """
    parts = [_part(document, verdict) for verdict in document["verdicts"]]
    return {"headline": _headline(document, parts), "parts": parts}


def _headline(document: Document, parts: Sequence[Document]) -> str:
    if not parts:
        return _why_none(document)
    if len(parts) == 1:
        return str(parts[0]["headline"])
    uses = Counter(part["choice"] for part in parts if part["choice"] is not None)
    if not uses:
        return "No answer: the chunkers could not be compared."
    if len(uses) == 1:
        levels = Counter(part["level"] for part in parts).most_common()
        shown = listed([f"{level} in {count}" for level, count in levels])
        ((choice, count),) = uses.items()
        of = f"all {count}" if count == len(parts) else f"{count} of {len(parts)}"
        return f"Use `{choice}` in {of} comparisons: {shown}."
    shown = listed([f"`{name}` in {count}" for name, count in uses.most_common()])
    return f"It depends on the questions and on what retrieves: {shown} comparisons."


def _why_none(document: Document) -> str:
    cells = document["cells"]
    if not cells:
        return "There is no result."
    names = {cell["chunker"] for cell in cells if contends(cell["chunker"])}
    if len(names) < 2:
        name = f": `{next(iter(names))}`" if names else ""
        return f"Nothing is compared: there is {'one' if names else 'no'} chunker{name}."
    if all(cell["n_queries"] == 0 for cell in cells):
        return "Nothing is compared: there is no query."
    shared = Counter(
        tuple(cell[part] for part in ("run", *SHARED_PARTS))
        for cell in cells
        if contends(cell["chunker"])
    )
    if max(shared.values()) < 2:
        return "Nothing is decided: no run has two chunkers that were asked the same questions."
    return "Nothing is compared: no measure that was computed compares chunkers."


def _part(document: Document, verdict: Document) -> dict[str, Any]:
    cells = {
        cell["chunker"]: cell
        for cell in document["cells"]
        if all(cell[part] == verdict[part] for part in ("run", *SHARED_PARTS))
    }
    contest = _contest_of(document, verdict, cells)
    manifest = document["runs"][verdict["run"]]["manifest"]
    information = manifest["datasets"][verdict["dataset"]]["information"]
    follows = information.get(GOLD_FOLLOWS, "")
    choice, level, says = _choice(verdict, cells, contest, follows)
    own = list(cells.values())
    void = [f"{line}." for line in chance(own, [verdict["measure"]])]
    if void and choice is not None:
        level, says = "undecided", f"Use `{choice}` or any other: these data decide nothing."
    doubts = [*void, *(f"{line}." for line in few_queries(own[0]))]
    sentences = verdict["sentences"]
    standing = _standing(verdict, cells)
    first = standing[0]["chunker"] if standing else None
    shown = [name for name in dict.fromkeys((choice, verdict["baseline"], first)) if name in cells]
    return {
        **{part: verdict[part] for part in ("run", *SHARED_PARTS, "measure", "baseline")},
        "choice": choice,
        "level": level,
        "headline": says,
        "verdict": sentences[0] if sentences else "",
        "legend": _legend(verdict["measure"]),
        "sure": [*doubts, *_sure(verdict, choice, contest), *sentences[1:]],
        "lost": list(_lost(document, verdict, cells, choice)),
        "decide": ["A smaller budget, or a larger corpus."]
        if void
        else list(_decide(verdict, contest, follows)),
        "standing": standing[:STANDING],
        "more": len(standing[STANDING:]),
        "note": _note(verdict),
        "costs_of": shown,
        "costs": list(_costs([cells[name] for name in shown])),
    }


def _legend(measure: str) -> str:
    """What a measure of the first screen is, for a reader who has never seen it."""
    name, _, budget = measure.partition("@")
    if name != "SpanR":
        return ""
    return (
        f"{measure}: the share of the code that answers a question which is among the first "
        f"{int(budget.removesuffix('c')):,} characters retrieved (without white space). Higher is "
        "better; 1 point is 0.01."
    )


def _contest_of(document: Document, verdict: Document, cells: Document) -> Document | None:
    """The comparison of the same cells, with their names in their run, if there is one."""
    folders = {folder_of(document, cell) for cell in cells.values()}
    for contest in (part for each in document["compare"] for part in each["contests"]):
        if folders & set(contest["cells"].values()):
            return {**contest, "pairs": pairs_of(document, contest, verdict["run"])}
    return None


def _note(verdict: Document) -> str:
    """Why an interval without 0 is undecided, if there is one."""
    for row in _rows(verdict):
        low, high = row["ci95"] or (0, 0)
        if row["verdict"] == "undecided" and (low > 0 or high < 0):
            return (
                "An interval is of its difference alone; a verdict is adjusted for "
                f"{counted(verdict['comparisons'], 'comparison')}, so that an interval without 0 "
                "may be undecided."
            )
    return ""


def _rows(verdict: Document) -> list[Document]:
    return [
        row for row in verdict["differences"] if not row["exploratory"] and contends(row["chunker"])
    ]


def _standing(verdict: Document, cells: Document) -> list[dict[str, Any]]:
    """The contenders by the measure of the answer; none if nothing was compared."""
    measure, rows = verdict["measure"], {row["chunker"]: row for row in _rows(verdict)}
    means = {name: cell["metrics"].get(measure, {}).get("mean") for name, cell in cells.items()}
    ranked = sorted(
        (name for name, mean in means.items() if mean is not None and contends(name)),
        key=lambda name: (-means[name], name),
    )
    return [
        {"chunker": name, "mean": means[name], "difference": rows.get(name)} for name in ranked
    ] * bool(rows)


def _choice(
    verdict: Document, cells: Document, contest: Document | None, follows: str
) -> tuple[str | None, str, str]:
    """The chunker to use, how settled that is, and a sentence."""
    baseline, rows = verdict["baseline"], _rows(verdict)
    if baseline is None or not rows:
        return None, "not compared", "No answer: the chunkers could not be compared."
    better = [row["chunker"] for row in rows if row["verdict"] == "better"]
    rest = [row["chunker"] for row in rows if row["verdict"] != "worse"]
    if better:
        choice = _cheapest([name for name in better if not _beaten(name, better, contest)], cells)
        level, why = "shown", ""
    elif not rest and contends(baseline):
        choice, level, why = baseline, "shown", ": every other chunker is worse"
    else:
        names = [*[baseline] * contends(baseline), *rest]
        left = [name for name in names if not _beaten(name, names, contest)] or names
        choice = _cheapest(left, cells)
        same = all(row["verdict"] in NEGLIGIBLE for row in rows if row["chunker"] in rest)
        level = "equivalent" if same else "undecided"
        to = "the others" if choice == baseline else f"`{baseline}`"
        says = f"equivalent to {to}" if same else "no other is shown to be better"
        among = "" if choice == _cheapest(names, cells) else " of those that no other beats"
        why = f", the cheapest{among}: {says}"
    if follows and level == "shown":
        # Its own limits forbid to name a winner.
        return choice, "provisional", f"Use `{choice}` for now; this data alone names no winner."
    return choice, level, f"Use `{choice}`{why}."


def _cheapest(names: Sequence[str], cells: Document) -> str:
    return min(names, key=lambda name: cost_of(cells[name])[1])


def _beaten(name: str, names: Sequence[str], contest: Document | None) -> bool:
    """Whether one of some chunkers is better than a given one where all pairs were compared."""
    return any(
        (pair["a"] == name and pair["b"] in names and pair["verdict"] == "worse")
        or (pair["b"] == name and pair["a"] in names and pair["verdict"] == "better")
        for pair in (contest or {"pairs": ()})["pairs"]
        if pair["estimand"] == "these corpora" and not pair["exploratory"]
    )


def _sure(verdict: Document, choice: str | None, contest: Document | None) -> Iterator[str]:
    row = next((row for row in _rows(verdict) if row["chunker"] == choice), None)
    if row is not None:
        yield (
            f"`{choice}` against `{verdict['baseline']}`: {points(row['difference'])} points of "
            f"{verdict['measure']}, 95 % interval "
            f"{points_interval(row['ci95']) or 'not estimable'}, adjusted p "
            f"{row['p_adjusted']:.3f}: {row['verdict']}."
        )
    if contest is not None:
        yield (
            f"{counted(contest['n_queries'], 'query', 'queries')} in "
            f"{counted(contest['clusters'], 'cluster')} of "
            f"{counted(contest['corpora'], 'corpus', 'corpora')}."
        )


def _lost(
    document: Document, verdict: Document, cells: Document, choice: str | None
) -> Iterator[str]:
    if choice is not None:
        cell = cells[choice]
        unseen = cell["health"]["unseen_chunk_tokens"]
        says = f"`{choice}`: {coverage(cell['health']['coverage'])} of the text is in chunks"
        if cell["embedder"] == "none":
            says += "; no embedder, so none cuts text off"
        elif unseen is not None:
            says += f"; the embedder did not see {share(unseen)} of its tokens"
        yield f"{says}."
        yield from (f"`{choice}`: {mark}." for mark in cell["marks"])
    others = [name for name, cell in cells.items() if cell["marks"] and name != choice]
    if others:
        yield f"Marked, see warnings: {listed([f'`{name}`' for name in others])}."
    first = next(iter(cells.values()), None)
    if first is not None:
        left_out = sum(first["left_out"].values())
        if left_out:
            yield f"{counted(left_out, 'query is', 'queries are')} left out for all chunkers."
    for row in document["failed"]:
        if all(row[part] == verdict[part] for part in ("run", *SHARED_PARTS)):
            yield f"`{row['chunker']}` is not scored: {row['reason']}."
    absent = [row for row in document["absent"] if row["dataset"] == verdict["dataset"]]
    if absent:
        yield f"{counted(len(absent), 'corpus is', 'corpora are')} absent."


def _decide(verdict: Document, contest: Document | None, follows: str) -> Iterator[str]:
    open_rows = {row["chunker"] for row in _rows(verdict) if row["verdict"] == "undecided"}
    pairs = [
        pair
        for pair in (contest or {"pairs": ()})["pairs"]
        if pair["estimand"] == "these corpora"
        and verdict["baseline"] in (pair["a"], pair["b"])
        and {pair["a"], pair["b"]} & open_rows
    ]
    needed = [pair["queries_to_decide"] for pair in pairs if pair["queries_to_decide"]]
    if needed:
        yield (
            f"{max(needed):,} further queries of this kind would show a difference of "
            f"{points(verdict['margin'])} points from `{verdict['baseline']}` with a probability "
            "of 80 %."
        )
    if follows:
        yield (
            f"Questions that favour no chunker: here the targets are whole {follows}. Questions "
            "from commits (`queries=commits`) are not made from them."
        )
    if contest is not None and contest["corpora"] < FEWEST_FOR_TEST:
        yield (
            f"For other repositories: at least {FEWEST_FOR_TEST} corpora instead of "
            f"{contest['corpora']}."
        )
    elif not needed and not follows:
        decided = {"better", "worse", *NEGLIGIBLE}
        rows = _rows(verdict)
        if rows and all(row["verdict"] in decided for row in rows):
            yield "Nothing: the answer is decided."
        else:
            yield "More questions; how many cannot be estimated from these."


def _costs(cells: Sequence[Document]) -> Iterator[list[str]]:
    """A row for each cost that some of the cells have."""
    for title, part, key, form in _COSTS:
        values = [cell[part].get(key) for cell in cells]
        if any(value is not None for value in values):
            yield [title, *(number(value, form) for value in values)]
