"""Unified diffs: what git and diff write is read; what is malformed is refused by name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import InputError
from harness.building.git.changes import Changed, PatchFile, parse_patch

TWO_HUNKS = """\
diff --git a/pkg/a.py b/pkg/a.py
index 1b88bf4..dc0f3da 100644
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -2,4 +2,4 @@ def f():
 one
-two
-three
+2
+3
 four
@@ -10,2 +10,3 @@
 ten
+ten and a half
 eleven
"""


def test_hunks_give_runs_of_old_lines_and_places_of_insertions() -> None:
    (file,) = parse_patch(TWO_HUNKS)
    assert file == PatchFile("pkg/a.py", "pkg/a.py", Changed(((3, 4),), (10,)))


def test_a_patch_fits_the_file_that_has_its_lines() -> None:
    (file,) = parse_patch(TWO_HUNKS)
    lines = ["", "one", "two", "three", "four", "", "", "", "", "ten", "eleven"]
    assert file.shown == tuple((n, lines[n - 1] + "\n") for n in (2, 3, 4, 5, 10, 11))
    assert file.fits(lines)
    assert file.fits(["anything", *(line + "\r" for line in lines[1:])])
    assert not file.fits(["moved", *lines])
    assert not file.fits(lines[:-1])


def test_a_patch_without_context_and_without_counts_is_read() -> None:
    patch = "--- a/a.c\t2020-01-01 00:00:00\n+++ b/a.c\n@@ -3 +3 @@\n-x\n+y\n@@ -7,0 +8 @@\n+z\n"
    assert parse_patch(patch) == [PatchFile("a.c", "a.c", Changed(((3, 3),), (7,)))]


def test_new_deleted_renamed_and_binary_files_and_modes_are_told_apart() -> None:
    patch = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0..1\n--- /dev/null\n"
        "+++ b/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex 1..0\n--- a/old.py\n"
        "+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
        "diff --git a/x y.py b/z.py\nsimilarity index 100%\nrename from x y.py\nrename to z.py\n"
        "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n"
        "diff --git a/j.png b/j.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc$\n\n"
        "diff --git a/a run.sh b/a run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/lib b/lib\nindex 1..2 160000\n--- a/lib\n+++ b/lib\n@@ -1 +1 @@\n"
        "-Subproject commit 1\n+Subproject commit 2\n"
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e\n"
    )
    assert parse_patch(patch) == [
        PatchFile(None, "new.py", Changed((), (0,))),
        PatchFile("old.py", None, Changed(((1, 2),))),
        PatchFile("x y.py", "z.py"),
        PatchFile("i.png", "i.png", binary=True),
        PatchFile("j.png", "j.png", binary=True),
        PatchFile("a run.sh", "a run.sh"),
        PatchFile("lib", "lib", kind="submodule"),
        PatchFile(None, "empty"),
    ]


def test_quoted_names_are_read_as_their_octets() -> None:
    name = '"a/caf\\303\\251\\t\\"q\\".py"'
    patch = f"diff --git {name} {name.replace('a/', 'b/', 1)}\n--- {name}\n"
    patch += f"+++ {name.replace('a/', 'b/', 1)}\n@@ -1 +1 @@\n-a\n+b\n"
    assert parse_patch(patch)[0].old == 'café\t"q".py'


def test_cr_form_feed_and_separators_inside_lines_end_none() -> None:
    patch = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n a\x0cb\r\n-\u2028--- x\n+\x85+\n c\rd\n"
    assert parse_patch(patch)[0].changed == Changed(((2, 2),))


def test_a_patch_in_crlf_lines_and_stripped_blank_lines_are_read() -> None:
    patch = TWO_HUNKS.replace(" ten\n", "\n")
    for text in (patch, patch.replace("\n", "\r\n"), patch.removesuffix("\n")):
        assert parse_patch(text)[0].changed == Changed(((3, 4),), (10,))


def test_a_missing_line_end_is_marked_and_lines_that_look_like_headers_are_lines() -> None:
    patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n--- b\n\\ No newline at end of file\n+++ c\n"
    patch += "\\ No newline at end of file\n"
    assert parse_patch(patch)[0].changed == Changed(((2, 2),))


def test_names_without_prefixes_are_kept_whole() -> None:
    assert parse_patch("--- b/x.py\n+++ b/x.py\n@@ -1 +0,0 @@\n-a\n")[0].old == "b/x.py"
    assert parse_patch("") == []


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (TWO_HUNKS.replace(" four\n", ""), "Hunk diff line expected: @@ -10"),
        (TWO_HUNKS.replace(" eleven\n", ""), "Hunk is shorter than expected"),
        (TWO_HUNKS.replace("+3\n", "+3\n+4\n"), "Hunk is longer than expected"),
        (TWO_HUNKS.replace("@@ -2,4", "@@ -2;4"), "is not the head of a hunk"),
        (TWO_HUNKS.replace("+++ b/pkg/a.py", "+++ b/pkg/b.py"), "Target without source"),
        (TWO_HUNKS.replace("pkg/", "../"), "not a path inside a repository"),
        (TWO_HUNKS.replace("a/pkg", "a//pkg").replace("b/pkg", "b//pkg"), "not a path inside"),
        (TWO_HUNKS + TWO_HUNKS, "changes pkg/a.py 2 times"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "both names are"),
        ("diff --git a/x b/x\n@@ what\n", "is not the head of a hunk"),
    ],
)
def test_a_malformed_patch_is_refused_by_name(patch: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_patch(patch)


@given(st.integers(0, len(TWO_HUNKS)), st.sampled_from(["", "\n", "-", "+", "@@ ", '"', "9"]))
def test_damage_anywhere_is_read_or_refused_and_nothing_else(at: int, put: str) -> None:
    for text in (TWO_HUNKS[:at] + put + TWO_HUNKS[at:], TWO_HUNKS[:at] + put):
        try:
            files = parse_patch(text)
        except InputError as error:
            assert str(error).startswith("the patch is malformed")
        else:
            assert all(one.old or one.new for one in files)


def test_the_patches_of_a_public_data_set_are_read() -> None:
    folder = os.environ.get("CHUNKMARK_DATA")
    file = Path(folder or "") / "swebench_lite" / "swebench_lite_origin.jsonl"
    if not folder or not file.is_file():
        pytest.skip("$CHUNKMARK_DATA holds no swebench_lite/swebench_lite_origin.jsonl")
    tasks = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    patches = [parse_patch(task["patch"]) for task in tasks]
    assert all(one.old for files in patches for one in files if one.changed.removed)
    assert sum(not any(one.changed.removed for one in files) for files in patches) == 77
