"""What is left of a commit's message, and which messages ask nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.building.git.commits import is_test
from harness.building.git.messages import is_revert, is_wordless, query_text


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Fix the reader\n", "Fix the reader"),
        ("Fix the\nreader (#12)\n\nIt lost a line.\n", "Fix the reader\n\nIt lost a line."),
        ("Fix it (a/b#1) (#2)", "Fix it"),
        ("A\n\nB\n\nSigned-off-by: A <a@b>\nCo-authored-by: C <c@d>\n", "A\n\nB"),
        (
            "A\n\nSee how Foo-bar: works\nCo-Authored-By: x\nand more",
            "A\n\nSee how Foo-bar: works\nand more",
        ),
        ("A\n\nReviewed-on: x\n  continued: y\n", "A"),
        ("A\n\nFixes #12\n", "A"),
        ("A\n\nCloses: #12, #13 and GH-4\n\nB", "A\n\nB"),
        ("A\n\nSee https://example.org/x?y=1\nB", "A\n\nB"),
        ("A\n\nJIRA-123\n", "A"),
        (
            "A\n\nThis fixes #12, which broke the reader.\n",
            "A\n\nThis fixes #12, which broke the reader.",
        ),
        ("A\r\n\r\nB\r\nC\r\n", "A\n\nB\nC"),
        ("A\n\nB\n\n\n \nC", "A\n\nB\n\nC"),
        ("A\n\n(cherry picked from commit 0123abc)\n", "A"),
        ("A\x00\x1b[1m\n", "A[1m"),
        ("", ""),
        ("\n \n", ""),
        ("Note: this is a subject", "Note: this is a subject"),
    ],
)
def test_what_only_machines_read_is_cut(message: str, question: str) -> None:
    assert query_text(message) == question


@given(st.text(max_size=300))
def test_cutting_twice_changes_nothing_more_of_the_subject(message: str) -> None:
    once = query_text(message)
    assert query_text(once).split("\n")[0] == once.split("\n")[0]


def test_long_messages_take_no_long_time() -> None:
    for piece in ("a", " ", "a/", "#", "(#1) ", "\n \n", "A-", "x: y\n", "fix "):
        query_text(piece * 1_000_000)


@pytest.mark.parametrize(
    ("message", "reverts"),
    [
        ('Revert "Fix it"\n', True),
        ("revert: fix it", True),
        ("Undo it\n\nThis reverts commit 0123.\n", True),
        ("Reapply the patch", True),
        ("Reapplies the patch", True),
        ("Reverts the change to the reader", True),
        ("Reverting to the old reader", True),
        ("Reverted commit 0123abc", True),
        ("Reverted the last commit", True),
        ("fix(reader): revert the new cache", True),
        ("[core] Revert the new cache", True),
        ("Partially revert the new cache", True),
        ("Partial revert of the new cache", True),
        ('Re-revert "Fix it"', True),
        ('Unrevert "Fix it"', True),
        ('Reland "Fix it"', True),
        ("Back out changeset 0123abc", True),
        ("Backed out changeset 0123abc (bug 12) for failures", True),
        ("Backout of the last change", True),
        ("Roll back the commit that broke it", True),
        ('Rollback "Fix it"', True),
        ("Undo the previous commit", True),
        ("Old reader again\n\nReverts a/b#12\n", True),
        ("Old reader again\n\nThis partially reverts commit 0123abc.\n", True),
        ("Old reader again\n\nThis reverts pull request 12.\n", True),
        ("Old reader again\n\nThis backs out changeset 0123abc.\n", True),
        ("Reverted lists keep their order", False),
        ("Back out of the loop when the list is empty", False),
        ("Roll back transactions that fail", False),
        ("Undo typing in one step", False),
        ("Keep lists\n\nOn failure the reader\nreverts commits of its own.\n", False),
        ("Say what this reverts commit by commit", False),
    ],
)
def test_reverts_are_known_by_subject_or_body(message: str, reverts: bool) -> None:
    assert is_revert(message) is reverts


@pytest.mark.parametrize(
    ("question", "wordless"),
    [
        ("wip", True),
        ("Fix bug #1234 in 0.1.2", True),
        ("v1.2.3", True),
        ("PROJ-12 PROJ-13 PROJ-14 PROJ-15", True),
        ("Keep the line's end", False),
        ("исправить чтение файла снова", False),
    ],
)
def test_a_message_needs_four_words(question: str, wordless: bool) -> None:
    assert is_wordless(question) is wordless


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/a.py", True),
        ("src/test/java/A.java", True),
        ("pkg/test_a.py", True),
        ("pkg/a_test.go", True),
        ("a.test.ts", True),
        ("a.spec.js", True),
        ("lib/ATest.java", True),
        ("lib/ParserTests.cs", True),
        ("conftest.py", True),
        ("spec/a_spec.rb", True),
        ("pkg/testing_tools.py", False),
        ("pkg/latest.py", False),
        ("pkg/contest.go", False),
        ("protest/a.py", False),
        ("lib/Latest.java", False),
        ("test.py", True),
        ("chunkers/testing/faults.py", False),
        ("pkg/testing.py", False),
        ("tests/testing/fixtures/a.py", True),
        ("app/fixtures/first.json", False),
        ("openapi/spec/reader.py", False),
        ("specs/reader.go", False),
        ("spec/spec_helper.rb", True),
        ("spec/support/db.rb", True),
        ("lib/reader_spec.go", False),
        ("lib/reader_spec.rb", True),
        ("src/PodSpec.java", False),
        ("src/ReaderSpec.scala", True),
        ("src/app.spec.tsx", True),
        ("src/ReaderIT.java", True),
        ("src/AuditIT.java", True),
        ("src/LIMIT.java", False),
        ("src/ReaderIT.py", False),
        ("Tests/ReaderTests/Helpers.swift", True),
        ("src/TEST.c", False),
    ],
)
def test_tests_are_known_by_folder_or_name(path: str, test: bool) -> None:
    assert is_test(path) is test


def test_words_of_any_script_ask_something() -> None:
    assert not is_wordless("भाषा में कुछ शब्द यहाँ हैं")
    assert not is_wordless("日本語のメッセージがここにある")
    assert is_wordless("修复错误")
    assert is_wordless("में 12 a_b #34")


def test_numbers_behind_a_subject_are_cut_in_linear_time() -> None:
    numbers = "(#1)" * 4_000
    started = time.process_time()
    assert query_text(f"Fix it {numbers}x") == f"Fix it {numbers}x"
    assert query_text(f"Fix it {numbers} (a/b#2)") == "Fix it"
    assert query_text("(#1) (#2)") == ""
    assert time.process_time() - started < 0.5
