"""Bag-of-words cosine against values worked out by hand."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieving import TEN, material, ranked, scores

from harness.retrieval.lexical import identifiers

# Tokens of the ten texts by identifiers, with how often they stand:
#   0: def parse_url parse url text text return text split           8 of 7 kinds, text 2
#   1: def mergelists merge lists a b return a b                       9 of 7, a 2, b 2
#   2: class urlparser url parser parse none                           6
#   3: parse 3
#   4: nothing    5: x 1    7: nothing
#   6: def parseurl parse url text return parse_url parse url text     parse 2, url 2, text 2
#   8: httpserver2 http server 2 parse
#   9: url
LENGTHS = {
    0: sqrt(6 + 4),
    1: sqrt(5 + 4 + 4),
    2: sqrt(6),
    3: sqrt(9),
    5: sqrt(2),
    6: sqrt(4 + 4 + 4 + 4),
    8: sqrt(5),
    9: 1.0,
}


def test_ten_documents_have_hand_computed_cosines():
    found = ranked("bow", material(TEN), "parse url")
    dots = {0: 2, 2: 2, 3: 3, 6: 4, 8: 1, 9: 1}
    expected = {unit: dot / (LENGTHS[unit] * sqrt(2)) for unit, dot in dots.items()}
    assert scores(found) == pytest.approx(expected, rel=1e-15)
    assert found.units.tolist() == [3, 6, 9, 2, 0, 8]


def test_a_query_counts_its_repeats_and_unknown_tokens():
    found = scores(ranked("bow", material(TEN), "url url parse zebra"))
    assert found[9] == pytest.approx(2 / sqrt(4 + 1 + 1))
    assert found[3] == pytest.approx(3 / (3 * sqrt(6)))


def test_whole_words_alone_where_asked():
    found = scores(ranked("bow:tokens=words", material(TEN), "parse url"))
    assert list(found) == [3, 9, 8, 2]  # no part of a name is met
    assert found[8] == pytest.approx(1 / (sqrt(2) * sqrt(2)))


def test_a_text_is_most_like_itself():
    for number, text in enumerate(TEN):
        if identifiers(text):
            assert scores(ranked("bow", material(TEN), text))[number] == 1.0


@pytest.mark.parametrize("texts", [[], ["", "?"], ["parse"]])
@pytest.mark.parametrize("query", ["", "?!", "zebra"])
def test_where_nothing_is_in_common_nothing_is_retrieved(texts, query):
    assert ranked("bow", material(texts), query).units.tolist() == []


def test_a_document_takes_its_best_chunk():
    found = scores(ranked("bow", material(TEN, [0, 0, 0, 0, 0, 1, 1, 2, 2, 2]), "parse url"))
    chunks = scores(ranked("bow", material(TEN), "parse url"))
    assert found == {0: chunks[3], 1: chunks[6], 2: chunks[9]}


def test_a_long_text_does_not_overflow():
    long = "a " * 70_000  # its square passes 2**32, that of the squares 2**64
    found = scores(ranked("bow", material([long, "a b"]), long))
    assert found == pytest.approx({0: 1.0, 1: sqrt(0.5)}, rel=1e-15)


@given(st.lists(st.text("ab_B1 ", max_size=12), max_size=8), st.text("ab_B1 ", max_size=12))
def test_scores_are_those_of_dense_vectors_of_counts(texts, query):
    kinds = sorted({token for text in [*texts, query] for token in identifiers(text)})

    def counts(text):
        return np.array([identifiers(text).count(kind) for kind in kinds], dtype=float)

    asked = counts(query)
    found = scores(ranked("bow", material(texts), query))
    for unit, text in enumerate(texts):
        own = counts(text)
        if own @ asked:
            cosine = own @ asked / (np.linalg.norm(own) * np.linalg.norm(asked))
            assert found[unit] == pytest.approx(cosine, rel=1e-14)
        else:
            assert unit not in found


def test_texts_that_differ_in_length_alone_score_alike():
    texts = ["alpha beta" + " alpha beta" * n for n in range(40)]
    for name in ("bow", "vsa"):
        assert len(set(scores(ranked(name, material(texts), "alpha")).values())) == 1
