"""Plain checkpoints with bytes, characters, BPE and WordPiece: right vectors, counts and limits."""

import json

import numpy as np
import pytest
from tiny_models import KINDS, WIDTH

from chunkers.errors import InputError
from harness.embedding import pretrained
from harness.embedding.encoder import Encoder
from harness.embedding.text_vectors import embed_texts, split_windows
from harness.embedding.vector_store import VectorStore
from harness.runs.pipeline import load_embedder

LIMITS = {  # tokens of a text, and special ones around it
    "byt5": (1023, 1),
    "canine": (2046, 2),
    "roberta": (126, 2),
    "modernbert": (254, 2),
    "gpt2": (128, 0),
    "bert": (126, 2),
}
SEEN = {"byt5": 200, "canine": 200, "roberta": 128, "modernbert": 200, "gpt2": 128, "bert": 128}
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Where the tiny model of a kind lies."""
    root = tmp_path_factory.mktemp("models")

    def folder(kind):
        return root / kind if (root / kind).exists() else KINDS[kind](root / kind)

    return folder


@pytest.fixture(scope="module")
def texts():
    """Texts of all lengths, some over every limit, with white space at their ends."""
    rng = np.random.default_rng(0)
    words = [
        "def",
        "return",
        "self.value",
        "größe",
        "\n    ",
        "\t",
        "≠",
        "index",
        "()",
        "\U0001f600",
    ]
    made = [" ".join(rng.choice(words, size=n)) for n in rng.integers(1, 60, size=18)]
    return [*made, "x", "    indented = 1\n", "long " * 500]


@pytest.fixture
def vectors(tmp_path):
    """Embeds with a store that holds nothing."""

    def fresh(texts, embedder, role="document"):
        store = VectorStore(tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite")
        found = embed_texts(texts, embedder, store, role)
        store.close()
        return found.values

    return fresh


def loaded(kind, model, rows=2, **options):
    return Encoder(f"st:{kind}", model(kind), rows=rows, **options)


def seeing_less(kind, model, rows=2):
    """With a limit that costs little where the model's own is long."""
    return loaded(kind, model, rows, max_tokens=SEEN[kind])


def sentence_transformer(folder):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(folder), device="cpu")
    if theirs.tokenizer.pad_token is None:
        theirs.tokenizer.pad_token = theirs.tokenizer.eos_token
    return theirs


@each_kind
def test_a_vector_depends_on_its_text_alone(kind, model, texts, vectors):
    import torch

    embedder = seeing_less(kind, model, rows=16)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        whole = vectors(texts, embedder)
        order = np.random.default_rng(1).permutation(len(texts))[:7]
        torch.set_num_threads(1)
        some = vectors([texts[n] for n in order], embedder)
        alone = vectors([texts[-1]], embedder)
    finally:
        torch.set_num_threads(threads)
    assert whole.shape == (len(texts), WIDTH)
    assert np.isfinite(whole).all()
    assert (some == whole[order]).all()
    assert (alone[0] == whole[-1]).all()
    assert len(np.unique(whole, axis=0)) == len(texts)


@each_kind
def test_bert_and_its_relatives_run_without_padding_where_torch_has_onednn(kind, model):
    import torch

    packed = loaded(kind, model).loaded.packed
    able = torch.backends.mkldnn.is_available() and kind in ("bert", "roberta")
    assert (packed is not None) == able


def test_the_padded_and_the_packed_pass_agree(model, texts, vectors, monkeypatch):
    packed = vectors(texts, seeing_less("roberta", model))
    monkeypatch.setattr(pretrained, "can_pack", lambda _: False)
    padded = vectors(texts, seeing_less("roberta", model))
    assert np.abs(packed - padded).max() < 1e-5


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"canine"}))
def test_vectors_are_those_of_sentence_transformers(kind, model, texts, vectors):
    theirs = sentence_transformer(model(kind))
    theirs.max_seq_length = SEEN[kind]
    expected = theirs.encode(texts, batch_size=8)
    assert np.abs(vectors(texts, seeing_less(kind, model)) - expected).max() < 1e-5


def test_characters_are_read_with_the_padding_of_their_bucket(model, texts, vectors):
    """Convolutions see what stands behind a text, so sentence-transformers has to pad alike."""
    theirs = sentence_transformer(model("canine"))
    text = texts[0][:60]
    ours = vectors([text], loaded("canine", model))
    padded = theirs.tokenizer([text], padding="max_length", max_length=64, return_tensors="pt")
    same = theirs.forward(dict(padded))["sentence_embedding"].detach().numpy()
    assert np.abs(ours - same).max() < 1e-5
    assert np.abs(ours - theirs.encode([text])).max() > 1e-3


def test_tokens_are_bytes_characters_or_pieces(model):
    texts = ["größe", "", "    x = 1\n", "\U0001f600"]
    counts = {kind: loaded(kind, model).count_tokens(texts).tolist() for kind in KINDS}
    assert counts["byt5"] == [len(text.encode()) for text in texts]
    assert counts["canine"] == [len(text) for text in texts]
    for kind in ("roberta", "modernbert", "gpt2"):
        assert counts[kind] == counts["gpt2"]
        assert counts[kind][1] == 0
        assert all(
            0 < n <= most for n, most in zip(counts[kind][2:], counts["byt5"][2:], strict=True)
        )
    assert counts["bert"][1] == 0


@each_kind
def test_the_limit_is_what_tokenizer_and_positions_allow(kind, model):
    embedder = loaded(kind, model)
    assert embedder.limit == embedder.query_limit == LIMITS[kind][0]
    assert embedder.loaded.limit == sum(LIMITS[kind])


@each_kind
def test_what_is_over_the_limit_is_not_seen(kind, model, vectors):
    embedder = seeing_less(kind, model)
    exact = "x" * embedder.limit if kind in ("byt5", "canine") else "x\n" * 300
    a, b, c = vectors([exact, exact + "y" * 40, "y" + exact], embedder)
    assert (a == b).all()
    assert (a != c).any()


def test_the_last_tokens_are_truncated_where_the_role_says_so(model, vectors):
    text = "".join(chr(97 + n % 26) for n in range(300))
    for kind, room in (("byt5", 199), ("canine", 198)):
        embedder = seeing_less(kind, model)
        assert (vectors([text], embedder, "query-tail") == vectors([text[-room:]], embedder)).all()
        assert (vectors([text], embedder, "query-head") == vectors([text[:room]], embedder)).all()
    long = "\n".join(f"line {n}" for n in range(200))
    embedder = loaded("gpt2", model)
    ids = embedder.loaded.ids([long])[0][-128:]
    tail = embedder.loaded.tokenizer.decode(ids)
    assert embedder.loaded.ids([tail])[0] == ids
    assert (vectors([long], embedder, "query-tail") == vectors([tail], embedder)).all()


def test_fewer_tokens_can_be_asked_for_and_no_more_than_there_are_positions(model, vectors):
    short = load_embedder(f"st:{model('byt5')},max_tokens=33")
    assert short.limit == 32
    assert short.name.endswith(",max_tokens=33")
    assert (vectors(["x" * 32], short) == vectors(["x" * 90], short)).all()
    assert short.fingerprint() != loaded("byt5", model).fingerprint()
    assert loaded("byt5", model, max_tokens=3000).limit == 2999
    assert loaded("canine", model, max_tokens=4096).limit == 4094
    with pytest.raises(InputError, match="max_tokens=129, but the model has 128 positions"):
        _ = loaded("roberta", model, max_tokens=129).limit
    with pytest.raises(InputError, match="below the smallest, 8"):
        _ = loaded("canine", model, max_tokens=7).limit
    with pytest.raises(InputError, match="at least 1"):
        load_embedder(f"st:{model('canine')},max_tokens=0")


def test_the_smallest_limit_works(model, vectors):
    for kind in KINDS:
        assert np.isfinite(vectors(["some text of code"], loaded(kind, model, max_tokens=8))).all()


def test_windows_fill_the_limit_of_bytes(model):
    embedder = loaded("byt5", model, max_tokens=65)
    lines = "".join(f"    value_{n} = {n}\n" for n in range(40))
    (windows,) = split_windows([lines], embedder)
    assert "".join(windows) == lines
    assert {len(one.encode()) <= 64 for one in windows} == {True}
    assert min(len(one.encode()) for one in windows[:-1]) > 64 - len("    value_39 = 39\n")


@each_kind
def test_a_prompt_stands_before_every_text(kind, model, vectors):
    embedder = loaded(kind, model, prompt="code: ", query_prompt="ask: ")
    plain = loaded(kind, model)
    text = "def value():\n    return 1"
    for role, prompt in (("document", "code: "), ("query-head", "ask: "), ("query-tail", "ask: ")):
        ours = vectors([text], embedder, role)
        assert (ours == vectors([prompt + text], plain)).all()
    if kind != "canine":
        theirs = sentence_transformer(model(kind)).encode([text], prompt="ask: ")
        assert np.abs(vectors([text], embedder, "query-tail") - theirs).max() < 1e-5
    used = len(plain.loaded.ids(["code: "])[0])
    assert embedder.limit == plain.limit - used
    assert len({embedder.fingerprint(role) for role in ("document", "query-head")}) == 2
    assert embedder.fingerprint() != plain.fingerprint()
    assert embedder.count_tokens([text]) == plain.count_tokens([text])


def test_a_prompt_stays_whole_before_the_tail_of_a_query(model, vectors):
    plain = loaded("canine", model, max_tokens=66)
    embedder = loaded("canine", model, max_tokens=66, query_prompt="ask: ")
    text = "".join(chr(97 + n % 26) for n in range(200))
    kept = vectors([text], embedder, "query-tail")
    assert (kept == vectors(["ask: " + text[-59:]], plain)).all()
    assert (vectors([text], embedder, "query-head") == vectors(["ask: " + text[:59]], plain)).all()


def test_a_prompt_that_grows_into_the_text_keeps_what_is_its_own(model):
    """The space at its end goes to the first word of the text: `ask:` stays, the tail follows."""
    embedder = loaded("gpt2", model, max_tokens=16, query_prompt="ask: ")
    text = " ".join(["return"] * 40)
    whole = embedder.loaded.ids(["ask: " + text])[0]
    alone = embedder.loaded.ids(["ask: "])[0]
    assert whole[: len(alone)] != alone
    from harness.embedding.encoder import _truncated

    row = _truncated(whole, alone, 16, tail=True)
    assert len(row) == 16
    decoded = embedder.loaded.tokenizer.decode(row)
    assert decoded.startswith("ask:")
    assert decoded.endswith("return")
    assert row[len(alone) - 1 :] == whole[-(16 - len(alone) + 1) :]


def test_a_models_own_prompts_can_be_replaced_and_switched_off(model, vectors, tmp_path):
    import shutil

    folder = shutil.copytree(model("byt5"), tmp_path / "prompted")
    config = {
        "prompts": {"query": "q: ", "passage": "", "other": "o: "},
        "default_prompt_name": "other",
    }
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    own, off, other = (load_embedder(f"st:{folder}{options}") for options in
                       ("", ',query_prompt=""', ',query_prompt="a, b: ",prompt="d: "'))  # fmt: skip
    assert [one.identity("query-tail")["prompt"] for one in (own, off, other)] == [
        "q: ",
        "",
        "a, b: ",
    ]
    assert [one.identity("document")["prompt"] for one in (own, off, other)] == ["", "", "d: "]
    assert (vectors(["x"], off, "query-head") == vectors(["x"], off)).all()
    assert off.name.endswith(',query_prompt=""')
    assert load_embedder(other.name).identity("query-head") == other.identity("query-head")


def test_a_prompt_that_fills_the_model_is_refused(model):
    embedder = loaded("byt5", model, max_tokens=20, query_prompt="a prompt of nineteen")
    with pytest.raises(InputError, match="fill all 20 tokens"):
        _ = embedder.query_limit
    with pytest.raises(InputError, match="fill all 20 tokens"):
        next(embedder.embed(["x"], "query-tail"))


@each_kind
def test_what_has_no_encoding_is_read_as_the_replacement_character(kind, model, vectors):
    embedder = loaded(kind, model)
    a, b = vectors(["x \udcff y", "x � y"], embedder)
    assert (a == b).all()
    assert embedder.count_tokens(["\udcff"]) == embedder.count_tokens(["�"])


def test_a_text_without_tokens_has_the_zero_vector(model, vectors):
    found = vectors(["", "x"], loaded("gpt2", model))
    assert not found[0].any()
    assert found[1].any()


def test_a_checkpoint_that_lacks_weights_is_refused(model, tmp_path):
    import shutil

    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(model("bert"), tmp_path / "holed")
    weights = load_file(folder / "model.safetensors")
    (gone,) = [name for name in weights if name.endswith("layer.1.output.dense.weight")]
    del weights[gone]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 1 weight of BertModel.*layer.1.output.dense"):
        _ = Encoder("st", folder).limit


def test_code_beside_a_model_is_not_run(model, tmp_path):
    import shutil

    folder = shutil.copytree(model("bert"), tmp_path / "custom")
    marker = tmp_path / "was run"
    (folder / "own.py").write_text(f"open({str(marker)!r}, 'w')\nclass Own: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="cannot be loaded"):
        _ = Encoder("st", folder).limit
    assert not marker.exists()


def test_folders_without_a_whole_model_are_refused_before_anything_is_loaded(model, tmp_path):
    import shutil

    folder = shutil.copytree(model("bert"), tmp_path / "model")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="adapter without its base model"):
        load_embedder(f"st:{folder}").fingerprint()
    (folder / "adapter_config.json").unlink()
    (folder / "config.json").unlink()
    with pytest.raises(InputError, match=r"neither modules\.json"):
        load_embedder(f"st:{folder}").fingerprint()
