"""The Pareto front, the order of chunkers over columns, and the variance of a run."""

import numpy as np
import pytest
from made_cells import MEASURE, cell, noise
from scipy import stats

from harness.reports.agreement import agreement_lines, agreements, kendall_tau
from harness.reports.contests import contests, cost_in_words, differences
from harness.reports.front import front_line, pareto_front
from harness.reports.variance import variance, variance_line

BASE = noise(1)


def front(**chunkers):
    """The front of chunkers with a mean, the characters they deliver, and tokens."""
    cells = []
    for name, (gain, chars, tokens) in chunkers.items():
        made = cell(name.replace("_", "-"), BASE + noise(len(name)) - 0.5 + gain, tokens=tokens)
        made.cell["cost"]["chars_delivered"] = chars
        cells.append(made)
    (contest,) = contests(cells)
    return pareto_front(contest, differences(contest, MEASURE, margin=0.02))


def dominators(document):
    return {
        row["chunker"]: {other["chunker"]: other["shown"] for other in row["dominated_by"]}
        for row in document["chunkers"]
    }


def test_the_front_names_who_dominates_and_whether_it_is_shown():
    document = front(fixed=(0.0, 900, 900), best=(0.2, 900, 900), cheap=(-0.2, 500, 900),
                     poor=(-0.3, 950, 950), whole_file=(0.5, 1, 1))  # fmt: skip
    assert dominators(document) == {
        "fixed": {"best": True}, "best": {}, "cheap": {},
        "poor": {"fixed": True, "best": True, "cheap": True},
    }  # fmt: skip
    assert document["costs"] == ["chars_delivered", "chunks", "tokens"]
    assert front_line(document).endswith("best, cheap; dominated: fixed (by best), poor (by fixed)")


def test_equal_quality_at_a_lower_cost_dominates_but_equal_points_do_not():
    document = front(aa=(0.0, 500, 500), bb=(0.0, 400, 500), cc=(0.0, 400, 500))
    rows = dominators(document)
    assert rows["aa"] == {"bb": False, "cc": False}
    assert rows["bb"] == rows["cc"] == {}
    assert "(by bb; the data do not show the means to differ)" in front_line(document)


def test_a_cost_that_a_cell_lacks_decides_nothing():
    document = front(aa=(0.1, None, 900), bb=(0.0, 10, 900))
    assert document["costs"] == ["chunks", "tokens"]
    assert dominators(document)["bb"] == {"aa": True}


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_scipys(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, (2, 20, 7)).astype(float)
    wanted = [stats.kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert kendall_tau(a, b) == pytest.approx(wanted)


def columns(*orders, scale=0.02):
    """Cells of chunkers with the gains of each column."""
    cells = []
    for number, gains in enumerate(orders):
        for at, gain in enumerate(gains):
            values = BASE + noise(10 * number + at + 2, scale=scale) - 0.5 + gain
            made = cell(f"c{at}", values)
            made.names["retriever"] = f"r{number}"
            cells.append(made)
    return contests(cells)


def test_the_same_and_the_reversed_order_are_told_apart():
    rows = agreements(columns((0, 0.1, 0.2, 0.3), (0, 0.2, 0.3, 0.5), (0.3, 0.2, 0.1, 0)), MEASURE)
    assert [(row["tau"], row["ci95"]) for row in rows] == [
        (1.0, [1.0, 1.0]), (-1.0, [-1.0, -1.0]), (-1.0, [-1.0, -1.0]),
    ]  # fmt: skip
    (line,) = agreement_lines(rows)
    assert "lowest of 3 pairs of columns, minilm, r0 against minilm, r2" in line
    assert "tau -1.00 [-1.00, -1.00]" in line


def test_an_order_of_noise_has_a_wide_interval():
    (row,) = agreements(columns((0, 0, 0, 0), (0, 0, 0, 0), scale=0.2), MEASURE)
    assert row["ci95"][1] - row["ci95"][0] > 0.9


def test_two_chunkers_have_no_order_worth_comparing():
    assert agreements(columns((0, 0.1), (0, 0.1)), MEASURE) == []


def test_orders_under_two_profiles_are_not_compared():
    first, second = columns((0, 0.1, 0.2), (0, 0.1, 0.2))
    assert len(agreements([first, second], MEASURE)) == 1
    for made in second.cells.values():
        made.metrics["asked"]["profile"] = {"name": "trec", "mean": "queries"}
    assert agreements([first, second], MEASURE) == []


def test_the_variance_of_a_run_is_attributed_to_what_was_planted():
    cells = []
    for name, gain in (("ast", 0.0), ("fixed", 0.02)):
        for size, more in ((300, 0.0), (600, 0.2)):
            for header, little in (("", 0.0), (",header=on", 0.01)):
                values = BASE + gain + more + little
                cells.append(cell(f"{name}:max_size={size}{header}", values))
    cells.append(cell("whole-file", BASE))  # a control takes no part
    document = variance(cells, MEASURE)
    shares = {share["factor"]: share["unique"] for share in document["shares"]}
    whole = 0.2**2 + 0.02**2 + 0.01**2
    assert shares == pytest.approx(
        {"chunker": 0.02**2 / whole, "max_size": 0.2**2 / whole, "header": 0.01**2 / whole}
    )
    assert document["cells"] == 8
    line = variance_line(document)
    assert line.startswith(f"variance of {MEASURE} over 8 cells: max_size 99%, ")
    assert line.endswith("interactions and chance 0%")


def test_retriever_and_embedder_that_go_together_are_not_told_apart():
    cells = [cell(f"c{at}", BASE + 0.1 * at) for at in range(3)]
    for at in range(3):
        other = cell(f"c{at}", BASE + 0.1 * at - 0.2)
        other.names.update(embedder="none", retriever="bm25")
        cells.append(other)
    line = variance_line(variance(cells, MEASURE))
    assert line.endswith("not identifiable in this grid: embedder, retriever")


def test_cells_with_other_queries_are_not_attributed():
    cells = [cell("ast", BASE), cell("fixed", BASE + 0.1), cell("ast:max_size=3", noise(3, 100))]
    assert variance(cells, MEASURE) is None


@pytest.mark.parametrize(
    ("what", "cost", "words"),
    [
        ("chunks to index", 1.0, "1 chunk to index"),
        ("tokens to embed", 1.0, "1 token to embed"),
        ("tokens to embed", 43944.0, "43,944 tokens to embed"),
    ],
)
def test_a_cost_has_the_number_of_its_noun(what, cost, words):
    assert cost_in_words(what, cost) == words
