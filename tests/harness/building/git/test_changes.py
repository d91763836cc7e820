"""Lines that a change removed, and the targets that follow; compared with what git says."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.git.changes import Changed, changed_lines, gold_of, parse_patch
from harness.building.git.commit_gold import comment_lines
from harness.model import Target

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "  c\n", "\n", "\r\n", "d\x0ce\n", "f\u2028\n"]))
CODE = (Path(__file__).parents[4] / "chunkers" / "source.py").read_text("utf-8")


def removed_lines(changed: Changed) -> set[int]:
    return {n for first, last in changed.removed for n in range(first, last + 1)}


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_lines_that_remain_are_in_the_new_text_in_order(old: list[str], new: list[str]) -> None:
    removed = removed_lines(changed_lines("".join(old), "".join(new)))
    after = iter(new)
    assert all(line in after for number, line in enumerate(old, 1) if number not in removed)


@pytest.mark.parametrize(
    ("old", "new", "removed", "inserted"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", ((2, 2),), ()),
        ("a\nb\nc\n", "a\nc\n", ((2, 2),), ()),
        ("a\nc\n", "a\nb\nc\n", (), (1,)),
        ("a\n", "b\na\n", (), (0,)),
        ("a\n", "a\nb\n", (), (1,)),
        ("", "a\n", (), (0,)),
        ("a\n", "", ((1, 1),), ()),
        ("a\nb", "a\nb\n", ((2, 2),), ()),
        ("a\nb\n", "a\nb\n", (), ()),
        ("a\nb\n", "a\r\nb\n", ((1, 1),), ()),
        # A lone CR, a form feed and U+2028 end no line.
        ("a\rb\x0cc\u2028d\ne\n", "a\rb\x0cc\u2028d\n", ((2, 2),), ()),
        # Blank lines that come in are no place; a blank line that became text is one.
        ("a\nb\n", "a\n\n\nb\n", (), ()),
        ("a\n\nb\n", "a\nx\nb\n", ((2, 2),), (1,)),
    ],
)
def test_lines_are_counted_from_one_and_ended_by_lf_alone(
    old: str, new: str, removed: tuple[tuple[int, int], ...], inserted: tuple[int, ...]
) -> None:
    assert changed_lines(old, new) == Changed(removed, inserted)


@pytest.mark.parametrize(
    ("language", "old", "new", "kept"),
    [
        ("c", "f(a,b)\n", "  f(a, b)\n", Changed()),
        ("python", "if a: b\n", "if a:\n    b\n", Changed()),
        (None, "a b\nc\n", "ab\nd\n", Changed(((1, 2),))),
        (None, "a\nb\n", "a b\n", Changed()),
        # Comments, whatever their words.
        ("python", "a\n", "a\n# Why.\n", Changed()),
        ("python", "a\n", "# if we must\na\n", Changed()),
        ("bash", "a\n", "# error handling\n\n# include all\na\n", Changed()),
        ("c", "a;\n", "a;\n/* Why\n * and how.\n */\n", Changed()),
        ("sql", "SELECT 1;\n", "--why\nSELECT 1;\n", Changed()),
        ("lua", "a = 1\n", "--why\na = 1\n", Changed()),
        ("erlang", "-module(a).\n", "% Why.\n-module(a).\n", Changed()),
        ("python", "def f():\n    a\n", 'def f():\n    """Why."""\n    a\n', Changed()),
        ("python", '"""Why.\n"""\na\n', '"""Why.\n\nAnd how.\n"""\na\n', Changed()),
        # What looks like one.
        ("css", "a {}\n", "#nav {\n}\na {}\n", Changed(inserted=(0,))),
        ("css", "b {}\n", "#main,\nb {}\n", Changed(inserted=(0,))),
        ("scss", "a {}\n", "#nav {\n}\na {}\n", Changed(inserted=(0,))),
        ("javascript", "a()\n", "a()\n;[1, 2].forEach(f)\n", Changed(inserted=(1,))),
        ("javascript", "a();\n", "/* c */ f();\na();\n", Changed(inserted=(0,))),
        ("c", "a();\n", "/* c\n*/ f();\na();\n", Changed(inserted=(0,))),
        ("c", "a;\n", "a;\n*b = 1;\n", Changed(inserted=(1,))),
        ("c", "a;\n", "#define A\na;\n", Changed(inserted=(0,))),
        ("rust", "fn a() {}\n", "#[test]\nfn a() {}\n", Changed(inserted=(0,))),
        ("python", "a\n", 'a\nb = """\n# Why.\n"""\n', Changed(inserted=(1,))),
        ("python", "a\n", "a\n# Why.\nb\n", Changed(inserted=(1,))),
        # No parser reads it, so nothing is a comment.
        (None, "a\n", "# Why.\na\n", Changed(inserted=(0,))),
        # What is removed counts, comment or not: it is there to be found.
        ("python", "a\n# Why.\n", "a\n", Changed(((2, 2),))),
    ],
)
def test_white_space_and_new_comments_are_layout(
    language: str | None, old: str, new: str, kept: Changed
) -> None:
    comments = comment_lines(Source(new, "a", language))
    assert changed_lines(old, new, comments) == kept


def git_says(old: str, new: str, folder: Path) -> Changed:
    """What `git diff -U0` says of two texts."""
    for name, text in (("old", old), ("new", new)):
        (folder / name).write_bytes(text.encode())
    command = ["git", "diff", "--no-index", "--no-ext-diff", "-U0", "--minimal", "old", "new"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=False)
    patch = done.stdout.decode().replace("+++ b/new", "+++ b/old")
    files = parse_patch(patch.replace("a/old b/new", "a/old b/old"))
    return files[0].changed if files else Changed()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_lines_that_go_are_those_of_git_diff_minimal(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    for _ in range(80):
        lines = CODE.splitlines(keepends=True)
        for _ in range(chance.randint(1, 4)):
            at, end = sorted(chance.sample(range(len(lines)), 2))
            end = min(end, at + chance.randint(1, 30))
            to = chance.randrange(len(lines))
            moved = [line.replace("line", "row") for line in lines[at:end]]
            if chance.random() < 0.5:
                lines[at:end] = moved if chance.random() < 0.5 else []
            else:
                lines[to:to] = moved
        new = "".join(lines)
        assert changed_lines(CODE, new) == git_says(CODE, new, tmp_path)


@pytest.mark.parametrize(
    "middle",
    [
        "def g(b):\n    if b:\n        x(b)\n    return b\n\n\n",
        "def g(b):\n    return b\n\n\ndef h():\n    if h:\n        return b\n\n\n",
        "class A:\n    pass\n\n\n",
    ],
)
def test_a_whole_function_goes_with_its_own_lines(middle: str) -> None:
    start = "import os\n\n\ndef f(a):\n    if a:\n        x(a)\n    return a\n\n\n"
    end = "def z():\n    return a\n"
    changed = changed_lines(start + middle + end, start + end)
    first = start.count("\n") + 1
    assert changed.removed == ((first, first + middle.count("\n") - 1),)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_targets_are_lines_of_the_old_text_that_are_not_blank_at_their_ends(
    old: list[str], new: list[str]
) -> None:
    source = Source("".join(old), "a.py")
    changed = changed_lines(source.text, "".join(new))
    gold = gold_of([(source, changed)])
    for target in gold.targets:
        assert target.start_line is not None
        assert target.end_line is not None
        assert target.end_line <= source.lines.count
        assert not source.lines.blank(target.start_line)
        assert not source.lines.blank(target.end_line)
        lines = set(range(target.start_line, target.end_line + 1))
        assert gold.insert_only or lines <= removed_lines(changed)
    if gold.insert_only:
        assert all(source.lines.blank(line) for line in removed_lines(changed))


def test_a_pure_insertion_has_the_nearest_lines_that_are_not_blank() -> None:
    source = Source("a\n\n\nb\nc\n", "m.py")
    gold = gold_of([(source, Changed((), (2, 4)))])
    assert gold.insert_only
    assert gold.targets == tuple(Target("m.py", n, n) for n in (1, 4, 5))


def test_at_the_ends_of_a_file_an_insertion_has_one_neighbour() -> None:
    source = Source("\na\nb\n\n", "m.py")
    for place, line in ((0, 2), (1, 2), (3, 3), (4, 3)):
        assert gold_of([(source, Changed((), (place,)))]).targets == (Target("m.py", line, line),)


def test_what_a_change_inserts_beside_removing_is_no_target() -> None:
    one, two = Source("a\nb\n", "one.py"), Source("a\nb\n", "two.py")
    gold = gold_of([(two, Changed((), (1,))), (one, Changed(((2, 2),), (0,)))])
    assert not gold.insert_only
    assert gold.targets == (Target("one.py", 2, 2),)


def test_blank_lines_that_go_are_no_target() -> None:
    source = Source("a\n\n  \nb\n\n", "m.py")
    assert gold_of([(source, Changed(((2, 3),)))]).targets == ()
    assert gold_of([(source, Changed(((2, 5),)))]).targets == (Target("m.py", 4, 4),)


def test_lines_that_a_file_does_not_have_are_refused() -> None:
    with pytest.raises(InputError, match="names line 3, but the file has 2 lines"):
        gold_of([(Source("a\nb\n", "m.py"), Changed(((2, 3),)))])
