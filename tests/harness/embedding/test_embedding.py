"""Embedding: a vector is a function of its text alone, and nothing is embedded twice."""

import itertools
import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from chunkers.errors import InputError
from harness.embedding.embedder import OutOfMemoryError
from harness.embedding.text_vectors import embed_texts, split_windows, unit_vectors
from harness.embedding.vector_store import VectorStore
from harness.runs.health import unseen_share
from harness.runs.pipeline import load_embedder


@pytest.fixture(scope="module")
def minilm():
    return load_embedder("minilm")


@pytest.fixture(scope="module")
def texts():
    words = [
        "def",
        "return",
        "self",
        "value",
        "index",
        "vector",
        "chunk",
        "query",
        "rank",
        "score",
        "for",
        "in",
        "if",
        "not",
    ]
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(words, size=n)) for n in rng.integers(1, 330, size=45)]


def fresh(texts, embedder, tmp_path, role="document", name="v"):
    store = VectorStore(tmp_path / f"{name}.sqlite")
    found = embed_texts(texts, embedder, store, role)
    store.close()
    return found


def test_vectors_do_not_depend_on_batch_mates_order_or_threads(minilm, texts, tmp_path):
    import torch

    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        all_at_once = fresh(texts, minilm, tmp_path, name="all").values
        order = np.random.default_rng(1).permutation(len(texts))[:13]
        some = fresh([texts[i] for i in order], minilm, tmp_path, name="some").values
        torch.set_num_threads(1)
        alone = fresh([texts[order[0]]], minilm, tmp_path, name="alone").values
        single = fresh(texts, minilm, tmp_path, name="single").values
    finally:
        torch.set_num_threads(threads)
    assert (some == all_at_once[order]).all()
    assert (alone[0] == all_at_once[order[0]]).all()
    assert (single == all_at_once).all()


def test_a_token_has_the_same_bits_in_every_place_of_a_block(minilm):
    """What a vector that depends on its text alone rests on, for the model's own matrices."""
    import torch

    from harness.embedding.packed import BLOCK, _linear

    packed = minilm.loaded.packed
    assert packed is not None
    rng = torch.Generator().manual_seed(0)
    layer = packed._layers[3]
    for weights in (layer.qkv, layer.mixed, layer.wide, layer.narrow):
        width = weights[0].shape[1]
        rows = torch.randn((BLOCK, width), generator=rng)
        for then in ("none", "gelu"):
            expected = _linear(rows, weights, then)
            for _ in range(100):
                order = torch.randperm(BLOCK, generator=rng)
                count = int(torch.randint(1, BLOCK + 1, (1,), generator=rng))
                block = torch.randn((BLOCK, width), generator=rng)
                block[:count] = rows[order[:count]]
                assert torch.equal(_linear(block, weights, then)[:count], expected[order[:count]])


def test_a_text_has_the_same_bits_among_any_others(minilm, texts):
    rng = np.random.default_rng(2)
    some = [text[:150] for text in texts[:20]]
    expected = dict(pair for part in minilm.embed(some, "document") for pair in part)
    for _ in range(25):
        own = rng.permutation(len(some))[: rng.integers(1, len(some))].tolist()
        found = dict(
            pair for part in minilm.embed([some[n] for n in own], "document") for pair in part
        )
        assert all((found[at].vector == expected[n].vector).all() for at, n in enumerate(own))


def test_the_cost_of_a_text_is_its_share_of_its_batch(minilm):
    import torch

    threads = torch.get_num_threads()
    short, long = "a", "word " * 250
    started = time.perf_counter()
    costs = dict(pair for part in minilm.embed([short, long] * 8, "document") for pair in part)
    wall = time.perf_counter() - started
    assert all(0 < cost.seconds / cost.batch <= cost.seconds for cost in costs.values())
    assert sum(cost.seconds / cost.batch for cost in costs.values()) <= wall
    assert costs[0].seconds < costs[1].seconds
    assert torch.get_num_threads() == threads


def test_vectors_are_those_of_sentence_transformers(minilm, texts, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm.folder), device="cpu")
    expected = model.encode(texts, batch_size=32)
    assert np.abs(fresh(texts, minilm, tmp_path).values - expected).max() < 1e-5


def test_what_the_store_holds_is_not_embedded_again(minilm, texts, tmp_path):
    store = VectorStore(tmp_path / "v.sqlite")
    first = embed_texts(texts[:20] + texts[:20], minilm, store, "document")
    assert first.computed == len(set(texts[:20]))
    again = embed_texts(texts[5:25], minilm, store, "document")
    assert again.computed == len(set(texts[20:25]) - set(texts[:20]))
    assert (again.values[:15] == first.values[5:20]).all()
    assert (again.seconds > 0).all()


def test_a_tail_query_keeps_its_last_tokens(minilm, tmp_path):
    head, tail = "alpha " * 300, "omega " * 300
    kept = fresh([head + tail], minilm, tmp_path, "query-tail", "t").values
    plain = fresh([tail], minilm, tmp_path, "document", "d").values
    assert np.abs(kept - plain).max() < 1e-6
    cut = fresh([head + tail], minilm, tmp_path, "query-head", "h").values
    assert np.abs(cut - plain).max() > 0.01


def test_tokens_are_counted_whole_without_special_ones(minilm):
    assert minilm.limit == 254
    assert minilm.count_tokens(["hello world", "", "word " * 1000]).tolist() == [2, 0, 1000]
    assert minilm.count_tokens([]).tolist() == []


def test_unseen_tokens_are_what_lies_over_the_limit():
    share, truncated = unseen_share(np.array([100, 256, 600]), 256)
    assert truncated == 1
    assert share == pytest.approx(344 / 956)
    assert unseen_share(np.array([], dtype=np.int64), 256) == (0.0, 0)


def test_a_fingerprint_holds_everything_that_changes_a_vector(minilm, monkeypatch):
    names = {minilm.fingerprint(), minilm.fingerprint("query-tail")}
    assert minilm.fingerprint("query-head") == minilm.fingerprint()
    names.add(minilm.with_fewer_rows().fingerprint())
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    names.add(minilm.fingerprint())
    assert len(names) == 4
    assert minilm.identity("document")["libraries"]["torch"]


def test_two_models_of_one_width_share_nothing(minilm, tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(minilm.folder, folder)
    config = json.loads((folder / "sentence_bert_config.json").read_text())
    (folder / "sentence_bert_config.json").write_text(json.dumps(config | {"max_seq_length": 32}))
    other = load_embedder(f"st:{folder}")
    assert other.fingerprint() != minilm.fingerprint()
    store = VectorStore(tmp_path / "v.sqlite")
    long = "alpha " * 50 + "omega " * 50
    a, b = (embed_texts([long], one, store, "document") for one in (minilm, other))
    assert (a.computed, b.computed) == (1, 1)
    assert np.abs(a.values - b.values).max() > 0.01
    assert other.limit == 30


def test_smaller_batches_give_the_same_vectors_within_1e5(minilm, texts, tmp_path):
    small = minilm.with_fewer_rows()
    assert small.rows == 8
    a, b = (fresh(texts, one, tmp_path, name=str(one.rows)).values for one in (minilm, small))
    assert np.abs(a - b).max() < 1e-5


def test_one_row_that_does_not_fit_is_an_error(minilm):
    while minilm.rows > 1:
        minilm = minilm.with_fewer_rows()
    with pytest.raises(InputError, match="one text alone does not fit"):
        minilm.with_fewer_rows()


def test_out_of_memory_is_told_apart_and_keeps_what_was_done(tmp_path):
    code = f"""
import resource, sys
from pathlib import Path
from harness.embedding.embedder import OutOfMemoryError
from harness.embedding.text_vectors import embed_texts
from harness.runs.pipeline import load_embedder
from harness.embedding.vector_store import VectorStore
embedder, store = load_embedder("minilm"), VectorStore(Path({str(tmp_path / "v.sqlite")!r}))
embed_texts(["a short text"], embedder, store, "document")
used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 4_000_000, -1))
try:
    embed_texts(["word " * 400] * 1 + ["other " * 400], embedder, store, "document")
except OutOfMemoryError:
    print("out of memory", store.counts()[0][2])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.strip() == "out of memory 1", done.stderr[-500:]


def test_weights_of_another_hash_are_refused(minilm, tmp_path):
    from dataclasses import replace

    folder = tmp_path / "model"
    shutil.copytree(minilm.folder, folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7f")
    with pytest.raises(InputError, match="wrong sha256"):
        replace(minilm, folder=folder).fingerprint()


def test_a_model_without_safetensors_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InputError, match=r"no weights in \.safetensors"):
        load_embedder(f"st:{tmp_path}").fingerprint()


def test_a_name_that_no_hub_gives_says_what_to_do():
    with pytest.raises(InputError, match="name the folder of a downloaded model"):
        load_embedder("st:nobody/no-such-model-xyz")


def test_windows_are_whole_lines_that_fill_the_limit(minilm):
    lines = [f"line number {i} of this text\n" for i in range(300)]
    short = "one line\nand another\n"
    windows, kept = split_windows(["".join(lines), short], minilm)
    assert kept == [short]
    assert "".join(windows) == "".join(lines)
    counts = minilm.count_tokens(windows)
    assert (counts <= minilm.limit).all()
    for one, following in itertools.pairwise(windows):
        first = following.split("\n")[0]
        assert minilm.count_tokens([one + first])[0] > minilm.limit


def test_a_line_over_the_limit_is_a_window_of_its_own(minilm):
    text = "short\n" + "word " * 400 + "\n" + "short\n" + "\n" * 3
    (windows,) = split_windows([text], minilm)
    assert windows == ["short\n", "word " * 400 + "\n", "short\n" + "\n" * 3]


def test_unit_vectors_mark_what_cannot_be_scaled():
    unit, usable = unit_vectors(np.array([[3, 4], [0, 0], [np.nan, 1], [1e30, 0]], np.float32))
    assert usable.tolist() == [True, False, False, True]
    assert unit.tolist()[0] == pytest.approx([0.6, 0.8])
    assert unit[1:3].any() == False  # noqa: E712
    assert unit[3].tolist() == [1, 0]


def test_out_of_memory_is_no_input_error():
    assert not issubclass(OutOfMemoryError, InputError)
