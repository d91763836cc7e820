import ast
import re
import sysconfig
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from chunkers.builtin import ast as ast_chunker
from chunkers.builtin import fixed, random_cuts
from chunkers.builtin import function as function_chunker
from chunkers.errors import InputError
from chunkers.source import Services
from harness.datasets.cards import Card, load_card
from harness.datasets.loaders.stdlib import is_twin, load
from harness.datasets.loading import load_dataset
from harness.model import Dataset
from harness.support.word_runs import words_of


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("stdlib")


def library(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Card:
    """A made-up library that stands for Python's, and a card that chooses all of it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(root))
    return msgspec.structs.replace(load_card("stdlib"), settings={"modules": sorted(files)})


def function(name: str, docstring: str, body: str = "return 1") -> str:
    return f'def {name}():\n    """{docstring}"""\n    {body}\n'


class TestTheRunningPython:
    def test_size_is_what_a_run_can_afford(self, dataset: Dataset) -> None:
        (corpus,) = dataset.corpora
        size = sum(source.lines.size(0, len(source.text)) for source in corpus.sources)
        assert 120 <= len(dataset.queries) <= 190
        assert size <= 150_000
        assert corpus.skipped == ()

    def test_the_default_chunkers_make_no_more_texts_than_planned(self, dataset: Dataset) -> None:
        texts = {query.text for query in dataset.queries}
        windows = 0
        for source in dataset.corpora[0].sources:
            for chunker in (ast_chunker, fixed, function_chunker, random_cuts):
                spans = chunker.make().chunk(source, Services())
                texts |= {source.text[span.start : span.end] for span in spans}
            # Windows of the whole file hold about as much as the chunks of `fixed`.
            windows += len(fixed.make().chunk(source, Services()))
        assert len(texts) + windows <= 1800

    def test_it_loads_fast(self) -> None:
        start = time.perf_counter()
        load_dataset("stdlib")
        assert time.perf_counter() - start < 2

    def test_no_docstring_is_left(self, dataset: Dataset) -> None:
        for source in dataset.corpora[0].sources:
            for node in ast.walk(ast.parse(source.text)):
                if isinstance(
                    node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                ):
                    assert ast.get_docstring(node) is None, (source.path, node)

    def test_gold_is_the_lines_of_the_function_that_the_id_names(self, dataset: Dataset) -> None:
        texts = {source.path: source.text for source in dataset.corpora[0].sources}
        for query in dataset.queries:
            (target,) = query.targets
            assert target.start_line is not None
            lines = texts[target.path].split("\n")[target.start_line - 1 : target.end_line]
            indent = re.match(r" *", lines[0]).group()  # type: ignore[union-attr]
            body = ast.parse("\n".join(line.removeprefix(indent) for line in lines)).body
            name = query.id.split("#")[0].rsplit(".", 1)[-1]
            assert [getattr(node, "name", None) for node in body] == [name]

    def test_queries_are_summaries_of_the_original_docstrings(self, dataset: Dataset) -> None:
        root = Path(sysconfig.get_path("stdlib"))
        originals = {
            source.path: " ".join((root / source.path).read_text(encoding="utf-8").split())
            for source in dataset.corpora[0].sources
        }
        for query in dataset.queries:
            assert query.text in originals[query.targets[0].path].replace("\\\\", "\\"), query.id

    def test_no_query_stands_in_the_corpus(self, dataset: Dataset) -> None:
        corpus = [" ".join([*words_of(source.text), ""]) for source in dataset.corpora[0].sources]
        for query in dataset.queries:
            words = words_of(query.text)
            length = min(8, len(words))
            for at in range(len(words) - length + 1):
                gram = " ".join([*words[at : at + length], ""])
                assert not any(text.startswith(gram) or " " + gram in text for text in corpus)

    def test_queries_are_apart_long_enough_and_in_order(self, dataset: Dataset) -> None:
        texts = [tuple(words_of(query.text)) for query in dataset.queries]
        assert len(set(texts)) == len(texts)
        assert min(map(len, texts)) >= 4
        ids = [query.id for query in dataset.queries]
        assert ids == sorted(ids)

    def test_queries_are_split_by_name_and_clustered_by_file(self, dataset: Dataset) -> None:
        tags = Counter(query.tags["name-overlap"] for query in dataset.queries)
        assert set(tags) == {"yes", "no"}
        assert min(tags.values()) > 30
        assert all(query.cluster == query.targets[0].path for query in dataset.queries)
        assert max(Counter(query.cluster for query in dataset.queries).values()) < 30

    def test_what_was_dropped_is_counted_and_the_release_is_told(self, dataset: Dataset) -> None:
        assert set(dataset.information) == {"python", "modules", "gold follows"}
        assert dataset.left_out["modules that this Python lacks"] == 0
        assert dataset.left_out["modules that are the Python twin of C code"] > 0
        assert dataset.left_out["summary shared by several functions"] > 0

    def test_loading_twice_gives_the_same(self, dataset: Dataset) -> None:
        assert load_dataset("stdlib") == dataset


class TestRules:
    def test_each_reason_drops_a_query_and_is_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leaked = "one two three four five six seven eight"
        card = library(
            tmp_path,
            {
                "a.py": function("kept", "Return what is kept here.")
                + function("few", "Only three words.")
                + function("shared", "This stands in two.")
                + function("stub", "This has no body.", "")
                + function("whole", "Short and leaked entirely.")
                + function("leaks", f"Zero {leaked} nine ten.")
                + "def bare(): return 1\n",
                "b.py": function("other", "THIS stands  in two!")
                + f"# {leaked}\n# zero one two three\nx = 'short AND leaked, entirely'\n",
                "_pytwin.py": function("twin", "Never read at all."),
            },
            monkeypatch,
        )
        dataset = load(card, None)
        assert [query.id for query in dataset.queries] == ["a.kept"]
        assert dict(dataset.left_out) == {
            "body is nothing but the docstring": 1,
            "summary under 4 words": 1,
            "summary shared by several functions": 2,
            "8 words in a row of the summary remain in the corpus": 2,
            "modules that are the Python twin of C code": 1,
            "modules that this Python lacks": 0,
        }

    def test_seven_words_in_a_row_may_remain(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = function("f", "one two three four five six seven eight.")
        card = library(
            tmp_path, {"a.py": text + "# one two three four five six seven\n"}, monkeypatch
        )
        assert [query.id for query in load(card, None).queries] == ["a.f"]

    def test_a_docstring_elsewhere_in_the_corpus_is_no_leak(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = '"""Return the one thing."""\n' + function("f", "Return the one thing.")
        card = library(tmp_path, {"a.py": text}, monkeypatch)
        assert [query.id for query in load(card, None).queries] == ["a.f"]

    def test_modules_that_are_missing_are_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = library(tmp_path, {"a.py": function("f", "Return the one thing.")}, monkeypatch)
        card.settings["modules"].append("gone.py")
        dataset = load(card, None)
        assert dataset.left_out["modules that this Python lacks"] == 1
        assert dataset.information["modules"] == "1"

    def test_ids_name_modules_and_number_repeats_by_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = library(
            tmp_path,
            {
                "p/__init__.py": function("f", "Return the first thing."),
                "p/m.py": "class C:\n    def f(self): return 1\n"
                + re.sub("(?m)^", "    ", function("f", "Return the second thing.")),
            },
            monkeypatch,
        )
        assert [query.id for query in load(card, None).queries] == ["p.f", "p.m.C.f#2"]

    def test_a_file_that_is_no_text_is_listed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = library(
            tmp_path, {"a.py": function("f", "Return the one thing."), "b.py": "\0"}, monkeypatch
        )
        assert [one.path for one in load(card, None).corpora[0].skipped] == ["b.py"]

    def test_a_python_without_library_source_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = library(tmp_path, {}, monkeypatch)
        for root in (tmp_path, tmp_path / "missing"):
            monkeypatch.setattr(sysconfig, "get_path", lambda name, root=root: str(root))
            with pytest.raises(InputError, match="holds no source of Python's library"):
                load(card, None)

    @pytest.mark.parametrize("modules", [None, "a.py", [1]])
    def test_a_card_without_modules_is_an_error(self, modules: object) -> None:
        card = msgspec.structs.replace(load_card("stdlib"), settings={"modules": modules})
        with pytest.raises(InputError, match=r"settings\.modules must be a list of paths"):
            load(card, None)


@pytest.mark.parametrize(
    ("path", "twin"),
    [("_pydatetime.py", True), ("_pyrepl/reader.py", True), ("pydoc_data/topics.py", True),
     ("pydoc.py", False), ("py_compile.py", False), ("json/_py.py", False)],
)  # fmt: skip
def test_twins_are_known_by_name(path: str, twin: bool) -> None:
    assert is_twin(path) is twin
