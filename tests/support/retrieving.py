"""A corpus of texts without a data set, and what a retriever ranks in it."""

from math import isnan

import numpy as np

from harness.embedding.text_vectors import unit_vectors
from harness.retrieval.ranking import Material, Order, Rankable, SearchQuery, id_places, rank
from harness.runs.pipeline import load_retriever
from harness.support.sequences import Ragged

TEN = (
    "def parse_url(text): return text.split()",
    "def mergeLists(a, b): return a + b",
    "class UrlParser: parse = None",
    "parse parse parse",
    "",
    "x = 1",
    "def parseURL(text): return parse_url(text)",
    "?!",
    "HTTPServer2.parse",
    "url",
)


def material(texts, unit_of=None, pooling="max", vectors=None):
    """Every text a chunk, and every chunk a unit unless `unit_of` says otherwise."""
    units = np.arange(len(texts)) if unit_of is None else np.asarray(unit_of)
    usable = np.ones(len(texts), dtype=bool)
    if vectors is not None:
        vectors, usable = unit_vectors(np.asarray(vectors, dtype=np.float32))
    return Material(
        texts=tuple(texts),
        vectors=vectors,
        usable=usable,
        chunks=tuple(texts),
        chunk_texts=Ragged.of_one(np.arange(len(texts))),
        unit_of=units,
        n_units=int(units.max()) + 1 if len(texts) else 0,
        pooling=pooling,
    )


def rankable(corpus, sizes=None):
    """Units of size 1 with ids in corpus order."""
    sizes = np.ones(corpus.n_units, dtype=np.int64) if sizes is None else np.asarray(sizes)
    ids = id_places([f"{i:06d}" for i in range(corpus.n_units)])
    return Rankable(sizes, ids, np.unique(corpus.unit_of))


def ranked(spec, corpus, query, vector=None, order=None, sizes=None):
    """The ranking of a corpus for one query."""
    _, retriever = load_retriever(spec)
    if vector is not None:
        (vector,), _ = unit_vectors(np.asarray([vector], dtype=np.float32))
    order = order or Order(1000, 0, "corpus-order")
    return rank(retriever.index(corpus), SearchQuery(query, vector), order, rankable(corpus, sizes))


def scores(ranking):
    """Unit -> score of those that have one, in rank order."""
    pairs = zip(ranking.units.tolist(), ranking.scores.tolist(), strict=True)
    return {unit: score for unit, score in pairs if not isnan(score)}
