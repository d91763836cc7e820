"""The attribution of variance to the factors of a grid."""

import itertools

import numpy as np
import pytest

from harness.stats.attribution import attribute

A, B = ("x", "y", "z"), ("on", "off")


def grid(cells):
    return {"a": [a for a, _ in cells], "b": [b for _, b in cells]}


BALANCED = list(itertools.product(A, B))
EFFECT_A, EFFECT_B = {"x": 0.0, "y": 0.1, "z": 0.3}, {"on": 0.0, "off": 0.2}


def means(cells, interaction=0.0):
    values = [EFFECT_A[a] + EFFECT_B[b] + interaction * (a == "z" and b == "on") for a, b in cells]
    return np.array(values)


def test_balanced_main_effects_add_up_to_all():
    result = attribute(means(BALANCED), grid(BALANCED))
    a, b = result.shares
    of_a = 2 * np.var(list(EFFECT_A.values()))
    of_b = 2 * np.var(list(EFFECT_B.values()))
    assert a.unique == pytest.approx(of_a / (of_a + of_b))
    assert (a.alone, b.alone) == pytest.approx((a.unique, b.unique))
    assert a.unique + b.unique == pytest.approx(1)
    assert (result.rest, result.shared) == pytest.approx((0, 0), abs=1e-9)
    assert (result.freedom, a.levels, a.identifiable) == (2, 3, "yes")


def test_an_interaction_is_in_the_rest():
    """Against the sums of squares of a two-way analysis of variance by hand."""
    values = means(BALANCED, 0.1).reshape(3, 2)
    result = attribute(values.ravel(), grid(BALANCED))
    centred = values - values.mean()
    rest = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None]
    assert result.rest == pytest.approx((rest**2).sum() / (centred**2).sum())
    assert result.rest > 0.01


def test_an_unbalanced_grid_has_a_shared_part_and_finds_the_effects():
    cells = [("x", "on"), ("x", "on"), ("x", "off"), ("y", "off"), ("z", "off"), ("y", "on")]
    result = attribute(means(cells), grid(cells))
    assert result.rest == pytest.approx(0, abs=1e-9)
    assert result.shared != pytest.approx(0, abs=1e-3)
    total = sum(share.unique for share in result.shares) + result.shared + result.rest
    assert total == pytest.approx(1)


def test_what_one_factor_determines_of_another_is_said():
    cells = [("x", "on"), ("y", "off"), ("z", "off")] * 2
    result = attribute(means(cells), grid(cells) | {"c": ["p", "p", "p", "q", "q", "q"]})
    assert [share.identifiable for share in result.shares] == ["in part", "no", "yes"]
    b = result.shares[1]
    assert b.unique == 0
    assert b.alone > 0


def test_a_saturated_grid_has_no_rest_to_see():
    cells = [("x", "on"), ("y", "on"), ("x", "off")]
    assert attribute(np.array([1.0, 2.0, 5.0]), grid(cells)).freedom == 0


@pytest.mark.parametrize(
    ("values", "cells"),
    [([1.0, 2.0], [("x", "on"), ("y", "on")]), ([1.0] * 6, BALANCED)],
)
def test_one_factor_or_no_variance_is_not_attributed(values, cells):
    assert attribute(np.array(values), grid(cells)) is None
