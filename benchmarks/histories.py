"""Histories of public repositories, out of a Debian package of fixtures for a git library.

Packages have no history of their own. This one has packs of seven small projects in six languages;
each is unpacked as a bare repository at its last commit.
"""

from __future__ import annotations

import base64
import gzip
import re
from typing import TYPE_CHECKING

from benchmarks.cuts import fetch

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "golang-github-go-git-go-git-fixtures-dev"
_DATA = "usr/share/gocode/src/github.com/go-git/go-git-fixtures/data.go"
PACKS = {
    "go-git": "3559b3b47e695b33b0913237a4df3357e739831c",
    "storable": "0d3d824fb5c930e7e7e1f0f399f2976847d31fd3",
    "ts3": "21b33a26eb7ffbd35261149fe5d886b9debab7cb",
    "rumprun-xen": "7861f2632868833a35fe5e4ab94f99638ec5129b",
    "skeetr": "36ef7a2296bfd526020340d27c5e1faa805d8d38",
    "litemock": "0d9b6cfc261785837939aaede5986d7a7c212518",
    "desk": "4ec6344877f494690fc800aceaf2ca0e86786acb",
    "spinnaker": "f2e0a8889a746f7600e07d2246a2e29a72f696be",
}
"""Project -> hash of its pack."""


def histories(folder: Path) -> dict[str, Path]:
    """The projects of the package as bare repositories below a folder; unpacked if not there."""
    found = {name: folder / f"{name}.git" for name in PACKS}
    if not all(path.is_dir() for path in found.values()):
        text = (fetch(folder, "debian", PACKAGE) / _DATA).read_text("ascii")
        for name, path in found.items():
            _unpack(text, PACKS[name], path)
    return found


def _unpack(text: str, pack: str, path: Path) -> None:
    """Write a bare repository with a pack, whose HEAD is the commit without a child.

    Of several the one with the most ancestors is taken.
    """
    import pygit2

    pygit2.init_repository(path, bare=True)
    for end in ("idx", "pack"):
        data = re.search(rf'"/data/pack-{pack}\.{end}": \{{[^`]*`([^`]*)`', text)
        if data is None:
            raise SystemExit(f"{PACKAGE} has no pack {pack}; its version is another one")
        target = path / "objects" / "pack" / f"pack-{pack}.{end}"
        target.write_bytes(gzip.decompress(base64.b64decode(data[1])))
    repository = pygit2.Repository(str(path))
    commits = [
        item for item in map(repository.get, repository.odb) if isinstance(item, pygit2.Commit)
    ]
    inner = {parent for commit in commits for parent in commit.parent_ids}
    tips = sorted(str(commit.id) for commit in commits if commit.id not in inner)
    last = max(tips, key=lambda tip: sum(1 for _ in repository.walk(tip)))
    repository.set_head(pygit2.Oid(hex=last))
