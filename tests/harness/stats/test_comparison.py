"""Verdicts, families and shares."""

import numpy as np
import pytest
from scipy import stats

from harness.stats.comparison import adjust, best_shares, compare, verdict_of
from harness.stats.sign_flips import Estimate


def members(queries, corpora=1):
    return [(f"corpus {at % corpora}", f"file {at}") for at in range(queries)]


def compare_pairs(values, pairs, members, **options):
    return compare({(a, b): values[a] - values[b] for a, b in pairs}, members, **options)


def noise(seed, n, scale=0.1):
    return np.clip(0.5 + np.random.default_rng(seed).normal(0, scale, n), 0, 1)


@pytest.mark.parametrize(
    ("ci95", "ci90", "p", "verdict"),
    [
        ((0.03, 0.07), (0.035, 0.065), 0.01, "better"),
        ((-0.07, -0.03), (-0.065, -0.035), 0.01, "worse"),
        ((0.001, 0.015), (0.002, 0.014), 0.01, "better, but negligible"),
        ((-0.015, -0.001), (-0.014, -0.002), 0.01, "worse, but negligible"),
        ((0.03, 0.07), (0.035, 0.065), 0.06, "undecided"),
        ((-0.021, 0.01), (-0.019, 0.008), 0.3, "equivalent"),
        ((-0.03, 0.01), (-0.021, 0.008), 0.3, "undecided"),
        (None, None, 1.0, "not estimable"),
    ],
)
def test_verdicts(ci95, ci90, p, verdict):
    assert verdict_of(Estimate(0.0, p, ci95, ci90), p, 0.02) == verdict


def test_a_planted_better_chunker_wins_and_what_equals_it_is_equivalent():
    base = noise(1, 400)
    values = {"base": base, "planted": base + 0.05 + noise(2, 400) - 0.5, "same": base}
    better, same = compare_pairs(values, [("planted", "base"), ("same", "base")], members(400))
    assert (better.verdict, same.verdict) == ("better", "equivalent")
    assert better.wins + better.ties + better.losses == 400
    assert (same.wins, same.ties, same.losses, same.estimate.mean) == (0, 400, 0, 0.0)
    assert better.mdd < 0.05 and better.to_decide(0.02) == 0


def test_fifty_equal_results_decide_nothing():
    base = noise(1, 50)
    (same,) = compare_pairs({"a": base, "b": base.copy()}, [("a", "b")], members(50))
    assert same.verdict == "undecided"
    assert same.estimate.ci95[1] > 0.02


@pytest.mark.parametrize(
    ("gains", "interval"),
    [
        ([0.01] * 5, True),  # as wide as what five queries do not show
        ([0.01, 0.02, 0.01, 0.03, 0.02], False),
        ([0.2] * 5, True),  # over a baseline of 0 as well
    ],
)
def test_five_wins_of_five_decide_nothing(gains, interval):
    base = np.zeros(5) if gains[0] == 0.2 else noise(1, 5)
    got, again = (
        compare_pairs({"a": base, "b": base + gains}, [("b", "a")], members(5), seed=seed)[0]
        for seed in (0, 1)
    )
    assert got == again  # all flips of so few are tried
    assert got.estimate.mean == pytest.approx(np.mean(gains))
    assert got.estimate.p == stats.binomtest(5, 5).pvalue == 0.0625  # the sign test
    assert (got.wins, got.ties, got.losses) == (5, 0, 0)
    assert got.verdict == ("undecided" if interval else "not estimable")
    assert got.mdd is None  # nothing can be shown by five
    assert got.to_decide(0.02) > 0


def test_equal_differences_do_not_detect_everything():
    base = noise(1, 20)
    (got,) = compare_pairs({"a": base, "b": base + 0.001}, [("b", "a")], members(20))
    assert got.mdd == pytest.approx(1 - 0.025 ** (1 / 20))
    assert got.to_decide(0.02) == 183 - 20  # 1 - .025^(1/183) is below 2 points
    assert 1 - 0.025 ** (1 / 183) <= 0.02 < 1 - 0.025 ** (1 / 182)


def test_too_few_corpora_name_no_winner():
    base = noise(1, 60)
    values = {"base": base, "planted": base + 0.1}
    for corpora, verdict in ((1, "not estimable"), (2, "not estimable"), (6, "too few corpora"),
                             (12, "better")):  # fmt: skip
        (got,) = compare_pairs(
            values | {"planted": base + 0.1 + noise(3, 60, 0.01) - 0.5},
            [("planted", "base")], members(60, corpora), estimand="new corpora",
        )  # fmt: skip
        assert got.verdict == verdict
        assert (got.mdd is None) == (corpora < 7)
        assert corpora == 1 or got.to_decide(5.0) == max(0, 7 - corpora)


def test_a_few_queries_say_how_many_more_the_margin_needs():
    base = noise(1, 30, 0.2)
    (got,) = compare_pairs({"a": base, "b": noise(2, 30, 0.2)}, [("a", "b")], members(30))
    assert got.verdict == "undecided"
    assert got.mdd > 0.1
    assert got.to_decide(0.02) > 500


def test_holm_by_hand_and_benjamini_hochberg_of_scipy():
    p = [0.01, 0.04, 0.03, 0.005]
    assert adjust(p, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust(p, "benjamini-hochberg") == pytest.approx(stats.false_discovery_control(p))
    assert adjust([0.9, 0.8], "holm") == [1.0, 1.0]


def test_shares_add_up_and_equal_chunkers_share():
    base = noise(1, 80)
    shares = best_shares({"a": base, "b": base.copy(), "low": base - 0.3}, members(80, 4))
    assert shares == {"a": 0.5, "b": 0.5, "low": 0.0}
    close = best_shares({"a": base, "c": noise(4, 80)}, members(80))
    assert sum(close.values()) == pytest.approx(1)
    assert 0 < close["a"] < 1


@pytest.mark.slow
def test_a_chunker_against_another_seed_of_itself_is_rarely_anything_but_undecided():
    wrong = 0
    for seed in range(1000):
        values = {"a": noise(seed, 60), "b": noise(seed + 5000, 60)}
        (got,) = compare_pairs(values, [("a", "b")], members(60), seed=seed)
        wrong += got.verdict not in ("undecided", "equivalent")
    assert wrong <= 50 + 3 * 7
