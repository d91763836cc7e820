"""Power against tables of textbooks and sums done by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.stats.clusters import clusters_of
from harness.stats.power import (
    Spread,
    detectable,
    fewest_clusters,
    smallest_difference,
    spread_of,
    spread_over_corpora,
    units_for,
    worst_case,
)
from harness.stats.sign_flips import estimates
from tests.harness.stats.simulation import power


def spread(values, members):
    clusters = clusters_of([members[query] for query in values])
    return spread_of(np.array(list(values.values()), dtype=float), clusters)


def worst(members):
    return worst_case(list(members.values()))


def independent(sd, n=100):
    return Spread(n, n, sd, n - 1)


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_numbers_of_the_textbooks_for_a_paired_t_test(effect, n):
    # Cohen's small, medium and large effects, two-sided 5 %, power 80 %.
    assert units_for(independent(1.0), effect) == n
    assert units_for(independent(0.5), effect / 2) == n


@pytest.mark.parametrize(("effect", "sd"), [(0.01, 1.0), (0.02, 0.3), (0.05, 0.42)])
def test_the_number_is_the_smallest_that_reaches_the_power(effect, sd):
    def power(n):
        critical = stats.t.ppf(0.975, n - 1)
        shift = effect / sd * math.sqrt(n)
        tails = stats.nct.sf(critical, n - 1, shift), stats.nct.cdf(-critical, n - 1, shift)
        return sum(tails)

    n = units_for(independent(sd), effect)
    assert power(n) >= 0.8 > power(n - 1)


def test_many_queries_show_what_the_normal_distribution_says():
    many = independent(0.4, 1_000_000)
    normal = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.4 / 1000
    assert smallest_difference(many) == pytest.approx(normal, rel=1e-5)


def test_the_smallest_difference_of_a_few():
    # One degree of freedom: t must pass 12.71, which takes a shift of 16.33.
    assert smallest_difference(Spread(2, 2, 1.0, 1)) == pytest.approx(
        16.334 / math.sqrt(2), rel=1e-3
    )


def test_difference_and_number_answer_each_other():
    some = Spread(60, 20, 0.7, 18)
    assert units_for(some, smallest_difference(some)) == 60


def test_independent_differences_scatter_as_their_standard_deviation():
    values = {"a": 0.5, "b": 0.1, "c": -0.2, "d": 0.0}
    members = {query: ("one", query) for query in values}
    got = spread(values, members)
    # mean 0.1; squares .16 + 0 + .09 + .01 = .26; / 3
    assert got == Spread(4, 4, pytest.approx(math.sqrt(0.26 / 3)), 3)


def test_clusters_by_hand():
    values = {"a": 0.5, "b": 0.1, "c": -0.2, "d": 0.0}
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "z")}
    # mean 0.1; sums of clusters .4, -.3, -.1; squares .26; * 3/2 / 16 = .024375
    assert spread(values, members) == Spread(4, 3, pytest.approx(math.sqrt(0.024375 * 4)), 2)


def test_corpora_are_strata_by_hand():
    values, members = {}, {}
    for corpus, middle in (("one", 0.2), ("two", -0.4)):
        for at, moved in enumerate((0.1, -0.1, 0, 0.2, -0.2)):
            values[f"{corpus} {at}"] = middle + moved
            members[f"{corpus} {at}"] = (corpus, f"file {at}")
    # Squares .1 in each corpus; * 5/4; .25 / 100 = .0025
    assert spread(values, members) == Spread(10, 10, pytest.approx(math.sqrt(0.0025 * 10)), 8)


def test_corpora_of_few_clusters_are_one_stratum_of_clusters_by_name():
    values = {"a": 0.3, "b": 0.1, "c": -0.2}
    members = {"a": ("one", "p"), "b": ("two", "p"), "c": ("three", "q")}
    # mean 1/15; p: .4 - 2/15 = 4/15, q: -4/15; squares 32/225; * 2 / 9
    wanted = math.sqrt(64 / 225 / 9 * 3)
    assert spread(values, members) == Spread(3, 2, pytest.approx(wanted), 1)


def test_corpora_by_hand():
    corpora = ["one", "one", "two", "three"]
    # means .3, .1 and -.1: their mean .1, squares .08 / 2
    got = spread_over_corpora(np.array([0.5, 0.1, 0.1, -0.1]), corpora)
    assert got == Spread(3, 3, pytest.approx(0.2), 2)
    assert spread_over_corpora(np.array([0.5]), ["one"]) is None


@pytest.mark.parametrize("family", [1, 2, 4, 10, 60])
def test_of_the_fewest_clusters_a_p_value_is_small_enough(family):
    fewest = fewest_clusters(family)
    values = np.linspace(0.1, 0.2, fewest)[:, None]
    (enough,), (few,) = (
        estimates(values[:count], clusters_of([("one", str(at)) for at in range(count)]))
        for count in (fewest, fewest - 1)
    )
    assert family * enough.p < 0.05 <= family * few.p
    assert detectable(Spread(fewest, fewest, 0.1, fewest - 1), family)
    assert detectable(Spread(fewest - 1, fewest - 1, 0.1, fewest - 2), family) is None


@pytest.mark.parametrize("family", [1, 4, 10])
def test_one_of_a_family_has_a_power_of_80_percent_at_its_strictest_level(family):
    some = Spread(60, 20, 0.7, 18)
    difference = detectable(some, family)
    shift = difference * math.sqrt(60) / 0.7
    critical = stats.t.ppf(1 - 0.025 / family, 18)
    assert stats.nct.sf(critical, 18, shift) == pytest.approx(0.8, abs=1e-4)
    assert units_for(some, difference, family) == 60


def test_the_smallest_difference_has_a_power_of_80_percent():
    for n, sd in ((20, 0.3), (60, 0.5)):
        got = independent(sd, n)
        assert power(got, smallest_difference(got)) == pytest.approx(0.8, abs=1e-4)


def test_the_worst_case_by_hand():
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "z")}
    # clusters of 2, 1 and 1: (4 + 1 + 1) / 16 = SE²
    assert worst(members) == Spread(4, 3, pytest.approx(math.sqrt(6 / 16 * 4)), 2)
    single = {str(i): ("one", str(i)) for i in range(50)}
    assert worst(single) == Spread(50, 50, 1.0, 49)


def test_no_difference_scatters_more_than_the_worst_case():
    members = {"a": ("one", "x"), "b": ("one", "x"), "c": ("one", "y"), "d": ("one", "y")}
    got, most = spread({"a": 1, "b": 1, "c": -1, "d": -1}, members), worst(members)
    # The sample's own divisor G - 1 is all that is between them.
    assert got.sd == pytest.approx(most.sd * math.sqrt(2))
    for values in ({"a": 1, "b": -1, "c": 1, "d": -1}, {"a": 0.5, "b": 0.1, "c": 0, "d": 0}):
        assert spread(values, members).sd < most.sd


def test_one_cluster_tells_nothing():
    members = {"a": ("one", "x"), "b": ("one", "x")}
    assert worst(members) is None
    assert spread({"a": 0.1, "b": 0.2}, members) is None
