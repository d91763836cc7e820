"""Reads a git repository by the `git` program, which starts nothing and writes nothing.

The program is used rather than a library: it reads every form that a repository has (packs,
shallow clones, linked working trees, sha256, whatever comes next), is where repositories are,
and has had two decades of hostile input. Only plumbing runs, none of which looks at the index, the
working tree or attributes; `harness.building.git.git_process` says what it may do.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.git import git_process
from harness.building.git.git_files import fault_in
from harness.building.git.git_process import asked, running
from harness.building.git.gitdirs import folders_of, foreign

if TYPE_CHECKING:
    from pathlib import Path

_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


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
    faults = (fault_in(folder) for folder in folders_of(top))
    fault = next(filter(None, faults), None)
    fault = fault or foreign(path, top, lambda folder: _worktree(program, folder))
    if fault is not None:
        raise repository.fault(fault)
    code, _, why = asked(repository, ["rev-parse", "--git-dir"])
    if code:
        raise repository.fault(f"git rev-parse failed{why}")
    return repository


def _worktree(program: str, folder: Path) -> str:
    """The working tree that a folder of git's has by its configuration; empty for none."""
    for name in ("config.worktree", "config"):  # the first is written where checkouts are sparse
        file = str(folder / name)
        arguments = ["config", "--file", file, "--no-includes", "--get", "core.worktree"]
        code, found, _ = asked(Repository(folder, folder, program), arguments)
        if not code:
            return os.fsdecode(found).strip("\n")
    return ""


def head_of(repository: Repository) -> str:
    """The hash of the commit that is checked out, or that HEAD names in a bare repository.

    Raises:
        InputError: There is none.
    """
    code, found, why = asked(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    if code or not _HASH.fullmatch(found.strip()):
        raise repository.fault(f"it has no commit{why}")
    return found.strip().decode()


def history_of(repository: Repository, head: str, most: int) -> tuple[list[list[str]], int]:
    """The newest ancestors of a commit, itself included.

    Returns:
        For each its hash and those of its first two parents, as far as they are in the
        repository, in the order that git lists them; and how many older ones there are.
    """
    lines: list[list[str]] = []
    older = 0
    until = time.monotonic() + git_process.LONGEST
    with running(repository, ["rev-list", "--parents", head], b"", until) as git:
        while (line := git.until(b"\n")) is not None:
            if len(lines) < most:
                lines.append(line.decode("ascii").split(" ", 3)[:3])
            else:
                older += 1
        git.finish()
    return lines, older


def path_of(octets: bytes) -> str:
    """A path in a tree; octets that are no UTF-8 become surrogates."""
    return octets.decode("utf-8", "surrogateescape")
