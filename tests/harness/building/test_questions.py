"""The user's own questions: three formats, every failure by its line, candidates without a pick."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.build import BuildOptions, build
from harness.building.questions import question_queries, read_questions
from harness.building.suggest import suggest
from harness.building.tree import Reading
from harness.model import Corpus, Skipped, Target

if TYPE_CHECKING:
    from harness.building.tree import Files
    from harness.model import Dataset

CODE = """import re


class Reader:
    def parse_url(self, text):
        return re.match("x", text)

    def close(self):
        self.file = None


def close(reader):
    reader.close()
"""
CORPUS = Corpus(
    "repo",
    (Source(CODE, "pkg/a b.py", "python"), Source("int main() {\n}\n", "é.c", "c")),
    (Skipped("big.py", "larger than 1 bytes"),),
)


def targets(tmp_path: Path, *places: str, text: str = "Where does reading an address begin?"):
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"text": text, "targets": places}), "utf-8")
    (query,) = question_queries(CORPUS, file).queries
    return query.targets


def failure(tmp_path: Path, place: object, text: str = "Where is it read?") -> str:
    file = tmp_path / "q.jsonl"
    file.write_text("\n" + json.dumps({"text": text, "targets": place}), "utf-8")
    with pytest.raises(InputError) as raised:
        question_queries(CORPUS, file)
    assert "line 2" in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("pkg/a b.py:4-6", Target("pkg/a b.py", 4, 6)),
        ("./pkg//a b.py:4", Target("pkg/a b.py", 4, 4)),
        ("pkg\\a b.py", Target("pkg/a b.py")),
        ("é.c::main", Target("é.c", 1, 2)),
        ("pkg/a b.py::Reader.parse_url", Target("pkg/a b.py", 5, 6)),
        ("pkg/a b.py::parse_url", Target("pkg/a b.py", 5, 6)),
        ("pkg/a b.py::close", Target("pkg/a b.py", 12, 13)),
        ("pkg/a b.py::Reader.close#1", Target("pkg/a b.py", 8, 9)),
    ],
)
def test_places(tmp_path: Path, place: str, target: Target) -> None:
    assert targets(tmp_path, place) == (target,)


def test_several_targets_are_all_of_the_answer(tmp_path: Path) -> None:
    assert len(targets(tmp_path, "é.c", "pkg/a b.py:1", "é.c")) == 2


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("none.py:1-2", "the file none.py does not exist"),
        ("PKG/a b.py:1", "the file PKG/a b.py does not exist"),
        ("é.c:main", "does not exist; é.c does; write é.c:first-last for lines, or é.c::symbol"),
        ("é.c#L1-L2", "does not exist; é.c does; write é.c:first-last for lines"),
        ("big.py", "not indexed: larger than 1 bytes"),
        ("é.c:2-3", "lines 2-3 are not in é.c, which has 2 lines"),
        ("é.c:0", "line 0 is not in é.c, which has 2 lines"),
        ("é.c:2-1", "its last line is before its first"),
        ("../é.c", "leads out of its corpus"),
        ("é.c::mian", "no definition has this name"),
        ("é.c::", "`::` must be followed by a symbol"),
        ("é.c:: ", "`::` must be followed by a symbol"),
        ("é.c::.", "no definition has this name"),
        ("é.c::#1", "no definition has this name"),
        ("pkg/a b.py::Reader#2", "no definition has this name"),
        ([], "targets is empty"),
        ([3], "targets: item 1 must be text such as src/run.py:10-20"),
        (None, "targets must be a list, not null"),
    ],
)
def test_what_cannot_be_resolved_is_named_with_its_line(
    tmp_path: Path, place: object, words: str
) -> None:
    assert words in failure(tmp_path, place)


def test_of_several_definitions_none_is_picked(tmp_path: Path) -> None:
    corpus = Corpus(
        "repo", (Source("def f():\n    pass\n\n\ndef f():\n    return 1\n", "a.py", "python"),)
    )
    file = tmp_path / "q.jsonl"
    file.write_text('{"text": "What is done twice?", "targets": "a.py::f"}\n', "utf-8")
    with pytest.raises(InputError, match="2 definitions have this name, on lines 1-2, 5-6"):
        question_queries(corpus, file)
    file.write_text('{"text": "What is done twice?", "targets": "a.py::f#2"}\n', "utf-8")
    assert question_queries(corpus, file).queries[0].targets == (Target("a.py", 5, 6),)


def test_a_question_whose_text_remains_in_the_corpus_is_left_out(tmp_path: Path) -> None:
    assert "words in a row remain" in failure(tmp_path, "é.c", text="def parse_url")


@pytest.mark.parametrize("linked", [False, True])
def test_a_target_may_be_an_absolute_path_below_the_root(tmp_path: Path, *, linked: bool) -> None:
    root = tmp_path / "repo"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/a.py").write_text(CODE, "utf-8")
    if linked:
        (tmp_path / "link").symlink_to(root)
        root = tmp_path / "link"
    file = tmp_path / "q.jsonl"
    places = [f"{root}/pkg/a.py:4-9", f"{root.resolve()}/pkg/a.py::close#1", f"{root}//pkg/./a.py"]
    rows = [
        {"id": n, "text": f"Where is {n} read?", "targets": one} for n, one in enumerate(places)
    ]
    rows.append({"id": 9, "text": "Where is nine read?", "targets": f"{root}-other/pkg/a.py"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    made = build(root, BuildOptions(queries=str(file)))
    assert [query.targets for query in made.queries] == [
        (Target("pkg/a.py", 4, 9),), (Target("pkg/a.py", 12, 13),), (Target("pkg/a.py"),),
    ]  # fmt: skip
    (left,) = made.left_out
    assert left.startswith("line 4: target ")


@pytest.mark.parametrize("files", ["code", "all"])
def test_the_questions_leave_the_corpus_that_they_lie_in(
    tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.py").write_text(CODE, "utf-8")
    (tmp_path / "docs/notes.json").write_text("{}", "utf-8")
    (tmp_path / "docs/q.yaml").write_text(
        "- text: Where does the reading of one address begin in this project?\n"
        "  targets: a.py::Reader.parse_url\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    made = build(Path("docs/.."), BuildOptions(queries="docs/q.yaml", reading=Reading(files)))
    assert len(made.queries) == 1
    (corpus,) = made.corpora
    assert "docs/q.yaml" not in [one.path for one in corpus.sources]
    reason = {"code": "yaml is excluded", "all": "the questions themselves"}[files]
    assert Skipped("docs/q.yaml", reason) in corpus.skipped


def test_a_failure_leaves_the_others_and_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    good = {"id": 7, "text": "Where is an address taken apart?", "targets": "pkg/a b.py::parse_url"}
    bad = {"text": "Where is it written?", "targets": ["é.c", "gone.py"]}
    file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", "utf-8")
    made = question_queries(CORPUS, file)
    (query,) = made.queries
    assert (query.id, query.cluster) == ("7", "pkg/a b.py")
    assert query.tags == {"folder": "pkg", "language": "python", "name-overlap": "no"}
    assert made.left_out == {"line 2: target 'gone.py': the file gone.py does not exist": 1}


def test_a_file_of_questions_makes_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/a.py").write_text(CODE, "utf-8")
    file = tmp_path / "q.csv"
    file.write_text("text,targets\nHow is an address read?,a.py::parse_url\n", "utf-8")
    made = build(tmp_path / "repo", BuildOptions(queries=str(file)))
    assert [query.id for query in made.queries] == ["line 2"]


def test_candidates_share_the_rare_words_of_a_question(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(
        '{"text": "Where is a URL parsed, and what does parse_url return?", "targets": "?"}\n'
        '{"text": "zzz", "targets": "?"}\n',
        "utf-8",
    )
    found = suggest(CORPUS, read_questions(file), count=2)
    best, other = found["line 1"]
    assert best.place == "pkg/a b.py:5-6"
    assert best.words[0] in {"parse", "parse_url", "url"}
    assert (other.place, other.score) == ("pkg/a b.py:4-9", best.score)  # the longer is second
    assert found["line 2"] == ()


def test_candidates_are_those_of_any_order_of_files(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"text": "close main", "targets": "?"}', "utf-8")
    questions = read_questions(file)
    turned = Corpus("repo", CORPUS.sources[::-1])
    assert suggest(CORPUS, questions) == suggest(turned, questions)


NAMED = {
    "a.py": '''import functools


class Box:
    """Hold what is put into it until somebody asks."""

    @property
    @functools.cache
    def size(self):
        """Tell how many things are in there now."""
        return 1

    @size.setter
    def size(self, value):
        """Take so many things out of it again."""
        self.value = value


@functools.cache
def pack(one):
    """Put one thing into a box of its own."""
    return one
''',
    "b.go": """package b

// Box holds what is put into it until somebody asks.
type Box struct {
\tsize int
}

// Size tells how many things are in there now.
func (b *Box) Size() int {
\treturn b.size
}

// Size tells how many boxes there are in all.
func Size() int {
\treturn 1
}
""",
    "c.rs": """#![allow(unused)]
/// Holds what is put into it until somebody asks.
#[derive(Clone)]
pub struct Pair {
    size: u32,
}

#[derive(Clone)]
/// Holds two things of a kind that are never apart.
pub struct Other;

impl Pair {
    /// Counts the things that it holds at this time.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }
}
""",
    "D.java": """class Box {
  /** Tells how many things are in there now. */
  @Deprecated
  int size() {
    return 1;
  }

  /** Tells how many things are in there at most. */
  int size(int most) {
    return most;
  }
}
""",
}


@pytest.fixture
def documented(tmp_path: Path) -> Path:
    for name, text in NAMED.items():
        (tmp_path / "repo").mkdir(exist_ok=True)
        (tmp_path / "repo" / name).write_text(text, "utf-8")
    return tmp_path / "repo"


def test_an_id_of_a_doc_comment_is_the_same_place_as_a_target(
    documented: Path, tmp_path: Path
) -> None:
    by_doc = build(documented, BuildOptions())
    ids = [query.id for query in by_doc.queries]
    assert {"a.py::Box.size#2", "b.go::Box.Size", "c.rs::Pair", "D.java::Box.size#2"} <= set(ids)
    rows = [{"id": one, "text": f"where is it {n}", "targets": one} for n, one in enumerate(ids)]
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    by_question = build(documented, BuildOptions(queries=str(file)))

    def words(made: Dataset) -> dict[str, str]:
        found = {}
        sources = {one.path: one for one in made.corpora[0].sources}
        for query in made.queries:
            (target,) = query.targets
            source = sources[target.path]
            assert target.start_line is not None
            assert target.end_line is not None
            start, end = source.lines.offsets_of(target.start_line, target.end_line)
            # What the lines say, but for the comments that one of the two has cut.
            said = re.sub(r'"""[^"]*"""|//.*|/\*.*\*/', "", source.text[start:end])
            found[query.id] = " ".join(said.split())
        return found

    asked, documents = words(by_question), words(by_doc)
    several = {"a.py::Box.size", "D.java::Box.size"}  # the first of two is called #1
    assert asked == {one: said for one, said in documents.items() if one not in several}
    left = [reason for reason in by_question.left_out if "write Box.size#1" in reason]
    assert len(left) == len(several)
    assert documents["a.py::pack"].startswith("@functools.cache")
    assert documents["c.rs::Pair"] == "#[derive(Clone)] pub struct Pair { size: u32, }"
    assert documents["c.rs::Other"] == "#[derive(Clone)] pub struct Other;"


def test_numbers_count_all_of_a_name_documented_or_not(documented: Path, tmp_path: Path) -> None:
    text = NAMED["D.java"].replace("  /** Tells how many things are in there now. */\n", "")
    (documented / "D.java").write_text(text, "utf-8")
    assert "D.java::Box.size#2" in [query.id for query in build(documented, BuildOptions()).queries]
    file = tmp_path / "q.jsonl"
    rows = [
        {"id": n, "text": f"where is it {n}", "targets": f"D.java::Box.size#{n}"} for n in (1, 2, 3)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    made = build(documented, BuildOptions(queries=str(file)))
    assert [query.targets for query in made.queries] == [
        (Target("D.java", 2, 5),), (Target("D.java", 8, 10),),
    ]  # fmt: skip
    assert list(made.left_out) == [
        "line 3: target 'D.java::Box.size#3': no definition has this name"
    ]


def test_the_same_words_ask_for_one_answer_alone(tmp_path: Path) -> None:
    rows = [
        {"text": "Where is the first thing?", "targets": "a.py:1"},
        {"text": "where is the FIRST thing", "targets": "a.py:2"},
        {"text": "What is the second thing?", "targets": "a.py:2"},
        {"text": "What is the second thing?", "targets": "a.py:2"},
        {"text": "What is the third thing?", "targets": "a.py:3"},
    ]
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = Corpus("c", (Source("x = 1\ny = 2\nz = 3\n", "a.py", "python"),))
    made = question_queries(corpus, file)
    assert [query.id for query in made.queries] == ["line 3", "line 5"]
    assert list(made.left_out) == [
        "line 1: same words as line 2; ask once, with all targets",
        "line 2: same words as line 1; ask once, with all targets",
        "line 4: same words as line 3; ask once, with all targets",
    ]


def test_lines_beside_a_target_are_refused_with_the_form_of_a_target(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"text": "which", "targets": "pkg/a.py", "start_line": 1, "end_line": 2}\n')
    with pytest.raises(
        InputError, match=r"line 1: unknown key 'start_line'; write src/run\.py:10-20"
    ):
        question_queries(CORPUS, file)
