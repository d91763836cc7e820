"""Reranking by a cross-encoder: a tiny one, made on the spot, of random weights."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from models import LIMIT, tiny_cross_encoder
from retrieving import TEN, material, ranked, scores
from worlds import files, grid, small

from chunkers.errors import InputError
from harness.model import Corpus, Dataset, Query, Target
from harness.retrieval.cross_encoder import CrossEncoder
from harness.retrieval.ranking import Order
from harness.runs.pipeline import load_retriever
from harness.runs.verify import verify
from harness.support.json_files import read_json

WORDS = ("def", "return", "value", "for", "x", "in", "parse", "url", "(", ")", "zebra")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_cross_encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def model(folder):
    return CrossEncoder("tiny", folder)


@pytest.fixture(scope="module")
def texts():
    """Of all lengths, up to twice the limit."""
    rng = np.random.default_rng(0)
    lengths = [0, 1, *rng.integers(1, 2 * LIMIT, size=28)]
    return [" ".join(rng.choice(WORDS, size=n)) for n in lengths]


def test_a_score_depends_on_neither_pair_mates_order_nor_threads(model, texts):
    import torch

    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        whole = model.score("parse url", texts).scores
        order = np.random.default_rng(1).permutation(len(texts))[:13]
        some = model.score("parse url", [texts[n] for n in order]).scores
        torch.set_num_threads(1)
        alone = [model.score("parse url", [text]).scores[0] for text in texts[:9]]
    finally:
        torch.set_num_threads(threads)
    assert (some == whole[order]).all()
    assert (alone == whole[:9]).all()
    assert len(set(whole.tolist())) > 20


def test_scores_are_the_logits_of_sentence_transformers(model, folder, texts):
    import torch
    from sentence_transformers import CrossEncoder as Theirs

    theirs = Theirs(str(folder), device="cpu")
    short = [text for text in texts if len(text.split()) < LIMIT // 4]
    pairs = [("def parse(url)", text) for text in short]
    expected = theirs.predict(pairs, activation_fn=torch.nn.Identity())
    found = model.score("def parse(url)", short)
    assert np.abs(found.scores - expected).max() < 1e-5
    assert not found.unseen.any()


def test_a_long_text_is_cut_where_their_tokenizer_cuts_it(model, folder, texts):
    import torch
    from sentence_transformers import CrossEncoder as Theirs

    theirs = Theirs(str(folder), device="cpu")
    long = [text for text in texts if len(text.split()) > LIMIT]
    expected = theirs.predict(
        [("parse url", text) for text in long], activation_fn=torch.nn.Identity()
    )
    found = model.score("parse url", long)
    assert np.abs(found.scores - expected).max() < 1e-5
    assert (found.unseen > 0).all()
    assert (found.tokens - found.unseen == LIMIT - 3).all()


def test_a_long_query_leaves_half_of_the_room_and_keeps_the_end_it_names(model):
    room = LIMIT - 3
    head, tail, text = "parse " * 80, "url " * 80, "x " * 80
    whole = model.score(head + tail, [text, "x"])
    assert whole.tokens.tolist() == [240, 161]
    assert (whole.tokens - whole.unseen).tolist() == [room, room]
    kept = room // 2
    same = model.score("parse " * kept, ["x " * (room - kept)]).scores[0]
    assert whole.scores[0] == same
    end = model.score(head + tail, [text, "x"], keeps="tail").scores
    assert end[0] == model.score("url " * kept, ["x " * (room - kept)]).scores[0]
    assert end[1] == model.score("url " * (room - 1), ["x"]).scores[0]


def test_no_texts_have_no_scores(model):
    assert model.score("parse", []).scores.tolist() == []


@pytest.mark.parametrize("first", ["bm25", "bow", "vsa", "dense", "hybrid"])
@pytest.mark.parametrize("top", [1, 3, 10, 99])
def test_the_first_units_stand_in_the_order_of_the_model(folder, model, first, top):
    vectors = np.random.default_rng(2).normal(size=(10, 4))
    corpus = material(TEN, vectors=vectors)
    before = ranked(first, corpus, "parse url", vectors[0]).units.tolist()
    spec = f"rerank:{folder},first={first},top={top}"
    found = ranked(spec, corpus, "parse url", vectors[0])
    logits = dict(enumerate(model.score("parse url", TEN).scores.tolist()))
    head = sorted(before[:top], key=lambda unit: (-logits[unit], unit))
    assert found.units.tolist() == head + before[top:]
    assert scores(found) == {unit: logits[unit] for unit in head}
    assert np.isnan(found.scores[top:]).all()
    assert found.by_rank
    assert found.counts["pairs"] == min(top, len(before))


def test_a_shallow_ranking_is_the_beginning_of_the_reranked_one(folder):
    corpus = material(TEN)
    spec = f"rerank:{folder},first=bm25,top=6"
    deep = ranked(spec, corpus, "parse url").units.tolist()
    for depth in range(1, 10):
        order = Order(depth, 0, "corpus-order")
        assert ranked(spec, corpus, "parse url", order=order).units.tolist() == deep[:depth]
    assert len(ranked(spec, corpus, "parse url", order=Order(1, 5, "corpus-order")).units) == 5


def test_equal_texts_are_ordered_by_the_rule_of_the_profile(folder):
    corpus = material(["parse", "x", "parse", "parse"])
    spec = f"rerank:{folder},first=vsa"
    places = ranked(spec, corpus, "url").units.tolist()
    assert [unit for unit in places if unit != 1] == [0, 2, 3]
    order = Order(10, 0, "float32-id-desc")
    places = ranked(spec, corpus, "url", order=order).units.tolist()
    assert [unit for unit in places if unit != 1] == [3, 2, 0]


def test_a_document_scores_as_its_best_chunk(folder, model):
    corpus = material(TEN, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    found = ranked(f"rerank:{folder},first=bm25,top=2", corpus, "parse url")
    logits = model.score("parse url", TEN).scores
    expected = {0: logits[:4].max(), 1: logits[4:7].max(), 2: logits[7:].max()}
    before = ranked("bm25", corpus, "parse url").units.tolist()
    assert scores(found) == {unit: expected[unit] for unit in scores(found)}
    assert sorted(found.units[:2].tolist()) == sorted(before[:2])
    assert found.units[2] == before[2]


def test_the_version_holds_weights_libraries_and_the_first_retriever(folder, tmp_path):
    one, two = (
        load_retriever(f"rerank:{path},first=bm25")[1].version
        for path in (folder, tiny_cross_encoder(tmp_path / "other", seed=1))
    )
    assert one != two
    for word in ("torch", "sentence-transformers", "bm25s", "weights", "buckets"):
        assert word in one
    assert one != load_retriever(f"rerank:{folder},first=bow")[1].version


def test_the_builder_makes_the_same_model_again(folder, tmp_path, monkeypatch):
    script = Path(__file__).parents[3] / "support" / "models.py"
    monkeypatch.setattr("sys.argv", [str(script), str(tmp_path / "made")])
    runpy.run_path(str(script), run_name="__main__")
    assert CrossEncoder("x", tmp_path / "made").weights == CrossEncoder("x", folder).weights


def damaged(folder, target, change):
    shutil.copytree(folder, target)
    change(target)
    return target


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def two_labels(folder):
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig.from_pretrained(folder, num_labels=2)
    BertForSequenceClassification(config).save_pretrained(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pickled, "safetensors"),
        (two_labels, "no cross-encoder with one label"),
    ],
)
def test_a_model_that_cannot_be_used_says_why(folder, tmp_path, change, message):
    path = damaged(folder, tmp_path / "model", change)
    with pytest.raises(InputError, match=message):
        ranked(f"rerank:{path},first=bm25", material(TEN), "parse")


def test_where_the_tokenizer_states_no_limit_the_positions_are_one(folder, tmp_path, model, texts):
    def endless(copy):
        path = copy / "tokenizer_config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": int(1e30)}))

    other = CrossEncoder("endless", damaged(folder, tmp_path / "model", endless))
    assert other.room == LIMIT - 3
    assert (other.score("parse", texts).scores == model.score("parse", texts).scores).all()


@pytest.mark.parametrize(
    "spec",
    ["rerank", 'rerank:""', "rerank:/nowhere/at/all", "rerank:{},top=0", "rerank:{},first=rerank"],
)
def test_wrong_specs_are_refused_before_anything_is_computed(folder, spec):
    with pytest.raises(InputError):
        load_retriever(spec.format(folder))


def test_a_run_counts_what_the_model_did_not_see_and_repeats(folder, tmp_path):
    retrievers = (
        f"rerank:{folder},first=bm25,top=4",
        f"rerank:{folder},first=bm25,hops=2,expand=neighbours,top=4",
        "bm25",
    )
    asked = {"chunkers": ("ast:max_size=120",), "retrievers": retrievers}
    cells = grid(tmp_path, "one", **asked).cells
    plain, both, bare = (cell.cell["health"] for cell in cells)
    assert 0 < plain["unseen_rerank_tokens"] < 1
    assert 0 < plain["unseen_rerank_text_tokens"] < 1
    assert bare["unseen_rerank_text_tokens"] is None
    assert 0 < plain["truncated_pairs"] <= 4 * 4
    assert both["truncated_pairs"] > plain["truncated_pairs"]
    assert bare["unseen_rerank_tokens"] is bare["truncated_pairs"] is None
    assert [cell.embedder for cell in cells] == ["none"] * 3
    assert [one for cell in verify(tmp_path / "one") for one in cell.differences] == []
    grid(tmp_path, "two", **asked)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_mark_says_that_pairs_were_cut(folder, tmp_path):
    from harness.reports.document import run_document

    retrievers = (f"rerank:{folder},first=bm25,top=4",)
    document = run_document(grid(tmp_path, chunkers=("whole-file",), retrievers=retrievers))
    (cell,) = document["cells"]
    assert cell["health"]["unseen_chunk_tokens"] is None  # nothing is embedded, and yet:
    assert cell["truncated"]
    assert any(mark.startswith("truncated: the cross-encoder never saw") for mark in cell["marks"])
    assert cell["cost"]["pairs"] == 2 * 2 + 2 * 1  # two queries each of two files and of one


def test_tokens_of_the_texts_are_counted_apart_from_the_query_s(model):
    long = " ".join(["value"] * LIMIT)
    one = model.score("parse url", ["def x", long])
    query = one.tokens[0] - one.text_tokens[0]
    assert (one.tokens - one.text_tokens == query).all()
    assert one.unseen_text.tolist() == [0, LIMIT - (model.room - query)]
    over = model.score(long, ["x"])  # of the query alone something is lost
    assert (over.unseen[0] > 0, over.unseen_text[0]) == (True, 0)


def test_a_collection_of_documents_is_reranked(folder, tmp_path):
    from chunkers.source import Source

    sources = tuple(Source(text, f"d{n}") for n, text in enumerate(TEN) if text.strip("?!"))
    queries = (Query("q", "docs", "parse url", qrels={"d3": 1, "d9": 1}),)
    dataset = Dataset("docs", "document", (Corpus("docs", sources),), queries, pooling="max")
    asked = {
        "chunkers": ("recorded:lines",),
        "retrievers": (f"rerank:{folder},first=bm25,top=3",),
        "measures": ("nDCG@10", "MRR"),
    }
    for profile in ("default", "trec", "trec:variant=beir"):
        (cell,) = grid(tmp_path, profile, dataset, profile=profile, **asked).cells
        assert cell.metrics["metrics"]["MRR"]["mean"] > 0
        assert read_json(tmp_path / profile / "manifest.json")["status"] == "complete"
        assert [one for c in verify(tmp_path / profile) for one in c.differences] == []


def test_completion_queries_keep_their_end(folder, tmp_path):
    long = "x " * 200 + "return parse url"
    alpha = (Target("one/alpha.py", 1, 6),)
    dataset = small(
        queries=tuple(
            Query(f"q {keeps}", "one", long, alpha, truncate=keeps) for keeps in ("head", "tail")
        )
    )
    asked = {"chunkers": ("ast:max_size=120",), "retrievers": (f"rerank:{folder},first=bm25",)}
    values = {}
    for profile in ("default", "code-chunk"):
        (cell,) = grid(tmp_path, profile, dataset, profile=profile, **asked).cells
        lines = (tmp_path / profile / "cells" / cell.key / "scores.jsonl").read_text().splitlines()
        values[profile] = [json.loads(line)["scores"] for line in lines]
    assert values["default"][0] != values["default"][1]
    assert values["code-chunk"][0] == values["code-chunk"][1] == values["default"][0]


def changed(folder, tmp_path, file, **changes):
    """A copy of a model with other values in one of its JSON files."""
    copy = Path(shutil.copytree(folder, tmp_path / "damaged"))
    values = json.loads((copy / file).read_text("utf-8"))
    (copy / file).write_text(json.dumps(values | changes), "utf-8")
    return CrossEncoder("tiny", copy)


def test_weights_that_are_not_there_are_not_drawn_at_random(folder, tmp_path):
    with pytest.raises(InputError, match=r"lacks \d+ weights"):
        changed(folder, tmp_path, "config.json", num_hidden_layers=4).score("a", ["b"])


def test_a_limit_without_room_for_a_pair_is_refused(folder, tmp_path):
    model = changed(folder, tmp_path, "tokenizer_config.json", model_max_length=5)
    with pytest.raises(InputError, match="too low"):
        model.score("a", ["b"])


def test_a_folder_that_the_library_cannot_read_is_named(folder, tmp_path):
    with pytest.raises(InputError, match="cannot be loaded"):
        changed(folder, tmp_path, "config.json", hidden_size="abc").score("a", ["b"])


def test_a_score_that_is_no_number_is_refused(folder, tmp_path):
    from safetensors.numpy import load_file, save_file

    copy = Path(shutil.copytree(folder, tmp_path / "nan"))
    weights = load_file(copy / "model.safetensors")
    nothing = {name: np.full_like(one, np.nan) for name, one in weights.items()}
    save_file(nothing, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="no finite numbers"):
        CrossEncoder("tiny", copy).score("a", ["b"])
