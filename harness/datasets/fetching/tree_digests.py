"""Digests of trees of Python files, which identify a tree however it was packed.

A digest is the sha256 of the lines "path, tab, sha256 of the file's bytes, line feed" of the files
named `*.py`, in byte order of their paths relative to the tree.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from typing import TYPE_CHECKING

from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def tree_sha256(root: Path) -> str:
    """The digest of a folder; links do not count."""
    files = []
    for folder, _, names in os.walk(root):
        for name in names:
            file = root / folder / name
            if name.endswith(".py") and not file.is_symlink():
                files.append((file.relative_to(root).as_posix(), file_sha256(file)))
    return digest_of(files)


def zip_tree_sha256(file: Path, tree: str) -> str:
    """The digest of a folder inside a zip archive whose names and sizes were checked."""
    files = []
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            path = member.filename.removeprefix(f"{tree}/")
            if path != member.filename and path.endswith(".py"):
                files.append((path, hashlib.sha256(archive.read(member)).hexdigest()))
    return digest_of(files)


def digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The digest of a tree from the path and the sha256 of each file."""
    ordered = sorted((os.fsencode(path), digest) for path, digest in files)
    return hashlib.sha256(
        b"".join(b"%s\t%s\n" % (path, digest.encode()) for path, digest in ordered)
    ).hexdigest()
