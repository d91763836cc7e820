"""Brings the files that a data set's card needs into a data folder, or says how to place them.

Nothing is fetched whose digest is not known beforehand: for it, and where there is no network, the
answer is which file to place where. What is there already is checked and never overwritten.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from harness.datasets.cards import path_of, paths_of
from harness.datasets.fetching.addresses import checked_source
from harness.datasets.fetching.archives import tree_sha256, unpack, zip_tree_sha256
from harness.datasets.fetching.download import Wanted, downloaded, partial_of
from harness.reading.reader import leaves, zip_folders
from harness.support.data_folders import data_dirs
from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from harness.datasets.cards import AnyOf, Archive, Card, NeededFile

    Tell = Callable[[str, int, int], None]

LARGEST = 1 << 32
"""Bytes of a file whose size is not known, at most."""

State = Literal["at hand", "fetched", "to place"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one file of a card.

    Attributes:
        path: Its path in a data folder.
        state: `at hand`: it was there; `fetched`; `to place`: nobody but the user can get it.
        where: Where it lies, or is to be placed.
        bytes: Its size as published; None where it is not known.
        source: Where it is to be had.
        note: What was checked, or what to do.
    """

    path: str
    state: State
    where: str
    bytes: int | None
    source: str
    note: str


def fetch(
    card: Card,
    data_dir: Path | None = None,
    tell: Tell = lambda phase, done, total: None,
) -> tuple[Fetched, ...]:
    """Bring all files of a card into the first data folder.

    Args:
        card: The card.
        data_dir: The folder to place them in, which is looked into first; without it
            `$CHUNKMARK_DATA`, or else the cache folder's `data`.
        tell: Told the file, and how many bytes of how many are there.

    Returns:
        What became of each, in the card's order, and then of each kind of which one must be there.
        A file that the data set does without has no row where it is not there.

    Raises:
        InputError: A file is there and not as published, cannot be had, or is not what the card
            says. The files before it stay.
    """
    folders = data_dirs(data_dir)
    rows = [
        _one(card, needed, folders, tell)
        for needed in card.files
        if not needed.optional or path_of(needed, folders) is not None
    ]
    return (*rows, *(_any(card, kind, folders) for kind in card.any_of))


def _any(card: Card, kind: AnyOf, folders: tuple[Path, ...]) -> Fetched:
    """What there is of a kind of which one does."""
    row = functools.partial(Fetched, kind.what, bytes=None, source=card.source)
    first = path_of(card.files[0], folders) or folders[0] / card.files[0].path
    found = paths_of(card, kind, folders)
    if found:
        note = f"{len(found)} of them there; one does"
        return row(state="at hand", where=str(found[0].parent), note=note)
    place = str(first.parent / kind.beside[0]) + ", or another of them" * (len(kind.beside) > 1)
    return row(state="to place", where=place, note="one does; none is fetched, place it by hand")


def _one(card: Card, needed: NeededFile, folders: tuple[Path, ...], tell: Tell) -> Fetched:
    for path in (needed.path, needed.instead or "x"):
        if leaves(path):
            raise InputError(f"dataset {card.name}: its card places {path!r} outside the folder")
    row = functools.partial(Fetched, needed.path, bytes=needed.bytes)
    found = path_of(needed, folders)
    archive, at = needed.archive, folders[0]
    told = functools.partial(tell, needed.path)
    if found is not None:
        source = needed.url or card.source
        return row(state="at hand", where=str(found), source=source, note=_checked(needed, found))
    if needed.url and needed.sha256:
        _refuse_taken(at / needed.path, "file")
        _download(needed, needed.url, at / needed.path, told)
        where = str(at / needed.path)
        return row(state="fetched", where=where, source=needed.url, note="as published")
    if archive and needed.instead and (archive.sha256 or archive.trees):
        _refuse_taken(at / needed.instead, "folder")
        note = _unpacked(needed, archive, at / needed.instead, told)
        where = str(at / needed.instead)
        return row(state="fetched", where=where, source=archive.url, note=note)
    why = "not fetched, for its sha256 is not known; place it by hand"
    if not (needed.url or archive):
        why = "no address is known that has these bytes; place it by hand"
    source = needed.url or (archive.url if archive else card.source)
    return row(state="to place", where=str(at / needed.path), source=source, note=why)


def _refuse_taken(target: Path, kind: str) -> None:
    """Look before asking whether something else lies where a file or folder is to be placed.

    Raises:
        InputError: It does.
    """
    if target.exists():
        raise InputError(f"{target} is there and is no {kind}; move it away, and fetch again")


def _checked(needed: NeededFile, found: Path) -> str:
    """That what is there is as published.

    Raises:
        InputError: It is not.
    """
    trees = needed.archive.trees if needed.archive else {}
    away = "move it away, and fetch again"
    if found.is_dir():
        digests = {
            tree.name: tree_sha256(tree)[0]
            for tree in found.iterdir()
            if tree.name in trees and tree.is_dir()
        }
        return _trees_note(digests, trees, str(found)) if trees else "a folder; nothing checked"
    if needed.sha256 is None:
        size = found.stat().st_size
        if needed.bytes is None:
            return "not checked, for neither size nor sha256 are known"
        if size == needed.bytes:
            return "of the published size; no sha256 is known"
        raise InputError(f"{found} has {size} bytes, not {needed.bytes} as published\n{away}")
    sha256 = file_sha256(found)
    if sha256 == needed.sha256:
        return "as published"
    if trees:
        # Anybody may have packed the same trees.
        there = zip_folders(found) & trees.keys()
        digests = {tree: zip_tree_sha256(found, tree) for tree in sorted(there)}
        return _trees_note(digests, trees, str(found))
    if needed.optional:
        return "not as published; it is checked against the questions when it is loaded"
    raise InputError(
        f"{found} is not as published: its sha256 is {sha256}, not {needed.sha256}\n{away}"
    )


def _trees_note(found: Mapping[str, str], trees: Mapping[str, str], name: str) -> str:
    wrong = sorted(tree for tree, digest in found.items() if digest != trees[tree])
    if wrong:
        raise InputError(
            f"{name}: the Python files of {', '.join(wrong)} are not as published\n"
            "take it away, and fetch or place it again with its line ends as they are"
        )
    if not found:
        raise InputError(f"{name} holds none of {', '.join(sorted(trees))}")
    absent = sorted(trees.keys() - found.keys())
    without = f"; without {', '.join(absent)}" if absent else ""
    return f"{len(found)} of {len(trees)} trees, as published{without}"


def _download(needed: NeededFile, url: str, target: Path, told: Callable[[int, int], None]) -> None:
    checked_source(url, needed.path)
    size = needed.bytes
    wanted = Wanted(
        url,
        partial_of(target),
        needed.sha256,
        size,
        LARGEST if size is None else size,
        f"place the file by hand as {target}",
    )
    with downloaded(wanted, told):
        wanted.partial.replace(target)


def _unpacked(
    needed: NeededFile, archive: Archive, target: Path, told: Callable[[int, int], None]
) -> str:
    """Fetch an archive and put what is in it at `target`; what was checked."""
    checked_source(archive.url, needed.path)
    archived = target.with_name(target.name + ".archive")
    wanted = Wanted(
        archive.url,
        partial_of(archived),
        archive.sha256,
        None,
        archive.max_bytes,
        f"place what is in it by hand in {target}",
    )
    staged = partial_of(target)
    with downloaded(wanted, told) as file, _staging(staged):
        return _stage(file, archive, staged, target)


def _stage(file: BinaryIO, archive: Archive, staged: Path, target: Path) -> str:
    there = staged / "unpacked"
    there.mkdir(parents=True)
    trees = archive.trees

    def wants(path: str) -> bool:
        return path.endswith(".py") if trees else True

    unpack(file, archive.url, there, archive.max_unpacked, wants)
    if not trees:
        there.rename(target)
        return "its archive as published"
    tops = list(there.iterdir())
    if len(tops) == 1 and tops[0].name not in trees:
        there = tops[0]  # all of them in one folder
    found = {tree: tree_sha256(there / tree)[0] for tree in trees if (there / tree).is_dir()}
    note = _trees_note(found, trees, archive.url)
    chosen = staged / "chosen"
    chosen.mkdir()
    for tree in found:
        (there / tree).rename(chosen / tree)
    chosen.rename(target)
    return note


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[None]:
    """Leaves nothing at a path, neither of this process nor of one that was killed."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def document(card: Card, rows: tuple[Fetched, ...]) -> dict[str, Any]:
    """The JSON document of what was fetched."""
    fields = ("path", "state", "where", "bytes", "source", "note")
    files = [{name: getattr(row, name) for name in fields} for row in rows]
    return {"schema": "chunkmark.dataset-fetch/1", "dataset": card.name, "files": files}
