"""Small random cells, and every measure once more, slowly and by the letter of its definition."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from harness.measures.cell import Cell, Gold, Pieces, Projection, Runs, Units


def ints(values):
    return np.array(list(values), dtype=np.int64)


def draw_gold(rng, lengths, twins):
    """Targets in files of the given lengths, as (file, low, high, places of twins)."""
    targets = []
    for _ in range(rng.randint(1, 3)):
        file = rng.randrange(len(lengths))
        low = rng.randrange(lengths[file])
        targets.append([file, low, rng.randint(low + 1, lengths[file]), []])
    taken = [(file, low, high) for file, low, high, _ in targets]
    for target in targets:
        for _ in range(rng.randint(0, 2) if twins else 0):
            size = target[2] - target[1]
            file = rng.randrange(len(lengths))
            low = rng.randrange(lengths[file])
            place = (file, low, low + size)
            free = all(f != file or low + size <= a or low >= b for f, a, b in taken)
            if low + size <= lengths[file] and free:
                target[3].append(place)
                taken.append(place)
    return targets


def draw_units(rng, lengths, most, overlapping):
    """Units as (file, low, high) in corpus order; some text may lie in none."""
    units = []
    for file, length in enumerate(lengths):
        if overlapping:
            for _ in range(rng.randint(1, 5)):
                low = rng.randrange(length)
                units.append((file, low, rng.randint(low + 1, length)))
        else:
            cuts = sorted({0, length, *(rng.randrange(length) for _ in range(rng.randint(0, 5)))})
            units += [(file, a, b) for a, b in itertools.pairwise(cuts) if rng.random() < 0.85]
    rng.shuffle(units)
    return sorted(units[:most]) or [(0, 0, 1)]


def gold_of(rng, targets, units):
    numbers = {}
    for file, low, high, _ in targets:
        for at in range(low, high):
            numbers.setdefault((file, at), len(numbers))
    gold_size = len(numbers)
    stretches = tuple(
        tuple((numbers[file, at], numbers[file, at] + 1) for at in range(low, high))
        for file, low, high, _ in targets
    )
    for file, low, _, twins in targets:
        for other, begin, end in twins:
            for at in range(end - begin):
                numbers[other, begin + at] = numbers[file, low + at]
    own = [
        [i for i, (f, a, b) in enumerate(units) if f == file and a < high and b > low]
        for file, low, high, _ in targets
    ]
    relevant = sorted({unit for one in own for unit in one})
    stands = {}
    for mine, (_, _, _, twins) in zip(own, targets, strict=True):
        for file, low, high in twins:
            for i, (f, a, b) in enumerate(units):
                if f == file and a < high and b > low and i not in relevant and mine:
                    stands.setdefault(i, set()).update(mine)
    iou = {}
    for file, low, high, _ in targets:
        for i, (f, a, b) in enumerate(units):
            shared = min(b, high) - max(a, low)
            if f == file and shared > 0:
                iou[i] = max(iou.get(i, 0.0), shared / (b - a + high - low - shared))
    present = {file for file, _, _ in units}
    files = sorted({file for file, *_ in targets})
    rows = [
        (i, at - a, 1, numbers[f, at])
        for i, (f, a, b) in enumerate(units)
        for at in range(a, b)
        if (f, at) in numbers
    ]
    return Gold(
        corpus=0,
        unit=ints(relevant),
        grade=np.array([rng.choice([1.0, 1.0, 2.0, 0.5, 3.0]) for _ in relevant]),
        twins=tuple((unit, tuple(sorted(stands[unit]))) for unit in sorted(stands)),
        best_iou=tuple(sorted(iou.items())),
        target_files=ints(file if file in present else -1 - file for file in files),
        pieces=pieces_of(rng, rows),
        gold_size=gold_size,
        targets=stretches,
    )


def pieces_of(rng, rows):
    """Single characters joined to stretches, in any order."""
    joined = []
    for unit, offset, length, gold in sorted(rows):
        last = joined[-1] if joined else None
        if last and last[0] == unit and last[1] + last[2] == offset and last[3] + last[2] == gold:
            last[2] += length
        else:
            joined.append([unit, offset, length, gold])
    rng.shuffle(joined)
    return Pieces(*np.array(joined, dtype=np.int64).reshape(-1, 4).T)


def span_cell(rng, *, most=5, queries=1, twins=True, overlapping=True, longest=12):
    """A cell of one corpus with random rankings; every character is a line of its own."""
    lengths = [rng.randint(2, longest) for _ in range(rng.randint(1, 3))]
    units = draw_units(rng, lengths, most, overlapping and rng.random() < 0.6)
    wanted = [draw_gold(rng, lengths, twins) for _ in range(queries)]
    rankings = [ints(random_ranking(rng, len(units))) for _ in range(queries)]
    return Cell(
        tuple(f"q{i}" for i in range(queries)),
        (
            Units(
                ints(b - a for _, a, b in units),
                ints(file for file, _, _ in units),
                ints(a for _, a, _ in units),
            ),
        ),
        tuple(gold_of(rng, targets, units) for targets in wanted),
        tuple(rankings),
        projection=projection_of(rng, lengths, units, wanted, rankings),
    )


def projection_of(rng, lengths, units, wanted, rankings):
    """Runs of a few lines, the gold among them, and scores that agree with the rankings or not."""
    most = rng.randint(1, 4)
    bases = [sum(lengths[:file]) for file in range(len(lengths))]
    edges = [
        base + at
        for base, length in zip(bases, lengths, strict=True)
        for at in range(0, length, most)
    ]

    def touched(file, low, high):
        lines = range(bases[file] + low, bases[file] + high)
        return {sum(edge <= line for edge in edges) - 1 for line in lines}

    golds = []
    for targets in wanted:
        own = [touched(*target[:3]) for target in targets]
        relevant = set().union(*own)
        stands = {}
        for mine, (*_, twins) in zip(own, targets, strict=True):
            for twin in twins:
                for run in touched(*twin) - relevant:
                    stands.setdefault(run, set()).update(mine)
        twins = tuple((run, tuple(sorted(stands[run]))) for run in sorted(stands))
        golds.append(Gold(0, ints(sorted(relevant)), np.ones(len(relevant)), twins=twins))
    runs = Runs(
        ints([*edges, sum(lengths)]),
        ints(bases[file] + a for file, a, _ in units),
        ints(bases[file] + b for file, _, b in units),
    )
    scores = tuple(draw_scores(rng, len(ranking)) for ranking in rankings)
    return Projection((runs,), tuple(golds), scores)


def draw_scores(rng, n):
    """Scores in steps of 1/8, mostly falling, with equal ones and some missing at the end."""
    scores = [rng.randint(-8, 8) / 8 for _ in range(n)]
    if rng.random() < 0.8:
        scores.sort(reverse=True)
    for at in range(max(0, n - rng.choice([0, 0, 1, 2])), n):
        scores[at] = np.nan
    return np.array(scores, dtype=np.float64)


def document_cell(rng, *, most=5, queries=1):
    """A cell of documents with judgements, some of them of documents that the corpus lacks."""
    n = rng.randint(1, most)
    golds, rankings = [], []
    for _ in range(queries):
        judged = rng.sample(range(-2, n), rng.randint(0, n + 2))
        grades = {unit: rng.choice([0, 0, 1, 1, 2, 3.5]) for unit in sorted(judged)}
        relevant = [unit for unit, grade in grades.items() if grade > 0]
        golds.append(
            Gold(
                corpus=0,
                unit=ints(relevant),
                grade=np.array([grades[unit] for unit in relevant], dtype=np.float64),
                judged_zero=ints(unit for unit, grade in grades.items() if grade == 0),
            )
        )
        rankings.append(ints(random_ranking(rng, n)))
    units = Units(ints([1] * n), ints(range(n)))
    names = tuple(f"q{i}" for i in range(queries))
    return Cell(names, (units,), tuple(golds), tuple(rankings), spans=False)


def random_ranking(rng, n):
    order = rng.sample(range(n), n)
    return order[: rng.randint(0, n)]


def with_rankings(cell, rankings, scores=None):
    """The first query of a cell, once for each ranking; without scores each place is a step."""
    projection = cell.projection and replace(
        cell.projection,
        gold=cell.projection.gold[:1] * len(rankings),
        scores=tuple(
            np.arange(len(one), dtype=np.float64)[::-1] if scores is None else scores[at]
            for at, one in enumerate(rankings)
        ),
    )
    return replace(
        cell,
        queries=tuple(f"r{i}" for i in range(len(rankings))),
        gold=cell.gold[:1] * len(rankings),
        ranking=tuple(ints(one) for one in rankings),
        projection=projection,
    )


def all_rankings(n):
    """Every order of every subset of n units."""
    return [one for size in range(n + 1) for one in itertools.permutations(range(n), size)]


def slow_value(cell, query, measure):
    """One value by the letter of the definition."""
    gold, ranking = cell.gold[query], cell.ranking[query].tolist()
    units = cell.corpora[gold.corpus]
    if measure.unit == "c" or measure.family == "pnDCG":
        of_spans = measure.unit == "c"
        slow = _slow_spans(gold, units, ranking, measure) if of_spans else None
        return slow if of_spans else _slow_projected(cell, query, measure.cut)
    cut = measure.cut or 10**9
    if measure.family in ("FileR", "FileMRR"):
        distinct = list(dict.fromkeys(units.file[ranking].tolist()))[:cut]
        found = [rank for rank, one in enumerate(distinct, 1) if one in gold.target_files]
        if measure.family == "FileR":
            return len(found) / len(gold.target_files)
        return 1 / found[0] if found else 0.0
    if measure.family == "IoU":
        return max((dict(gold.best_iou).get(unit, 0.0) for unit in ranking[:cut]), default=0.0)
    if measure.family == "Judged":
        known = None if gold.judged_zero is None else {*gold.unit, *gold.judged_zero}
        first = ranking[:cut]
        return sum(known is None or unit in known for unit in first) / max(len(first), 1)
    return _slow_ranks(gold, ranking, measure, cut, len(units.size))


def _slow_gains(gold, ranking):
    grades = dict(zip(gold.unit.tolist(), gold.grade.tolist(), strict=True))
    twins, found, gains = dict(gold.twins), set(), []
    for unit in ranking:
        candidates = [unit] if unit in grades else twins.get(unit, ())
        free = [one for one in candidates if one not in found]
        gains.append(grades[free[0]] if free else 0.0)
        found.update(free[:1])
    return gains


def _slow_ranks(gold, ranking, measure, cut, n_units):
    gains = _slow_gains(gold, ranking)
    if gold.judged_zero is None:
        judged, n_others = gains, n_units - sum(gold.unit >= 0)
    else:
        known = {*gold.unit, *gold.judged_zero}
        judged = [gain for unit, gain in zip(ranking, gains, strict=True) if unit in known]
        n_others = len(gold.judged_zero)
    hits = [gain > 0 for gain in gains]
    n, k, found = len(gold.unit), cut, sum(hits[:cut])
    if n == 0:
        return 0.0

    def dcg(values, power):
        gains = [2**gain - 1 if power else gain for gain in values[:k]]
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    def ndcg(values, power=False):
        return dcg(values, power) / dcg(sorted(gold.grade, reverse=True), power)

    def bpref():
        others = [sum(gain == 0 for gain in judged[:at]) for at, gain in enumerate(judged) if gain]
        return sum(1 - min(one, n) / min(n_others, n) if one else 1 for one in others) / n

    precision, recall = found / max(measure.cut or len(ranking), 1), found / n
    return {
        "nDCG": lambda: ndcg(gains),
        "nDCG(exp)": lambda: ndcg(gains, power=True),
        "nDCG(judged)": lambda: ndcg(judged),
        "nDCG(exp,judged)": lambda: ndcg(judged, power=True),
        "Bpref": bpref,
        "P": lambda: precision,
        "R": lambda: recall,
        "F1": lambda: 2 * precision * recall / (precision + recall) if found else 0.0,
        "Hit": lambda: float(found > 0),
        "MRR": lambda: next((1 / r for r, hit in enumerate(hits[:k], 1) if hit), 0.0),
        "MAP": lambda: sum(sum(hits[:r]) / r for r, hit in enumerate(hits[:k], 1) if hit) / n,
        "Rprec": lambda: sum(hits[:n]) / n,
    }[measure.family]()


def slow_levels(scores):
    """The scores, or places where a score rises or is missing before another; lowest at the end."""
    known = [at for at, score in enumerate(scores) if not math.isnan(score)]
    if not known:
        return [Fraction(0)] * len(scores)
    head = scores[: known[-1] + 1]
    falling = len(known) == len(head) and all(a >= b for a, b in itertools.pairwise(head))
    values = [Fraction(one) for one in head] if falling else list(range(len(head), 0, -1))
    return values + [values[-1]] * (len(scores) - len(head))


def _slow_projected(cell, query, k):
    """Runs by the mean of their lines, in exact fractions."""
    ranking = cell.ranking[query].tolist()
    if not ranking:
        return 0.0
    runs, gold = cell.projection.runs[0], cell.projection.gold[query]
    levels = slow_levels(cell.projection.scores[query].tolist())
    line, shown = {}, set()
    for unit, level in zip(ranking, levels, strict=True):
        for at in range(runs.first[unit], runs.stop[unit]):
            line[at] = max(line.get(at, level), level)
            shown.add(at)
    spans = [range(a, b) for a, b in itertools.pairwise(runs.edges.tolist())]
    means = [sum(Fraction(line.get(at, min(levels))) for at in one) / len(one) for one in spans]
    order = sorted(range(len(spans)), key=lambda run: (-means[run], run))
    order = [run if shown.intersection(spans[run]) else None for run in order]
    gains = _slow_gains(gold, order)[:k]
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold.unit)) + 1))
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1)) / best


def _slow_spans(gold, units, ranking, measure):
    text = {}
    for unit, offset, length, number in zip(
        gold.pieces.unit, gold.pieces.offset, gold.pieces.length, gold.pieces.gold, strict=True
    ):
        text.update({(unit, offset + i): number + i for i in range(length)})
    laid = [(unit, at) for unit in ranking for at in range(units.size[unit])][: measure.cut]
    seen = {text[place] for place in laid if place in text}
    precision = len(seen) / len(laid) if laid else 0.0
    recall = len(seen) / gold.gold_size
    return {
        "SpanR": recall,
        "SpanP": precision,
        "SpanF1": 2 * precision * recall / (precision + recall) if seen else 0.0,
        "SpanIoU": len(seen) / (len(laid) + gold.gold_size - len(seen)),
        "Complete": float(
            any(all(at in seen for lo, hi in one for at in range(lo, hi)) for one in gold.targets)
        ),
    }[measure.family]


@pytest.fixture(scope="session")
def cells():
    """The functions above that tests use."""
    return SimpleNamespace(
        rng=Random,
        span_cell=span_cell,
        document_cell=document_cell,
        with_rankings=with_rankings,
        all_rankings=all_rankings,
        slow_value=slow_value,
        draw_scores=draw_scores,
    )
