"""Chunkers that cut by vectors: embedded at once, counted, keyed, the same on every run."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import BYTES, files, grid, small

from chunkers import Services, load_chunker
from chunkers.source import Source, Span
from harness.chunking.corpus import chunk_corpus
from harness.embedding.vector_store import VectorStore
from harness.model import Corpus
from harness.runs.chunking import UNITS, ChunkVectors
from harness.runs.pipeline import load_embedder

SPEC = "semantic:max_size=200,unit_size=40"


@pytest.fixture(scope="module")
def minilm():
    return load_embedder("minilm")


@pytest.fixture
def store(tmp_path):
    opened = VectorStore(tmp_path / "vectors.sqlite")
    yield opened
    opened.close()


def test_the_texts_of_all_files_are_embedded_at_once_and_served_from_memory(minilm, store):
    corpora = small().corpora[:1]
    chunker = load_chunker(SPEC)
    told = []
    vectors = ChunkVectors(minilm, store, lambda done, total: told.append((done, total)))
    vectors.prepare(corpora, chunker, None)
    assert vectors.texts == vectors.computed > 10
    assert told[-1] == (vectors.texts, vectors.texts)
    assert vectors.seconds > 0
    spent = vectors.spent
    assert spent > 0
    cuts = [chunk_corpus(one, chunker, embed=vectors) for one in corpora]
    assert (vectors.computed, vectors.spent) == (vectors.texts, spent)
    assert not any(one.failures for one in cuts)

    single = ChunkVectors(minilm, store)
    alone = [chunk_corpus(one, chunker, embed=single) for one in corpora]
    assert [one.chunks for one in alone] == [one.chunks for one in cuts]
    assert (single.texts, single.computed) == (vectors.texts, 0)
    assert single.seconds == pytest.approx(vectors.seconds)
    assert single([]).shape == (0, 0)


def test_a_lexical_cell_borrows_the_first_embedder_and_every_cell_says_what_cutting_cost(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    dense, lexical, plain = (
        grid(tmp_path, chunkers=(SPEC,)).cells
        + grid(tmp_path, "plain", chunkers=("fixed:max_size=200",), retrievers=("bm25",)).cells
    )
    fingerprint = load_embedder("minilm").fingerprint()
    costs = [cell.cell["cost"] for cell in (dense, lexical)]
    for cell, cost in zip((dense, lexical), costs, strict=True):
        assert cell.cell["identity"]["chunk_embedder"] == fingerprint
        assert cell.cell["identity"]["tokenizer"] is None
        assert cost["chunking_texts"] > 20
        assert cost["seconds"] >= cost["chunking_embedding_seconds"] > 0
        assert cell.cell["health"]["chunks"] > 4
        assert cell.cell["health"]["coverage"] == 1
    assert lexical.embedder == "none"
    assert dense.cell["health"]["chunks"] == lexical.cell["health"]["chunks"]
    assert costs[0]["embedded_now"] > costs[0]["chunking_texts"]
    assert costs[1]["embedded_now"] == 0  # the corpora were cut for the cell before
    assert dense.cell["times"][UNITS] > 0
    assert plain.cell["identity"]["chunk_embedder"] is None
    assert plain.cell["cost"]["chunking_texts"] is None
    assert plain.cell["cost"]["embedded_now"] is None

    again = grid(tmp_path, "again", chunkers=(SPEC,), retrievers=("bm25",)).cells[0].cell["cost"]
    assert again["embedded_now"] == 0
    assert again["chunking_embedding_seconds"] == costs[0]["chunking_embedding_seconds"]


def test_threads_and_the_history_of_the_store_change_no_byte(tmp_path):
    support = Path(__file__).parents[2] / "support"
    script = (
        "import sys, pathlib\n"
        "from worlds import grid\n"
        "specs = tuple(sys.argv[2:])\n"
        "grid(pathlib.Path(sys.argv[1]), chunkers=specs, retrievers=('bm25',))\n"
    )
    found = []
    for name, threads, seed, before in (
        ("one", "1", "1", ()),
        ("two", "2", "2", ("cluster-semantic",)),
    ):
        out = tmp_path / name
        env = {
            **os.environ,
            "CHUNKMARK_CACHE": str(tmp_path / f"{name}.cache"),
            "OMP_NUM_THREADS": threads,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(support), os.environ.get("PYTHONPATH", "")]),
        }
        command = [sys.executable, "-c", script]
        if before:
            subprocess.run([*command, str(out / "before"), *before], env=env, check=True)
        specs = (SPEC, "cluster-semantic:max_size=200,unit_size=40")
        subprocess.run([*command, str(out), *specs], env=env, check=True)
        found.append(files(out / "run"))
    assert found[0] == found[1]
    assert len(found[0]) == 2 * len(BYTES)


def test_a_chunker_that_names_no_texts_beforehand_is_served_as_it_asks(tmp_path):
    for name in ("ByVectors", "FailingTexts"):
        given = {"chunkers": (f"meaning:{name}",), "retrievers": ("bm25",), "max_failures": "25%"}
        result = grid(tmp_path, name, **given)
        assert result.failures == [
            f"meaning:{name} failed on one/copy of alpha.py of corpus one of small: RuntimeError: "
            "cannot parse this (meaning.py, line 16)"
        ]
        (cell,) = result.cells
        assert cell.cell["cost"]["chunking_texts"] >= 2
        assert cell.cell["health"]["chunks"] == 4


def test_out_of_memory_while_cutting_halves_the_batches(tmp_path, monkeypatch):
    from harness.embedding.embedder import OutOfMemoryError
    from harness.embedding.pretrained import Loaded

    run = Loaded.run

    def tight(self, texts, rows, output):
        if rows > 4:
            raise OutOfMemoryError("no")
        return run(self, texts, rows, output)

    monkeypatch.setattr(Loaded, "run", tight)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    for chunker in ("semantic:max_size=400", "meaning:ByVectors"):
        name = chunker.partition(":")[0]
        given = {"chunkers": (chunker,), "retrievers": ("bm25",), "max_failures": "1"}
        (cell,) = grid(tmp_path, name, **given).cells
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        assert len(manifest["notes"]) == 2
        assert cell.cell["identity"]["chunk_embedder"] != load_embedder("minilm").fingerprint()


def test_tokens_and_headers_reach_a_cell(tmp_path):
    chunkers = ("fixed-tokens:max_size=60", "fixed-chars:max_size=300", "ast:header=on")
    cells = grid(tmp_path, chunkers=chunkers, retrievers=("bm25",)).cells
    assert [cell.chunker for cell in cells] == list(chunkers)
    tokens, characters, headed = (cell.cell for cell in cells)
    assert tokens["identity"]["tokenizer"]
    assert characters["identity"]["tokenizer"] is None
    assert 30 < tokens["health"]["size_max"] <= 60
    assert characters["health"]["size_max"] == 300
    plain = grid(tmp_path, "plain", chunkers=("ast",), retrievers=("bm25",)).cells[0].cell
    assert headed["health"]["coverage"] == plain["health"]["coverage"] == 1
    # A header is embedded and searched, but never charged or delivered.
    assert headed["cost"]["chars_delivered"] == plain["cost"]["chars_delivered"]


TOPICS = '''\
def bake_bread(flour, water, yeast, salt):
    """Knead the dough and bake the bread in a hot oven."""
    dough = knead(flour + water, yeast, salt)
    loaf = let_rise(dough, hours=2)
    return bake(loaf, oven=230)

def bake_cake(flour, sugar, butter, eggs):
    """Whisk butter, sugar and eggs, then bake the cake in the oven."""
    batter = whisk(butter, sugar, eggs)
    return bake(batter + flour, oven=180)

def bake_cookies(flour, sugar, butter):
    """Roll cookie dough and bake it in the oven."""
    dough = roll(butter, sugar, flour)
    return bake(dough, oven=200)

def open_socket(host, port, timeout):
    """Connect a TCP socket to a server and send the handshake packet."""
    connection = socket.create_connection((host, port), timeout)
    connection.sendall(HANDSHAKE_PACKET)
    return connection

def receive_packet(connection, limit):
    """Read network packets from the TCP connection until the server closes it."""
    header = connection.recv(HEADER_BYTES)
    return connection.recv(min(limit, packet_length(header)))

def close_socket(connection):
    """Shut the TCP connection to the server down."""
    connection.shutdown(socket.SHUT_RDWR)
    connection.close()
'''


@pytest.mark.parametrize("spec", ["semantic:max_size=2000", "cluster-semantic:max_size=2000"])
def test_the_model_sees_where_the_subject_changes(minilm, store, spec):
    source = Source(TOPICS, "bakery_and_network.py", "python")
    vectors = ChunkVectors(minilm, store)
    spans = load_chunker(spec).chunk(source, Services(vectors))
    assert TOPICS.index("def open_socket") in [span.start for span in spans]


def test_a_unit_that_the_model_has_no_vector_for_is_noted(minilm, store, monkeypatch):
    import numpy as np

    from harness.embedding.pretrained import Loaded

    run = Loaded.run

    def broken(self, *asked):
        for batch in run(self, *asked):
            if 0 in batch.numbers:
                batch.outputs[batch.numbers.index(0)][:] = np.nan
            yield batch

    monkeypatch.setattr(Loaded, "run", broken)
    corpus = Corpus("one", (Source(TOPICS, "a.py", "python"),))
    found = chunk_corpus(corpus, load_chunker("semantic"), embed=ChunkVectors(minilm, store))
    assert found.notes == {"unit without a vector": 1}
    assert not found.failures


def test_a_header_is_no_text_of_the_source_but_its_tokens_cost(tmp_path):
    chunkers = ("ast:header=on,max_size=200", "ast:max_size=200")
    headed, plain = grid(tmp_path, chunkers=chunkers, retrievers=("dense",)).cells
    with_header, without = (
        [
            json.loads(line)
            for line in (tmp_path / "run" / "cells" / cell.key / "chunks.jsonl").open()
        ]
        for cell in (headed, plain)
    )
    # The row says what is embedded round the text, and is the same otherwise.
    for row in with_header:
        before, behind = row.pop("around")
        assert before >= len("".join(row["path"].split())) > 0 == behind
    assert with_header == without
    assert headed.cell["cost"]["tokens"] > plain.cell["cost"]["tokens"]
    assert headed.cell["health"]["size_max"] == plain.cell["health"]["size_max"]


def test_blank_spans_are_dropped_and_counted_whatever_stands_in_their_header():
    def blanks(source):
        spans = [Span(0, 0, "a.py\n"), Span(0, 4, "a.py\n   \n"), Span(4, 10, "a.py\nx = 1\n")]
        return [*spans, Span(4, 10, " \n")]

    text = "   \nx = 1\n"
    corpus = Corpus("one", (Source(text, "a.py", "python"),))
    chunker = dataclasses.replace(
        load_chunker("ast"), chunk=lambda source, given: blanks(source), made_by=""
    )
    with pytest.warns(UserWarning, match="runs in this process"):
        found = chunk_corpus(corpus, chunker)
    assert found.blank == 3
    assert [(one.id, one.text) for one in found.chunks] == [("a.py:2-2", "a.py\nx = 1\n")]
