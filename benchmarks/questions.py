"""Questions made from real code in eight languages, drawn for a person to judge.

    python -m benchmarks.questions [FOLDER [OUT [NUMBER [REPOSITORY ...]]]]

The packages come from npm, PyPI and Debian, and are downloaded into FOLDER (by default a temporary
one). Of each package, NUMBER questions (25 by default) from doc comments and from calls are drawn
with seed 0; as many from commits of projects whose history a package ships, and of each REPOSITORY,
which must have one. They are printed, or written to OUT as one file for each package and
kind, as `chunkmark dataset show` prints them: good, odd or wrong is for the reader to say.
What masks do to the parse of files is printed of all calls of a package.
"""

from __future__ import annotations

import base64
import gzip
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.cuts import fetch
from harness.audit.validation import validate
from harness.datasets.loading import load_dataset

CARGO = "usr/share/cargo/registry"
GEMS = "usr/share/rubygems-integration/all/gems"
PACKAGES = {
    "go": ("debian", "golang-github-gin-gonic-gin-dev", "usr/share/gocode/src"),
    "typescript": ("npm", "rxjs@7.8.1", "package/src"),
    "kotlin": ("npm", "react-native-screens@3.31.1", "package/android"),
    "rust": ("debian", "librust-regex-dev", f"{CARGO}/regex-1.7.1"),
    "c": ("pypi", "psutil==5.9.8", "psutil-5.9.8/psutil/arch"),
    "ruby": ("debian", "ruby-rack", f"{GEMS}/rack-2.2.22"),
    "php": ("debian", "php-symfony-console", "usr/share/php/Symfony"),
    "python": ("pypi", "Flask==3.0.3", "flask-3.0.3"),
    "c-ujson": ("pypi", "ujson==5.10.0", "ujson-5.10.0"),
    "rust-itertools": ("debian", "librust-itertools-dev", f"{CARGO}/itertools-0.10.3"),
}
"""Language -> registry, package, and the folder in it that is taken for a repository.

The last two are there because the others in their languages have few calls.
"""

FIXTURES = "golang-github-go-git-go-git-fixtures-dev=4.2.2-2"
FIXTURES_SHA256 = "60fd13317a1946eb9c0fd6814b9e591233d86ad88a78defa37001394ea34a9c1"
_DATA = "usr/share/gocode/src/github.com/go-git/go-git-fixtures/data.go"
PACKS = {
    "go-git": "3559b3b47e695b33b0913237a4df3357e739831c",
    "storable": "0d3d824fb5c930e7e7e1f0f399f2976847d31fd3",
    "ts3": "21b33a26eb7ffbd35261149fe5d886b9debab7cb",
    "rumprun-xen": "7861f2632868833a35fe5e4ab94f99638ec5129b",
    "desk": "4ec6344877f494690fc800aceaf2ca0e86786acb",
    "spinnaker": "f2e0a8889a746f7600e07d2246a2e29a72f696be",
}
"""Project -> the pack of its history in a package of fixtures for a git library."""


def main() -> None:
    """Download what is missing, and draw questions of every kind."""
    folder, out, number, *repositories = [*sys.argv[1:], *["", "", "25"][len(sys.argv[1:4]) :]]
    with tempfile.TemporaryDirectory() as temporary:
        for language, (registry, package, below) in PACKAGES.items():
            root = fetch(Path(folder or temporary), registry, package) / below
            for kind in ("docstring", "calls"):
                _draw(root, kind, number, f"{language}-{kind}", out)
            checks = validate(load_dataset(f'repo:"{root}",queries=calls')).checks
            print(f"{language}: {next(c.found for c in checks if c.check == 'masking')}")
        projects = histories(Path(folder or temporary))
        projects |= {Path(path).resolve().name: Path(path) for path in repositories}
        for name, repository in projects.items():
            _draw(repository, "commits", number, f"{name}-commits", out)


def _draw(root: Path, kind: str, number: str, name: str, out: str) -> None:
    """Write drawn questions of a folder; why there are none, if none can be made."""
    spec = f'repo:"{root}",queries={kind}' + f",limit={number}" * (kind == "commits")
    command = [sys.executable, "-m", "harness.cli", "dataset", "show", spec, "--sample", number]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout or done.stderr
    if out:
        Path(out).mkdir(parents=True, exist_ok=True)
        (Path(out) / f"{name}.txt").write_text(text, encoding="utf-8")
    else:
        print(f"### {name}\n\n{text}")


def histories(folder: Path) -> dict[str, Path]:
    """The projects as bare repositories below a folder, unpacked unless they are there."""
    found = {name: folder / f"{name}.git" for name in PACKS}
    if not all(path.is_dir() for path in found.values()):
        text = (fetch(folder, "debian", FIXTURES, FIXTURES_SHA256) / _DATA).read_text("ascii")
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
            raise SystemExit(f"{FIXTURES} has no pack {pack}; its version is another one")
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


if __name__ == "__main__":
    main()
