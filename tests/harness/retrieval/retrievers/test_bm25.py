"""BM25 over identifiers against Lucene's formula worked out by hand."""

from math import log

import pytest
from retrieving import TEN, material, ranked, scores

from harness.retrieval.lexical import identifiers, words


def lucene(counts, lengths, query):
    """idf * tf / (tf + k1 * (1 - b + b * length / average)), summed over the query's tokens."""
    average = sum(lengths) / len(lengths)
    total = {}
    for token in query:
        holding = {unit: tf[token] for unit, tf in counts.items() if token in tf}
        idf = log(1 + (len(lengths) - len(holding) + 0.5) / (len(holding) + 0.5))
        for unit, tf in holding.items():
            norm = 1.5 * (1 - 0.75 + 0.75 * lengths[unit] / average)
            total[unit] = total.get(unit, 0.0) + idf * tf / (tf + norm)
    return total


def test_ten_documents_have_hand_computed_scores():
    counts = {
        0: {"parse": 1, "url": 1},
        2: {"parse": 1, "url": 1},
        3: {"parse": 3},
        6: {"parse": 2, "url": 2},
        8: {"parse": 1},
        9: {"url": 1},
    }
    lengths = [8, 9, 6, 3, 0, 2, 10, 0, 5, 1]
    assert lengths == [len(identifiers(text)) for text in TEN]
    found = ranked("bm25", material(TEN), "parse url")
    expected = lucene(counts, lengths, ["parse", "url"])
    assert scores(found) == pytest.approx(expected, rel=1e-6)
    by_hand = sorted(expected, key=lambda unit: -expected[unit])
    assert found.units.tolist() == by_hand


def test_whole_words_alone_where_asked():
    counts = {2: {"parse": 1}, 3: {"parse": 3}, 8: {"parse": 1}, 9: {"url": 1}}
    lengths = [6, 7, 4, 3, 0, 2, 6, 0, 2, 1]
    assert lengths == [len(words(text)) for text in TEN]
    found = scores(ranked("bm25:tokens=words", material(TEN), "parse url"))
    assert found == pytest.approx(lucene(counts, lengths, ["parse", "url"]), rel=1e-6)
