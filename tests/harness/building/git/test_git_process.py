"""Git is let into no trap, is ended when it does not come to an end, and ends with us."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from repositories import Repo, new_repo

from chunkers.errors import InputError
from harness.building.git import diffs, git_process
from harness.building.git import objects as objects_module
from harness.building.git.diffs import changes_of
from harness.building.git.objects import objects_of
from harness.building.git.repository import head_of, open_repository

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"),
    pytest.mark.skipif(sys.platform != "linux", reason="pipes and processes as Linux has them"),
]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = new_repo(tmp_path / "repo")
    repo.commit("One\n", {"a.py": "a = 1\n"})
    return repo


def running_on(path: Path) -> list[int]:
    """The git programs that were started on a repository and run."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"--git-dir={path / '.git'}".encode() in arguments:
            found.append(int(file.parent.name))
    return found


def into_pipe(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.parent.mkdir(exist_ok=True)
    os.mkfifo(file)


@pytest.mark.parametrize("name", ["config", "HEAD", "objects/info/alternates", "refs/heads/main"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_that_git_would_wait_for_is_refused(
    repo: Repo, tmp_path: Path, name: str, linked: bool
) -> None:
    file = repo.root / ".git" / name
    into_pipe(tmp_path / "pipe" if linked else file)
    if linked:
        file.unlink(missing_ok=True)
        file.symlink_to(tmp_path / "pipe")
    with pytest.raises(InputError, match=f"{name} is no file") as raised:
        open_repository(repo.root)
    assert str(raised.value).count("\n") <= 1


def test_the_socket_of_gits_own_monitor_of_files_stops_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / ".git")  # a socket's whole path has a limit
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.bind("fsmonitor--daemon.ipc")
    open_repository(repo.root)


def test_a_pipe_in_the_repository_of_a_linked_working_tree_is_refused(
    repo: Repo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert head_of(open_repository(tmp_path / "linked"))
    for name in ("config", "worktrees/linked/HEAD", "worktrees/linked/commondir"):
        file = repo.root / ".git" / name
        content = file.read_bytes()
        into_pipe(file)
        with pytest.raises(InputError, match=f"{name} is no file"):
            open_repository(tmp_path / "linked")
        file.unlink()
        file.write_bytes(content)


def test_a_pipe_in_place_of_git_is_refused(tmp_path: Path) -> None:
    into_pipe(tmp_path / "made" / ".git")
    with pytest.raises(InputError, match=r"its \.git names no folder"):
        open_repository(tmp_path / "made")


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
    repo: Repo, tmp_path: Path, text: str
) -> None:
    (tmp_path / "secret").write_text("a secret of the user's\n")
    with (repo.root / ".git/config").open("a") as config:
        config.write(text.format(tmp_path / "secret"))
    with pytest.raises(RuntimeError, match="secret"):
        repo.git("rev-parse", "HEAD")
    with pytest.raises(InputError, match="includes other files") as raised:
        open_repository(repo.root)
    assert "secret" not in str(raised.value)


def test_a_configuration_that_says_include_elsewhere_is_none(repo: Repo) -> None:
    with (repo.root / ".git/config").open("a") as config:
        config.write("# [include]\n[includes]\n\tinclude = a\n[a] ; [include]\n")
    assert head_of(open_repository(repo.root))


def test_git_that_says_nothing_is_ended(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_process, "SILENT", 0.3)
    repository = open_repository(repo.root)
    name = repo.git("rev-parse", "HEAD:a.py")
    into_pipe(repo.root / ".git/objects" / name[:2] / name[2:])
    with (
        objects_of(repository) as objects,
        pytest.raises(InputError, match="says nothing for 0 seconds, and was ended"),
    ):
        objects.read(name)
    into_pipe(repo.root / ".git/HEAD")
    with pytest.raises(InputError, match="git rev-parse says nothing") as raised:
        head_of(repository)
    assert str(raised.value).count("\n") == 1
    assert running_on(repo.root) == []


def test_a_task_that_takes_too_long_is_ended(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = open_repository(repo.root)
    into_pipe(repo.root / ".git/HEAD")
    monkeypatch.setattr(git_process, "LONGEST", 0.3)
    with pytest.raises(InputError, match="git rev-parse takes longer than 0 seconds"):
        head_of(repository)


def test_git_ends_with_us_however_we_end(repo: Repo) -> None:
    script = (
        "import os, sys; from pathlib import Path; from harness.building.git.repository import *;"
        "opened = open_repository(Path(sys.argv[1])); head = Path(sys.argv[1], '.git/HEAD');"
        "head.unlink(); os.mkfifo(head); print(flush=True); head_of(opened)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(repo.root)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        until = time.monotonic() + 20
        while not running_on(repo.root) and time.monotonic() < until:
            time.sleep(0.02)
        assert running_on(repo.root)
        process.send_signal(signal.SIGKILL)
    while running_on(repo.root) and time.monotonic() < until:
        time.sleep(0.02)
    assert running_on(repo.root) == []


def test_an_object_that_memory_would_not_hold_ends_in_one_message(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects_module, "_MOST", 5)
    with (
        objects_of(open_repository(repo.root)) as objects,
        pytest.raises(InputError, match="has 6 bytes, more than 5, and is not read"),
    ):
        objects.read(repo.git("rev-parse", "HEAD:a.py"))


def changes(repo: Repo, commit: str, parent: str, most: int = 20) -> list[tuple[str, ...]] | None:
    repository = open_repository(repo.root)
    with objects_of(repository) as objects:
        found = changes_of(repository, objects, {commit: parent}, most)[commit]
    return None if found is None else [(one.status, one.old, one.new) for one in found]


def test_commits_that_change_more_files_than_any_memory_holds_are_told_at_once(
    repo: Repo,
) -> None:
    commits = []
    for content in (b"a = 1\n", b"a = 2\n"):
        name = repo.git("hash-object", "-w", "--stdin", data=content)
        lines = "".join(f"100644 blob {name}\tf{n}.py\n" for n in range(10))
        for _ in range(12):
            tree = repo.git("mktree", data=lines.encode())
            lines = "".join(f"040000 tree {tree}\td{n}\n" for n in range(10))
        commits.append(repo.git("commit-tree", repo.git("mktree", data=lines.encode()), "-m", "x"))
    assert changes(repo, commits[1], commits[0]) is None
    empty = repo.git("commit-tree", repo.git("mktree"), "-m", "x")
    assert changes(repo, empty, commits[0]) is None
    assert changes(repo, commits[0], empty) is None


def test_a_folder_of_very_many_changes_costs_the_other_commits_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffs, "_SKIPPED", 50)
    names = [repo.git("rev-parse", "HEAD")]
    files: dict[str, str | bytes | None] = {f"{n}.py": f"{n}\n" for n in range(60)}
    names.append(repo.commit("Many\n", files))
    names.append(repo.commit("One\n", {"7.py": "seven\n"}))
    names.append(repo.commit("All\n", dict.fromkeys(files, "x\n")))
    names.append(repo.commit("Last\n", {"sub/a\nb.py": "\n", "8.py": None}))
    repository = open_repository(repo.root)
    with objects_of(repository) as objects:
        found = changes_of(repository, objects, dict(zip(names[1:], names[:-1], strict=True)), 20)
    told = [one and [(c.status, c.old) for c in one] for one in found.values()]
    assert told == [None, [("M", "7.py")], None, [("D", "8.py"), ("A", "sub/a\nb.py")]]


def test_renames_count_once_and_are_looked_for_in_few_files_alone(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(number: int, last: str) -> str:
        return "".join(f"name_{number}_{line} = {line}\n" for line in range(50)) + last

    before = repo.commit("Many\n", {f"a{n}.py": text(n, "x\n") for n in range(6)})
    gone: dict[str, str | bytes | None] = {f"a{n}.py": None for n in range(6)}
    moved = repo.commit("Move\n", {**gone, **{f"sub/b{n}.py": text(n, "y\n") for n in range(6)}})
    assert changes(repo, moved, before, 6) == [("R", f"a{n}.py", f"sub/b{n}.py") for n in range(6)]
    assert changes(repo, moved, before, 5) is None
    monkeypatch.setattr(diffs, "MOST_COMPARED", 1_000)
    assert changes(repo, moved, before, 6) is None
    again = repo.commit("Back\n", {"sub/b0.py": None, "a0.py": text(0, "y\n")})
    assert changes(repo, again, moved, 1) == [("R", "sub/b0.py", "a0.py")]


def test_a_folder_that_becomes_a_file_and_one_too_deep_to_be_looked_into(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repo.commit("Folder\n", {"x/y.py": "y = 1\n"})
    repo.git("rm", "-q", "x/y.py")
    second = repo.commit("File\n", {"a.py": "a = 2\n", "x": "x\n"})
    assert changes(repo, second, first) == [
        ("M", "a.py", "a.py"),
        ("A", "x", "x"),
        ("D", "x/y.py", "x/y.py"),
    ]
    line = f"100644 blob {repo.git('rev-parse', 'HEAD:x')}\tf.py\n"
    monkeypatch.setattr(diffs, "_DEEPEST", 3)
    for _ in range(6):
        line = f"040000 tree {repo.git('mktree', data=line.encode())}\td\n"
    empty = repo.git("commit-tree", repo.git("mktree"), "-m", "x")
    deep = repo.git("commit-tree", repo.git("mktree", data=line.encode()), "-p", empty, "-m", "x")
    folder = "/".join(["d"] * 4)
    assert changes(repo, deep, empty) == [("A", folder, folder)]
