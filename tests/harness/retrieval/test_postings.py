"""Postings: equal to what bm25s makes of the tokens itself, whatever other corpora were read."""

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieving import TEN, material

from harness.retrieval import postings
from harness.retrieval.lexical import tokenize
from harness.retrieval.postings import TokenCounter
from harness.retrieval.ranking import SearchQuery
from harness.retrieval.retrievers import bm25

TEXTS = st.lists(st.sampled_from([*TEN, "url url parse x", "量杯 parse", "_ __", "x\ny\nx"]))


def by_token(data, chunks, starts, places):
    return {
        token: (chunks[starts[n] : starts[n + 1]].tolist(), data[starts[n] : starts[n + 1]])
        for token, n in places.items()
    }


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([(1.5, 0.75), (0.9, 0.4), (0, 0), (1000, 1)]))
def test_scores_have_the_bits_of_bm25s(others, texts, options):
    """Another corpus before this one leaves no trace."""
    k1, b = options
    retriever = bm25.make(k1=k1, b=b)
    if others:
        retriever.index(material(others))
    model = retriever.index(material(texts)).model if texts else None
    corpus = [tokenize(text, "identifiers") for text in texts]
    if not any(corpus):
        assert model is None
        return
    whole = bm25s.BM25(method="lucene", k1=k1, b=b, backend="numpy")
    whole.index(corpus, create_empty_token=False, show_progress=False)
    found, expected = (
        by_token(*(one.scores[key] for key in ("data", "indices", "indptr")), one.vocab_dict)
        for one in (model, whole)
    )
    assert found.keys() == expected.keys()
    for token, (chunks, scores) in expected.items():
        assert found[token][0] == chunks
        assert found[token][1].tobytes() == scores.tobytes()
    for part in ("data", "indices", "indptr"):
        assert model.scores[part].dtype == whole.scores[part].dtype
    query = [token for token in tokenize("parse url parse x", "identifiers") if token in found]
    if query:
        assert model.get_scores(query).tobytes() == whole.get_scores(query).tobytes()


@pytest.mark.parametrize("at_once", [1, 2, 5, 1 << 20])
def test_any_number_of_postings_at_once_gives_the_same_bits(monkeypatch, at_once):
    texts = [f"a b{n} c{n % 3} a" for n in range(9)]
    query = "a b1 c0 c1 a a c2 b4 c0 a"
    whole = bm25s.BM25(method="lucene", backend="numpy")
    corpus = [tokenize(text, "words") for text in texts]
    whole.index(corpus, create_empty_token=False, show_progress=False)
    monkeypatch.setattr(bm25, "_AT_ONCE", at_once)
    model = bm25.make(tokens="words").index(material(texts)).model
    tokens = tokenize(query, "words")
    assert model.get_scores(tokens).tobytes() == whole.get_scores(tokens).tobytes()


@pytest.mark.parametrize("texts", [[""], ["", "a", ""], ["a a b", "", "b"], []])
def test_counts_and_lengths(texts):
    counter = TokenCounter("words")
    counter.postings(["c d e", "e"])
    found = counter.postings(texts)
    assert found.lengths.tolist() == [len(text.split()) for text in texts]
    counts = by_token(found.counts, found.chunks, found.starts, found.places)
    assert {token: (chunks, n.tolist()) for token, (chunks, n) in counts.items()} == {
        token: (
            [at for at, text in enumerate(texts) if token in text.split()],
            [text.split().count(token) for text in texts if token in text.split()],
        )
        for token in {token for text in texts for token in text.split()}
    }


def test_each_text_is_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(postings, "tokenize", lambda text, kind: read.append(text) or text.split())
    counter = TokenCounter("words")
    for corpus in (["a b", "c"], ["c", "a b", "d"], ["d"]):
        counter.postings(corpus)
    assert read == ["a b", "c", "d"]


@pytest.mark.parametrize("name", ["bm25", "bow"])
def test_a_text_alone_scores_the_same_after_other_corpora(name):
    module = __import__(f"harness.retrieval.retrievers.{name}", fromlist=["make"])
    shared = module.make()
    for corpus in (TEN[3:], TEN[:5], TEN):
        found = shared.index(material(corpus)).scores(SearchQuery("parse url"), 10)
        alone = module.make().index(material(corpus)).scores(SearchQuery("parse url"), 10)
        for one, other in zip(found, alone, strict=True):
            assert np.array_equal(one, other)
