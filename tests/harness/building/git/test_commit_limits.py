"""Commits with invalid dates, and a repository that changes while it is read."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pygit2
import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from harness.building.git import commits
from harness.building.git.commits import commit_queries
from harness.building.git.repository import message_of, open_repository
from harness.reading.reader import ReadRules

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def add(repo: Repo, number: int, message: str, date: str) -> None:
    """A commit that changes one line, of any date and message."""
    blob = repo.git("hash-object", "-w", "--stdin", data=f"value = {number}\n".encode())
    tree = repo.git("mktree", data=f"100644 blob {blob}\ta.py\n".encode())
    text = (
        f"tree {tree}\nparent {repo.git('rev-parse', 'HEAD')}\nauthor A <a@b> {date}\n"
        f"committer A <a@b> {date}\n\n{message}\n"
    )
    options = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    repo.git("update-ref", "HEAD", repo.git(*options, data=text.encode()))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = new_repo(tmp_path / "repo")
    repo.commit("Begin with a single line\n", {"a.py": "value = 0\n"})
    return repo


def test_dates_that_no_calendar_has_are_counted_apart(repo: Repo) -> None:
    dates = ("1700000000 +0000", "99999999999999 +0000", "-99999999999999 +0000", "1 +0000")
    for number, date in enumerate(dates, 1):
        add(repo, number, f"Set the value of a number {number} here", date)
    result = commit_queries(repo.root, ReadRules(), since="2020-01-01")
    assert len(result.queries) == 1
    assert result.left_out == {commits._UNDATED: 2, commits._EARLY: 1, commits._FIRST: 1}
    assert len(commit_queries(repo.root, ReadRules()).queries) == 4


def test_a_date_that_git_cannot_read_ends_in_one_message(repo: Repo) -> None:
    add(repo, 1, "Set the value of a number here", "abc +0000")
    with pytest.raises(InputError, match=r"is missing or damaged") as raised:
        commit_queries(repo.root, ReadRules())
    assert str(raised.value).count("\n") == 1


def test_a_repository_that_is_repacked_and_grows_while_it_is_read_is_as_it_was(
    repo: Repo,
) -> None:
    opened = open_repository(repo.root)
    head = opened.head()
    assert message_of(head) == "Begin with a single line\n"
    repo.commit("Go on with another line\n", {"a.py": "a = 1\n"})
    old, new = (repo.git("rev-parse", f"HEAD{above}:a.py") for above in ("~", ""))
    repo.git("gc", "-q", "--prune=now")
    assert not list((repo.root / ".git/objects").glob("??/*"))
    assert opened.content(pygit2.Oid(hex=old)) == b"value = 0\n"
    assert opened.content(pygit2.Oid(hex=new)) == b"a = 1\n"
