"""Whether what git would read for a folder belongs to that folder.

A `.git` may be a file that names a folder anywhere, and a repository may borrow its objects from
another one. A folder that came from somebody else could so make queries out of a repository that
it has nothing to do with. Git's own linked working trees and submodules are named back by the
repository that they are of: nobody can bring that along.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MOST = 1 << 16  # bytes of a file that names others
_READ = ("HEAD", "commondir", "objects", "packed-refs", "refs", "shallow")


def foreign(path: Path, dot: Path, worktree: Callable[[Path], str]) -> str | None:
    """Why a folder's repository is none of its own; None where it is.

    Args:
        path: The folder.
        dot: Its `.git`, no link, or itself where it is bare.
        worktree: What the configuration in a folder of git's gives for `core.worktree`.
    """
    folder = _named(dot) if dot.is_file() else dot.resolve()
    if folder is None or not folder.is_dir():
        return "its .git names no folder that is there"
    common = _common(folder)
    within = all(one.is_relative_to(path.resolve()) for one in (folder, common))
    if not (within or _is_linked(dot, folder, common) or _is_submodule(path, folder, worktree)):
        return (
            f"its objects would be those of {common}, a repository that does not name this "
            "folder as its own\nname that one, or clone it"
        )
    return _borrowed(folder, common)


def folders_of(dot: Path) -> tuple[Path, ...]:
    """Folders that git reads for a `.git`: its own, and another where objects are elsewhere."""
    folder = _named(dot) if dot.is_file() else dot.resolve()
    if folder is None or not folder.is_dir():
        return ()
    return tuple(dict.fromkeys((folder, _common(folder))))


def _text(file: Path) -> str:
    """What a small file says; nothing where it cannot be read, or is a pipe."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            return os.fsdecode(opened.read(_MOST)).strip("\r\n")
    except OSError:
        return ""


def _named(dot: Path) -> Path | None:
    """The folder that a file `.git` names."""
    key, colon, named = _text(dot).partition(":")
    return (dot.parent / named.strip()).resolve() if key == "gitdir" and colon else None


def _common(folder: Path) -> Path:
    """Where the objects of a folder of git's are."""
    named = _text(folder / "commondir")
    return (folder / named).resolve() if named else folder


def _is_linked(dot: Path, folder: Path, common: Path) -> bool:
    """Whether this is a working tree that `git worktree` made, and the repository knows of it."""
    back = _text(folder / "gitdir")
    return (
        folder.parent == common / "worktrees"
        and bool(back)
        and (folder / back).resolve() == dot.resolve()
    )


def _is_submodule(path: Path, folder: Path, worktree: Callable[[Path], str]) -> bool:
    """Whether the configuration of a repository names this folder as its working tree."""
    if (folder / "commondir").exists():
        return False
    back = worktree(folder)
    return bool(back) and (folder / back).resolve() == path.resolve()


def _borrowed(folder: Path, common: Path) -> str | None:
    """Why a repository reads from outside of itself; None where it does not."""
    lines = _text(common / "objects/info/alternates").split("\n")
    others = [line for line in lines if line.strip() and not line.startswith("#")]
    if others:
        return (
            f"it borrows objects from {others[0]}, which is not read\n"
            "run git repack -ad in it and remove its objects/info/alternates, or clone it whole"
        )
    for link in _links(folder, common):
        if not link.resolve().is_relative_to(common):
            return f"{link} is a link out of it, which is not followed; clone it"
    return None


def _links(folder: Path, common: Path) -> Iterator[Path]:
    """The links among what git reads."""
    for above in dict.fromkeys((folder, common)):
        yield from (one for name in _READ if (one := above / name).is_symlink())
    waiting = [common / "objects", common / "refs"]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            if entry.is_symlink():
                yield common / entry.path
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(common / entry.path)
