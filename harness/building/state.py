"""Which commit a working tree is at, and how many of its files differ from that commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.git.repository import blob_id, open_repository
from harness.building.tree import repository_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from chunkers.source import Source

NONE = "none"
UNKNOWN = "unknown"


def state_of(root: Path, sources: Sequence[Source]) -> dict[str, str]:
    """The state of the folder that a data set was made from.

    `commit` is that of HEAD, `none` where there is no repository, `unknown` where it cannot be
    read. `files not as committed` is the number of sources that differ from it, new ones included.
    """
    top = repository_of(root)
    if top is None:
        return {"commit": NONE}
    try:
        repository = open_repository(top)
        commit = repository.head()
    except InputError:
        return {"commit": UNKNOWN}  # the files can be read all the same
    below = root.resolve().relative_to(top)

    def is_committed(path: str) -> bool:
        try:
            content = (root / path).read_bytes()
        except OSError:
            return False
        return repository.blob_at(commit, (below / path).as_posix()) == blob_id(content)

    changed = sum(not is_committed(source.path) for source in sources)
    return {"commit": str(commit.id), "files not as committed": str(changed)}
