"""Power against tables of textbooks and sums done by hand."""

import math

import pytest
from scipy import stats

from harness.stats.power import Spread, queries_for, smallest_difference, spread_of, worst_case


def independent(sd, n=100):
    return Spread(n, n, sd, n - 1)


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_numbers_of_the_textbooks_for_a_paired_t_test(effect, n):
    # Cohen's small, medium and large effects, two-sided 5 %, power 80 %.
    assert queries_for(independent(1.0), effect) == n
    assert queries_for(independent(0.5), effect / 2) == n


@pytest.mark.parametrize(("effect", "sd"), [(0.01, 1.0), (0.02, 0.3), (0.05, 0.42)])
def test_the_number_is_the_smallest_that_reaches_the_power(effect, sd):
    def power(n):
        critical = stats.t.ppf(0.975, n - 1)
        shift = effect / sd * math.sqrt(n)
        tails = stats.nct.sf(critical, n - 1, shift), stats.nct.cdf(-critical, n - 1, shift)
        return sum(tails)

    n = queries_for(independent(sd), effect)
    assert power(n) >= 0.8 > power(n - 1)


def test_many_queries_show_what_the_normal_distribution_says():
    spread = independent(0.4, 1_000_000)
    normal = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.4 / 1000
    assert smallest_difference(spread) == pytest.approx(normal, rel=1e-5)


def test_the_smallest_difference_of_a_few():
    # One degree of freedom: t must pass 12.71, which takes a shift of 16.33.
    assert smallest_difference(Spread(2, 2, 1.0, 1)) == pytest.approx(
        16.334 / math.sqrt(2), rel=1e-3
    )


def test_difference_and_number_answer_each_other():
    spread = Spread(60, 20, 0.7, 18)
    assert queries_for(spread, smallest_difference(spread)) == 60


def test_independent_differences_scatter_as_their_standard_deviation():
    values = {"a": 0.5, "b": 0.1, "c": -0.2, "d": 0.0}
    members = {query: ("one", query) for query in values}
    spread = spread_of(values, members)
    # mean 0.1; squares .16 + 0 + .09 + .01 = .26; / 3
    assert spread == Spread(4, 4, pytest.approx(math.sqrt(0.26 / 3)), 3)


def test_clusters_by_hand():
    values = {"a": 0.5, "b": 0.1, "c": -0.2, "d": 0.0}
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "z")}
    # mean 0.1; sums of clusters .4, -.3, -.1; squares .26; * 3/2 / 16 = .024375
    assert spread_of(values, members) == Spread(4, 3, pytest.approx(math.sqrt(0.024375 * 4)), 2)


def test_corpora_are_strata_by_hand():
    values = {"a": 0.3, "b": 0.1, "c": -0.2, "d": -0.6}
    members = {"a": ("one", "x"), "b": ("one", "y"), "c": ("two", "x"), "d": ("two", "y")}
    # means .2 and -.4; squares .02 and .08; each * 2; .2 / 16 = .0125
    assert spread_of(values, members) == Spread(4, 4, pytest.approx(math.sqrt(0.0125 * 4)), 2)


def test_corpora_of_one_cluster_are_one_stratum_of_clusters_by_name():
    values = {"a": 0.3, "b": 0.1, "c": -0.2}
    members = {"a": ("one", "p"), "b": ("two", "p"), "c": ("three", "q")}
    # mean 1/15; p: .4 - 2/15 = 4/15, q: -4/15; squares 32/225; * 2 / 9
    wanted = math.sqrt(64 / 225 / 9 * 3)
    assert spread_of(values, members) == Spread(3, 2, pytest.approx(wanted), 1)


def test_one_corpus_of_one_cluster_joins_the_smallest_other():
    members = {"a": ("one", "p"), "b": ("two", "x"), "c": ("two", "y"),
               "d": ("zoo", "x"), "e": ("zoo", "y"), "f": ("zoo", "z")}  # fmt: skip
    spread = spread_of(dict.fromkeys(members, 0.0), members)
    assert spread == Spread(6, 6, 0.0, 4)
    assert queries_for(spread, 0.01) == 6


def test_the_worst_case_by_hand():
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "z")}
    # clusters of 2, 1 and 1: (4 + 1 + 1) / 16 = SE²
    assert worst_case(members) == Spread(4, 3, pytest.approx(math.sqrt(6 / 16 * 4)), 2)
    single = {str(i): ("one", str(i)) for i in range(50)}
    assert worst_case(single) == Spread(50, 50, 1.0, 49)


def test_no_difference_scatters_more_than_the_worst_case():
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "y")}
    spread, worst = spread_of({"a": 1, "b": 1, "c": -1, "d": -1}, members), worst_case(members)
    # The sample's own divisor G - 1 is all that is between them.
    assert spread.sd == pytest.approx(worst.sd * math.sqrt(2))
    for values in ({"a": 1, "b": -1, "c": 1, "d": -1}, {"a": 0.5, "b": 0.1, "c": 0, "d": 0}):
        assert spread_of(values, members).sd < worst.sd


def test_one_cluster_tells_nothing():
    members = {"a": ("one", "x"), "b": ("one", "x")}
    assert worst_case(members) is None
    assert spread_of({"a": 0.1, "b": 0.2}, members) is None
