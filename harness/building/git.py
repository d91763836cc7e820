"""Reads objects of a git repository by the `git` program, which starts nothing and writes nothing.

The program is used rather than a library: it reads every form that a repository has (packs,
shallow clones, linked working trees, sha256, whatever comes next), is where repositories are,
and has had two decades of hostile input. Only plumbing runs, none of which looks at the index, the
working tree or attributes. No variable of the environment that git reads is passed on, no
configuration but the repository's own is read, and of that nothing may start a program: hooks,
pagers, file system monitors, external diffs, signatures and the fetching of missing objects are
off. Objects are as they were committed: replacements and grafts do not count.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.gitdirs import foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_RAW = ("--raw", "-r", "-z", "-M50%", "-l400", "--no-relative", "--ignore-submodules=none")
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.attributesFile={os.devnull}",
    "-c",
    "core.warnAmbiguousRefs=false",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    # Before 2.45 git fetches what a partial clone lacks. A list of protocols that holds none
    # goes before the repository's own configuration, as `-c protocol.allow=never` does not.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "GIT_ADVICE": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that can be read.

    Attributes:
        path: What the user named.
        git_dir: Its folder of objects and references, or the file that names it.
        program: The git program.
    """

    path: Path
    git_dir: Path
    program: str

    def fault(self, what: str) -> InputError:
        """An error that names the repository."""
        return InputError(f"{self.path}: {what}")


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit did to one file.

    Attributes:
        status: `A`, `D`, `M`, `R` (renamed, perhaps changed too) or `T` (of another type now).
        old: Path before; that of the new file where it is added.
        new: Path after.
        old_mode: Mode before, all zeros for none.
        new_mode: Mode after.
        old_hash: Of the content before.
        new_hash: Of the content after.
    """

    status: str
    old: str
    new: str
    old_mode: str
    new_mode: str
    old_hash: str
    new_hash: str


def open_repository(path: Path) -> Repository:
    """Find the git program and the repository whose top a folder is, bare or not.

    Raises:
        InputError: There is no git program, no repository, or one that reads from another.
    """
    program = shutil.which("git")
    if program is None:
        raise InputError("commits are read by the program git, which is not there; install it")
    dot = path / ".git"
    if dot.is_symlink():
        raise InputError(
            f"{path}: its .git is a link, which is not followed; name what it links to"
        )
    if not dot.exists() and not ((path / "HEAD").is_file() and (path / "objects").is_dir()):
        raise InputError(
            f"{path} is no git repository: there is no .git, and it is no bare one\n"
            "name the top folder of a clone"
        )
    top = (dot if dot.exists() else path).absolute()
    repository = Repository(path, top, program)
    fault = foreign(path, top, lambda folder: _worktree(program, folder))
    if fault is not None:
        raise repository.fault(fault)
    _run(repository, ["rev-parse", "--git-dir"])
    return repository


def _worktree(program: str, folder: Path) -> str:
    """The working tree that a folder of git's has by its configuration; empty for none."""
    file = str(folder / "config")
    asked = ["config", "--file", file, "--no-includes", "--get", "core.worktree"]
    done = _start(Repository(folder, folder, program), asked)
    return "" if done.returncode else os.fsdecode(done.stdout).strip("\n")


def head_of(repository: Repository) -> str:
    """The hash of the commit that is checked out, or that HEAD names in a bare repository.

    Raises:
        InputError: There is none.
    """
    done = _start(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    if done.returncode or not _HASH.fullmatch(done.stdout.strip()):
        raise repository.fault(f"it has no commit{because(done.stderr)}")
    return done.stdout.strip().decode()


def history_of(repository: Repository, head: str, most: int) -> tuple[list[list[str]], int]:
    """The newest ancestors of a commit, itself included.

    Returns:
        For each its hash and those of its parents, as far as they are in the repository, in the
        order that git lists them; and how many older ones there are.
    """
    listed = _run(repository, ["rev-list", "--parents", f"--max-count={most}", head])
    lines = [line.split() for line in listed.decode("ascii").splitlines()]
    if len(lines) < most:
        return lines, 0
    return lines, int(_run(repository, ["rev-list", "--count", head])) - len(lines)


def changes_of(repository: Repository, commits: Sequence[str]) -> dict[str, tuple[Change, ...]]:
    """What commits with one parent did to files; those that did nothing have none.

    Renames are found by git, up to 400 files a commit, where half of the text is the same.
    """
    if not commits:
        return {}
    told = _run(
        repository,
        ["diff-tree", "--stdin", *_RAW],
        "".join(f"{one}\n" for one in commits).encode(),
    )
    found: dict[str, list[Change]] = {one: [] for one in commits}
    fields = iter(told.split(b"\0"))
    current: list[Change] = []
    for field in fields:
        if not field.startswith(b":"):
            current = found.get(field.decode("ascii", "replace"), [])
            continue
        old_mode, new_mode, old_hash, new_hash, status = field[1:].decode("ascii").split(" ")
        old = path_of(next(fields))
        new = path_of(next(fields)) if status[0] in "RC" else old
        current.append(Change(status[0], old, new, old_mode, new_mode, old_hash, new_hash))
    return {one: tuple(changes) for one, changes in found.items()}


def path_of(octets: bytes) -> str:
    """A path in a tree; octets that are no UTF-8 become surrogates."""
    return octets.decode("utf-8", "surrogateescape")


def command(repository: Repository, arguments: Iterable[str]) -> list[str]:
    """What runs git on a repository, with everything off that could start a program."""
    return [repository.program, f"--git-dir={repository.git_dir}", *_OPTIONS, *arguments]


def environment() -> dict[str, str]:
    """The variables that git runs with."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return rest | _ENVIRONMENT


def _start(
    repository: Repository, arguments: list[str], data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - git, with arguments of our own
            command(repository, arguments),
            env=environment(),
            input=data,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise repository.fault(
            f"{repository.program} cannot be started: {error.strerror}"
        ) from None


def _run(repository: Repository, arguments: list[str], data: bytes = b"") -> bytes:
    done = _start(repository, arguments, data)
    if done.returncode:
        raise repository.fault(f"git {arguments[0]} failed{because(done.stderr)}")
    return done.stdout


def because(errors: bytes) -> str:
    """What git said, on one line, behind a colon; empty where it said nothing."""
    lines = [line for line in errors.decode("utf-8", "replace").split("\n") if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    said = " ".join(fatal[-1].split()) if fatal else ""
    return f": {said.removeprefix('fatal: ').removeprefix('error: ')[:300]}" if said else ""
