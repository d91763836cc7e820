"""Hyperdimensional vectors: components drawn as documented, exact sums, cosines."""

from collections import Counter
from hashlib import blake2b
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieving import TEN, material, ranked, scores

from chunkers.errors import InputError
from harness.retrieval.lexical import identifiers
from harness.retrieval.retrievers.vsa import bundle, packed_components
from harness.runs.pipeline import load_retriever


def component(token, number):
    """One component by the documented rule, bit by bit."""
    block, bit = divmod(number, 512)
    digest = blake2b(block.to_bytes(4, "little") + token.encode()).digest()
    return 1 if digest[bit // 8] >> (bit % 8) & 1 else -1


def vector(text, dimensions):
    return [
        sum(component(token, number) for token in identifiers(text)) for number in range(dimensions)
    ]


def dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_first_bits_of_a_token_are_these():
    digest = blake2b(b"\0\0\0\0parse").digest()
    assert digest[:2].hex() == packed_components("parse", 16).hex() == "973d"
    assert len(packed_components("parse", 10_000)) == 1250
    assert packed_components("parse", 513)[64:] == blake2b(b"\1\0\0\0parse").digest()[:1]


@pytest.mark.parametrize("dimensions", [1, 7, 8, 513, 1025])
def test_a_text_is_the_sum_of_its_tokens(dimensions):
    for text in ("parse", "def parseURL(x): parse", "größe 名前"):
        tokens = Counter(identifiers(text))
        assert bundle(tokens, dimensions).tolist() == vector(text, dimensions)


def test_more_tokens_than_are_unpacked_at_once_are_summed_alike():
    text = " ".join(f"t{n}" for n in range(1500))
    assert bundle(Counter(text.split()), 9).tolist() == [
        sum(component(token, number) for token in text.split()) for number in range(9)
    ]


def test_ten_documents_have_hand_computed_cosines():
    found = ranked("vsa:dimensions=600", material(TEN), "parse url")
    asked = vector("parse url", 600)
    expected = {}
    for unit, text in enumerate(TEN):
        own = vector(text, 600)
        dot, squares = (
            sum(a * b for a, b in zip(own, other, strict=True)) for other in (asked, own)
        )
        if squares:
            expected[unit] = dot / sqrt(squares * sum(a * a for a in asked))
    assert scores(found) == pytest.approx(expected, rel=1e-14)
    assert found.units.tolist() == sorted(expected, key=lambda unit: -expected[unit])


def test_the_default_comes_near_the_cosine_of_bags():
    near, exact = (scores(ranked(name, material(TEN), "parse url")) for name in ("vsa", "bow"))
    assert set(near) == {0, 1, 2, 3, 5, 6, 8, 9}
    for unit, cosine in near.items():
        assert abs(cosine - exact.get(unit, 0.0)) < 5 / sqrt(10_000)


def test_a_query_without_a_token_retrieves_nothing():
    assert ranked("vsa", material(TEN), "?!").units.tolist() == []
    assert ranked("vsa", material([]), "parse").units.tolist() == []


def test_tokens_that_cancel_out_have_no_direction():
    plus, minus = (
        next(f"t{n}" for n in range(99) if component(f"t{n}", 0) == sign) for sign in (1, -1)
    )
    texts = [f"{plus} {minus}", plus, minus]
    assert scores(ranked("vsa:dimensions=1,tokens=words", material(texts), plus)) == {1: 1, 2: -1}


def test_a_long_text_does_not_overflow():
    long = "a " * 40_000
    assert scores(ranked("vsa", material([long, "a", "b"]), long)) == pytest.approx(
        {0: 1.0, 1: 1.0, 2: scores(ranked("vsa", material(["b"]), "a"))[0]}
    )


@settings(max_examples=25)
@given(st.lists(st.text("ab_B1 ", max_size=9), max_size=5), st.text("ab_B1 ", max_size=9))
def test_scores_are_those_of_plain_vectors(texts, query):
    found = scores(ranked("vsa:dimensions=70", material(texts), query))
    asked = np.array(vector(query, 70), dtype=float)
    for unit, text in enumerate(texts):
        own = np.array(vector(text, 70), dtype=float)
        if own.any() and asked.any():
            cosine = own @ asked / (np.linalg.norm(own) * np.linalg.norm(asked))
            assert found[unit] == pytest.approx(cosine, abs=1e-14)
        else:
            assert unit not in found


@pytest.mark.parametrize("spec", ["vsa:dimensions=0", "vsa:tokens=letters", "bow:weight=tfidf"])
def test_wrong_options_are_refused(spec):
    with pytest.raises(InputError):
        load_retriever(spec)
