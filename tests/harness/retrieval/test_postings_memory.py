"""The memory of an inverted index: its own arrays, what is remembered, and blocks."""

import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from retrieving import TEN, material

from chunkers.errors import InputError
from harness.retrieval import postings
from harness.retrieval.lexical import tokenize
from harness.retrieval.postings import TokenCounter
from harness.retrieval.ranking import SearchQuery
from harness.retrieval.retrievers import bm25, bow, vsa
from harness.support.space import MEMORY, Space

MEGABYTE = 1 << 20


def made_up(texts, tokens):
    """Texts of different tokens, one after the other."""
    names, draw = np.array([f"t{n}" for n in range(1000)], object), np.random.default_rng(1)
    return (" ".join(names[draw.permutation(1000)[:tokens]]) for _ in range(texts))


@pytest.fixture
def little(monkeypatch):
    """Limits that a small corpus exceeds; what is imported and compiled once is so before."""
    bm25.make(tokens="words").index(material(TEN))
    monkeypatch.setattr(postings, "_REMEMBERED", MEGABYTE // 4)
    for module in (postings, bm25, bow):
        monkeypatch.setattr(module, "_AT_ONCE", 1 << 12)


def traced(make):
    """A value, and the most bytes that making it took at once."""
    tracemalloc.start()
    try:
        return make(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("space", [MEMORY, Space(MEGABYTE)])
def test_besides_the_postings_only_a_fixed_number_of_bytes_is_in_memory(space):
    # Read from a generator, so that no text is kept.
    found, most = traced(lambda: TokenCounter("words").postings(made_up(1000, 300), space))
    size = found.chunks.nbytes + found.counts.nbytes
    assert size == 8 * 1000 * 300
    in_files = isinstance(found.chunks, np.memmap) and isinstance(found.counts, np.memmap)
    assert in_files == (space is not MEMORY)
    assert most < (0 if in_files else size) + MEGABYTE


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("module", [bm25, bow])
def test_an_index_takes_no_more_than_its_postings(module):
    corpus = material([*made_up(1000, 300)])
    index, most = traced(lambda: module.make(tokens="words").index(corpus))
    assert most < index.nbytes + MEGABYTE
    limited = replace(corpus, space=Space(MEGABYTE))
    found, most = traced(lambda: module.make(tokens="words").index(limited))
    assert most < MEGABYTE
    query = SearchQuery("t1 t2 t2 t3")
    for one, other in zip(found.scores(query, 10), index.scores(query, 10), strict=True):
        assert one.tobytes() == other.tobytes()
    _, most = traced(lambda: found.scores(query, 10))
    assert most < MEGABYTE  # no copy of the postings


@pytest.mark.parametrize("remembered", [0, 700, 1 << 20])
@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
@pytest.mark.parametrize("space", [MEMORY, Space(0), Space(1000)])
def test_postings_are_the_counts_of_each_text(monkeypatch, remembered, at_once, space):
    monkeypatch.setattr(postings, "_REMEMBERED", remembered)
    monkeypatch.setattr(postings, "_AT_ONCE", at_once)
    counter = TokenCounter("identifiers")
    for texts in (TEN[3:], TEN, ("",), (), ("url\ud800", *TEN, *TEN)):
        found = counter.postings(iter(texts), space)
        bags = [Counter(tokenize(text, "identifiers")) for text in texts]
        tokens = set().union(*bags)
        assert set(found.places) == tokens
        assert sorted(found.places.values()) == [*range(len(tokens))]
        assert found.lengths.tolist() == [bag.total() for bag in bags]
        for token, place in found.places.items():
            some = slice(found.starts[place], found.starts[place + 1])
            expected = [(n, bag[token]) for n, bag in enumerate(bags) if token in bag]
            assert [*zip(found.chunks[some], found.counts[some], strict=True)] == expected


def test_rows_that_later_corpora_lack_make_room(monkeypatch):
    monkeypatch.setattr(postings, "_REMEMBERED", 6 * postings._ROW)
    counter = TokenCounter("words")
    read = []
    monkeypatch.setattr(postings, "tokenize", lambda text, kind: read.append(text) or text.split())
    first, second = ([f"{name}{n}" for n in range(8)] for name in "ab")
    for corpus in (first, first):
        counter.postings(corpus)
        assert len(counter._rows) == 5
    assert read == first + first[5:]  # what has no room is read again
    read.clear()
    for corpus in (second, second, second):
        counter.postings(corpus)
    assert read == second * 2 + second[5:]
    assert counter._numbers.keys() == set(second)


def test_tokens_that_later_corpora_lack_are_forgotten(monkeypatch):
    monkeypatch.setattr(postings, "_OTHERS", 4)
    counter = TokenCounter("words")
    before = counter.postings(["a b c d e f g"])
    counter.postings(["a"])
    found = counter.postings(["b", "z"])
    assert counter._numbers.keys() == set(found.places) == {"b", "z"}
    assert set(before.places) == set("abcdefg")


def test_vectors_of_vsa_lie_in_a_file_within_a_limit():
    corpus = material(TEN)
    indexes = [
        vsa.make(dimensions=100).index(replace(corpus, space=space)) for space in (MEMORY, Space(0))
    ]
    assert [isinstance(index.vectors, np.memmap) for index in indexes] == [False, True]
    one, other = (index.scores(SearchQuery("parse url"), 10)[1].tobytes() for index in indexes)
    assert one == other


def test_a_cache_folder_without_room_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(postings, "_REMEMBERED", 0)
    with pytest.raises(InputError, match="cache: no room for a temporary file"):
        TokenCounter("words").postings(["a b"])
    with pytest.raises(InputError, match="cache: no room for 400 bytes"):
        Space(0).empty((100,))
