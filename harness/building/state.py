"""Which commit a working tree stands at, and how far it differs from it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.git.objects import FOLDER, objects_of
from harness.building.git.repository import head_of, open_repository
from harness.building.tree import repository_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from chunkers.source import Source
    from harness.building.git.objects import Objects

NONE = "none"
UNKNOWN = "unknown"


def state_of(root: Path, sources: Sequence[Source]) -> dict[str, str]:
    """What a result must say of the folder that it was made from.

    Args:
        root: The folder.
        sources: What was read of it.

    Returns:
        `commit`: that of HEAD, `none` where there is no repository, `unknown` where git cannot
        tell. `files not as committed`: how many of the sources differ from it, new ones included.
    """
    top = repository_of(root)
    if top is None:
        return {"commit": NONE}
    try:
        repository = open_repository(top)
        commit = head_of(repository)
        below = root.resolve().relative_to(top).as_posix()
        start = "" if below == "." else below + "/"
        with objects_of(repository) as objects:
            committed = _Committed(objects, objects.commit(commit).tree)
            changed = sum(
                not _is_blob(root / source.path, committed.file(start + source.path))
                for source in sources
            )
    except InputError:
        # No program, no commit yet, a partial clone: the files can be read all the same.
        return {"commit": UNKNOWN}
    return {"commit": commit, "files not as committed": str(changed)}


class _Committed:
    """Hashes of files of a tree; only the folders that are asked for are read."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self._objects = objects
        self._read = {"": objects.folder(tree)}

    def file(self, path: str) -> str | None:
        """The hash of a file's content; None where the tree has no such file."""
        folder, _, name = path.rpartition("/")
        mode, found = self._folder(folder).get(name, (FOLDER, ""))
        return None if mode == FOLDER else found

    def _folder(self, path: str) -> dict[str, tuple[str, str]]:
        if path not in self._read:
            above, _, name = path.rpartition("/")
            mode, found = self._folder(above).get(name, ("", ""))
            self._read[path] = self._objects.folder(found) if mode == FOLDER else {}
        return self._read[path]


def _is_blob(file: Path, name: str | None) -> bool:
    """Whether a file has the content of a git object, byte for byte."""
    if name is None:
        return False
    try:
        data = file.read_bytes()
    except OSError:
        return False
    digest = hashlib.sha1 if len(name) == 40 else hashlib.sha256  # git's names, no protection
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == name
