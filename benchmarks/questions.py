"""Questions made from real code in eight languages, drawn for a person to judge.

    python -m benchmarks.questions [FOLDER [OUT [NUMBER [REPOSITORY ...]]]]

The packages come from npm, PyPI and Debian, and are downloaded into FOLDER (by default a temporary
one). Of each package, NUMBER questions (25 by default) from doc comments and from calls are drawn
with seed 0; of each REPOSITORY, which must have a history, as many from commits, since packages
have none. They are printed, or written to OUT as one file for each package and kind, as
`chunkmark dataset show` prints them: good, odd or wrong is for the reader to say.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.cuts import fetch

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
}
"""Language -> registry, package, and the folder in it that is taken for a repository."""


def main() -> None:
    """Download what is missing, and draw questions of every kind."""
    folder, out, number, *repositories = [*sys.argv[1:], *["", "", "25"][len(sys.argv[1:4]) :]]
    with tempfile.TemporaryDirectory() as temporary:
        for language, (registry, package, below) in PACKAGES.items():
            root = fetch(Path(folder or temporary), registry, package) / below
            for kind in ("docstring", "calls"):
                _draw(root, kind, number, f"{language}-{kind}", out)
        for repository in map(Path, repositories):
            _draw(repository, "commits", number, f"{repository.resolve().name}-commits", out)


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


if __name__ == "__main__":
    main()
