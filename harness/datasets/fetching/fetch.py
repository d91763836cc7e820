"""Downloads the files of a data set's card into a data folder, or says what to place where.

Only files whose digest is known are downloaded. Files that are there are checked, and never
overwritten.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from harness.datasets.cards import path_of, paths_of
from harness.datasets.fetching.archives import unpack
from harness.datasets.fetching.download import Download, downloaded, partial_of
from harness.datasets.fetching.tree_digests import tree_sha256, zip_tree_sha256
from harness.reading.reader import leaves, zip_folders
from harness.support.data_folders import data_dirs
from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from harness.datasets.cards import AnyOf, Archive, Card, NeededFile

    Progress = Callable[[str, int, int], None]

LARGEST = 1 << 32
"""Maximum size in bytes of a file whose size is unknown."""

State = Literal["at hand", "fetched", "to place"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The result for one file of a card.

    Attributes:
        path: Its path in a data folder.
        state: `at hand`: it was there; `fetched`; `to place`: the user has to place it.
        where: Where it is, or is to be placed.
        bytes: Its size as published; None if unknown.
        source: Where it comes from.
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
    progress: Progress = lambda file, done, total: None,
) -> tuple[FileStatus, ...]:
    """Bring all files of a card into the first data folder.

    Args:
        card: The card.
        data_dir: The folder to place them in, which is also searched first. Default:
            `$CHUNKMARK_DATA`, or the cache folder's `data`.
        progress: Called with the file, and the number of bytes received and their total.

    Returns:
        The status of each file in the card's order, and then of each kind of which one file must
        be there. An optional file that is missing has no row.

    Raises:
        InputError: A download failed, or a file is not as the card says. Earlier files stay.
    """
    folders = data_dirs(data_dir)
    rows = [
        _file_status(card, needed, folders, progress)
        for needed in card.files
        if not needed.optional or path_of(needed, folders) is not None
    ]
    return (*rows, *(_kind_status(card, kind, folders) for kind in card.any_of))


def _kind_status(card: Card, kind: AnyOf, folders: tuple[Path, ...]) -> FileStatus:
    """The status of a kind of which one file is enough."""
    status = functools.partial(FileStatus, kind.what, bytes=None, source=card.source)
    first = path_of(card.files[0], folders) or folders[0] / card.files[0].path
    paths = paths_of(card, kind, folders)
    if paths:
        note = f"{len(paths)} found; one is enough"
        return status(state="at hand", where=str(paths[0].parent), note=note)
    place = str(first.parent / kind.beside[0]) + ", or another of them" * (len(kind.beside) > 1)
    note = f"not downloaded; place one by hand, beside {card.files[0].path}"
    return status(state="to place", where=place, note=note)


def _file_status(
    card: Card, needed: NeededFile, folders: tuple[Path, ...], progress: Progress
) -> FileStatus:
    for path in (needed.path, needed.instead or "x"):
        if leaves(path):
            raise InputError(f"dataset {card.name}: its card places {path!r} outside the folder")
    status = functools.partial(FileStatus, needed.path, bytes=needed.bytes)
    present = path_of(needed, folders)
    archive, root = needed.archive, folders[0]
    report = functools.partial(progress, needed.path)
    if present is not None:
        source, note = needed.url or card.source, _checked(needed, present)
        return status(state="at hand", where=str(present), source=source, note=note)
    if needed.url and needed.sha256:
        target = root / needed.path
        _download(needed, needed.url, target, report)
        return status(state="fetched", where=str(target), source=needed.url, note="as published")
    if archive and needed.instead and (archive.sha256 or archive.trees):
        target = root / needed.instead
        note = _download_archive(archive, target, report)
        return status(state="fetched", where=str(target), source=archive.url, note=note)
    note = "not downloaded, since its sha256 is unknown; place it by hand"
    if not (needed.url or archive):
        note = "no address serves these bytes; place it by hand"
    source = needed.url or (archive.url if archive else card.source)
    return status(state="to place", where=str(root / needed.path), source=source, note=note)


def _checked(needed: NeededFile, path: Path) -> str:
    """A note that a file or folder is as published.

    Raises:
        InputError: It is not.
    """
    trees = needed.archive.trees if needed.archive else {}
    advice = "move it away, and fetch again"
    if path.is_dir():
        digests = {tree: tree_sha256(path / tree) for tree in trees if (path / tree).is_dir()}
        return _trees_note(digests, trees, str(path)) if trees else "a folder; nothing checked"
    if needed.sha256 is None:
        size = path.stat().st_size
        if needed.bytes is None:
            return "not checked, since neither its size nor its sha256 is known"
        if size == needed.bytes:
            return "of the published size; its sha256 is unknown"
        raise InputError(f"{path} has {size} bytes, not {needed.bytes} as published\n{advice}")
    sha256 = file_sha256(path)
    if sha256 == needed.sha256:
        return "as published"
    if trees:  # the same trees, packed by someone else
        present = zip_folders(path) & trees.keys()
        digests = {tree: zip_tree_sha256(path, tree) for tree in sorted(present)}
        return _trees_note(digests, trees, str(path))
    if needed.optional:
        return "not as published; it is checked against the questions when it is loaded"
    raise InputError(
        f"{path} is not as published: its sha256 is {sha256}, not {needed.sha256}\n{advice}"
    )


def _trees_note(digests: Mapping[str, str], trees: Mapping[str, str], name: str) -> str:
    wrong = sorted(tree for tree, digest in digests.items() if digest != trees[tree])
    if wrong:
        raise InputError(
            f"{name}: the Python files of {', '.join(wrong)} are not as published\n"
            "move it away, and fetch or place it again with its line ends unchanged"
        )
    if not digests:
        raise InputError(f"{name} has none of {', '.join(sorted(trees))}")
    absent = sorted(trees.keys() - digests.keys())
    without = f"; without {', '.join(absent)}" if absent else ""
    return f"{len(digests)} of {len(trees)} trees, as published{without}"


def _download(
    needed: NeededFile, url: str, target: Path, progress: Callable[[int, int], None]
) -> None:
    if target.exists():
        raise InputError(f"{target} exists and is not a file; move it away, and fetch again")
    download = Download(
        url,
        partial_of(target),
        needed.sha256,
        needed.bytes,
        LARGEST if needed.bytes is None else needed.bytes,
        f"place the file by hand as {target}",
    )
    with downloaded(download, progress):
        download.partial.replace(target)


def _download_archive(archive: Archive, target: Path, progress: Callable[[int, int], None]) -> str:
    """Put the content of an archive at `target`; a note of what was checked."""
    if target.exists():
        raise InputError(f"{target} exists and is not a folder; move it away, and fetch again")
    download = Download(
        archive.url,
        partial_of(target.with_name(target.name + ".archive")),
        archive.sha256,
        None,
        archive.max_bytes,
        f"place its content by hand in {target}",
    )
    with downloaded(download, progress), _staging(partial_of(target)) as staging:
        return _place(download.partial, archive, staging, target)


def _place(file: Path, archive: Archive, staging: Path, target: Path) -> str:
    trees = archive.trees
    top = staging / "unpacked"
    top.mkdir(parents=True)
    unpack(
        file,
        archive.url,
        top,
        archive.max_unpacked,
        lambda path: path.endswith(".py") if trees else True,
    )
    if not trees:
        top.rename(target)
        return "its archive as published"
    folders = list(top.iterdir())
    if len(folders) == 1 and folders[0].name not in trees:
        top = folders[0]  # all trees are in one folder
    digests = {tree: tree_sha256(top / tree) for tree in trees if (top / tree).is_dir()}
    note = _trees_note(digests, trees, archive.url)
    pinned = staging / "pinned"
    pinned.mkdir()
    for tree in digests:
        (top / tree).rename(pinned / tree)
    pinned.rename(target)
    return note


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A folder that is removed at the end, and at the start if a killed process left it."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def document(card: Card, rows: tuple[FileStatus, ...]) -> dict[str, Any]:
    """The JSON document of a fetch."""
    fields = ("path", "state", "where", "bytes", "source", "note")
    files = [{name: getattr(row, name) for name in fields} for row in rows]
    return {"schema": "chunkmark.dataset-fetch/1", "dataset": card.name, "files": files}
