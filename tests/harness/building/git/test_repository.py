"""Repositories are read as they were committed; none can start a program, none is written to."""

from __future__ import annotations

import contextlib
import shutil
import stat
from typing import TYPE_CHECKING

import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from harness.building.git.diffs import changes_of
from harness.building.git.objects import FOLDER, objects_of
from harness.building.git.repository import head_of, history_of, open_repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.building.git.objects import Objects

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


def files_of(objects: Objects, tree: str, folder: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, mode and hash of every file of a tree."""
    for name, (mode, one) in objects.folder(tree).items():
        if mode == FOLDER:
            yield from files_of(objects, one, f"{folder}{name}/")
        else:
            yield folder + name, mode, one


def read_all(path: Path) -> list[str]:
    """Read everything that there is, by every function."""
    repository = open_repository(path)
    lines, older = history_of(repository, head_of(repository), 100)
    found = [f"older {older}"]
    with objects_of(repository) as objects:
        for name, *parents in lines:
            found.append(str(objects.commit(name).message))
            for file, mode, one in files_of(objects, objects.commit(name).tree):
                content = b"" if mode == "160000" else objects.read(one)
                size = objects.size(one) if content else 0
                found.append(f"{file} {mode} {one} {size} {content!r}")
            if len(parents) == 1:
                changes = changes_of(repository, objects, {name: parents[0]}, 20)[name]
                found += [str(change) for change in changes or ()]
    return found


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Time and content of every file and folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = path.lstat().st_mtime_ns, content
    return found


def test_history_trees_and_changes_are_read(repo: Repo) -> None:
    repository = open_repository(repo.root)
    head = head_of(repository)
    lines, older = history_of(repository, head, 10)
    assert [len(line) for line in lines] == [2, 1]
    assert older == 0
    assert history_of(repository, head, 1) == ([lines[0]], 1)
    with objects_of(repository) as objects:
        (change,) = changes_of(repository, objects, {head: lines[1][0]}, 1)[head] or ()
        assert (change.status, change.old, change.new) == ("M", "a.py", "a.py")
        assert objects.read(change.old_hash) == b"a\nb\n"
        assert objects.size(change.new_hash) == 4
        assert objects.commit(head).message == "Two\n"
        paths = [path for path, _, _ in files_of(objects, objects.commit(head).tree)]
        assert paths == ["a.py", "dir with space/é.py"]


def test_renames_are_found_and_empty_commits_have_no_change(repo: Repo) -> None:
    repo.git("mv", "a.py", "b\n:c.py")
    moved = repo.commit("Move\n")
    empty = repo.commit("Nothing\n")
    repository = open_repository(repo.root)
    with objects_of(repository) as objects:
        asked = {empty: moved, moved: repo.git("rev-parse", f"{moved}^")}
        found = changes_of(repository, objects, asked, 1)
        assert changes_of(repository, objects, {}, 1) == {}
    assert found[empty] == ()
    (change,) = found[moved] or ()
    assert (change.status, change.old, change.new) == ("R", "a.py", "b\n:c.py")


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
    with (
        objects_of(open_repository(repo.root)) as objects,
        pytest.raises(InputError, match="it may be a partial clone"),
    ):
        objects.read(name)
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


def test_replacements_and_grafts_do_not_count(repo: Repo) -> None:
    before = read_all(repo.root)
    head = repo.git("rev-parse", "HEAD")
    repo.git("replace", "--graft", head)
    repo.write({".git/info/grafts": f"{head}\n"})
    assert read_all(repo.root) == before


def test_bare_linked_shallow_and_sha256_repositories_are_read(repo: Repo, tmp_path: Path) -> None:
    before = read_all(repo.root)
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    assert read_all(tmp_path / "bare.git") == before
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~1")
    assert "Two\n" not in read_all(tmp_path / "linked")
    url = f"file://{repo.root}"
    repo.git("clone", "-q", "--depth", "1", url, str(tmp_path / "shallow"))
    assert len([one for one in read_all(tmp_path / "shallow") if one == "One\n"]) == 0
    other = new_repo(tmp_path / "sha256", "--object-format=sha256")
    other.commit("One\n", {"a.py": "a\n"})
    assert "One\n" in read_all(other.root)


def test_a_message_is_read_by_its_encoding_or_as_windows_1252(repo: Repo) -> None:
    repo.git("config", "i18n.commitEncoding", "iso-8859-2")
    polish = repo.commit("Napraw łańcuch\n".encode("iso-8859-2"))
    # Git itself writes no message that is no UTF-8, but others did.
    about = f"tree {repo.git('rev-parse', 'HEAD^{tree}')}\nauthor A <a@b> 0 +0000\n"
    raw = about.encode() + b"committer A <a@b> 0 +0000\n\nFix caf\xe9 \x80 now\n"
    broken = repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=raw)
    repo.git("config", "i18n.commitEncoding", "punycode")
    odd = repo.commit("Übung\n")
    with objects_of(open_repository(repo.root)) as objects:
        assert objects.commit(polish).message == "Napraw łańcuch\n"
        assert objects.commit(broken).message == "Fix café € now\n"
        assert objects.commit(odd).message == "Übung\n"


def test_times_that_no_calendar_has_are_read(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    for seconds, year in (("99999999999999", None), ("-1", 1969), ("9" * 30, None), ("x", None)):
        text = (
            f"tree {tree}\nauthor A <a@b> {seconds} +0000\ncommitter A <a@b> {seconds} +0000\n\nX\n"
        )
        options = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
        name = repo.git(*options, data=text.encode())
        with objects_of(open_repository(repo.root)) as objects:
            time = objects.commit(name).time
            assert (time and time.year) == year


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        head_of(open_repository(path))
    assert str(raised.value).count("\n") <= 1
    return str(raised.value)


def test_what_is_no_repository_ends_in_one_message(repo: Repo, tmp_path: Path) -> None:
    assert "is no git repository" in refusal(tmp_path)
    assert "is no git repository" in refusal(repo.root / "dir with space")
    assert "is no git repository" in refusal(tmp_path / "nowhere")
    assert "it has no commit" in refusal(new_repo(tmp_path / "empty").root)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(repo.root / ".git")
    assert "its .git is a link" in refusal(linked)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/.git").write_text("gitdir: /nowhere\n")
    assert "names no folder that is there" in refusal(tmp_path / "damaged")
    (repo.root / ".git/config").write_text("[core\n")
    assert "bad config" in refusal(repo.root)


def test_without_the_program_the_message_says_so(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "the program git, which is not there" in refusal(repo.root)


def test_a_damaged_object_ends_in_one_message(repo: Repo) -> None:
    name = repo.git("rev-parse", "HEAD:a.py")
    file = repo.root / ".git/objects" / name[:2] / name[2:]
    file.chmod(0o600)
    file.write_bytes(b"damage")
    with pytest.raises(InputError, match=f"the object {name} is missing or damaged"):
        read_all(repo.root)
