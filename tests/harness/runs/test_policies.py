"""Expansion and hops in runs: rankings stay whole, budgets are filled, what is stored is right."""

import json

import numpy as np
import pytest
from worlds import files, grid, small

from chunkers.errors import InputError
from chunkers.source import Source
from harness.model import Corpus, Dataset, Query
from harness.retrieval.hops import Lexicon
from harness.runs.record import read_record

POLICIES = (
    "bm25:expand=neighbours",
    "bow:expand=parent",
    "vsa:hops=2",
    "dense:hops=2",
    "hybrid:expand=parent,hops=2",
    "bm25:expand=neighbours,hop_chunks=2,hops=2",
)


def record(cell, tmp_path, name="run"):
    return read_record(tmp_path / name / "cells" / cell.key)


def by_query(found):
    return {query.id: ranking for query, ranking in zip(found.queries, found.rankings, strict=True)}


@pytest.mark.parametrize("profile", ["default", "trec:variant=beir"])
def test_every_ranking_is_a_permutation_that_fills_the_budget(tmp_path, profile):
    cells = grid(
        tmp_path, retrievers=POLICIES, chunkers=("ast:max_size=120",), depth=1, profile=profile
    ).cells
    assert [cell.retriever for cell in cells] == list(POLICIES)
    for cell in cells:
        found = record(cell, tmp_path)
        for query, ranking in zip(found.queries, found.rankings, strict=True):
            units = [chunk.id for chunk in found.chunks if chunk.corpus == query.corpus]
            assert sorted(ranking.ids) == sorted(units)
            assert len(ranking.scores) == len(units)
            assert ranking.by_rank


def test_rankings_end_where_depth_and_budget_are_reached(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.runs.plan.BUDGET", 1)
    asked = {"chunkers": ("ast:max_size=60",), "measures": ("SpanR@150c", "R@3")}
    for cell in grid(tmp_path, retrievers=POLICIES, depth=3, **asked).cells:
        found = record(cell, tmp_path)
        sizes = {chunk.id: chunk.nws[1] - chunk.nws[0] for chunk in found.chunks}
        for ranking in found.rankings:
            spent = np.cumsum([sizes[one] for one in ranking.ids])
            assert len(ranking.ids) >= 3
            assert spent[-1] >= 150
            assert len(ranking.ids) == 3 or spent[-2] < 150


def test_neighbours_follow_the_chunk_that_brings_them(tmp_path):
    retrievers = ("bm25", "bm25:expand=neighbours")
    plain, wide = grid(tmp_path, retrievers=retrievers, chunkers=("ast:max_size=120",)).cells
    before = by_query(record(plain, tmp_path))
    found = record(wide, tmp_path)
    files_of = {}
    for chunk in found.chunks:
        files_of.setdefault((chunk.corpus, chunk.path), []).append(chunk.id)
    for query, ranking in by_query(found).items():
        expected = []
        for one in before[query].ids:
            mine = next(ids for (_, path), ids in files_of.items() if one in ids)
            at = mine.index(one)
            for unit in (one, *mine[max(0, at - 1) : at], *mine[at + 1 : at + 2]):
                if unit not in expected:
                    expected.append(unit)
        assert list(ranking.ids) == expected
        assert not before[query].by_rank
    assert wide.metrics["metrics"] != plain.metrics["metrics"]


@pytest.mark.parametrize("retriever", ["bm25", "dense"])
def test_the_second_query_is_made_of_what_the_first_one_found(tmp_path, retriever):
    """Both hops, each as a run of its own with one hop, joined by hand."""
    dataset = small()
    asked = {"chunkers": ("ast:max_size=120",), "retrievers": (retriever,)}
    (plain,) = grid(tmp_path, "plain", dataset, **asked).cells
    first = by_query(record(plain, tmp_path, "plain"))
    texts = {}
    for corpus in dataset.corpora:
        for chunk in record(plain, tmp_path, "plain").chunks:
            source = next((s for s in corpus.sources if s.path == chunk.path), None)
            if source is not None:
                texts.setdefault(corpus.id, {})[chunk.id] = source.text[chunk.start : chunk.end]
    again = []
    for query in dataset.queries:
        if query.id in first:
            ids = list(texts[query.corpus])
            lexicon = Lexicon.of(list(texts[query.corpus].values()))
            chunks = [ids.index(one) for one in first[query.id].ids[:3]]
            text = lexicon.second_query(query.text, chunks)
            again.append(Query(query.id, query.corpus, text, query.targets))
    (other,) = grid(tmp_path, "again", small(queries=tuple(again)), **asked).cells
    second = by_query(record(other, tmp_path, "again"))
    asked["retrievers"] = (f"{retriever}:hop_chunks=3,hops=2",)
    (both,) = grid(tmp_path, "both", dataset, **asked).cells
    for query, ranking in by_query(record(both, tmp_path, "both")).items():
        head = first[query].ids[:3]
        tail = [
            (unit, score)
            for unit, score in zip(second[query].ids, second[query].scores, strict=True)
            if unit not in head
        ]
        tail += [
            (unit, score)
            for unit, score in zip(first[query].ids, first[query].scores, strict=True)
            if unit not in head and unit not in second[query].ids
        ]
        assert list(ranking.ids) == [*head, *(unit for unit, _ in tail)]
        assert list(ranking.scores) == [*first[query].scores[:3], *(score for _, score in tail)]


def test_both_queries_are_paid_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    asked = {"chunkers": ("ast:max_size=120",), "measures": ("MRR",)}
    (one,) = grid(tmp_path, "one", retrievers=("dense",), **asked).cells
    (two,) = grid(tmp_path, "two", retrievers=("dense:hops=2",), **asked).cells
    assert one.cell["cost"]["embedded_now"] > 4
    assert two.cell["cost"]["embedded_now"] == 4  # the second queries alone
    assert two.cell["cost"]["embedding_seconds"] > one.cell["cost"]["embedding_seconds"]
    (three,) = grid(tmp_path, "three", retrievers=("dense:hops=2",), **asked).cells
    assert three.cell["cost"]["embedded_now"] == 0
    assert files(tmp_path / "two") == files(tmp_path / "three")


def test_a_query_whose_chunks_add_no_name_keeps_its_first_ranking(tmp_path):
    sources = (Source("fox\n", "a.txt"), Source("fox hen\n", "b.txt"), Source("3.14\n", "c.txt"))
    queries = (
        Query("all", "docs", "fox hen", qrels={"b.txt": 1}),
        Query("number", "docs", "3 14", qrels={"c.txt": 1}),
    )
    dataset = Dataset("docs", "document", (Corpus("docs", sources),), queries, pooling="max")
    asked = {
        "chunkers": ("whole-file",),
        "retrievers": ("dense:hops=2", "bm25:hop_chunks=1,hops=2"),
    }
    dense, lexical = grid(tmp_path, dataset=dataset, **asked).cells
    found = by_query(record(dense, tmp_path))
    assert not found["all"].by_rank  # nothing new was found, so nothing was asked again
    assert by_query(record(lexical, tmp_path))["number"].ids[0] == "c.txt"


def test_scores_of_a_hop_do_not_reorder_what_a_profile_takes_as_given(tmp_path):
    """BEIR's MRR puts equal scores in corpus order; scores of two hops say nothing of order."""
    asked = {"retrievers": POLICIES, "chunkers": ("ast:max_size=120",), "measures": ("MRR", "P@1")}
    for cell in grid(tmp_path, profile="trec:variant=beir", **asked).cells:
        folder = tmp_path / "run" / "cells" / cell.key
        rows = [json.loads(line) for line in (folder / "per_query.jsonl").read_text().splitlines()]
        for row in rows:
            assert (row["metrics"]["MRR"] == 1) == (row["metrics"]["P@1"] == 1)
        lines = (folder / "scores.jsonl").read_text().splitlines()
        assert all(json.loads(line)["by_rank"] is True for line in lines)


def test_plain_rankings_are_stored_as_ever(tmp_path):
    for cell in grid(tmp_path, retrievers=("dense", "hybrid", "bow"), chunkers=("fixed",)).cells:
        folder = tmp_path / "run" / "cells" / cell.key
        for line in (folder / "scores.jsonl").read_text().splitlines():
            assert set(json.loads(line)) == {"query_id", "scores"}


def test_two_hops_are_refused_where_a_profile_reproduces_one(tmp_path):
    with pytest.raises(InputError, match=r"retriever bm25:hops=2: .* profile code-chunk"):
        grid(tmp_path, profile="code-chunk", retrievers=("bm25:hops=2",))


def test_expansion_is_refused_where_documents_are_ranked(tmp_path):
    corpus = Corpus("docs", (Source("fox", "a"),))
    queries = (Query("q", "docs", "fox", qrels={"a": 1}),)
    dataset = Dataset("docs", "document", (corpus,), queries, pooling="max")
    with pytest.raises(InputError, match=r"retriever bm25:expand=parent: .*refused for docs"):
        grid(tmp_path, dataset=dataset, retrievers=("bm25", "bm25:expand=parent"))
    assert not (tmp_path / "run" / "cells").exists()


@pytest.mark.parametrize("retriever", ["hybrid", "dense:expand=neighbours"])
def test_fusion_and_expansion_follow_the_similarity_of_the_profile(tmp_path, retriever):
    (cell,) = grid(
        tmp_path, profile="code-chunk", retrievers=(retriever,), chunkers=("fixed:max_size=60",)
    ).cells
    assert cell.cell["health"]["disturbed"] == 0
    assert cell.metrics["metrics"]["MRR"]["mean"] > 0


def test_second_queries_need_an_embedder_that_can_embed_them(tmp_path):
    import hashlib

    vectors = tmp_path / "vectors"
    vectors.mkdir()
    dataset = small()
    texts = {source.text for corpus in dataset.corpora for source in corpus.sources}
    texts |= {query.text for query in dataset.queries}
    known = sorted(text for text in texts if text.strip())
    np.save(vectors / "vectors.npy", np.eye(len(known), 8, dtype=np.float32) + 0.1)
    digests = (hashlib.sha256(text.encode()).hexdigest() for text in known)
    (vectors / "text_sha256.txt").write_text("\n".join(digests))
    asked = {"chunkers": ("whole-file",), "embedders": (f"vectors:{vectors}",)}
    assert grid(tmp_path, dataset=dataset, retrievers=("dense",), **asked).cells
    with pytest.raises(InputError, match="hops=2 embeds second queries, and vectors:"):
        grid(tmp_path, "two", dataset, retrievers=("dense:hops=2",), **asked)


def test_unseen_tokens_of_second_queries_are_counted_apart():
    from types import SimpleNamespace

    from harness.embedding.text_vectors import Vectors
    from harness.runs.health import truncation

    def vectors(*tokens):
        zeros = np.zeros(len(tokens))
        return Vectors(np.zeros((len(tokens), 2), np.float32), np.array(tokens), zeros, zeros, 0)

    embedder = SimpleNamespace(limit=4, query_limit=None)
    texts = [0, 1]
    one = truncation(embedder, vectors(2, 4), vectors(6, 2), vectors(0, 16), texts)
    assert one["unseen_query_tokens"] == 2 / 8
    assert one["unseen_second_query_tokens"] == 12 / 16
    assert one["unseen_chunk_tokens"] == 0
    plain = truncation(embedder, vectors(2, 4), vectors(6, 2), None, texts)
    assert (plain["unseen_query_tokens"], plain["unseen_second_query_tokens"]) == (2 / 8, None)
