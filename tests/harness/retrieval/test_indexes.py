"""Indexes of vectors: exact ones rank as `flat` does, approximate ones alike on every build."""

import json
from dataclasses import replace

import faiss
import numpy as np
import pytest
from commands import call, says
from postgres import postgres  # noqa: F401
from worlds import small

from chunkers.errors import InputError
from harness.embedding.text_vectors import unit_vectors
from harness.retrieval.indexes import flat, hnsw, ivf, pgvector
from harness.retrieval.options import refuse_dataset
from harness.retrieval.ranking import Material, Order, Rankable, SearchQuery, id_places, rank
from harness.retrieval.retrievers import dense
from harness.runs.config import RunConfig
from harness.runs.pipeline import load_retriever
from harness.runs.plan import make_plan
from harness.runs.runner import run
from harness.support.sequences import Ragged
from harness.support.space import Space


def clustered(n, width=32, seed=1):
    """Unit vectors round some centres, among them near ties and equal rows."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, width))
    rows = centres[rng.integers(20, size=n)] + rng.normal(scale=0.3, size=(n, width))
    rows[n // 2 : n // 2 + 50] = rows[0] + rng.normal(scale=1e-7, size=(50, width))
    rows[-20:] = rows[:20]
    return unit_vectors(rows.astype(np.float32))[0]


def near(rows, n, seed):
    """Queries beside some of the rows; the first one is a row."""
    rng = np.random.default_rng(seed)
    queries = rows[rng.integers(len(rows), size=n)] + rng.normal(
        scale=0.05, size=(n, rows.shape[1])
    )
    queries[0] = rows[0]
    return unit_vectors(queries.astype(np.float32))[0]


def material(rows, index):
    numbers = range(len(rows))
    return Material(
        texts=tuple(f"text {i}" for i in numbers),
        vectors=rows,
        usable=np.ones(len(rows), bool),
        chunks=tuple(f"chunk {i}" for i in numbers),
        chunk_texts=Ragged.of_one(np.arange(len(rows))),
        unit_of=np.arange(len(rows)),
        n_units=len(rows),
        vector_index=index,
    )


def rankings(rows, index, queries, depth):
    n = len(rows)
    ids = id_places([f"c{i:06d}" for i in range(n)])
    rankable = Rankable(np.ones(n, dtype=np.int64), ids, np.arange(n))
    indexed = dense.make().index(material(rows, index))
    searched = [SearchQuery("", query) for query in queries]
    indexed.prepare(searched, depth)
    ranked = [rank(indexed, query, Order(depth, 0, "corpus-order"), rankable) for query in searched]
    return [(one.units.tolist(), one.scores.tobytes()) for one in ranked]


@pytest.mark.parametrize("depth", [1, 10, 300])
def test_shards_and_queries_searched_together_change_no_byte(depth, monkeypatch):
    rows = clustered(2000)
    queries = near(rows, 30, seed=2)
    plain = rankings(rows, flat.make(), queries, depth)
    for block, many in ((77, 1 << 30), (77, 1), (1 << 16, 1), (1999, 1)):
        monkeypatch.setattr(flat, "_BLOCK", block)
        monkeypatch.setattr(dense, "_MANY", many)
        assert rankings(rows, flat.make(), queries, depth) == plain


def test_a_search_together_finds_what_the_depth_asked_for_was_too_small_for(monkeypatch):
    rows = clustered(2000)
    queries = near(rows, 5, seed=3)
    monkeypatch.setattr(dense, "_MANY", 1)
    indexed = dense.make().index(material(rows, flat.make()))
    indexed.prepare([SearchQuery("", queries[0])], 5)
    units, _ = indexed.scores(SearchQuery("", queries[0]), 500)
    assert len(units) >= 500


@pytest.mark.parametrize("index", [hnsw.make(), ivf.make()], ids=["hnsw", "ivf"])
def test_an_approximate_index_is_the_same_on_one_thread_and_two(index):
    rows = clustered(3000)
    queries = near(rows, 40, seed=4)
    before = faiss.omp_get_max_threads()
    results = []
    try:
        for threads in (1, 2, 2):
            faiss.omp_set_num_threads(threads)
            results.append(rankings(rows, index, queries, 50))
            assert faiss.omp_get_max_threads() == threads
    finally:
        faiss.omp_set_num_threads(before)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("index", [hnsw.make(nearest=50), ivf.make(nearest=50)])
def test_an_approximate_index_ranks_what_it_finds_and_no_more(index):
    rows = clustered(3000)
    queries = near(rows, 40, seed=5)
    exact = rankings(rows, flat.make(), queries, 10)
    found = rankings(rows, index, queries, 1000)
    assert all(len(units) == 50 for units, _ in found)
    shared = [len(set(a[:10]) & set(b[:10])) for (a, _), (b, _) in zip(exact, found, strict=True)]
    assert np.mean(shared) > 9


def test_an_index_that_reads_one_cluster_loses_some_and_one_that_reads_all_none():
    rows = clustered(3000)
    queries = near(rows, 40, seed=6)
    exact = [units[:10] for units, _ in rankings(rows, flat.make(), queries, 10)]

    def first(**options):
        return [u[:10] for u, _ in rankings(rows, ivf.make(clusters=30, **options), queries, 10)]

    assert first(probes=1) != exact
    assert first(probes=30) == exact


def test_few_vectors_are_enough_for_every_index():
    rows = clustered(100)[:3]
    for index in (flat.make(), hnsw.make(), ivf.make()):
        assert [units for units, _ in rankings(rows, index, rows, 10)] == [
            units for units, _ in rankings(rows, flat.make(), rows, 10)
        ]


def records(folder):
    """The rankings of the cells of a run, by chunker and retriever."""
    manifest = json.loads((folder / "manifest.json").read_text())
    paths = {
        (cell["chunker"], cell["retriever"]): folder / "cells" / cell["key"]
        for cell in manifest["cells"]
    }
    return {
        name: [(path / file).read_bytes() for file in ("run.trec", "scores.jsonl", "metrics.json")]
        for name, path in paths.items()
    }


def grid(folder, **options):
    config = RunConfig().over(chunkers=("ast", "fixed"), **options)
    run(make_plan(config), [small()], folder)
    return records(folder)


def test_vectors_in_postgresql_give_the_bytes_of_the_local_run(tmp_path, postgres):  # noqa: F811
    local = grid(tmp_path / "local", retrievers=("dense", "hybrid"))
    server = grid(tmp_path / "server", retrievers=("dense", "hybrid"), index=f"pgvector:{postgres}")
    assert len(local) == len(server) == 4
    for (chunker, retriever), files in local.items():
        assert server[chunker, f"{retriever}:index=pgvector"] == files
    manifest = (tmp_path / "server" / "manifest.json").read_text()
    assert "postgresql:" not in manifest
    assert json.loads(manifest)["config"]["index"] == "pgvector"


def test_a_table_is_written_once_and_searched_by_a_graph_if_asked(tmp_path, postgres):  # noqa: F811
    rows = clustered(500)
    queries = near(rows, 10, seed=7)
    exact = rankings(rows, flat.make(), queries, 10)
    index = pgvector.make(argument=postgres)
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'chunkmark'"

    def count():
        with index.server.transaction() as connection:
            return connection.execute(tables).fetchone()[0]

    assert rankings(rows, index, queries, 10) == exact
    before = count()
    assert rankings(rows, pgvector.make(argument=postgres), queries, 10) == exact
    assert count() == before
    graph = pgvector.make(argument=postgres, search="hnsw", nearest=50)
    assert "pgvector" in graph.version
    assert not index.version
    found = rankings(rows, graph, queries, 1000)
    assert all(len(units) == 50 for units, _ in found)
    shared = [len(set(a[:10]) & set(b[:10])) for (a, _), (b, _) in zip(exact, found, strict=True)]
    assert np.mean(shared) > 9
    assert count() == before + 1
    with pytest.raises(InputError, match="2001 components, and pgvector takes 2000"):
        graph.build(np.eye(2, 2001, dtype=np.float32))


def test_a_damaged_table_is_written_again_and_a_lost_connection_opened_again(postgres):  # noqa: F811
    rows = clustered(300)
    queries = near(rows, 5, seed=8)
    exact = rankings(rows, flat.make(), queries, 20)
    index = pgvector.make(argument=postgres)
    search = index.build(rows)
    for damage in ("DELETE FROM {} WHERE number > 100", "TRUNCATE {}", "DROP TABLE {}"):
        with index.server.transaction() as connection:
            connection.execute(damage.format(f"chunkmark.{search.table}"))
        with pytest.raises(InputError, match=r"rows of|refused"):
            search.search(queries, 120)
        assert rankings(rows, index, queries, 20) == exact
    with index.server.transaction() as connection:
        own = connection.info.backend_pid
    with (
        pgvector.Server(postgres).transaction() as other,
        pytest.raises(InputError, match="the server refused"),
    ):
        other.execute("SELECT pg_terminate_backend(%s)", (own,))
        search.search(queries, 5)
    assert rankings(rows, index, queries, 20) == exact


def test_no_message_and_no_file_repeats_a_password(capsys, tmp_path, postgres):  # noqa: F811
    address = "postgresql://someone:secret@127.0.0.1:1/none"
    for arguments in (
        ("-r", f"bm25:index=pgvector:{address}"),
        ("--index", f"pgvectr:{address}"),
        ("--index", f"pgvector:{address}|x"),
        ("--index", f"pgvector:{address},search=some"),
        ("--index", f"pgvector:{address}"),
        ("-r", f"dense:index=pgvector:{address}"),
    ):
        done = call(capsys, "run", "--limit", 2, "-o", tmp_path / "run", *arguments)
        says(done, 2)
        assert "secret" not in done.err
    quoted = json.dumps(f"pgvector:{postgres}")
    grid(tmp_path / "server", retrievers=(f"dense:index={quoted}",))
    assert "postgresql:" not in (tmp_path / "server" / "manifest.json").read_text()


def test_an_approximate_index_is_asked_once_and_refused_where_all_chunks_count():
    rows = clustered(3000)
    (query,) = near(rows, 1, seed=9)
    indexed = dense.make().index(material(rows, hnsw.make(nearest=40)))
    asked = []
    search = indexed.search.search
    object.__setattr__(
        indexed.search, "search", lambda *given: asked.append(given) or search(*given)
    )
    for depth in (10, 100, 1000):
        indexed.scores(SearchQuery("", query), depth)
    assert len(asked) == 1
    _, retriever = load_retriever("dense:index=hnsw")
    for pooling in ("first", "sum"):
        dataset = small(gold="document", pooling=pooling)
        with pytest.raises(InputError, match=f"pooling={pooling} of small needs all"):
            refuse_dataset("dense:index=hnsw", retriever.options, dataset)


def test_a_vector_that_cannot_be_used_is_left_out_within_the_limit_of_memory():
    rows = clustered(500)
    made = replace(material(rows, flat.make()), space=Space(1000))
    made.usable[3] = False
    indexed = dense.make().index(made)
    assert isinstance(indexed.vectors, np.memmap)
    assert len(indexed.vectors) == 499
    with pytest.raises(InputError, match="index ivf keeps"):
        dense.make().index(replace(made, vector_index=ivf.make()))


def test_wrong_indexes_are_refused_before_any_work(capsys, tmp_path):
    def fails(*arguments):
        return call(capsys, "run", "--limit", 2, "-o", tmp_path / "run", *arguments)

    says(fails("--index", "hsnw"), 2, "unknown index 'hsnw'; did you mean hnsw?")
    says(fails("--index", "annoy"), 2, "unknown index 'annoy'", "flat, hnsw, ivf, pgvector")
    says(fails("--index", "hnsw:links=1"), 2, "hnsw: links=1: must be 2 to 1024")
    says(fails("--index", "hnsw", "-r", "bm25"), 2, "no retriever of this run has vectors")
    says(fails("-r", "bm25:index=hnsw"), 2, "retriever bm25: index=", "needs vectors")
    says(fails("--index", "ivf", "--profile", "code-chunk"), 2, "index=ivf is refused")
    server = "pgvector:postgresql://someone:secret@127.0.0.1:1/none"
    done = fails("--index", server)
    says(done, 2, "pgvector: no connection", "write pgvector:postgresql://USER@HOST/DATABASE")
    assert "secret" not in done.err
    assert not (tmp_path / "run").exists()


def test_an_index_is_part_of_the_retrievers_name():
    assert load_retriever("dense:index=flat")[0] == "dense"
    assert load_retriever("dense", "hnsw")[0] == "dense:index=hnsw"
    assert load_retriever("hybrid", "hnsw:effort=99")[0] == "hybrid:index=hnsw:effort=99"
    assert load_retriever('dense:index="hnsw:effort=99,links=8"')[0] == (
        'dense:index="hnsw:effort=99,links=8"'
    )
    assert load_retriever("dense:index=ivf", "hnsw")[0] == "dense:index=ivf"
    assert load_retriever("bm25", "hnsw")[0] == "bm25"
    assert "faiss" in load_retriever("dense:index=ivf")[1].version
