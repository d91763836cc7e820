"""Repositories are read as they were committed; none can start a program, none is written to."""

from __future__ import annotations

import contextlib
import shutil
import stat
from typing import TYPE_CHECKING

import pygit2
import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from harness.building.git.repository import Change, Repository, message_of, open_repository, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

PROGRAMS = """
alias.cat-file alias.rev-list core.alternateRefsCommand core.askPass core.editor core.fsmonitor
core.gitProxy core.pager core.sshCommand credential.helper diff.external diff.trap.command
diff.trap.textconv filter.trap.clean filter.trap.process filter.trap.smudge gpg.program
merge.trap.driver pager.cat-file pager.diff-tree pager.ls-tree pager.rev-list
remote.origin.uploadpack sequence.editor uploadpack.packObjectsHook
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = new_repo(tmp_path / "a repository")
    repo.commit("One\n", {"a.py": "a\nb\n", "dir with space/é.py": "x = 1\n"})
    repo.commit("Two\n", {"a.py": "a\nc\n"})
    return repo


def files_of(
    repository: Repository, tree: pygit2.Oid, folder: str = ""
) -> Iterator[tuple[str, int, pygit2.Oid]]:
    """Path, mode and hash of every file of a tree."""
    for entry in repository.entries(tree):
        if stat.S_ISDIR(entry.mode):
            yield from files_of(repository, entry.id, f"{folder}{entry.name}/")
        else:
            yield folder + entry.name, entry.mode, entry.id


def read_all(path: Path) -> list[str]:
    """Read everything that there is, by every function."""
    repository = open_repository(path)
    history, older = repository.history(100)
    found = [f"older {older}"]
    for commit in history:
        found.append(message_of(commit))
        for file, mode, blob in files_of(repository, commit.tree_id):
            content = repository.content(blob)
            assert repository.size(blob) == len(content)
            found.append(f"{file} {mode} {blob} {content!r}")
        if len(commit.parent_ids) == 1:
            found += map(str, repository.changes(commit.parent_ids[0], commit.id, 20) or ())
    return found


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Time and content of every file and folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = path.lstat().st_mtime_ns, content
    return found


def changes(repo: Repo, new: str, old: str, most: int = 20) -> list[tuple[str, str]] | None:
    """What a commit did to every file: `A`, `D`, `M` for another content, `R` for the same."""
    repository = open_repository(repo.root)
    found = repository.changes(pygit2.Oid(hex=old), pygit2.Oid(hex=new), most)

    def kind(change: Change) -> str:
        if change.old_mode and change.new_mode:
            return "=" if change.old_id == change.new_id else "M"
        return "D" if change.old_mode else "A"

    return None if found is None else [(kind(one), one.path) for one in found]


def test_history_trees_and_changes_are_read(repo: Repo) -> None:
    repository = open_repository(repo.root)
    history, older = repository.history(10)
    assert [len(commit.parent_ids) for commit in history] == [1, 0]
    assert older == 0
    assert repository.head().id == history[0].id
    newest, older = repository.history(1)
    assert ([commit.id for commit in newest], older) == ([history[0].id], 1)
    (change,) = repository.changes(history[1].id, history[0].id, 1) or ()
    assert (change.path, change.old_mode, change.new_mode) == ("a.py", 0o100644, 0o100644)
    assert repository.content(change.old_id) == b"a\nb\n"
    assert repository.size(change.new_id) == 4
    assert message_of(history[0]) == "Two\n"
    paths = [path for path, _, _ in files_of(repository, history[0].tree_id)]
    assert paths == ["a.py", "dir with space/é.py"]


def test_renames_are_found_and_empty_commits_have_no_change(repo: Repo) -> None:
    repo.git("mv", "a.py", "b\n:c.py")
    moved = repo.commit("Move\n")
    empty = repo.commit("Nothing\n")
    assert changes(repo, empty, moved) == []
    assert changes(repo, moved, repo.git("rev-parse", f"{moved}^"), 1) == [("=", "a.py")]


def test_renames_count_once(repo: Repo) -> None:
    def text(number: int, last: str) -> str:
        return "".join(f"name_{number}_{line} = {line}\n" for line in range(50)) + last

    before = repo.commit("Many\n", {f"a{n}.py": text(n, "x\n") for n in range(6)})
    gone: dict[str, str | bytes | None] = {f"a{n}.py": None for n in range(6)}
    moved = repo.commit("Move\n", {**gone, **{f"sub/b{n}.py": text(n, "y\n") for n in range(6)}})
    assert changes(repo, moved, before, 6) == [("M", f"a{n}.py") for n in range(6)]
    assert changes(repo, moved, before, 5) is None
    assert changes(repo, moved, before, 2) is None


def test_files_in_unusual_places_are_told_apart(repo: Repo) -> None:
    first = repo.commit("Folder\n", {"x/y.py": "y = 1\n"})
    repo.git("rm", "-q", "x/y.py")
    second = repo.commit("File\n", {"a.py": "a = 2\n", "x": "x\n"})
    assert changes(repo, second, first) == [("M", "a.py"), ("A", "x"), ("D", "x/y.py")]
    (repo.root / "x").unlink()
    (repo.root / "x").symlink_to("a.py")
    third = repo.commit("Link\n", {"sub/a\nb.py": "\n"})
    assert changes(repo, third, second) == [("A", "sub/a\nb.py"), ("M", "x")]


def trap(repo: Repo, marker: Path) -> None:
    """Let everything in a repository that can start a program make a file."""
    script = repo.root.parent / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    repo.write({".gitattributes": "* diff=trap filter=trap merge=trap\n"})
    for key in PROGRAMS.split():
        value = f"!{script}" if key.startswith("alias") else str(script)
        repo.git("config", key, value)
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "filter.trap.required", "true")
    for name in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
        hook = repo.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        shutil.copy(script, hook)


def test_a_repository_cannot_start_a_program(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    signed = (
        f"tree {tree}\nparent {repo.git('rev-parse', 'HEAD')}\nauthor A <a@b> 1700000000 +0000\n"
        "committer A <a@b> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n"
        " -----END PGP SIGNATURE-----\n\nSigned\n"
    )
    name = repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=signed.encode())
    repo.git("update-ref", "HEAD", name)
    before = read_all(repo.root)
    assert "Signed\n" in before
    marker = tmp_path / "started"
    trap(repo, marker)
    for usual in (["status"], ["diff", "HEAD~1"], ["log", "-1"]):
        with contextlib.suppress(RuntimeError):
            repo.git(*usual)
        assert marker.exists(), f"the trap does not close on git {usual[0]}"
        marker.unlink()
    for variable in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(variable, str(tmp_path / "trap.sh"))
    assert read_all(repo.root) == before
    assert not marker.exists()


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    marker = tmp_path / "started"
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.url", f"ext::sh -c touch% {marker}")
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "protocol.allow", "always")
    name = repo.git("rev-parse", "HEAD:a.py")
    (repo.root / ".git/objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(InputError, match=r"missing|partial|promisor") as raised:
        read_all(repo.root)
    assert str(raised.value).count("\n") <= 1
    with pytest.raises(InputError, match="if this is a partial clone"):
        open_repository(repo.root).content(pygit2.Oid(hex=name))
    assert not marker.exists()


def test_nothing_is_written_and_a_dirty_tree_and_a_held_index_do_not_matter(repo: Repo) -> None:
    before = read_all(repo.root)
    repo.write({"a.py": "dirty", "new.py": "new", ".git/index.lock": ""})
    state = everything(repo.root)
    assert read_all(repo.root) == before
    assert everything(repo.root) == state


def test_variables_and_settings_of_the_user_do_not_matter(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_all(repo.root)
    (tmp_path / ".gitconfig").write_text("[core]\n\tquotePath = true\n[broken\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_NAMESPACE"):
        monkeypatch.setenv(variable, "/nowhere")
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "maybe")
    assert read_all(repo.root) == before


def test_replacements_do_not_count(repo: Repo) -> None:
    before = read_all(repo.root)
    repo.git("replace", "--graft", repo.git("rev-parse", "HEAD"))
    assert read_all(repo.root) == before


def test_bare_linked_and_shallow_repositories_are_read(repo: Repo, tmp_path: Path) -> None:
    before = read_all(repo.root)
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    assert read_all(tmp_path / "bare.git") == before
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~1")
    assert "Two\n" not in read_all(tmp_path / "linked")
    url = f"file://{repo.root}"
    repo.git("clone", "-q", "--depth", "1", url, str(tmp_path / "shallow"))
    assert len([one for one in read_all(tmp_path / "shallow") if one == "One\n"]) == 0


def test_a_repository_of_sha256_objects_is_refused_in_one_message(tmp_path: Path) -> None:
    other = new_repo(tmp_path / "sha256", "--object-format=sha256")
    other.commit("One\n", {"a.py": "a\n"})
    assert "only sha1 repositories can be read" in refusal(other.root)


def test_a_message_is_read_by_its_encoding_or_as_windows_1252(repo: Repo) -> None:
    repo.git("config", "i18n.commitEncoding", "iso-8859-2")
    polish = repo.commit("Napraw łańcuch\n".encode("iso-8859-2"))
    # Git itself writes no message that is no UTF-8, but others did.
    about = f"tree {repo.git('rev-parse', 'HEAD^{tree}')}\nauthor A <a@b> 0 +0000\n"
    raw = about.encode() + b"committer A <a@b> 0 +0000\n\nFix caf\xe9 \x80 now\n"
    broken = repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=raw)
    repo.git("config", "i18n.commitEncoding", "punycode")
    odd = repo.commit("Übung\n")
    repository = open_repository(repo.root)
    assert message_of(repository.commit(polish)) == "Napraw łańcuch\n"
    assert message_of(repository.commit(broken)) == "Fix café € now\n"
    assert message_of(repository.commit(odd)) == "Übung\n"


def test_times_that_no_calendar_has_are_read(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    for seconds, year in (("99999999999999", None), ("-1", 1969), ("-99999999999999", None)):
        text = (
            f"tree {tree}\nauthor A <a@b> {seconds} +0000\ncommitter A <a@b> {seconds} +0000\n\nX\n"
        )
        options = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
        name = repo.git(*options, data=text.encode())
        time = time_of(open_repository(repo.root).commit(name))
        assert (time and time.year) == year


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        open_repository(path).head()
    assert str(raised.value).count("\n") <= 1
    return str(raised.value)


def test_what_is_no_repository_ends_in_one_message(repo: Repo, tmp_path: Path) -> None:
    assert "is not a git repository" in refusal(tmp_path)
    assert "is not a git repository" in refusal(repo.root / "dir with space")
    assert "does not exist; give a git repository" in refusal(tmp_path / "nowhere")
    assert "the repository has no commit" in refusal(new_repo(tmp_path / "empty").root)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(repo.root / ".git")
    assert ".git is a link" in refusal(linked)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/.git").write_text("gitdir: /nowhere\n")
    assert "does not name an existing folder" in refusal(tmp_path / "damaged")
    (repo.root / ".git/config").write_text("[core\n")
    assert "failed to parse config file" in refusal(repo.root)


def test_a_damaged_object_ends_in_one_message(repo: Repo) -> None:
    name = repo.git("rev-parse", "HEAD:a.py")
    file = repo.root / ".git/objects" / name[:2] / name[2:]
    file.chmod(0o600)
    file.write_bytes(b"damage")
    with pytest.raises(InputError, match=f"the object {name} is missing or damaged"):
        read_all(repo.root)
