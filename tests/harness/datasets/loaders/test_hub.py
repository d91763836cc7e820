"""Data sets of the Hugging Face hub, from a server on this machine with the hub's addresses."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub.constants
import pytest
from commands import call
from hub_server import REPOSITORY, REVISION, jsonl, parquet, readme, serving_hub

from chunkers.errors import InputError, install_command
from harness.datasets import cards
from harness.datasets.cards import card_names, load_card
from harness.datasets.loaders.hub import Settings, is_of_hub
from harness.datasets.loading import load_dataset
from harness.support.rows import validated

CARD = f"""
name = "small"
title = "Small"
description = "d"
loader = "harness.datasets.loaders.hub:load"
licence = "MIT"
source = "https://example.org"
revision = "{REVISION}"
measures = "m"

[settings]
repository = "{REPOSITORY}"
"""
SIZE = "[settings.sizes.all]\ndocuments = 3\nqueries = 2\n"
TABLES = {
    "corpus": {"corpus": "corpus/corpus-*"},
    "queries": {"queries": "queries/queries-*"},
    "default": {"train": "data/train-*", "test": "data/test-*"},
}
DOCUMENTS = [
    {"_id": "d2", "title": "Two", "text": "two words"},
    {"_id": "d1", "title": "", "text": "one é"},
    {"_id": "d3", "title": None, "text": "three"},
]
QUERIES = [{"_id": "q2", "text": "two?"}, {"_id": "q1", "text": "one?"}, {"_id": "q0", "text": "?"}]
JUDGED = [
    {"query-id": "q1", "corpus-id": "d1", "score": 1},
    {"query-id": "q2", "corpus-id": "d2", "score": 2},
]
NAMED = [{"id": row["_id"], "text": row["text"]} for row in QUERIES]
FLOATS = [row | {"score": float(row["score"])} for row in JUDGED]
FILES = {
    "README.md": readme(TABLES),
    "corpus/corpus-0.parquet": parquet(DOCUMENTS[:1]),
    "corpus/corpus-1.parquet": parquet(DOCUMENTS[1:]),
    "queries/queries-0.parquet": parquet(QUERIES),
    "data/test-0.parquet": parquet(JUDGED),
    "data/train-0.parquet": parquet([{"query-id": "q0", "corpus-id": "d3", "score": 1}]),
    "other.py": b"raise SystemExit",
}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    card(tmp_path, monkeypatch, CARD + SIZE)
    with serving_hub(FILES) as server:
        constants = huggingface_hub.constants
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "tables"))
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        yield server


def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file = tmp_path / "cards/small/dataset.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(cards, "cards_dir", lambda: tmp_path / "cards")


def fails(*words: str, spec: str = "small") -> None:
    with pytest.raises(InputError) as error:
        load_dataset(spec)
    message = str(error.value)
    assert all(word in message for word in ("small: made/small at 0123456789ab", *words)), message
    assert len(message.splitlines()) <= 2


def test_documents_queries_and_judgements_are_those_of_the_files(hub) -> None:
    dataset = load_dataset("small")
    (corpus,) = dataset.corpora
    texts = [(source.path, source.text) for source in corpus.sources]
    assert texts == [("d1", "one é"), ("d2", "Two two words"), ("d3", "three")]
    assert [(each.id, each.text, dict(each.qrels)) for each in dataset.queries] == [
        ("q1", "one?", {"d1": 1.0}),
        ("q2", "two?", {"d2": 2.0}),
    ]
    assert dataset.left_out["queries without judgement"] == 1
    assert dataset.information["revision"] == REVISION
    assert not [path for path in hub.requests if "train" in path or "other" in path]


def test_a_second_load_has_the_same_bytes_and_asks_nothing(hub) -> None:
    first = load_dataset("small")
    hub.requests.clear()
    hub.fault = (503, "")
    assert load_dataset("small") == first
    assert hub.requests == []


def test_what_the_cache_lacks_is_not_silently_missing(hub, tmp_path: Path) -> None:
    load_dataset("small")
    (file,) = (tmp_path / "hub").rglob("corpus-1.parquet")
    file.unlink()
    hub.fault = (503, "")
    fails("HTTP 503")
    hub.fault = None
    assert len(load_dataset("small").corpora[0].sources) == 3


def test_a_part_that_another_program_left_in_the_cache_is_completed(
    hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_dataset("small")
    # Programs that take single files keep no list of what the commit has.
    left_out = shutil.ignore_patterns("trees", "corpus-1.parquet")
    shutil.copytree(tmp_path / "hub", tmp_path / "other", symlinks=True, ignore=left_out)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "other"))
    assert load_dataset("small") == first


def test_a_damaged_file_is_downloaded_again_when_the_message_is_followed(hub, tmp_path) -> None:
    first = load_dataset("small")
    (file,) = (tmp_path / "hub").rglob("corpus-1.parquet")
    stored = file.resolve()
    stored.write_bytes(stored.read_bytes()[:-9])
    with pytest.raises(InputError, match="the file is damaged") as error:
        load_dataset("small")
    (folder,) = re.findall(r"^remove (.+), and run again", str(error.value), re.MULTILINE)
    shutil.rmtree(folder)
    assert load_dataset("small") == first


@pytest.mark.parametrize(
    "files",
    [
        {"corpus/corpus-0.parquet": parquet(DOCUMENTS[::-1]), "corpus/corpus-1.parquet": None},
        {
            "README.md": readme(TABLES | {"corpus": {"corpus": "corpus.jsonl"}}),
            "corpus.jsonl": jsonl(DOCUMENTS),
        },
        {"queries/queries-0.parquet": parquet(NAMED)},
        {"data/test-0.parquet": parquet(FLOATS)},
        {
            "README.md": FILES["README.md"].replace(b"config_name: default", b"config_name: qrels"),
        },
        {
            "README.md": readme(
                TABLES | {"corpus": {"test": "corpus/corpus-*", "train": "data/train-*"}}
            )
        },
    ],
    ids=["order", "jsonl", "id", "float", "qrels", "split"],
)  # fmt: skip
def test_the_same_rows_in_another_shape_are_the_same_data(hub, files) -> None:
    hub.files = {name: data for name, data in (FILES | files).items() if data is not None}
    shaped = load_dataset("small").fingerprint
    hub.files = FILES
    assert len(shaped) == 64
    assert shaped == expected()


def expected() -> str:
    """The fingerprint of the rows, read from a folder."""
    folder = cards.cards_dir().parent / "folder"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_bytes(jsonl(DOCUMENTS))
    (folder / "queries.jsonl").write_bytes(jsonl(QUERIES))
    (folder / "qrels/test.tsv").write_text("q1\td1\t1\nq2\td2\t2\n")
    text = (Path(__file__).parents[4] / "datasets/beir/dataset.toml").read_text("utf-8")
    (cards.cards_dir() / "beir").mkdir()
    (cards.cards_dir() / "beir/dataset.toml").write_text(text)
    return load_dataset(f"beir:{folder}").fingerprint


def test_numbers_as_ids_are_read_as_text(hub) -> None:
    hub.files["corpus/corpus-1.parquet"] = parquet(
        [{"_id": 7, "title": "", "text": "seven"}, {"_id": 8, "title": "", "text": "eight"}]
    )
    hub.files["corpus/corpus-0.parquet"] = parquet([{"_id": 9, "title": "", "text": "nine"}])
    hub.files["data/test-0.parquet"] = parquet(
        [{"query-id": name, "corpus-id": 7, "score": 1} for name in ("q1", "q2")]
    )
    dataset = load_dataset("small")
    assert [source.path for source in dataset.corpora[0].sources] == ["7", "8", "9"]
    assert [dict(query.qrels) for query in dataset.queries] == [{"7": 1.0}, {"7": 1.0}]


def test_titles_are_joined_as_the_card_or_the_spec_says(hub, tmp_path, monkeypatch) -> None:
    joined = load_dataset("small")
    dropped = load_dataset("small:title=drop")
    assert [joined.information["title"], dropped.information["title"]] == ["join", "drop"]
    assert dropped.corpora[0].sources[1].text == "two words"
    text = CARD.replace("[settings]", '[settings]\ntitle = "drop"')
    card(tmp_path, monkeypatch, text + SIZE)
    assert load_dataset("small").fingerprint == dropped.fingerprint
    assert load_dataset("small:title=join").fingerprint == joined.fingerprint


def test_each_language_is_a_corpus(hub, tmp_path, monkeypatch) -> None:
    sizes = "".join(
        f"[settings.sizes.{name}]\ndocuments = 1\nqueries = 1\n" for name in ("go", "php")
    )
    text = CARD.replace("[settings]", '[settings]\npartition = "test"')
    card(tmp_path, monkeypatch, text + sizes)
    hub.files, tables = {}, {}
    for name in ("php", "go"):
        for table, rows in {
            "corpus": [{"_id": "d", "title": "", "text": f"{name} text"}],
            "queries": [
                {"_id": "q", "text": name, "partition": "test"},
                {"_id": "x", "text": name, "partition": "train"},
            ],
            "qrels": [{"query-id": query, "corpus-id": "d", "score": 1} for query in "qx"],
        }.items():
            split = "test" if table == "qrels" else table
            tables[f"{name}-{table}"] = {split: f"{name}-{table}/*"}
            hub.files[f"{name}-{table}/0.parquet"] = parquet(rows)
    hub.files["README.md"] = readme(tables)
    (query,) = load_dataset("small:language=go").queries
    assert not [path for path in hub.requests if "php-" in path]
    assert (query.id, query.corpus, query.tags) == ("go/q", "go", {"language": "go"})
    dataset = load_dataset("small")
    assert [(corpus.id, corpus.sources[0].text) for corpus in dataset.corpora] == [
        ("go", "go text"), ("php", "php text"),
    ]  # fmt: skip
    assert [query.id for query in dataset.queries] == ["go/q", "php/q"]
    assert dataset.information["documents"] == "2"
    assert dataset.left_out["judgements of unknown queries"] == 2
    with pytest.raises(InputError, match="unknown language 'rust'; choose from go, php, all"):
        load_dataset("small:language=rust")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ((401, ""), "answers HTTP 401"),
        ((401, "RepoNotFound"), "no such public repository"),
        ((404, "RepoNotFound"), "no such public repository"),
        ((404, "RevisionNotFound"), "no such revision"),
        ((403, "GatedRepo"), "only to users who asked for it"),
        ((403, ""), "answers HTTP 403"),
        ((429, ""), "answers HTTP 429"),
        ((503, ""), "answers HTTP 503"),
    ],
)
def test_a_refusal_is_two_lines(hub, fault, words) -> None:
    hub.fault = fault
    fails(words, "HF_HOME", "-d beir:FOLDER")


def test_a_revision_that_is_not_there(hub, tmp_path, monkeypatch) -> None:
    card(tmp_path, monkeypatch, CARD.replace(REVISION, "0123456789ab" + "f" * 28) + SIZE)
    fails("the Hugging Face hub has no such revision")


def test_no_network_and_no_cache(hub, monkeypatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    fails("the Hugging Face hub cannot be reached", "connect to the network")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    fails("HF_HUB_OFFLINE is set")


def test_a_download_that_breaks_off_is_not_kept(hub) -> None:
    hub.cut = 5
    fails("the download failed")
    hub.cut = 0
    assert len(load_dataset("small").queries) == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"corpus/corpus-1.parquet": FILES["corpus/corpus-1.parquet"][:-9]}, ["damaged", "remove"]),
        ({"corpus/corpus-1.parquet": b""}, ["damaged", "remove"]),
        (
            {"corpus/corpus-1.parquet": None, "corpus/corpus-0.parquet": None},
            ["corpus, corpus: no files of one format among .parquet"],
        ),
        (
            {"corpus/corpus-1.parquet": parquet(DOCUMENTS[:1])},
            ["corpus, row 2: the id 'd2' is already at small: made"],
        ),
        (
            {"corpus/corpus-1.parquet": None},
            ["corpus has 1 documents, queries 2 that are judged; the card says 3 and 2"],
        ),
        (
            {"queries/queries-0.parquet": parquet([{"_id": "q1", "body": "one?"}])},
            ["queries, row 1: the key 'text' is missing"],
        ),
        (
            {"queries/queries-0.parquet": parquet([{"_id": "q1", "text": None}, *QUERIES[:1]])},
            ["queries, row 1: text must be text, not null"],
        ),
        (
            {"data/test-0.parquet": parquet([*JUDGED, JUDGED[0] | {"score": 2}])},
            ["default, test, row 3: q1 and d1 have the grade 2, but 1"],
        ),
        (
            {"data/test-0.parquet": parquet([{"query-id": "q1", "score": 1}])},
            ["default, test, row 1: the key 'corpus-id' is missing"],
        ),
        ({"README.md": b"# Made\n"}, ["corpus: there is no such table; there are none"]),
        ({"README.md": b"---\nconfigs: [1]\n---\n"}, ["README.md names no tables"]),
        (
            {"README.md": readme(TABLES | {"queries": {"a": "queries/*", "b": "queries/*"}})},
            ["queries: no split 'test'; there are a, b"],
        ),
    ],
)
def test_files_that_are_wrong_are_named(hub, files, words) -> None:
    hub.files = {name: data for name, data in (FILES | files).items() if data is not None}
    fails(*words)


def test_a_split_that_the_judgements_lack(hub) -> None:
    fails("default: no split 'dev'; there are train, test", spec="small:split=dev")
    assert [each.id for each in load_dataset("small:split=train").queries] == ["q0"]


def test_without_the_library_the_extra_is_named(hub, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=re.escape(install_command("hub"))):
        load_dataset("small")


def test_a_card_with_wrong_settings(hub, tmp_path, monkeypatch) -> None:
    card(tmp_path, monkeypatch, CARD + SIZE.replace("documents", "files"))
    with pytest.raises(InputError, match="card small: settings: sizes, all: the key 'documents"):
        load_dataset("small")


def test_it_runs(hub, capsys, tmp_path) -> None:
    options = ("-c", "whole-file", "-r", "bm25", "-m", "nDCG@10", "--profile", "trec:variant=mteb")
    done = call(capsys, "run", "-d", "small", *options, "-o", tmp_path / "run", "--format", "json")
    (cell,) = done.json["cells"]
    assert (cell["n_queries"], cell["metrics"]["nDCG@10"]["mean"]) == (2, 1.0)


def test_it_is_fetched_into_the_cache(hub, capsys) -> None:
    done = call(capsys, "dataset", "fetch", "small")
    assert (done.code, REPOSITORY in done.out, REVISION in done.out) == (0, True, True)
    hub.fault = (503, "")
    (file,) = call(capsys, "dataset", "fetch", "small", "--format", "json").json["files"]
    assert (file["path"], file["state"]) == (REPOSITORY, "fetched")


def test_the_endpoint_of_the_environment_is_used(tmp_path: Path) -> None:
    published = load_card("coir-cosqa")
    repository = published.settings["repository"]
    with serving_hub(FILES, repository=repository, revision=published.revision) as server:
        settings = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", "run", "-d", "coir-cosqa", "-o", str(tmp_path)],
            env=os.environ | settings,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "has 3 documents, queries 2 that are judged; the card says 20,604 and 500" in done.stderr
    assert len(done.stderr.splitlines()) == 1


HUB = [name for name in card_names() if is_of_hub(load_card(name))]


@pytest.mark.parametrize("name", HUB)
def test_every_card_names_a_commit_and_what_is_in_it(name: str) -> None:
    made = load_card(name)
    settings = validated(Settings, made.settings, "")
    assert re.fullmatch("[0-9a-f]{40}", made.revision)
    assert made.source.startswith(f"https://huggingface.co/datasets/{settings.repository} ")
    assert all(size.documents > size.queries > 0 for size in settings.sizes.values())
    assert ("all" in settings.sizes) == (len(settings.sizes) == 1)
