"""Retrievers and their policies through the program, on a folder of one's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RETRIEVERS = (
    "bow", "vsa", "bm25", "hybrid", "bm25:expand=neighbours", "bow:expand=parent", "dense:hops=2"
)  # fmt: skip
LOADER = """
from pathlib import Path
from harness.model import Corpus, Dataset, Query, Target
from harness.reading.reader import ReadRules, read_folder

def load(data_dir):
    sources, skipped = read_folder(Path(__file__).parent / "code", ReadRules(suffixes=(".py",)))
    queries = (
        Query("split", "code", "split a string like a shell", (Target("shlex.py", 1, 40),)),
        Query("match", "code", "match file names", (Target("fnmatch.py", 1, 30),)),
    )
    return Dataset("mine", "span", (Corpus("code", sources, skipped),), queries)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data set of two files of Python's own library, and a run over it."""
    import fnmatch
    import shlex

    path = tmp_path_factory.mktemp("mine")
    (path / "code").mkdir()
    for module in (fnmatch, shlex):
        source = Path(module.__file__)
        (path / "code" / source.name).write_bytes(source.read_bytes())
    (path / "loader.py").write_text(LOADER)
    return path


def chunkmark(folder, *arguments, seed=0, path=""):
    paths = filter(None, (str(path), os.environ.get("PYTHONPATH")))
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip


def run(folder, out, seed, path=""):
    options = [word for one in RETRIEVERS for word in ("-r", one)]
    done = chunkmark(
        folder, "run", "-d", "loader:load", "-c", "ast:max_size=300", *options,
        "-o", out, "--format", "json", seed=seed, path=path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["cells"]


def test_the_grid_ends_in_one_document_verifies_and_repeats(folder, tmp_path):
    cells = run(folder, "one", 1)
    assert [cell["retriever"] for cell in cells] == list(RETRIEVERS)
    assert len({json.dumps(cell["metrics"]) for cell in cells}) > 3
    for cell in cells:
        assert cell["metrics"]["SpanR@10000c"]["mean"] > 0
    checked = chunkmark(folder, "verify", "one", "--format", "json")
    assert checked.returncode == 0, checked.stdout
    again = run(tmp_path, folder / "two", 2, folder)  # from another folder
    timed = ("cost", "latency_ms")
    for first, second in zip(cells, again, strict=True):
        assert {key: value for key, value in first.items() if key not in timed} == {
            key: value for key, value in second.items() if key not in timed
        }
    for name in ("run.trec", "scores.jsonl", "metrics.json"):
        one, two = (
            {path.parent.name: path.read_bytes() for path in (folder / out).glob(f"cells/*/{name}")}
            for out in ("one", "two")
        )
        assert one == two
        assert len(one) == len(RETRIEVERS)


def test_the_list_shows_the_options_of_every_retriever(folder):
    done = chunkmark(folder, "list", "retrievers", "--format", "json")
    rows = {row["name"]: row["options"] for row in json.loads(done.stdout)["retrievers"]}
    assert {"bm25", "bow", "dense", "hybrid", "vsa"} <= set(rows)
    for options in rows.values():
        assert options.endswith("expand=none, hops=1, hop_chunks=5, index=flat")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-r", "bow:expand=all"], ["expand", "neighbours", "parent"]),
        (["-r", "dense:hops=3"], ["hops", "1, 2"]),
        (["-r", "bm25:hop_chunks=2"], ["hop_chunks", "hops=2"]),
        (["-r", "bm25:hops=2", "--profile", "code-chunk"], ["bm25:hops=2", "code-chunk"]),
        (["-r", "bm25:shops=2"], ["shops", "hops"]),
    ],
)
def test_what_makes_no_sense_is_refused_in_two_lines(folder, options, words):
    done = chunkmark(folder, "run", "-d", "loader:load", *options)
    assert done.returncode == 2
    assert 1 <= len(done.stderr.strip().split("\n")) <= 2
    for word in words:
        assert word in done.stderr
