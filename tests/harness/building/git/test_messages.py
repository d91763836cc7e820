"""What is left of a commit's message, and which messages ask nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.building.git import messages
from harness.building.git.commit_gold import is_prose, is_test
from harness.building.git.messages import is_revert, is_wordless, query_text

if TYPE_CHECKING:
    from collections.abc import Callable


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
        ("Keep the line's end", True),
        ("Keep the line's own end", False),
        ("исправить чтение этого файла снова", False),
    ],
)
def test_a_message_needs_five_words(question: str, wordless: bool) -> None:
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


# Rule -> messages that it leaves out, and messages that look like them.
ALIKE = {
    messages.is_bump: (
        [
            "Bump lodash from 4.17.20 to 4.17.21",
            "build(deps): bump x from 1.0 to 1.1",
            "chore(deps-dev): update eslint to v8",
            "Update dependencies",
            "Upgrade to version 2.0.1",
            "Update dependency react to v18",
            "Release 1.2.3",
            "v1.2.3",
            "Prepare release v2.0.0",
            "Bump version to 1.4",
            "Update requirements.txt",
            "Bump the pip group across 1 directory with 3 updates",
            "Update rust crate serde to 1.0.2",
            "Pin numpy to 1.26.4",
            "version 2.1",
            "Bump version",
        ],
        [
            "Bump the stack size from 4 to 8 pages when it overflows",
            "Upgrade connections from HTTP/1.1 to 2 on request",
            "Update dependents of a node when it moves",
            "Update dependency graph when a node is removed",
            "Pin threads to a core",
            "Roll the log over to a new file",
            "Release the lock before the callback runs",
            "Release memory of closed files",
            "Update versions of documents in one transaction",
            "Upgrade the database schema in place",
            "Raise the timeout from 1.0 to 2.5 seconds",
            "Bump allocator: align to 16 bytes",
            "Update the position to 0.5 on hover",
            "Update dependencies between tasks when one is removed",
            "Resolve dependencies of a package once",
            "Update submodules in a thread of their own",
            "Upgrade requests to websockets",
            "Bump the version of a stored record on each write",
            "Update the lock file of a build under a lock",
            "Roll back to version 2 of the protocol when the server asks",
            "Update the deps graph lazily",
        ],
    ),
    messages.is_merge: (
        [
            "Merge pull request #12 from a/b",
            "Merge branch 'main' into dev",
            "Merge remote-tracking branch 'origin/main'",
            "Merged PR 123: x",
            "Merge tag 'v1.0'",
            "Merge branch main of github.com:a/b",
            "Merged in feature/x (pull request #4)",
            "Auto merge of #123 - x, r=y",
        ],
        [
            "Merge adjacent chunks below the limit",
            "Merge branches of a tree that are equal",
            "Merge the two caches into one",
            "Merge commits that touch one file into one query",
            "Merge tags of both sides when names clash",
            "Merge main loop and timer into one thread",
            "Merge pull and fetch into one command",
            "Merge request headers in order",
            "Merge origin and referer checks",
            "Merge upstream headers with our own",
            "Merge config of the user into main",
        ],
    ),
    messages.is_formatting: (
        [
            "Reformat all files",
            "Run prettier",
            "style: use single quotes",
            "Format code with black",
            "Fix whitespace",
            "Fix trailing whitespace",
            "Apply clang-format",
            "Fix lint errors",
            "Sort imports",
            "cargo fmt",
            "PEP8 fixes",
            "Fix indentation",
            "isort",
            "Reformat",
            "Run black on the code base",
            "Fix linting",
            "Lint",
            "gofmt",
        ],
        [
            "Format dates in the user's time zone",
            "Format numbers with a space between thousands",
            "Strip white space at the ends of names",
            "Remove whitespace from tokens before they are compared",
            "Sort imports of a module before they are resolved",
            "Indent nested lists in the output",
            "Lint rule: report unused names",
            "Run prettier only on changed files in the hook",
            "Fix indentation of nested lists in the printer",
            "Fix format of dates in CSV",
            "Format: accept %z",
            "Reformat errors as one line",
            "Clean up white space between tokens when joining",
            "Fix line endings when reading on Windows",
            "Black list hosts by pattern",
            "Style buttons by the theme",
            "Remove formatting codes from terminal output",
            "Apply black list to redirects",
            "Run ruff check in a subprocess with a timeout",
            "Fix coding style detection",
            "Fix import order of cyclic modules",
            "isort: read the profile of the project",
            "style attributes are kept when pasting",
        ],
    ),
    messages.is_aside: (
        [
            "test: cover the parser",
            "Add tests for the parser",
            "Test the parser more",
            "Fix failing tests",
            "Update README",
            "Update the changelog for 2.0",
            "docs: say how to run it",
            "Add unit tests for retries",
            "Write release notes",
            "tests(parser): more cases",
            "Update changelog",
            "Fix typos",
            "Fixed a typo.",
            "Correct the spelling",
            "Fix typo in docstring",
            "Improve the comments",
            "Say what the limit is in comments",
        ],
        [
            "Test whether the file exists before opening it",
            "Add a test command to the CLI",
            "Testing client keeps cookies",
            "Add test runner for plug-ins",
            "Fix tested range of versions",
            "Read the readme of a package for its description",
            "Latest version wins",
            "Test for null before use",
            "Test runner: exit with 1",
            "Document each option in --help",
            "Add test server",
            "Fix test discovery in nested folders",
            "docstring: keep tags",
            "tests with no name are listed",
            "Fix typo in the name of an option",
            "Fix handling of comments",
            "Add comments to posts by their author",
            "Fix spelling suggestions for commands",
        ],
    ),
    messages.is_unfinished: (
        [
            "WIP: parser",
            "fixup! Fix the parser",
            "squash! Fix",
            "Parser (wip)",
            "amend! x y",
        ],
        [
            "Wipe the cache on exit",
            "Swipe to close",
            "fixup of broken links",
            "Squash equal layers",
        ],
    ),
    messages.has_several_subjects: (
        [
            "Fix the parser; close the file",
            "Fix the parser\n\n- close it\n- open it",
            "Fix the parser\n\nAlso close the file.",
            "Fix the parser, and close the file",
            "Fix it\n\n1. one\n2. two",
            "Fix the parser. Also close it",
            "Fix x\n\n* one two\n* three four",
        ],
        [
            "Fix a;b in names",
            "Sort by name, size and date",
            "Add red, green, and blue",
            "Fix the parser\n\n- close it",
            "Also read .yml",
            "Keep 'also' as a word",
            "Say that it is so, and when",
        ],
    ),
}


@pytest.mark.parametrize("rule", ALIKE, ids=lambda rule: rule.__name__)
def test_messages_that_look_alike_but_ask_for_a_change_are_kept(
    rule: Callable[[str], bool],
) -> None:
    left_out, kept = ALIKE[rule]
    assert [message for message in left_out if not rule(message)] == []
    assert [message for message in kept if rule(message)] == []


@pytest.mark.parametrize(
    ("path", "prose"),
    [
        *((name, True) for name in ("README", "pkg/LICENSE", "LICENSE-MIT", "COPYING.LESSER")),
        *((name, True) for name in ("NEWS.txt", "license.txt", "a/Readme.txt", "LICENSE_1_0.txt")),
        *((name, True) for name in ("CODE_OF_CONDUCT", "ChangeLog", "guide.md", "a/notes.rst")),
        *((name, True) for name in ("man/x.1", "doc/en/x.conf.5", "man/man8/x.8", ".gitignore")),
        *((name, False) for name in ("CMakeLists.txt", "requirements.txt", "docs/words.txt")),
        *((name, False) for name in ("BUILD", "WORKSPACE", "CODEOWNERS", "VERSION", "DEPS")),
        *((name, False) for name in ("libx.so.1", "data.1", "manual/x.1", "man/x.12")),
        *((name, False) for name in ("install", "README.py", "INSTALL.sh", "todo", "README_LIST")),
    ],
)
def test_prose_is_known_by_name(path: str, prose: bool) -> None:
    assert is_prose(path) is prose
