"""The cut whose chunks are most similar inside."""

import itertools
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors_by_hand import angles, first_lines, numbered, told

from chunkers.builtin._semantics import mean_similarity, similarities
from chunkers.builtin.cluster_semantic import best_cut, gains


def worth(vectors, starts):
    """The definition, by pairs: similarities inside chunks, each less the mean of all pairs."""
    rows = vectors.T.tolist()
    pairs = {
        (one, other): 1.0
        if not any(rows[one]) or not any(rows[other])
        else fsum(a * b for a, b in zip(rows[one], rows[other], strict=True))
        for one, other in itertools.combinations(range(len(rows)), 2)
    }
    full = [value for (one, other), value in pairs.items() if any(rows[one]) and any(rows[other])]
    mean = fsum(full) / len(full) if full else 1.0
    ends = [*starts[1:], len(rows)]
    return fsum(
        pairs[pair] - mean
        for start, end in zip(starts, ends, strict=True)
        for pair in itertools.combinations(range(start, end), 2)
    )


def allowed(starts, most):
    ends = [*starts[1:], len(most)]
    return all(end - start <= most[end - 1] for start, end in zip(starts, ends, strict=True))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.data())
def test_no_other_cut_is_worth_more(count, seed, data):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(3, count))
    vectors /= np.linalg.norm(vectors, axis=0)
    vectors[:, rng.random(count) < 0.1] = 0.0
    most, longest = [], 1
    for at in range(count):
        longest = data.draw(st.integers(1, min(at, longest) + 1))
        most.append(longest)
    found = best_cut(gains(vectors, max(most)), most)
    assert found[0] == 0 and found == sorted(set(found)) and allowed(found, most)
    cuts = [
        [0, *inner]
        for size in range(count)
        for inner in itertools.combinations(range(1, count), size)
    ]
    best = max(worth(vectors, cut) for cut in cuts if allowed(cut, most))
    assert worth(vectors, found) == pytest.approx(best, abs=1e-9)


def test_of_equal_cuts_the_one_whose_last_chunk_begins_first_is_taken():
    assert best_cut(np.zeros((3, 4)), [1, 2, 3, 3]) == [0, 1]
    assert best_cut(np.zeros((4, 4)), [1, 2, 3, 4]) == [0]


def test_similar_lines_are_together_and_the_limit_holds():
    vectors = np.eye(3)[[0, 0, 0, 1, 1, 2, 2, 2]]
    vectors[[0, 7]] = (0.96, 0, 0.28), (0.28, 0, 0.96)
    spec = "cluster-semantic:unit_size=10"
    assert first_lines(spec, numbered(), told(vectors)) == [0, 3, 5]
    # Of three that belong together two can be: the nearer ones.
    spec += ",max_size=20"
    assert first_lines(spec, numbered(), told(vectors)) == [0, 1, 3, 5, 7]


def test_similarities_are_those_of_the_definition():
    vectors = np.concatenate([angles(0, 30, 90), [[0, 0]], angles(10)]).T
    assert similarities(vectors, 1) == pytest.approx([np.sqrt(3) / 2, 0.5, 1, 1])
    assert similarities(vectors, 4) == pytest.approx([np.cos(np.radians(10))])
    pairs = [30, 90, 10, 60, 20, 80]
    assert mean_similarity(vectors) == pytest.approx(np.cos(np.radians(pairs)).mean())
    assert mean_similarity(vectors[:, 3:4]) == 1.0
    assert mean_similarity(np.zeros((2, 0))) == 1.0
