"""Whether a repository is that of the folder it was found in, and reads nothing outside of it.

A `.git` file may name a folder anywhere, a repository may borrow the objects of another one, and
its configuration may include any file. Linked working trees and submodules are accepted, since the
repository that they belong to names them back.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pygit2

_CONFIGURATIONS = ("config.worktree", "config")  # the first overrides the second
_READ = ("HEAD", "commondir", "packed-refs", "shallow", *_CONFIGURATIONS)
# A section may follow another on its line, but not a comment.
_INCLUDE = re.compile(r"^[^#;\n]*?\[[ \t]*include(?:if)?[ \t\]\".]", re.I | re.M)


def ownership_fault(path: Path, dot: Path) -> str | None:
    """Why the repository of a folder must not be read; None where it may be.

    `dot` is the `.git` of the folder, not a link, or the folder itself if the repository is bare.
    """
    git_dir = _target(dot) if dot.is_file() else dot.resolve()
    if git_dir is None or not git_dir.is_dir():
        return ".git does not name an existing folder"
    name = _text(git_dir / "commondir")
    common = (git_dir / name).resolve() if name else git_dir
    for folder in dict.fromkeys((git_dir, common)):
        for file in (folder / name for name in _CONFIGURATIONS):
            if _INCLUDE.search(_text(file)):
                return (
                    f"{file} includes other files, which are not read\n"
                    "remove the include, or clone the repository"
                )
    within = all(folder.is_relative_to(path.resolve()) for folder in (git_dir, common))
    if not (within or _is_worktree(dot, git_dir, common) or _is_submodule(path, git_dir, common)):
        return (
            f"its objects are in {common}, a repository that does not name this folder as its own\n"
            "name that repository, or clone it"
        )
    return _outside(git_dir, common)


def _text(file: Path) -> str:
    """The text of a small file without its last line end; empty where it cannot be read."""
    try:
        return os.fsdecode(file.read_bytes()).strip("\r\n") if file.is_file() else ""
    except OSError:
        return ""


def _target(dot: Path) -> Path | None:
    """The folder that a `.git` file names."""
    key, colon, name = _text(dot).partition(":")
    return (dot.parent / name.strip()).resolve() if key == "gitdir" and colon else None


def _is_worktree(dot: Path, git_dir: Path, common: Path) -> bool:
    """Whether `git worktree` made this working tree, and the repository lists it."""
    name = _text(git_dir / "gitdir")
    return (
        git_dir.parent == common / "worktrees"
        and bool(name)
        and (git_dir / name).resolve() == dot.resolve()
    )


def _is_submodule(path: Path, git_dir: Path, common: Path) -> bool:
    """Whether the configuration of a repository names this folder as its working tree."""
    if git_dir != common:
        return False
    for file in (git_dir / name for name in _CONFIGURATIONS):
        try:
            name = pygit2.Config(str(file))["core.worktree"]
        except (KeyError, OSError, ValueError, pygit2.GitError):
            continue
        return bool(name) and (git_dir / str(name)).resolve() == path.resolve()
    return False


def _outside(git_dir: Path, common: Path) -> str | None:
    """What a repository reads outside of itself; None for nothing."""
    lines = _text(common / "objects/info/alternates").splitlines()
    others = [line for line in lines if line.strip() and not line.startswith("#")]
    if others:
        return (
            f"it borrows objects from {others[0]}, which is not read\n"
            "run git repack -ad in it and remove its objects/info/alternates, or clone it whole"
        )
    paths = [folder / name for folder in (git_dir, common) for name in (*_READ, "objects", "refs")]
    for top in (common / "objects", common / "refs"):
        for folder, folders, files in os.walk(top):
            paths += [Path(folder, name) for name in (*folders, *files)]
    for path in paths:
        if path.is_symlink() and not path.resolve().is_relative_to(common):
            return f"{path} is a link out of the repository, which is not followed; clone it"
    return None
