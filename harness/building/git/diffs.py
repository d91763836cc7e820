"""What commits did to files, by the trees before and after them.

A tree of a few objects can hold more files than any memory, and a whole one is compared before a
word is said of it. So folders are compared one by one, and of a commit only so many as may matter;
renames, which take the time of all pairs of files, are looked for in what is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.building.git import git_process
from harness.building.git.git_process import running
from harness.building.git.objects import FOLDER
from harness.building.git.repository import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.building.git.git_process import Git
    from harness.building.git.objects import Objects
    from harness.building.git.repository import Repository

MOST_COMPARED = 1 << 22
"""Bytes of files that a commit added and deleted, together, above which only unchanged ones are
taken for renamed."""
_DEEPEST = 100
_SKIPPED = 10_000  # entries that are read past, before git is started again behind them
_RAW = ("--raw", "-z", "--no-abbrev", "--no-relative", "--ignore-submodules=none")
_EMPTY = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""By the length of hashes that of an empty folder, which git knows without an object."""


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


@dataclass(frozen=True, slots=True)
class _Pair:
    """A folder before and after a commit."""

    commit: str
    path: str
    old: str
    new: str


def changes_of(
    repository: Repository, objects: Objects, parents: Mapping[str, str], most: int
) -> dict[str, tuple[Change, ...] | None]:
    """What commits did to files, in byte order of the paths; those that did nothing have none.

    A file is renamed where half of the text is the same; where the files that a commit added and
    deleted hold more than 4 MiB together, where all of it is. What lies more than a hundred folders
    deep counts as one file, that folder.

    Args:
        repository: The repository.
        objects: Its objects.
        parents: Commit -> its only parent.
        most: Files that a commit may have changed, a renamed one counted once.

    Returns:
        For each commit its changes, or None where there are more than `most`.

    Raises:
        InputError: An object is missing or damaged, or it takes too long.
    """
    until = time.monotonic() + git_process.LONGEST
    # Each renamed file is one that was added and one that was deleted.
    found = _without_renames(repository, objects, parents, 2 * most, until)
    unlike = {"A", "D"}
    moved = [
        one
        for one, changes in found.items()
        if changes
        and unlike <= {change.status for change in changes}
        and not any(
            FOLDER in (_kind(change.old_mode), _kind(change.new_mode)) for change in changes
        )
    ]
    light = [one for one in moved if _weight(objects, found[one] or ()) <= MOST_COMPARED]
    heavy = sorted(set(moved) - set(light))
    for share, commits in (("50%", light), ("100%", heavy)):
        found.update(_with_renames(repository, commits, share, until))
    return {
        one: None if changes is None or len(changes) > most else tuple(sorted(changes, key=_order))
        for one, changes in found.items()
    }


def _order(change: Change) -> bytes:
    return change.old.encode("utf-8", "surrogateescape")


def _kind(mode: str) -> str:
    return mode.lstrip("0")


def _weight(objects: Objects, changes: Sequence[Change]) -> int:
    """Bytes of the files that were added and deleted, links and submodules left out."""
    names = []
    for change in changes:
        if change.status in "AD":
            mode, name = (
                (change.new_mode, change.new_hash)
                if change.status == "A"
                else (change.old_mode, change.old_hash)
            )
            names += [name] * mode.startswith("100")
    return sum(objects.sizes(names))


def _without_renames(
    repository: Repository, objects: Objects, parents: Mapping[str, str], most: int, until: float
) -> dict[str, list[Change] | None]:
    """The changes of commits, a renamed file being two; None where they are more."""
    found: dict[str, list[Change] | None] = {one: [] for one in parents}
    old, new = (list(objects.trees(list(some))) for some in (parents.values(), parents))
    pairs = [
        _Pair(*pair)
        for pair in zip(parents, [""] * len(old), old, new, strict=True)
        if pair[2] != pair[3]
    ]
    for depth in range(_DEEPEST + 1):
        below: list[_Pair] = []
        waiting: dict[str, int] = {}
        for pair, entries in _compared(repository, pairs, most, until):
            changes = found[pair.commit]
            if changes is None:
                continue
            for entry in entries or ():
                here = replace(entry, old=pair.path + entry.old, new=pair.path + entry.old)
                files, folders = _split(here, pair.commit, depth)
                changes += files
                below += folders
                waiting[pair.commit] = waiting.get(pair.commit, 0) + len(folders)
            # Every folder that is another one holds a file that is.
            if entries is None or len(changes) + waiting.get(pair.commit, 0) > most:
                found[pair.commit] = None
        pairs = [pair for pair in below if found[pair.commit] is not None]
        if not pairs:
            break
    return found


def _split(change: Change, commit: str, depth: int) -> tuple[list[Change], list[_Pair]]:
    """What an entry of a folder is: a file, or a folder that is to be compared."""
    before, after = _kind(change.old_mode) == FOLDER, _kind(change.new_mode) == FOLDER
    if depth == _DEEPEST or not (before or after):
        return [change], []
    none = _EMPTY[len(change.old_hash)]
    pair = _Pair(
        commit,
        change.old + "/",
        change.old_hash if before else none,
        change.new_hash if after else none,
    )
    nothing, zeros = "0" * len(change.old_mode), "0" * len(change.old_hash)
    files = []
    if not before and change.old_mode != nothing:
        files.append(replace(change, status="D", new_mode=nothing, new_hash=zeros))
    if not after and change.new_mode != nothing:
        files.append(replace(change, status="A", old_mode=nothing, old_hash=zeros))
    return files, [pair]


def _compared(
    repository: Repository, pairs: Sequence[_Pair], most: int, until: float
) -> Iterator[tuple[_Pair, list[Change] | None]]:
    """The entries in which folders differ; None where they are more."""
    at = 0
    while at < len(pairs):
        asked = "".join(f"{pair.old} {pair.new}\n" for pair in pairs[at:]).encode()
        arguments = ["diff-tree", "--stdin", "--no-renames", *_RAW]
        with running(repository, arguments, asked, until) as git:
            # Names of both, each on a line, stand before the entries of every pair.
            heads: list[bytes] = []
            entry = b""
            while at < len(pairs):
                entries: list[Change] | None = []
                if not heads:
                    heads, entry = _next(git)
                if not heads or heads.pop(0).decode("ascii", "replace") != (
                    f"{pairs[at].old} {pairs[at].new}"
                ):
                    raise repository.fault(
                        f"git diff-tree cannot compare {pairs[at].old} and {pairs[at].new}"
                        f"{git.said()}\nit may be a partial clone: clone it whole"
                    )
                read = 0
                while not heads and entry:
                    change = _change(entry, git)
                    read += 1
                    entries = None if entries is None or read > most else [*entries, change]
                    if read > _SKIPPED:
                        break
                    heads, entry = _next(git)
                yield pairs[at], entries
                at += 1
                if read > _SKIPPED:
                    break
            else:
                git.finish()


def _next(git: Git) -> tuple[list[bytes], bytes]:
    """Lines that come before the next entry, and how that begins; empty at the end."""
    field = git.until(b"\0")
    if field is None:
        return git.rest().splitlines(), b""
    *heads, entry = field.split(b"\n")
    return heads, entry


def _change(entry: bytes, git: Git) -> Change:
    """The change that an entry tells, of which the paths are still to be read."""
    old_mode, new_mode, old_hash, new_hash, status = entry[1:].decode("ascii").split(" ")
    old = path_of(git.until(b"\0") or b"")
    new = path_of(git.until(b"\0") or b"") if status[0] in "RC" else old
    return Change(status[0], old, new, old_mode, new_mode, old_hash, new_hash)


def _with_renames(
    repository: Repository, commits: Sequence[str], share: str, until: float
) -> dict[str, list[Change]]:
    """All changes of commits that are known to have few, renames found where so much is alike."""
    found: dict[str, list[Change]] = {one: [] for one in commits}
    if not commits:
        return found
    asked = "".join(f"{one}\n" for one in commits).encode()
    arguments = ["diff-tree", "--stdin", "-r", f"-M{share}", "-l400", *_RAW]
    with running(repository, arguments, asked, until) as git:
        current: list[Change] = []
        while (field := git.until(b"\0")) is not None:
            if field.startswith(b":"):
                current.append(_change(field, git))
            else:
                current = found[field.decode("ascii", "replace")]
        git.finish()
    return found
