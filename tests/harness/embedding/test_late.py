"""Late vectors: right states, right tokens, and bits that depend on file and chunk alone."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import KINDS, WIDTH, metaspace, prefixed, sentence_model

from chunkers.errors import InputError
from harness.embedding.embedder import Passage, plain
from harness.embedding.late import nearest_window, window_starts
from harness.embedding.text_vectors import embed_passages, embed_texts
from harness.embedding.vector_store import VectorStore
from harness.runs.pipeline import load_embedder

PROMPTS = {"query": "ask: ", "document": "code: "}
MADE = {
    "roberta": KINDS["roberta"],
    "modernbert": KINDS["modernbert"],
    "gpt2": KINDS["gpt2"],
    "bert": KINDS["bert"],
    "prefixed": prefixed,
    "metaspace": metaspace,
}
MODELS = (*MADE, "normalised", "prompted")
SHORT = (
    "x",
    "def f(größe):\n    return größe ≠ 1\n",
    "    indented = 1  # \U0001f600 émigré\n",
    "\n\nclass A:\n\tpass",
    "a.b(c)</s>[1:]",
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the tiny model of a kind lies, a checkpoint or a sentence-transformers model."""
    root = tmp_path_factory.mktemp("late")

    def made(kind):
        if not (root / kind).exists():
            if kind in MADE:
                MADE[kind](root / kind)
            elif kind == "normalised":
                sentence_model(made("bert"), root / kind, more=[("Normalize",)])
            elif kind == "prompted":
                sentence_model(made("roberta"), root / kind, prompts=PROMPTS)
            else:
                KINDS[kind](root / kind)
        return root / kind

    return made


@pytest.fixture
def store(tmp_path):
    made = itertools.count()
    stores = []

    def fresh():
        stores.append(VectorStore(tmp_path / f"{next(made)}.sqlite"))
        return stores[-1]

    yield fresh
    for one in stores:
        one.close()


def late_and_plain(path):
    return load_embedder(f"st:{path},pool=late"), load_embedder(f"st:{path}")


def whole(text):
    return Passage(text, 0, len(text))


def places(text, *pieces):
    """Passages of pieces of a text, in order."""
    at, found = 0, []
    for piece in pieces:
        start = text.index(piece, at)
        at = start + len(piece)
        found.append(Passage(text, start, at))
    return found


def code(lines, name="value"):
    return "".join(f"    {name}_{n} = transform({n}, 'größe {n}')\n" for n in range(lines))


@pytest.mark.parametrize("kind", MODELS)
def test_a_file_of_one_chunk_and_one_window_has_the_models_vector(kind, folder, store):
    from sentence_transformers import SentenceTransformer

    late, model = late_and_plain(folder(kind))
    ours = embed_passages([*map(whole, SHORT)], late, store())
    assert np.abs(ours.values - embed_texts(SHORT, model, store(), "document").values).max() < 1e-6
    assert ours.tokens.tolist() == model.count_tokens(SHORT).tolist()
    theirs = SentenceTransformer(str(folder(kind)), device="cpu")
    if theirs.tokenizer.pad_token is None:
        theirs.tokenizer.pad_token = theirs.tokenizer.eos_token
    if kind in MADE:  # a checkpoint is pooled by the mean, as its rule says
        theirs[1].pooling_mode = "mean"
    expected = theirs.encode_document([*SHORT], batch_size=1)
    assert np.abs(ours.values - expected).max() < 1e-6


def test_the_bundled_model_too(store):
    from sentence_transformers import SentenceTransformer

    late, model = load_embedder("minilm:pool=late"), load_embedder("minilm")
    assert late.name == "minilm:pool=late"
    text = code(6)
    (ours,) = embed_passages([whole(text)], late, store()).values
    (same,) = embed_texts([text], model, store(), "document").values
    theirs = SentenceTransformer(str(model.folder), device="cpu").encode(text)
    assert np.abs(ours - same).max() < 1e-6
    assert np.abs(ours - theirs).max() < 1e-6
    asked = [embed_texts(["ask"], one, store(), "query-head").values for one in (late, model)]
    assert (asked[0] == asked[1]).all()


@pytest.mark.parametrize("kind", ["gpt2", "normalised", "prompted", "prefixed"])
def test_a_chunk_is_the_mean_of_its_tokens_in_their_most_central_windows(kind, folder, store):
    """Hidden states of transformers itself, windows and tokens by brute force."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    text = "# head\n\n" + code(30) + "\n\n" + code(5, "other")
    chunks = places(text, "# head\n", code(9), code(30)[500:900], code(2, "other"), "o", "m(4, ")
    chunks += [whole(text), Passage(text, 100, 700), Passage(text, len(text) - 30, len(text))]
    late, _ = late_and_plain(folder(kind))
    ours = embed_passages(chunks, late, store())

    base = folder("roberta" if kind == "prompted" else "bert" if kind == "normalised" else kind)
    tokenizer = AutoTokenizer.from_pretrained(base)
    network = AutoModel.from_pretrained(base).eval()
    prompt = PROMPTS["document"] if kind == "prompted" else ""
    encoded = tokenizer(prompt + text, add_special_tokens=False, return_offsets_mapping=True)
    tokens = [
        (number, low - len(prompt), high - len(prompt))
        for number, (low, high) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    ]
    lead = [number for number, _, high in tokens if high <= 0]
    tokens = tokens[len(lead) :]
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    full = tokenizer("a")["input_ids"]
    before, after = full[: full.index(bare[0])], full[full.index(bare[0]) + len(bare) :]
    room = late.plain.loaded.limit - len(before) - len(after) - len(lead)
    n = len(tokens)
    assert n > 3 * room
    starts = [*range(0, n - room, room // 2), n - room]
    states = []
    for start in starts:
        ids = [number for number, _, _ in tokens[start : start + room]]
        with torch.inference_mode():
            row = torch.tensor([[*before, *lead, *ids, *after]])
            states.append(network(input_ids=row).last_hidden_state[0].double().numpy())
    first = len(before) + len(lead)
    nearest = [
        min(range(len(starts)), key=lambda w: (abs(2 * (at - starts[w]) - (room - 1)), w))
        for at in range(n)
    ]
    marks = [
        [place for place in range(low, high) if not text[place].isspace()]
        or [*range(min(low, len(text) - 1), max(high, low + 1))]
        for _, low, high in tokens
    ]
    for chunk, vector, count in zip(chunks, ours.values, ours.tokens, strict=True):
        own = []
        for at, own_marks in enumerate(marks):
            if any(chunk.start <= place < chunk.end for place in own_marks):
                own.append(at)
        assert count == len(own) > 0
        rows = [states[nearest[at]][first + at - starts[nearest[at]]] for at in own]
        if own[0] == 0:
            rows += [*states[0][:first]]
        if own[-1] == n - 1:
            rows += [*states[-1][first + room :]]
        mean = np.mean(rows, axis=0)
        expected = mean / np.linalg.norm(mean) if kind == "normalised" else mean
        assert np.abs(vector - expected).max() < 1e-5


@settings(max_examples=50)
@given(st.integers(1, 200), st.integers(1, 40))
def test_every_token_has_a_window_with_text_on_both_sides(tokens, room):
    starts = window_starts(tokens, room)
    window = nearest_window(tokens, starts, room)
    assert (np.diff(window) >= 0).all()
    assert starts[0] == 0
    assert max(starts) + room >= tokens
    for at in range(tokens):
        start = starts[window[at]]
        assert 0 <= at - start < room
        distances = [abs(2 * (at - other) - (room - 1)) for other in starts]
        assert window[at] == int(np.argmin(distances))
        spare = room // 4 - 1
        assert at - start >= min(at, spare)
        assert start + room - 1 - at >= min(tokens - 1 - at, spare)


def test_bits_depend_on_file_and_chunk_alone(folder, store):
    import torch

    late, model = late_and_plain(folder("roberta"))
    files = [code(n, name) for n, name in ((40, "rho"), (3, "tau"), (9, "mu"), (25, "nu"))]
    chunks = [
        Passage(text, start, min(start + 250, len(text)))
        for text in files
        for start in range(0, len(text), 200)
    ]
    every = embed_passages(chunks, late, store()).values
    order = np.random.default_rng(0).permutation(len(chunks))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        shuffled = embed_passages([chunks[n] for n in order], late, store()).values
        torch.set_num_threads(1)
        alone = [embed_passages([chunks[n]], late, store()).values[0] for n in order[:5]]
    finally:
        torch.set_num_threads(threads)
    assert (shuffled == every[order]).all()
    assert all((one == every[n]).all() for one, n in zip(alone, order, strict=False))
    assert (embed_passages([*chunks, *chunks], late, store()).values[len(chunks) :] == every).all()

    kept = store()  # that of a run that was stopped, and of the plain model
    texts = [*files, *(chunk.own for chunk in chunks)]
    embed_texts(texts, model, kept, "document")
    embed_texts(texts, late, kept, "document")
    assert embed_passages([chunks[n] for n in order[:7]], late, kept).computed == 7
    resumed = embed_passages(chunks, late, kept)
    assert resumed.computed == len(chunks) - 7
    assert (resumed.values == every).all()
    assert embed_passages(chunks, late, kept).computed == 0


def test_equal_chunks_of_other_files_or_places_have_other_vectors(folder, store):
    late, model = late_and_plain(folder("bert"))
    assert late.fingerprint() != model.fingerprint()
    assert late.fingerprint("query-tail") == model.fingerprint("query-tail")
    text = code(3) + "pass\n" + code(3)
    chunks = [*places(text, code(3), code(3)), *places("x = 1\n" + text, code(3)), whole(code(3))]
    assert len({chunk.own for chunk in chunks}) == 1
    vectors = embed_passages(chunks, late, store())
    assert vectors.computed == len(np.unique(vectors.values, axis=0)) == 4


def test_a_token_across_a_boundary_is_both_chunks_own_and_white_space_decides_nothing(
    folder, store
):
    late, model = late_and_plain(folder("bert"))
    text = "alpha = " + "x" * 150 + "\n\n\nbeta"  # a word so long is one unknown token
    middle = Passage(text, 50, 60)
    ends = [Passage(text, 0, 40), Passage(text, 40, len(text))]
    blank = [Passage(text, 158, 161), Passage("\x00\x00 beta", 0, 2)]
    vectors = embed_passages([middle, *ends, *blank], late, store())
    count = model.count_tokens(["alpha =", "beta"]).tolist()
    assert vectors.tokens.tolist() == [1, count[0] + 1, 1 + count[1], 0, 0]
    assert vectors.values.any(axis=1).tolist() == [True, True, True, False, False]

    late, _ = late_and_plain(folder("gpt2"))  # its tokens begin with the space before a word
    text = "one\n  two three"
    found = embed_passages(places(text, "one", "two", " three"), late, store())
    tokens = late.count_tokens([text])[0]
    assert found.tokens.tolist()[1:] == [
        late.count_tokens([" two"])[0],
        late.count_tokens([" three"])[0],
    ]
    assert tokens > found.tokens.sum()  # the line feed between them is neither's


def test_fewer_rows_give_nearly_the_same_vectors(folder, store):
    late, _ = late_and_plain(folder("modernbert"))
    small = late.with_fewer_rows()
    assert (small.name, small.plain.rows) == (late.name, 8)
    assert small.fingerprint() != late.fingerprint()
    a, b = (embed_passages([whole(code(60))], one, store()).values for one in (late, small))
    assert np.abs(a - b).max() < 1e-5


def test_queries_and_what_chunkers_embed_are_plain(folder):
    late, model = late_and_plain(folder("roberta"))
    assert plain(late).fingerprint() == model.fingerprint()
    assert plain(model) is model
    assert late.query_limit == model.query_limit == 126
    assert late.limit > 10**9


def refused(spec, *words):
    with pytest.raises(InputError) as error:
        load_embedder(spec).fingerprint()
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_models_of_other_modules_are_refused_with_what_they_have(folder, tmp_path):
    bert = folder("bert")
    for pooling, shown in (("cls", "cls"), (("mean", "max"), "mean+max"), ("max", "max")):
        path = sentence_model(bert, tmp_path / shown, pooling=pooling)
        refused(f"st:{path},pool=late", f"this one has Transformer → Pooling({shown})")
        assert load_embedder(f"st:{path}").fingerprint()
    dense = sentence_model(bert, tmp_path / "dense", more=[("Dense", WIDTH, 8), ("Normalize",)])
    refused(f"st:{dense},pool=late", "Transformer → Pooling(mean) → Dense → Normalize")
    old = sentence_model(bert, tmp_path / "old")
    flags = {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True}
    (old / "1_Pooling" / "config.json").write_text(json.dumps(flags))
    refused(f"st:{old},pool=late", "Pooling(cls)")
    (old / "modules.json").write_text("[1]")
    refused(f"st:{old},pool=late", str(old), "cannot be read")
    refused("minilm:windows=max,pool=late", "windows=max and pool=late exclude each other")


def test_a_tokenizer_that_does_not_say_where_its_tokens_are_is_refused(folder, store):
    late, model = late_and_plain(folder("byt5"))
    name = type(model.loaded.tokenizer).__name__
    with pytest.raises(InputError, match=f"{name}, does not say where .* pool=late needs"):
        embed_passages([whole("x")], late, store())
