"""Queries out of a history: which commits make one, what its targets are, and what is shared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.build import BuildOptions, build
from harness.building.git import commit_gold, commits, trees
from harness.building.git.changes import parse_patch
from harness.building.git.commits import commit_queries
from harness.model import Dataset, Target
from harness.reading.reader import ReadRules

if TYPE_CHECKING:
    from pathlib import Path

    from harness.building.built_queries import BuiltQueries
    from harness.model import Query

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

RULES = ReadRules(max_bytes=5_000)
CODE = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
OTHER = "x = 1\ny = 2\n"


def made(repo: Repo, **options: object) -> BuiltQueries:
    return commit_queries(repo.root, RULES, **options)  # type: ignore[arg-type]


def as_dataset(result: BuiltQueries) -> Dataset:
    return Dataset("made", "span", result.corpora, result.queries, left_out=result.left_out)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, dict[str, str]]:
    """A repository with a commit of every kind, and the hashes of those that make queries."""
    repo = new_repo(tmp_path_factory.mktemp("history") / "repo")
    good = {}
    repo.commit("Begin with two functions and notes\n", {"a.py": CODE, "pkg/b.py": OTHER})
    good["change"] = repo.commit(
        "Let the first function return ten (#3)\n\nOne was too few.\n\nSigned-off-by: A <a@b>\n",
        {"a.py": CODE.replace("return 1", "return 10")},
    )
    code = CODE.replace("return 1", "return 10")
    repo.commit(
        "Add a third function behind the second\n",
        {"a.py": code + "\n\ndef third():\n    return 3\n"},
    )
    code += "\n\ndef third():\n    return 3\n"
    good["both"] = repo.commit(
        "Rename the second function and drop a name\n",
        {"a.py": "# top\n" + code.replace("def second", "def last"), "pkg/b.py": "x = 1\n"},
    )
    code = "# top\n" + code.replace("def second", "def last")
    repo.commit("wip\n", {"a.py": code + "# wip\n"})
    repo.commit('Revert "Add a wip comment at the end"\n', {"a.py": code})
    repo.commit("Update all of the code again\n", {"a.py": code + "# one\n"})
    repo.commit("Update all of the code again\n", {"a.py": code + "# two\n"})
    repo.git("mv", "pkg/b.py", "pkg/c.py")
    repo.commit("Move the other module to a new name\n")
    good["moved"] = repo.commit(
        "Move the pkg module back and set ten more names\n",
        {"pkg/c.py": "\n".join(f"name_{n} = {n}" for n in range(30)) + "\n"},
    )
    repo.git("mv", "pkg/c.py", "pkg/d.py")
    text = (repo.root / "pkg/d.py").read_text().replace("name_7 = 7\n", "name_7 = 70\n")
    good["renamed"] = repo.commit("Rename the pkg module and set seven anew\n", {"pkg/d.py": text})
    repo.commit(
        "Count from the first function to the third\n", {"tests/test_a.py": "assert True\n"}
    )
    repo.commit(
        "Count from the first function more than before\n", {"tests/test_a.py": "assert 1\n"}
    )
    repo.commit("Lock all dependencies to what they are\n", {"poetry.lock": "a"})
    repo.commit("Write some notes for the reader\n", {"notes.txt": "a"})
    repo.commit("Write more of these notes here\n", {"notes.txt": "b"})
    repo.commit("Add a module that is new\n", {"extra.py": "a = 1\n"})
    repo.commit(
        "Take away lines that are blank\n", {"a.py": (code + "# two\n").replace("\n\n\n", "\n")}
    )
    code = (code + "# two\n").replace("\n\n\n", "\n")
    repo.commit("Touch very many files in one go\n", {f"many/{n}.py": "" for n in range(21)})
    repo.commit("Write a very long module here\n", {"long.py": "a = 1\n" * 300})
    repo.commit("Change a very long module here\n", {"long.py": "b = 1\n" * 300})
    good["said"] = repo.commit(
        "Say in extra at length what one two three four five six seven eight is\n",
        {"extra.py": "a = 1  # one two three four five six seven eight\n"},
    )
    repo.commit(
        "Say in extra briefly what one two three four five six seven eight is\n",
        {"extra.py": "a = 1\n"},
    )
    repo.commit("Make the module binary for a while\n", {"extra.py": b"\0"})
    repo.commit("Make the module text again at last\n", {"extra.py": "a = 1\n"})
    repo.commit("Make the module very large for once\n", {"extra.py": "a = 1\n" * 2000})
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    good["side"] = repo.commit(
        "Return twenty from the function on the side\n",
        {"a.py": code.replace("return 2", "return 20")},
    )
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side", days=99)
    repo.commit("Change nothing at all in this one\n")
    repo.write({"a.py": "dirty", "dirty.py": "dirty = 1\n"})
    return repo, good


def query(result: BuiltQueries, name: str) -> Query:
    return next(one for one in result.queries if one.id == name)


def test_every_commit_is_a_query_or_counted_by_reason(history: tuple[Repo, dict[str, str]]) -> None:
    repo, good = history
    result = made(repo)
    assert {one.id for one in result.queries} == set(good.values())
    assert result.left_out == {
        commits._FIRST: 1,
        commits._MERGE: 1,
        commits._REVERT: 1,
        commits._UNFINISHED: 1,
        commits._SHARED: 2,
        commits._MASS: 2,
        commits._NOTHING: 1,
        commits._RENAMED: 1,
        commits._LOCKED: 1,
        commits._TESTED: 2,
        commits._ADDED: 3,
        commits._UNREAD: 2,
        commits._UNREADABLE: 2,
        commit_gold.BLANK: 1,
        commit_gold.APART: 1,
        commits._LEAKED: 1,
    }
    total = sum(result.left_out.values()) + len(result.queries)
    assert total == int(result.information["commits"]) == repo.count()
    assert result.information["commit"] == repo.git("rev-parse", "HEAD")


def test_targets_are_lines_of_the_parent(history: tuple[Repo, dict[str, str]]) -> None:
    repo, good = history
    result = made(repo)
    change = query(result, good["change"])
    assert change.text == "Let the first function return ten\n\nOne was too few."
    assert change.corpus == repo.git("rev-parse", f"{good['change']}^")
    assert change.targets == (Target("a.py", 5, 5),)
    assert change.tags == {"folder": ".", "language": "python", "insert-only": "no"}
    assert change.cluster == "a.py"
    both = query(result, good["both"])
    assert both.targets == (Target("a.py", 8, 8), Target("pkg/b.py", 2, 2))
    assert both.tags["folder"] == "several"
    renamed = query(result, good["renamed"])
    assert renamed.targets == (Target("pkg/c.py", 8, 8),)
    assert renamed.tags["folder"] == "pkg"


HELD = "class Held:\n    x = 1\n    y = 2\n"
NOTES = "one: 1\n\ntwo: 2\n"


@pytest.mark.parametrize(
    ("notes", "answer"),
    [
        (NOTES + "three: 3\n", "yes"),
        (NOTES.replace("\n\n", "\nhalf: 3\n"), "yes"),
        (NOTES.replace("two: 2", "two: 3"), None),
        (NOTES.replace("two: 2\n", ""), None),
        (NOTES.removesuffix("\n"), None),
        (None, None),
        (b"\0binary", None),
    ],
)
def test_an_insertion_changes_no_line_of_any_file_indexed_or_not(
    tmp_path: Path, notes: str | bytes | None, answer: str | None
) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with a module and its notes\n", {"a.py": HELD, "NEWS.txt": NOTES})
    repo.commit(
        "Add a name to the held module\n",
        {"a.py": HELD.replace("y", "z = 3\n    w = 4\n    y"), "NEWS.txt": notes},
    )
    result = made(repo)
    assert [one.tags["insert-only"] for one in result.queries] == ([answer] if answer else [])
    assert result.left_out.get(commit_gold.ELSEWHERE, 0) == (answer is None)


def test_a_lock_file_and_a_link_that_change_beside_an_insertion(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with a module and its notes\n", {"a.py": HELD, "x.lock": "1\n"})
    repo.commit(
        "Add a name to the held module\n",
        {"a.py": HELD.replace("y", "z = 3\n    y"), "x.lock": "2\n"},
    )
    (repo.root / "to").symlink_to("a.py")
    repo.commit("Link to the module as it is now\n")
    (repo.root / "to").unlink()
    (repo.root / "to").symlink_to("x.lock")
    repo.commit(
        "Add another name to the held module\n",
        {"a.py": HELD.replace("y", "z = 3\n    w = 2\n    y")},
    )
    result = made(repo)
    assert [one.tags["insert-only"] for one in result.queries] == ["yes"]
    assert result.left_out[commit_gold.ELSEWHERE] == 1


def test_targets_are_those_of_git(history: tuple[Repo, dict[str, str]]) -> None:
    repo, _ = history
    result = made(repo)
    for one in result.queries:
        patch = repo.git("diff", "-U0", "-M", "--no-ext-diff", one.corpus, one.id, "--", "*.py")
        expected = {
            (file.old, line)
            for file in parse_patch(patch)
            for first, last in file.changed.removed
            for line in range(first, last + 1)
        }
        corpus = next(corpus for corpus in result.corpora if corpus.id == one.corpus)
        lines = {source.path: source.lines for source in corpus.sources}
        expected = {(path, n) for path, n in expected if path and not lines[path].blank(n)}
        mine = {
            (target.path, line)
            for target in one.targets
            for line in range(target.start_line or 0, (target.end_line or 0) + 1)
            if not lines[target.path].blank(line)
        }
        assert mine == expected or (not expected and one.tags["insert-only"] == "yes")


def test_a_corpus_is_the_tree_of_the_parent_and_shares_its_files(
    history: tuple[Repo, dict[str, str]],
) -> None:
    repo, _ = history
    result = made(repo)
    objects: dict[tuple[str, str], set[int]] = {}
    for corpus in result.corpora:
        listed = repo.git("ls-tree", "-r", "--name-only", corpus.id).split("\n")
        assert sorted(s.path for s in (*corpus.sources, *corpus.skipped)) == sorted(listed)
        for source in corpus.sources:
            assert source.text == repo.git("show", f"{corpus.id}:{source.path}") + (
                "\n" if source.text else ""
            )
            objects.setdefault((source.path, source.text), set()).add(id(source))
    assert all(len(ids) == 1 for ids in objects.values())
    assert len(result.corpora) > len(objects) / 10


def test_the_same_seed_gives_the_same_and_a_larger_sample_holds_the_smaller(
    history: tuple[Repo, dict[str, str]],
) -> None:
    repo, good = history
    whole = made(repo)
    assert as_dataset(made(repo)).fingerprint == as_dataset(whole).fingerprint
    before: set[str] = set()
    for limit in range(len(good) + 2):
        some = made(repo, limit=limit, seed=4)
        ids = {one.id for one in some.queries}
        assert len(ids) == min(limit, len(good))
        assert before <= ids
        assert {one.corpus for one in some.queries} == {corpus.id for corpus in some.corpora}
        before = ids
    samples = {tuple(q.id for q in made(repo, limit=2, seed=n).queries) for n in range(8)}
    assert len(samples) > 1


def test_a_date_leaves_out_what_is_older(history: tuple[Repo, dict[str, str]]) -> None:
    repo, good = history
    day = repo.git("show", "-s", "--format=%cs", good["both"])
    result = made(repo, since=day)
    assert good["both"] in {one.id for one in result.queries}
    assert good["change"] not in {one.id for one in result.queries}
    assert result.left_out[commits._EARLY] == 3
    assert not made(repo, since="2999-01-01").queries
    with pytest.raises(InputError, match="since=yesterday is not a date"):
        made(repo, since="yesterday")


def test_a_bare_and_a_shallow_clone_and_a_linked_tree_give_what_they_have(
    history: tuple[Repo, dict[str, str]], tmp_path: Path
) -> None:
    repo, _ = history
    whole = as_dataset(made(repo)).fingerprint
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare"))
    assert as_dataset(made(Repo(tmp_path / "bare"))).fingerprint == whole
    url = f"file://{repo.root}"
    repo.git("clone", "-q", "--depth", "4", url, str(tmp_path / "shallow"))
    shallow = made(Repo(tmp_path / "shallow"))
    assert shallow.left_out[commits._FIRST] >= 1
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~3")
    linked = made(Repo(tmp_path / "linked"))
    repo.git("worktree", "remove", "--force", str(tmp_path / "linked"))
    assert {one.id for one in linked.queries} < {one.id for one in made(repo).queries}


def test_links_submodules_odd_names_and_large_files_are_listed_and_never_read(
    tmp_path: Path,
) -> None:
    repo = new_repo(tmp_path / "repo")
    text = repo.git("hash-object", "-w", "--stdin", data=b"a = 1\n")
    large = repo.git("hash-object", "-w", "--stdin", data=b"x" * 5_001)
    inner = repo.git("mktree", "-z", data=f"100644 blob {text}\ta.py\0".encode())
    lines = [
        b"100644 blob %b\tbad\xff.py" % text.encode(),
        b"100755 blob %b\tgood.py" % text.encode(),
        b"100644 blob %b\tlarge.py" % large.encode(),
        b"120000 blob %b\tlink.py" % text.encode(),
        b"040000 tree %b\tnode_modules" % inner.encode(),
        b"160000 commit %b\tsub.py" % (b"1" * 40),
        b"100644 blob %b\twith space\n.py" % text.encode(),
    ]
    parent = repo.git("mktree", "-z", data=b"".join(line + b"\0" for line in lines))
    changed = repo.git("hash-object", "-w", "--stdin", data=b"a = 2\n")
    lines = [line.replace(text.encode(), changed.encode()) for line in lines]
    child = repo.git("mktree", "-z", data=b"".join(line + b"\0" for line in lines))
    first = repo.git("commit-tree", parent, "-m", "One")
    last = repo.git("commit-tree", child, "-p", first, "-m", "Set good values in all modules anew")
    repo.git("update-ref", "HEAD", last)
    result = made(repo)
    (one,) = result.queries
    assert one.targets == (Target("good.py", 1, 1), Target("with space\n.py", 1, 1))
    (corpus,) = result.corpora
    assert [source.path for source in corpus.sources] == ["good.py", "with space\n.py"]
    assert {skipped.path: skipped.reason for skipped in corpus.skipped} == {
        "bad\\xff.py": "its name is not UTF-8",
        "large.py": "larger than 5000 bytes",
        "link.py": "link",
        "node_modules/": "folder not entered",
        "sub.py": "submodule",
    }


def test_trees_that_memory_would_not_hold_end_in_one_message(
    history: tuple[Repo, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, _ = history
    monkeypatch.setattr(trees, "MOST_TEXT", 1_000)
    with pytest.raises(InputError, match="give one") as raised:
        made(repo)
    assert str(raised.value).count("\n") == 1
    monkeypatch.undo()
    monkeypatch.setattr(trees, "MOST_FILES", 10)
    with pytest.raises(InputError, match="trees of its commits hold more than 10 files"):
        made(repo)


def test_only_the_newest_commits_are_looked_at(
    history: tuple[Repo, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, _ = history
    monkeypatch.setattr(commits, "NEWEST", 5)
    result = made(repo)
    assert result.left_out[commits._OLD] == repo.count() - 5
    assert result.information["commits"] == str(repo.count())


def test_a_repository_of_one_commit_gives_no_query(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with nothing but one file\n", {"a.py": "a = 1\n"})
    result = made(repo)
    assert result.queries == result.corpora == ()
    assert result.left_out == {commits._FIRST: 1}


def test_nothing_depends_on_the_hash_seed(history: tuple[Repo, dict[str, str]]) -> None:
    repo, _ = history
    code = (
        "import sys; from pathlib import Path; from harness.model import Dataset;"
        "from harness.reading.reader import ReadRules; from harness.building.git.commits import *;"
        "made = commit_queries(Path(sys.argv[1]), ReadRules(), limit=5);"
        "print(Dataset('m', 'span', made.corpora, made.queries).fingerprint, made.left_out)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, str(repo.root)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_only_insertions_ask_for_the_definition_around_them(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with two functions here\n", {"a.py": CODE})
    inside = repo.commit(
        "Let the second function say more\n",
        {"a.py": CODE.replace("    return 2", "    x\n    return 2")},
    )
    repo.commit(
        "Import what nobody needs yet\n", {"a.py": "import re\n" + (repo.root / "a.py").read_text()}
    )
    result = made(repo)
    (one,) = result.queries
    assert (one.id, one.targets, one.tags["insert-only"]) == (
        inside,
        (Target("a.py", 8, 9),),
        "yes",
    )
    assert result.left_out[commit_gold.APART] == 1


def test_code_that_only_gains_lines_comes_before_tests_that_change(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    files = {"a.py": CODE, "test_a.py": "assert 1\n"}
    repo.commit("Begin with code and its test\n", files)
    files = {"a.py": CODE.replace("    return 2", "    x\n    return 2"), "test_a.py": "assert 2\n"}
    inside = repo.commit("Let the second function say more\n", files)
    repo.commit("Add one more module of code\n", {"extra.py": "x\n", "test_a.py": "assert 3\n"})
    result = made(repo)
    assert [(one.id, one.targets) for one in result.queries] == [(inside, (Target("a.py", 8, 9),))]
    assert result.left_out[commits._TESTED] == 1


BODY = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(40))
LONG = "import os\n" + BODY
ONE = LONG.replace("return 7\n", "return 70\n")
NOTED = '"""A note."""\n# A note.\ndef f():\n    """A note."""\n    name = 1  # why\n'
MORE = LONG.replace("return 7\n", "x\n    return 7\n")


@pytest.mark.parametrize(
    ("files", "targets"),
    [
        # Of code and tests, the code is asked for; imports and closing lines are not.
        ({"a.py": ONE, "test_a.py": "x = 2\n"}, [(31, 31)]),
        ({"a.py": ONE.replace("os", "re")}, [(31, 31)]),
        ({"a.js": "import {b} from 'c';\nlet a = 2;\nf(\n  1\n]);\n"}, [(2, 2)]),
        ({"a.rb": "require 'json'\nname = 2\n"}, [(2, 2)]),
        ({"a.go": 'package a\n\nimport (\n\t"io"\n)\n\nvar b = 2\n'}, [(7, 7)]),
        # An import that changes beside an insertion leaves what is around the insertion.
        ({"a.py": MORE.replace("os", "re")}, [(30, 31)]),
        ({"a.py": LONG.replace("os", "re")}, commit_gold.IMPORTS),
        ({"a.js": "import {b} from 'c';\nlet a = 1;\nf(\n  1\n]);\n"}, commit_gold.IMPORTS),
        # What is called as an import is in another language is none.
        ({"a.py": LONG + "load(path, strict=True)\n"}, commit_gold.APART),
        ({"a.kt": "fun f() {\n    require(amount >= limit)\n}\n"}, [(2, 2)]),
        ({"a.sh": "source other.sh\ncall\n"}, commit_gold.IMPORTS),
        ({"a.lua": 'local a = require("c")\nb = 1\n'}, commit_gold.IMPORTS),
        # Comments and docstrings are no code; a comment beside code is.
        ({"a.py": NOTED.replace("note", "remark")}, commit_gold.IMPORTS),
        ({"a.py": NOTED.replace("note", "remark").replace("= 1", "= 3")}, [(5, 5)]),
        ({"a.py": NOTED.replace("# why", "# for what")}, [(5, 5)]),
        ({"a.c": "/* A note. */ int a = 2;\n/* A\n   note. */\n"}, [(1, 1)]),
        ({"a.c": "/* A note. */ int a = 1;\n/* A\n   remark. */\n"}, commit_gold.IMPORTS),
        # What is inserted elsewhere is asked for too, by the definition around it.
        ({"a.py": ONE.replace("return 9\n", "x\n    return 9\n")}, [(31, 31), (38, 39)]),
        ({"a.py": ONE.replace("def f7():\n", "def f7():\n    x\n")}, [(31, 31)]),
        ({"a.py": "import re\n" + ONE}, [(31, 31)]),
        ({"a.py": ONE, "test_a.py": "x = 1\ny = 2\n"}, [(31, 31)]),
        # Most of it is elsewhere.
        ({"a.py": ONE + "y = 1\n" * 3}, commit_gold.BESIDE),
        ({"a.py": ONE + "y = 1\n" * 2}, [(31, 31)]),
        ({"a.py": ONE, "NOTICE": "n\n" * 5}, commit_gold.BESIDE),
        ({"a.py": ONE, "extra.py": "y\n" * 5}, commit_gold.BESIDE),
        ({"a.py": ONE, "tests/n.py": "y\n" * 50}, [(31, 31)]),
        ({"a.py": LONG.replace("return 1", "return 9")}, commit_gold.SPREAD),
        ({f"s{n}.py": "x = 2\n" for n in range(5)}, commit_gold.SPREAD),
    ],
)
def test_targets_are_what_the_message_can_ask_for(
    tmp_path: Path, files: dict[str, str], targets: list[tuple[int, int]] | str
) -> None:
    repo = new_repo(tmp_path / "repo")
    old = {
        "a.py": NOTED if "f()" in files.get("a.py", "") else LONG,
        "test_a.py": "x = 1\n",
        "a.js": "import {a} from 'b';\nlet a = 1;\nf(\n  1\n);\n",
        "a.rb": "require_relative 'json'\nname = 1\n",
        "a.kt": "fun f() {\n    require(amount > limit)\n}\n",
        "a.sh": "source some.sh\ncall\n",
        "a.lua": 'local a = require("b")\nb = 1\n',
        "a.c": "/* A note. */ int a = 1;\n/* A\n   note. */\n",
        "a.go": 'package a\n\nimport (\n\t"os"\n)\n\nvar b = 1\n',
        **{f"s{n}.py": "x = 1\n" for n in range(5)},
    }
    repo.commit("Begin with one long module here\n", old)
    repo.commit("Change each name, int, let, def, var, return or require\n", files)
    result = made(repo)
    if isinstance(targets, str):
        assert result.left_out == {commits._FIRST: 1, targets: 1}
    else:
        (one,) = result.queries
        assert [(t.start_line, t.end_line) for t in one.targets] == targets


@pytest.mark.parametrize(
    ("message", "shared"),
    [
        ("Parse dates of two digits", True),  # `parser` in the path
        ("Let the counter begin at one", True),  # in `_CounterOf`
        ("Fix: new code should use this again", False),  # words that say nothing
        ("More coffee, less crack today", False),
        ("\u8ba1\u6570\u5668\u4ece\u4e00\u5f00\u59cb", True),  # the letters of the comment
        ("\u4fee\u590d\u65e5\u671f\u89e3\u6790", False),
        ("Speed up the second function", False),  # elsewhere in the file
    ],
)
def test_a_message_shares_a_word_with_a_target_or_its_path(message: str, shared: bool) -> None:
    text = "class _CounterOf:  # \u8ba1\u6570\u5668\n    at = 0\n\n\ndef second():\n    pass\n"
    source = Source(text, "src/date_parser.py", "python")
    targets = [Target("src/date_parser.py", 1, 2)]
    assert commit_gold.shares_word(message, targets, [source]) is shared


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("app.conf", False),
        ("deploy.yaml", False),
        ("lib/data.bin", False),
        ("README.md", True),
        ("LICENSE", True),
        (".gitignore", True),
        ("tests/data.bin", True),
    ],
)
def test_files_of_kinds_that_are_not_indexed_may_be_what_a_message_asks_for(
    tmp_path: Path, path: str, asked: bool
) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with two functions here\n", {"a.py": CODE, path: "one\n"})
    repo.commit(
        "Let the first function return ten\n",
        {"a.py": CODE.replace("return 1", "return 10"), path: "one\ntwo\n"},
    )
    result = commit_queries(repo.root, ReadRules(without=frozenset({"yaml"})))
    assert len(result.queries) == asked
    assert (commits._UNINDEXED in result.left_out) is not asked


def test_commits_that_ask_for_nothing_are_counted_by_reason(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with two functions here\n", {"a.py": CODE})
    text = CODE.replace("return 1", "return 11")
    listed = repo.commit("Let one be eleven for once\n", {"a.py": text})
    repo.commit("Indent the body some more\n", {"a.py": text.replace("    return", "  return")})
    repo.commit("Bump pytest from 7.1.0 to 7.2.0\n", {"a.py": text + "x = 1\n"})
    repo.commit("Merge pull request #7 from a/b\n\nof many words\n", {"a.py": text + "x = 2\n"})
    repo.commit("Reformat all files with black\n", {"a.py": text + "x = (2)\n"})
    repo.commit("List what blame should ignore\n", {".git-blame-ignore-revs": f"# one\n{listed}\n"})
    result = made(repo)
    assert result.queries == ()
    reasons = (commits._IGNORED, commit_gold.BLANK, commits._BUMP, commits._MERGE, commits._FORMAT)
    assert [result.left_out[reason] for reason in reasons] == [1] * 5


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, commit_gold.BLANK),
        ({"NEWS": "b\n"}, commit_gold.BLANK),
        ({"tests/data.bin": "b\n"}, commit_gold.BLANK),
        ({"b.js": "f( a,\n  b )\n"}, commit_gold.BLANK),
        ({"test_a.py": "assert 2\n"}, commits._TESTED),
    ],
)
def test_lines_that_are_only_joined_ask_for_nothing_whatever_else_changes(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    repo = new_repo(tmp_path / "repo")
    old = {"a.js": "x();\n}\n}\nelse {\n", "b.js": "f(a, b)\n", "test_a.py": "assert 1\n"}
    repo.commit("Begin with what else there is\n", old | {"NEWS": "a\n", "tests/data.bin": "a\n"})
    repo.commit("Write what else there is in one line\n", files | {"a.js": "x();\n}\n} else {\n"})
    assert made(repo).left_out == {commits._FIRST: 1, reason: 1}


def test_commits_that_a_person_rejected_are_replaced(history: tuple[Repo, dict[str, str]]) -> None:
    repo, good = history
    result = made(repo, without=frozenset({good["change"]}))
    assert {one.id for one in result.queries} == set(good.values()) - {good["change"]}
    assert result.left_out[commits.REJECTED] == 1


def test_an_id_of_no_commit_is_an_error(
    history: tuple[Repo, dict[str, str]], tmp_path: Path
) -> None:
    repo, good = history
    bad = tmp_path / "bad.txt"
    bad.write_text(f"{good['change']}\n{'0' * 40}\n")
    with pytest.raises(InputError, match="1 id of no commit with a message"):
        build(repo.root, BuildOptions(queries="commits", leave_out=bad))
