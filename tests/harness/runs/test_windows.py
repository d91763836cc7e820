"""Long chunks by windows: what is embedded, what is indexed, and what is counted of each."""

import json
from dataclasses import replace

import numpy as np
import pytest
from worlds import files, function, grid, small

from chunkers.errors import InputError
from chunkers.source import Source
from harness.embedding.text_vectors import embed_texts, mean_vectors, split_windows, unit_vectors
from harness.embedding.vector_store import VectorStore
from harness.model import Corpus, Dataset, Query
from harness.runs.pipeline import load_embedder
from harness.runs.record import read_record
from harness.runs.texts import texts_of
from harness.support.data_folders import cache_dir
from harness.support.sequences import Ragged

EMBEDDERS = ("minilm", "minilm:windows=max", "minilm:windows=mean")


def cells(tmp_path, dataset=None, chunker="whole-file", name="run", **changes):
    asked = {"chunkers": (chunker,), "embedders": EMBEDDERS, "retrievers": ("dense",)}
    return grid(tmp_path, name, dataset, **(asked | changes)).cells


def documents():
    """Three documents, one of them over the limit, its end unlike its beginning."""
    texts = {
        "long": function("rho", 40) + "colourless green ideas sleep furiously\n" * 20,
        "short": "green ideas\n",
        "other": function("rho", 2),
    }
    sources = tuple(Source(text, path) for path, text in sorted(texts.items()))
    query = Query("q", "docs", "green ideas sleep", qrels={"long": 1})
    return Dataset("docs", "document", (Corpus("docs", sources),), (query,), pooling="max")


def vectors_of(texts):
    store = VectorStore(cache_dir() / "vectors.sqlite")
    try:
        return embed_texts(texts, load_embedder("minilm"), store, "document").values
    finally:
        store.close()


def test_a_mean_is_one_unit_vector_of_the_windows_unit_vectors():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 5)).astype(np.float32) * 7
    got = mean_vectors(values, Ragged.of([[0], [1, 2], [3, 4, 5], [2, 2]]))
    unit = [value / np.linalg.norm(value.astype(np.float64)) for value in values]
    for row, windows in ((1, (1, 2)), (2, (3, 4, 5)), (3, (2,))):
        mean = np.mean([unit[window] for window in windows], axis=0)
        assert got[row] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert (got[0] == values[0]).all()
    assert got.dtype == np.float32


def test_a_mean_of_nothing_or_of_opposites_is_not_usable():
    values = np.array([[3, 4], [-3, -4], [0, 0], [np.nan, 1], [0, 2]], dtype=np.float32)
    got = mean_vectors(values, Ragged.of([[0, 1], [2, 3], [3, 4], []]))
    assert unit_vectors(got)[1].tolist() == [False, False, True, False]
    assert got[2].tolist() == [0, 1]


def test_the_mean_is_one_vector_a_chunk_and_its_windows_are_all_embedded(tmp_path):
    plain, best, mean = cells(tmp_path)
    assert len({cell.key for cell in (plain, best, mean)}) == 3
    n = plain.cell["health"]["chunks"]
    assert plain.cell["cost"]["vectors"] == best.cell["cost"]["vectors"] > n
    assert mean.cell["cost"]["vectors"] == n
    assert mean.cell["cost"]["tokens"] == best.cell["cost"]["tokens"]
    width = 384 * 4
    assert mean.cell["cost"]["index_bytes"] == n * width
    assert best.cell["cost"]["index_bytes"] == best.cell["cost"]["vectors"] * width
    for cell in (plain, best, mean):
        assert cell.cell["health"]["unseen_chunk_tokens"] == 0
        assert cell.cell["health"]["zero_vectors"] == 0


def test_a_chunk_scores_by_the_mean_of_its_windows(tmp_path):
    mean = cells(tmp_path)[2]
    record = read_record(tmp_path / "run" / "cells" / mean.key)
    world = {one.path: one for corpus in small().corpora for one in corpus.sources}
    query = next(one for one in record.queries if one.id == "q rho")
    ranking = record.rankings[record.queries.index(query)]
    (windows,) = split_windows([world["two/rho.py"].text], load_embedder("minilm"))
    assert len(windows) > 1
    units = unit_vectors(vectors_of(windows))[0].astype(np.float64)
    total = units.sum(axis=0)
    (asked,) = unit_vectors(vectors_of(["transform q rho"]))[0].astype(np.float64)
    assert ranking.scores[0] == pytest.approx(asked @ total / np.linalg.norm(total), abs=1e-6)


def test_texts_within_the_limit_give_the_same_bytes_with_and_without_windows(tmp_path):
    chunker = ("ast:max_size=120",)
    found = []
    for embedder in EMBEDDERS:
        out = grid(
            tmp_path, embedder, chunkers=chunker, embedders=(embedder,), retrievers=("dense",)
        ).out
        found.append(sorted((name[65:], data) for name, data in files(out).items()))
    assert found[0] == found[1] == found[2]


def test_documents_are_cut_short_unless_the_embedder_says_windows(tmp_path):
    plain, best, mean = cells(tmp_path, documents())
    unseen = [cell.cell["health"]["unseen_chunk_tokens"] for cell in (plain, best, mean)]
    assert unseen[0] > 0.3
    assert unseen[1:] == [0, 0]
    assert plain.cell["cost"]["vectors"] == mean.cell["cost"]["vectors"] == 3
    assert best.cell["cost"]["vectors"] > 3
    scores = {}
    for cell in (plain, best, mean):
        ranking = read_record(tmp_path / "run" / "cells" / cell.key).rankings[0]
        scores[cell.embedder] = dict(zip(ranking.ids, ranking.scores, strict=True))["long"]
    assert scores["minilm"] < scores["minilm:windows=mean"] < scores["minilm:windows=max"]


def test_a_chunk_of_a_document_has_one_mean_of_its_own(tmp_path):
    best, mean = cells(tmp_path, documents(), "fixed:max_size=1500", embedders=EMBEDDERS[1:])
    assert mean.cell["cost"]["vectors"] == mean.cell["health"]["chunks"]
    assert best.cell["cost"]["vectors"] > best.cell["health"]["chunks"]


def test_the_reference_cosine_takes_means_too(tmp_path):
    plain, mean = (
        cells(tmp_path, name=embedder, embedders=(embedder,), profile="code-chunk")[0]
        for embedder in EMBEDDERS[1:]
    )
    assert plain.key != mean.key
    assert mean.cell["health"]["disturbed"] == mean.cell["health"]["zero_vectors"] == 0
    assert mean.cell["cost"]["vectors"] == mean.cell["health"]["chunks"]


def test_windows_without_a_tokenizer_are_refused_by_name(tmp_path):
    (tmp_path / "text_sha256.txt").write_text("")
    np.save(tmp_path / "vectors.npy", np.zeros((0, 3), dtype=np.float32))
    spec = f"vectors:{json.dumps(str(tmp_path))}"
    with pytest.raises(InputError, match="windows"):
        load_embedder(f"{spec},windows=mean")
    elsewhere = replace(load_embedder(spec), windows="mean")
    with pytest.raises(InputError, match="windows=mean needs a tokenizer"):
        texts_of([], elsewhere, windows=False)
