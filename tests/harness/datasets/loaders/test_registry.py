"""What every data set of the registry must hold, whatever its loader: how files and rows are read,
where gold lies, and what of it is counted. A new card without a world of its own fails here."""

from __future__ import annotations

import inspect
import typing
from typing import TYPE_CHECKING

import pytest
from loader_worlds import ASKED, BODY, DOCUMENTS, GOOD, HEAD, REPORT, SAID, TREES, WANTED, rows

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.plugins.registry import PluginEntry
from chunkers.source import Source
from harness.audit.audit import count_twins, identical_files
from harness.audit.self_retrieval import find_leaks
from harness.audit.validation import validate
from harness.chunking.corpus import chunk_corpus
from harness.datasets.cards import card_names, load_card
from harness.datasets.loading import load_dataset
from harness.datasets.registry import DATASETS
from harness.reading.stored_text import StoredSource
from harness.runs.query_set import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from harness.model import Dataset

FILES = pytest.mark.parametrize("name", TREES)
ROWS = pytest.mark.parametrize("name", DOCUMENTS)
GIVEN = {
    "good.py": GOOD.encode(),
    "icon.py": b"\x89PNG\r\n\x1a\n\0\0" + bytes(range(256)),
    "latin.py": b"def caf\xe9():\n    return 1\n",
    "mark.py": b"\xef\xbb\xbfimport os\ndef f():\n    return 1\n",
    "minified.py": b"a=[" + b"1," * 400_000 + b"1]\n",
    "huge.py": b"a = 1\n" * 200_000,
    "pkg/__init__.py": b"",
    "pkg/blank.py": b"  \n\n\t\n",
    "pkg/windows.py": b"a = 1\r\nb = 2\r\nc = 3\r\n",
    "pkg/feed.py": b"a = 1\n\f\ndef b():\n    return 2\n",
}
TEXTS = {"a.py": "def other():\n    pass\n", "gold.py": WANTED, "z.py": "def last(): pass\n"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(root: Path, name: str, patch: pytest.MonkeyPatch, gold: str = "good.py", **files: bytes):
    """A data set of files, those given and others by their names with `__` for `/`."""
    more = {key.replace("__", "/") + ".py": data for key, data in files.items()}
    return load_dataset(TREES[name](root, {**GIVEN, **more}, gold, patch))


def asked(root: Path, name: str, texts: dict[str, str], gold: str = "gold.py", text: str = ASKED):
    DOCUMENTS[name].place(root, texts, gold, text)
    return load_dataset(DOCUMENTS[name].spec)


def gold_texts(dataset: Dataset) -> set[str]:
    found = set()
    sources = {source.path: source for source in dataset.corpora[0].sources}
    for query in dataset.queries:
        for target in query.targets:
            source = sources[target.path]
            start, end = source.lines.offsets_of(target.start_line or 1, target.end_line or 1)
            found.add(source.text[start:end])
    return found


def test_every_card_has_a_world_of_files_or_of_documents() -> None:
    hub = {name for name in card_names() if load_card(name).loader.endswith(".hub:load")}
    assert "coir-cosqa" in hub  # test_hub.py has a server for them
    assert {*TREES, *DOCUMENTS} == set(card_names()) - hub
    assert not TREES.keys() & DOCUMENTS.keys()


@pytest.mark.parametrize("name", [*TREES, *DOCUMENTS])
def test_every_loader_stores_the_texts_that_memory_may_not_take(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in TREES:
        spec = TREES[name](root, GIVEN, "good.py", monkeypatch)
    else:
        spec = DOCUMENTS[name].spec
        DOCUMENTS[name].place(root, TEXTS, "gold.py", ASKED)
    monkeypatch.setattr("harness.support.space._LEAST", 0)
    plain, stored = load_dataset(spec), load_dataset(spec, memory="1")
    assert {type(source) for corpus in plain.corpora for source in corpus.sources} == {Source}
    assert {type(s) for corpus in stored.corpora for s in corpus.sources} == {StoredSource}
    assert stored == plain


@pytest.mark.parametrize("name", [*TREES, *DOCUMENTS, "coir-cosqa"])
def test_every_option_of_a_loader_can_be_given(name: str) -> None:
    load = DATASETS.load(PluginEntry(name, load_card(name).loader, "its card"))
    module = inspect.getmodule(load)
    for one in inspect.signature(load).parameters.values():
        if one.kind is one.KEYWORD_ONLY:
            kind = typing.cast("type", eval(str(one.annotation), vars(module)))  # noqa: S307
            assert kind is not None


@FILES
def test_files_are_read_or_listed_and_none_is_lost(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus,) = loaded(root, name, monkeypatch).corpora
    texts = {source.path: source.text for source in corpus.sources}
    assert texts.pop("good.py").endswith(BODY)
    own = name in ("repo", "built")  # nothing is guessed of a repository
    assert texts == {
        **({} if own else {"latin.py": "def café():\n    return 1\n"}),
        "mark.py": "import os\ndef f():\n    return 1\n",
        "pkg/__init__.py": "",
        "pkg/blank.py": "  \n\n\t\n",
        "pkg/windows.py": "a = 1\r\nb = 2\r\nc = 3\r\n",
        "pkg/feed.py": "a = 1\n\f\ndef b():\n    return 2\n",
    }
    assert {one.path: one.reason for one in corpus.skipped} == {
        "icon.py": "binary: holds NUL bytes",
        "minified.py": "a line longer than 10000 characters",
        "huge.py": "larger than 1000000 bytes",
        **({"latin.py": "not UTF-8, and no encoding given"} if own else {}),
    }
    assert set(GIVEN) == {one.path for one in (*corpus.sources, *corpus.skipped)}


@FILES
def test_links_are_listed_and_never_followed(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "stdlib":
        pytest.skip("reads the files that its card names, and no folder")
    TREES[name](root, dict(GIVEN), "good.py", monkeypatch)
    (folder,) = {file.parent for file in root.rglob("good.py")}
    (folder / "pkg/loop").symlink_to("..")
    (folder / "pkg/out.py").symlink_to("/etc/passwd")
    (corpus,) = loaded(root, name, monkeypatch).corpora
    listed = {one.path: one.reason for one in corpus.skipped}
    assert (listed["pkg/loop"], listed["pkg/out.py"]) == ("link", "link")
    assert len([one for one in corpus.sources if one.path.endswith("good.py")]) == 1


@FILES
def test_blank_files_are_indexed_without_a_chunk(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus,) = loaded(root, name, monkeypatch).corpora
    for chunker in ("ast", "fixed", "whole-file"):
        chunks = chunk_corpus(corpus, load_chunker(chunker)).chunks
        assert chunks
        assert not {"pkg/__init__.py", "pkg/blank.py"} & {chunk.path for chunk in chunks}


@FILES
def test_the_order_in_which_files_were_written_does_not_count(
    root: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = []
    for number, files in enumerate((GIVEN, dict(reversed(GIVEN.items())))):
        place = tmp_path / f"order{number}"
        place.mkdir()
        monkeypatch.setenv("CHUNKMARK_DATA", str(place))
        with monkeypatch.context() as patch:
            dataset = load_dataset(TREES[name](place, files, "good.py", patch))
        prints.append(dataset.fingerprint)
        paths = [source.path for source in dataset.corpora[0].sources]
        assert paths == sorted(paths)
    assert prints[0] == prints[1]


@FILES
@pytest.mark.parametrize("change", ["plain", "mark", "windows", "feed"])
def test_gold_is_the_very_lines_whatever_the_file_is_like(
    root: Path, name: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GOOD
    if change == "feed":  # no line for anybody but str.splitlines
        text = text.replace("import os\n", "import os  # \f\x85\u2028\x1c\n")
    if change == "windows":
        text = text.replace("\n", "\r\n")
    data = b"\xef\xbb\xbf" * (change == "mark") + text.encode()
    if name == "swebench-lite" and change == "windows":
        pytest.skip("a patch has the line ends of its file")
    dataset = loaded(root, name, monkeypatch, good=data)
    (found,) = gold_texts(dataset)
    lines = found.replace("\r\n", "\n")
    assert lines in (BODY, HEAD + BODY)
    assert prepare(dataset).targets_dropped == 0


@FILES
@pytest.mark.parametrize("gold", ["gone.py", "GOOD.py", "icon.py"])
def test_gold_that_is_not_indexed_is_counted_by_its_reason(
    root: Path, name: str, gold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "stdlib":
        pytest.skip("its gold is in what it indexed")
    with pytest.raises(InputError, match=gold):
        prepare(loaded(root, name, monkeypatch, gold))


@FILES
def test_ways_to_spell_a_path_are_one_and_none_leads_out(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "stdlib":
        pytest.skip("it names no path of gold")
    spelled = ["pkg/good.py", "./pkg/good.py", "pkg//good.py", "pkg/../pkg/good.py"]
    if name != "swebench-lite":  # git writes paths in one way, and quotes what is odd
        spelled += ["pkg\\good.py"]
        good = {"pkg__good": GOOD.encode()}
        for gold in spelled:
            (query,) = loaded(root, name, monkeypatch, gold, **good).queries
            assert {target.path for target in query.targets} == {"pkg/good.py"}
    with pytest.raises(InputError, match=r"leads out|not a path inside"):
        loaded(root, name, monkeypatch, "../good.py")


@FILES
def test_a_question_that_stands_in_the_corpus_is_seen(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (leak,) = find_leaks(prepare(loaded(root, name, monkeypatch)))
    assert leak.inside_gold is False
    if name.startswith("repoeval"):
        assert leak.inside_file is True  # the prompt is the code before the answer
        assert leak.inside_rest is False
    else:
        more = f"# {SAID}.\n# {REPORT}\n".encode()
        if name in ("stdlib", "repo", "built"):
            with pytest.raises(InputError):  # it was the only one, and is left out
                prepare(loaded(root, name, monkeypatch, leaking=more))
        else:
            assert leak.inside_file is False
            (leak,) = find_leaks(prepare(loaded(root, name, monkeypatch, leaking=more)))
            assert leak.inside_file is True


@FILES
def test_a_copy_of_the_gold_is_another_answer_and_counted(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = f"import sys\n\n\n{HEAD}{BODY}".encode()
    dataset = loaded(root, name, monkeypatch, copy=copy, again=copy)
    prepared = prepare(dataset)
    twins = count_twins(prepared.places)
    assert (twins.targets, twins.with_twins, twins.twins) == (1, 1, 2)
    assert identical_files(prepared.corpora) == 2
    found = {check.check: check.state for check in validate(dataset).checks}
    assert found["twins"] == found["identical files"] == "finding"


@ROWS
def test_a_mark_and_the_order_of_documents_do_not_count(root: Path, name: str) -> None:
    file = root / DOCUMENTS[name].file
    prints = {asked(root, name, TEXTS).fingerprint}
    prints.add(asked(root, name, dict(reversed(TEXTS.items()))).fingerprint)
    asked(root, name, TEXTS)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    prints.add(load_dataset(DOCUMENTS[name].spec).fingerprint)
    assert len(prints) == 1


@ROWS
@pytest.mark.parametrize("bad", [b'{"x": "caf\xe9"}', b"\x89PNG\r\0\0", b"{"])
def test_bytes_that_are_no_rows_are_named_by_their_line(root: Path, name: str, bad: bytes) -> None:
    asked(root, name, TEXTS)
    file = root / DOCUMENTS[name].file
    before = file.read_bytes()
    file.write_bytes(before + bad + b"\n")
    with pytest.raises(InputError, match=f"line {before.count(chr(10).encode()) + 1}") as error:
        load_dataset(DOCUMENTS[name].spec)
    assert "\n" not in str(error.value)


@ROWS
def test_a_document_of_one_long_line_is_cut_into_chunks_of_their_own(root: Path, name: str) -> None:
    dataset = asked(root, name, {**TEXTS, "min.py": "var a=[" + "1," * 20_000 + "1];"})
    (corpus,) = dataset.corpora
    chunks = chunk_corpus(corpus, load_chunker("fixed-chars:max_size=1500")).chunks
    parts = [tuple(map(tuple, one.parts)) for one in chunks if "min.py" in one.path]
    assert len(parts) == len(set(parts)) > 10


@ROWS
def test_documents_without_text_are_counted_and_make_no_chunk(root: Path, name: str) -> None:
    def blank(dataset: Dataset) -> int:
        said = {**dataset.information, **dataset.left_out}
        return sum(int(said[key]) for key in said if "without text" in key)

    assert blank(asked(root, name, TEXTS)) == 0
    dataset = asked(root, name, {**TEXTS, "empty.py": "", "space.py": " \n\t\n"})
    assert blank(dataset) == 2
    (corpus,) = dataset.corpora
    for chunker in ("ast", "fixed", "whole-file"):
        chunks = chunk_corpus(corpus, load_chunker(chunker)).chunks
        assert not any("empty" in chunk.path or "space" in chunk.path for chunk in chunks)


@ROWS
def test_gold_that_is_no_document_is_counted_or_an_error(root: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"judges no document|no code of a judged|gold_snippet_ind"
                                         r"|no row with a snippet"):  # fmt: skip
        asked(root, name, TEXTS, "gone.py")


@ROWS
def test_a_question_that_is_its_answer_is_seen(root: Path, name: str) -> None:
    (leak,) = find_leaks(prepare(asked(root, name, TEXTS)))
    assert (leak.inside_file, leak.inside_gold) == (False, False)
    (leak,) = find_leaks(prepare(asked(root, name, TEXTS, text=TEXTS["a.py"])))
    assert (leak.inside_file, leak.inside_gold) == (True, False)


@ROWS
def test_a_copy_of_a_document_is_counted(root: Path, name: str) -> None:
    dataset = asked(root, name, {**TEXTS, "copy.py": "  " + WANTED})
    assert identical_files(prepare(dataset).corpora) == 2


@pytest.mark.parametrize("name", ["beir", "cosqa"])
def test_judgements_that_are_damaged_are_told_by_line(root: Path, name: str) -> None:
    asked(root, name, TEXTS)
    (file,) = root.rglob("test.tsv")
    good = file.read_text()
    file.write_text(good + "q\tgold.py\t1\nq\tgone.py\t1\nnobody\ta.py\t1\nq\ta.py\t0.0\n")
    dataset = load_dataset(DOCUMENTS[name].spec)
    assert dataset.left_out == {
        "judgements that repeat another": 1,
        "judgements of unknown documents": 1,
        "judgements of unknown queries": 1,
        "queries without judgement": 0,
    }
    for bad, says in (
        ("q\ta.py\t0.5", "not a whole number"),
        ("q\tgold.py\t2", "has the grade|but"),
    ):
        file.write_text(f"{good}{bad}\n")
        with pytest.raises(InputError, match=f"line 3: .*({says})"):
            load_dataset(DOCUMENTS[name].spec)


def test_grades_of_codesearchnet_are_whole_ones(root: Path) -> None:
    asked(root, "codesearchnet", TEXTS)
    (file,) = root.rglob("annotationStore.csv")
    file.write_text(file.read_text().replace(",3.0,", ",0.5,"))
    with pytest.raises(InputError, match=r"line 2: the grade '0\.5' is not 0"):
        load_dataset("codesearchnet")


@pytest.mark.parametrize("name", ["beir", "cosqa"])
def test_whether_titles_are_joined_is_recorded(root: Path, name: str) -> None:
    asked(root, name, TEXTS)
    file = root / DOCUMENTS[name].file
    file.write_text(
        rows(*({"_id": key, "title": "Of it", "text": text} for key, text in TEXTS.items()))
    )
    dataset = load_dataset(DOCUMENTS[name].spec)
    assert dataset.information["title"] == "join"
    assert all(source.text.startswith("Of it def") for source in dataset.corpora[0].sources)
    if name == "beir":
        dropped = load_dataset("beir:mine,title=drop")
        assert dropped.information["title"] == "drop"
        assert {source.text for source in dropped.corpora[0].sources} == set(TEXTS.values())
