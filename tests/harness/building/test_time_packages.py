"""How long real repositories of several languages take, fetched from npm, PyPI and Debian."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from packages import fetch

from chunkers.languages import language_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SECONDS = 120
TEXTS = 2_400
"""Up to so many unique texts a run with the default model takes two minutes on two quiet cores."""

PACKAGES = [
    ("pypi", "requests==2.32.3", "python"),
    ("npm", "lodash@4.17.21", "javascript"),
    ("debian", "golang-github-spf13-cobra-dev", "go"),
    ("debian", "librust-itertools-dev", "rust"),
    ("debian", "ruby-rack", "ruby"),
]
LARGE = ("npm", "react-native@0.73.6")


def command(root: Path, *options: str) -> list[str]:
    start = [sys.executable, "-m", "harness.cli", "run", "-d", f'repo:"{root}"', "--limit", "100"]
    return [*start, "-c", "ast", "-c", "fixed", "--format", "json", *options]


@dataclass(frozen=True)
class Ran:
    """A run's document, what it said on standard error, its seconds, and who else was at work.

    Attributes:
        load: The processes that wanted a processor in the minute before, for each of them.
    """

    document: dict[str, Any]
    said: str
    seconds: float
    load: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s (load {self.load:.1f} a processor before)"

    def bounded(self) -> None:
        """Hold the seconds to the bound, unless others had the processors."""
        if self.seconds >= SECONDS and self.load > 1:
            pytest.skip(f"{self}: too busy to be timed; all else holds")
        assert self.seconds < SECONDS


def ran(root: Path, out: Path, *options: str) -> Ran:
    """Run with a cache of its own."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    started = time.perf_counter()
    done = subprocess.run(
        command(root, "-o", str(out), *options),
        env={**os.environ, "CHUNKMARK_CACHE": str(out.parent / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stderr
    return Ran(json.loads(done.stdout), done.stderr, seconds, load)


@pytest.mark.parametrize(("kind", "package", "language"), PACKAGES)
def test_a_repository_is_a_benchmark_in_two_minutes(
    tmp_path: Path, kind: str, package: str, language: str
) -> None:
    (tmp_path / "fetched").mkdir()
    root = fetch(kind, package, tmp_path / "fetched")
    lexical = ran(root, tmp_path / "lexical", "-r", "bm25")
    assert [cell["chunker"] for cell in lexical.document["cells"]] == ["ast", "fixed"]
    lexical.bounded()
    assert "embedding" not in lexical.said
    dense = ran(root, tmp_path / "dense")
    cells = dense.document["cells"]
    texts = sum(cell["cost"]["embedded_now"] for cell in cells)
    print(f"{package}: bm25 {lexical}; {texts} texts, minilm {dense}")
    for cell in (*lexical.document["cells"], *cells):
        assert cell["n_queries"] == 100
        assert cell["health"]["coverage"] == 1.0
    targets = tmp_path / "dense/cells" / cells[0]["key"] / "targets.jsonl"
    paths = {json.loads(line)["path"] for line in targets.read_text("utf-8").splitlines()}
    assert language in {language_of(path) for path in paths}
    assert texts > 500
    assert texts <= TEXTS
    dense.bounded()


def test_of_a_large_one_the_time_is_told_before_it_begins_also_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "fetched").mkdir()
    root = fetch(*LARGE, tmp_path / "fetched")
    lexical = ran(root, tmp_path / "lexical", "-r", "bm25")
    print(f"{LARGE[1]}: bm25 {lexical}")
    lexical.bounded()
    said, shown = tmp_path / "said", tmp_path / "shown"
    with said.open("wb") as errors, shown.open("wb") as out:
        process = subprocess.Popen(
            command(root, "-o", str(tmp_path / "dense")),
            env={**os.environ, "CHUNKMARK_CACHE": str(tmp_path / "cache")},
            stdout=out,
            stderr=errors,
            # A job in a shell's background ignores the signal, and hands that down.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        try:
            until = time.monotonic() + SECONDS
            while b"\n" not in said.read_bytes():
                assert process.poll() is None, said.read_text()
                assert time.monotonic() < until
                time.sleep(0.2)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            finally:
                process.kill()
    first = said.read_text("utf-8").splitlines()[0]
    assert first.startswith("chunkmark: embedding ")
    assert "once more: about" in first
    assert "minutes" in first
    assert shown.read_bytes() == b""
    assert not list((tmp_path / "dense/cells").glob("*"))
