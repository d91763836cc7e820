import dataclasses
from pathlib import Path

import pytest

from chunkers.errors import InputError
from chunkers.plugins.spec import parse_spec
from chunkers.source import Source
from harness.datasets import cards
from harness.datasets.loading import list_datasets, load_dataset
from harness.model import Corpus, Dataset

PLUG_IN = """
from harness.model import Corpus, Dataset

def load(data_dir, *, size: int = 3):
    return Dataset("made", "span", (Corpus("c", ()),), (), information={"size": str(size)})

def wrong(data_dir):
    return [data_dir]
"""


@pytest.fixture(autouse=True)
def _no_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHUNKMARK_DATA", raising=False)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with somebody's package `their_data` and its entry points."""
    site = tmp_path / "site"
    about = site / "theirs-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "their_data.py").write_text(PLUG_IN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[chunkmark.datasets]\ntheirs = their_data:load\nbroken = no_such_module:load\n"
    )
    monkeypatch.syspath_prepend(site)
    return site


def test_a_data_set_carries_its_spec_in_canonical_form(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "t"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "t"}\n')
    (folder / "qrels/test.tsv").write_text("q\td\t1\n")
    spec = f"beir:{folder},pooling=max,title=drop,split=test"
    dataset = load_dataset(spec)
    assert dataset.name == f"beir:{folder},split=test,title=drop"
    assert load_dataset(parse_spec(spec)) == dataset
    assert load_dataset("beir:beir,split=test,title=drop", data_dir=tmp_path) == (
        dataclasses.replace(dataset, name="beir:beir,split=test,title=drop")
    )


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("stdlb", "unknown data set 'stdlb'; did you mean stdlib?"),
        (
            "zzz",
            "unknown data set 'zzz'; see `chunkmark list datasets`",
        ),
        (
            "stdlib:size=3",
            "data set stdlib: unknown option 'size'; choose from negatives, negatives_count, ",
        ),
        ("stdlib:negatives_count=3", "negatives_count needs the option negatives"),
        ("stdlib:negatives=hard", "choose from none, same-repo, other-repo, bm25, dense"),
        ("stdlib:negatives=bm25,negatives_count=0", "negatives_count=0: must be at least 1"),
        ("stdlib:negatives=same-repo", "no file that could be a negative of one of its corpora"),
        ("stdlib:folder", "data set stdlib: 'folder' is not key=value; its options are"),
        ("beir", "data set beir: needs a folder; write beir:FOLDER"),
        ("beir:folder,pooling=best", "pooling=best: choose from max, first, sum"),
        ("repoeval-function:target=all", "target=all: choose from context, body"),
        ("stdlib|beir", "names several parts; repeat the option"),
        ("no_such_module:load", "data set no_such_module:load: no module"),
    ],
)
def test_a_wrong_spec_says_what_there_is(spec: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_dataset(spec)


@pytest.mark.usefixtures("site")
def test_an_entry_point_and_a_python_object_load_with_their_options() -> None:
    assert load_dataset("theirs:size=3").name == "theirs"
    dataset = load_dataset("theirs:size=4")
    assert (dataset.name, dataset.information) == ("theirs:size=4", {"size": "4"})
    assert load_dataset("their_data:load,size=4").name == "their_data:load,size=4"


@pytest.mark.usefixtures("site")
def test_a_loader_that_returns_something_else_is_an_error() -> None:
    with pytest.raises(InputError, match="returned list, not a Dataset"):
        load_dataset("their_data:wrong")


def test_the_list_says_what_to_place_where_and_imports_no_plug_in(
    site: Path, tmp_path: Path
) -> None:
    listed = {one.name: one for one in list_datasets()}
    assert list(listed) == sorted(listed)
    assert listed["stdlib"].missing == ""
    assert listed["broken"].title == "from theirs"
    assert listed["repoeval-function"].missing.startswith(
        "needs files, see `chunkmark dataset fetch repoeval-function`: "
        "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl, "
        "repoeval/repositories/function_level.zip"
    )
    (tmp_path / "repoeval/datasets").mkdir(parents=True)
    (tmp_path / "repoeval/repositories/function_level").mkdir(parents=True)
    tasks = "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl"
    (tmp_path / tasks).write_bytes(b"")
    assert {one.name: one for one in list_datasets(tmp_path)}["repoeval-function"].missing == ""


def test_a_broken_card_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (cards.cards_dir() / "stdlib/dataset.toml").read_text(encoding="utf-8")
    for name, text in [("bad", "name ="), ("stdlib", good)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "dataset.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(cards, "cards_dir", lambda: tmp_path)
    listed = {one.name: one for one in list_datasets()}
    assert "invalid TOML" in listed["bad"].missing
    assert listed["stdlib"].missing == ""


def test_the_fingerprint_does_not_depend_on_the_name() -> None:
    dataset = Dataset("a", "span", (Corpus("c", (Source("x", "a.py"),)),), ())
    assert dataclasses.replace(dataset, name="b").fingerprint == dataset.fingerprint
