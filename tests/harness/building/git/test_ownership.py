"""Only the repository of a folder is read; linked working trees and submodules have their own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from harness.building.build import BuildOptions, build
from harness.building.git.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
THEIRS = "Change the password that nobody else may ever read"


@pytest.fixture
def secret(tmp_path: Path) -> Repo:
    """A repository of somebody else, of which commits would make a query."""
    repo = new_repo(tmp_path / "secret")
    repo.commit("Begin\n", {"s.py": "password = 1\n"})
    repo.commit(f"{THEIRS}\n", {"s.py": "password = 2\n"})
    return repo


def refused(path: Path, *words: str) -> None:
    """It is refused in two lines at most, and makes no query of anybody's."""
    for read in (open_repository, lambda one: build(one, BuildOptions(queries="commits"))):
        with pytest.raises(InputError) as raised:
            read(path)
        message = str(raised.value)
        assert message.count("\n") <= 1
        for word in (str(path), *words):
            assert word in message


def folder(path: Path, git: str | None) -> Path:
    path.mkdir(parents=True)
    (path / "a.py").write_text("x = 1\n", "utf-8")
    if git is not None:
        (path / ".git").write_text(git, "utf-8")
    return path


def texts(path: Path) -> list[str]:
    return [query.text for query in build(path, BuildOptions(queries="commits")).queries]


@pytest.mark.parametrize("spelled", ["{}", "  {}  ", "../secret/.git"])
def test_a_file_that_names_another_repository_is_refused(
    secret: Repo, tmp_path: Path, spelled: str
) -> None:
    evil = folder(tmp_path / "evil", f"gitdir: {spelled.format(secret.root / '.git')}\n")
    refused(evil, str(secret.root), "does not name this folder as its own")
    # The files can be read all the same, and nothing is said of the other one's commits.
    (evil / "a.py").write_text(
        'def f():\n    """Say how wide the field is."""\n    return 3\n', "utf-8"
    )
    assert build(evil, BuildOptions()).information["commit"] == "unknown"


@pytest.mark.parametrize("named", ["gitdir: nowhere\n", "nonsense\n", ""])
def test_a_file_that_names_nothing_is_refused(tmp_path: Path, named: str) -> None:
    refused(folder(tmp_path / "evil", named), "does not name an existing folder")


def test_a_folder_that_says_it_is_a_working_tree_of_another_is_refused(
    secret: Repo, tmp_path: Path
) -> None:
    # All of it was brought along; the other repository knows nothing of it.
    evil = folder(tmp_path / "evil", "gitdir: own/worktrees/x\n")
    own = evil / "own/worktrees/x"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (own / "gitdir").write_text(f"{evil}/.git\n", "utf-8")
    (own / "commondir").write_text(f"{secret.root}/.git\n", "utf-8")
    refused(evil, "does not name this folder")
    shutil.rmtree(evil)
    evil = folder(tmp_path / "evil", None)
    repo = Repo(evil)
    repo.git("init", "-q")
    (evil / ".git/commondir").write_text(f"{secret.root}/.git\n", "utf-8")
    refused(evil, "does not name this folder")


def test_a_working_tree_of_another_folder_is_not_this_ones(secret: Repo, tmp_path: Path) -> None:
    secret.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert texts(tmp_path / "linked") == [THEIRS]
    shutil.copytree(tmp_path / "linked", tmp_path / "evil")
    refused(tmp_path / "evil", "does not name this folder")


def test_submodules_and_their_working_trees_are_read(secret: Repo, tmp_path: Path) -> None:
    above = new_repo(tmp_path / "above")
    above.commit("Begin\n", {"m.py": "m = 1\n"})
    add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", str(secret.root)]
    above.git(*add, "deep/er sub")
    inner = above.root / "deep/er sub"
    assert (inner / ".git").is_file()
    assert texts(inner) == [THEIRS]
    Repo(inner).git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert texts(tmp_path / "linked") == [THEIRS]
    (tmp_path / "link").symlink_to(above.root)
    assert texts(tmp_path / "link/deep/er sub") == [THEIRS]
    shutil.copytree(inner, tmp_path / "evil")
    (tmp_path / "evil/.git").write_text(f"gitdir: {above.root}/.git/modules/deep/er sub\n")
    refused(tmp_path / "evil", "does not name this folder")


def test_a_submodule_with_a_sparse_checkout_is_read(secret: Repo, tmp_path: Path) -> None:
    above = new_repo(tmp_path / "above")
    above.commit("Begin\n", {"m.py": "m = 1\n"})
    add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", str(secret.root)]
    above.git(*add, "sub")
    Repo(above.root / "sub").git("sparse-checkout", "set", "d")
    assert "core.worktree" not in (above.root / ".git/modules/sub/config").read_text("utf-8")
    assert texts(above.root / "sub") == [THEIRS]


def test_a_repository_inside_of_its_folder_is_its_own(secret: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret/.git").rename(tmp_path / "secret/objects of it")
    (tmp_path / "secret/.git").write_text("gitdir: objects of it\n", "utf-8")
    assert texts(secret.root) == [THEIRS]


@pytest.mark.parametrize("bare", [False, True])
def test_borrowed_objects_are_refused_until_they_are_its_own(
    secret: Repo, tmp_path: Path, *, bare: bool
) -> None:
    kind = ["--bare"] if bare else []
    secret.git("clone", "-q", "--shared", *kind, str(secret.root), str(tmp_path / "shared"))
    refused(tmp_path / "shared", "borrows objects", "git repack -ad")
    own = tmp_path / "shared" if bare else tmp_path / "shared/.git"
    Repo(tmp_path / "shared").git("repack", "-qad")
    (own / "objects/info/alternates").unlink()
    assert texts(tmp_path / "shared") == [THEIRS]


@pytest.mark.parametrize("what", ["objects", "objects/pack", "refs", "HEAD", "one"])
def test_links_out_of_a_repository_are_refused(secret: Repo, tmp_path: Path, what: str) -> None:
    secret.git("repack", "-qad")
    shutil.copytree(secret.root, tmp_path / "evil")
    evil, theirs = tmp_path / "evil/.git", secret.root / ".git"
    if what == "one":
        (pack,) = (theirs / "objects/pack").glob("*.pack")
        what = f"objects/pack/{pack.name}"
    gone = evil / what
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    gone.symlink_to(theirs / what)
    refused(tmp_path / "evil", "is a link out of the repository")


def test_links_within_a_repository_are_followed(secret: Repo) -> None:
    head = secret.root / ".git/HEAD"
    name = head.read_text("utf-8").removeprefix("ref: ").strip()
    head.unlink()
    head.symlink_to(name)  # as git once wrote it
    (secret.root / ".git/hooks").mkdir(exist_ok=True)
    assert open_repository(secret.root).head()


def test_no_patterns_are_read_through_a_link(tmp_path: Path) -> None:
    theirs = new_repo(tmp_path / "theirs")
    theirs.write({".git/info/exclude": "*.py\n"})
    evil = folder(tmp_path / "evil", None)
    (evil / "a.py").write_text(
        'def f():\n    """Say how wide the field is."""\n    return 3\n', "utf-8"
    )
    (evil / ".git").symlink_to(theirs.root / ".git")
    assert len(build(evil, BuildOptions()).queries) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[include]\n\tpath = {}\n",
        "[core][Include]path={}\n",
        '  [includeIf "gitdir:**"] path = {}\n',
        "[core]\n\tbare = false\n[INCLUDE] ; a\n path = {}\n",
    ],
)
def test_a_configuration_that_includes_files_is_refused_and_they_are_not_read(
    secret: Repo, tmp_path: Path, text: str
) -> None:
    (tmp_path / "file").write_text("a secret of the user's\n")
    with (secret.root / ".git/config").open("a") as config:
        config.write(text.format(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="bad config line 1 in file"):
        secret.git("rev-parse", "HEAD")
    with pytest.raises(InputError, match="includes other files") as raised:
        open_repository(secret.root)
    assert "a secret" not in str(raised.value)


def test_a_configuration_that_mentions_include_elsewhere_is_accepted(secret: Repo) -> None:
    with (secret.root / ".git/config").open("a") as config:
        config.write("# [include]\n[includes]\n\tinclude = a\n[a] ; [include]\n")
    assert open_repository(secret.root).head()
