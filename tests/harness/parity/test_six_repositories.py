"""The reference's evaluation over all six repositories, on trees and vectors made for the test."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chunkers.plugins.loading import load_chunker
from chunkers.source import Services
from harness.datasets.cards import load_card
from harness.datasets.loading import load_dataset
from harness.parity.code_chunk import Metrics, macro, percentage

CHUNKERS = ("code-chunk-ast:max_size=40", "code-chunk-fixed:max_size=40")


def function(name: str, lines: int) -> str:
    body = "".join(f"    step_{i} = {name}_{i}(value)\r\n" for i in range(lines))
    return f"def {name}(value):\r\n{body}    return step_0\r\n\r\n"


@pytest.fixture
def supplied(tmp_path: Path) -> Path:
    """A data folder with six trees, and the vectors of all that is embedded, at random."""
    repos = load_card("repoeval-function").settings["default_repos"]
    tasks = []
    for number, repo in enumerate(repos):
        tree = tmp_path / "data/repoeval/repositories/function_level" / repo
        tree.mkdir(parents=True)
        for file in range(3):
            text = "".join(function(f"f{number}_{file}_{i}", 3 + i) for i in range(4))
            (tree / f"m{file}.py").write_bytes(text.encode())
            rows = text.split("\n")
            # As many queries as the number of the repository says, and one more.
            for query in range(number + 1) if file == 0 else ():
                tasks.append(
                    {
                        "prompt": "\n".join(rows[: 2 + query]) + "\n",
                        "metadata": {
                            "task_id": f"{repo}/idx",
                            "ground_truth": rows[2 + query] + "\n",
                            "fpath_tuple": [repo, f"m{file}.py"],
                            "context_start_lineno": 0,
                            "lineno": 2 + query,
                            "function_name": "f",
                        },
                    }
                )
    needed = load_card("repoeval-function").files[0].path
    file = tmp_path / "data" / needed
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")
    dataset = load_dataset("repoeval-function", data_dir=tmp_path / "data")
    texts = {query.text for query in dataset.queries}
    for corpus in dataset.corpora:
        for source in corpus.sources:
            for spec in CHUNKERS:
                for span in load_chunker(spec).chunk(source, Services(corpus=corpus.id)):
                    texts.add(span.embed_text or source.text[span.start : span.end])
    vectors = tmp_path / "vectors"
    vectors.mkdir()
    digests = sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)
    (vectors / "text_sha256.txt").write_text("\n".join(digests))
    rows = np.random.default_rng(0).normal(size=(len(digests), 8)).astype(np.float32)
    np.save(vectors / "vectors.npy", rows)
    return tmp_path


def test_the_macro_table_is_printed_as_the_reference_prints_it(supplied: Path):
    command = [
        sys.executable, "-m", "harness.cli", "run", "-d", "repoeval-function",
        "--data-dir", str(supplied / "data"), "-e", f"vectors:{supplied / 'vectors'}",
        *(part for spec in CHUNKERS for part in ("-c", spec)),
        *(part for k in (5, 10) for name in ("P", "R", "nDCG") for part in ("-m", f"{name}@{k}")),
        "--profile", "code-chunk", "-o", str(supplied / "run"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(
        subprocess.run(
            [*command, "--format", "json"], capture_output=True, text=True, check=True
        ).stdout
    )
    for cell in document["cells"]:
        assert cell["n_queries"] == 1 + 2 + 3 + 4 + 5 + 6
        stored = supplied / "run" / "cells" / cell["key"]
        by_repo: dict[str, list[Metrics]] = {}
        for line in (stored / "per_query.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            values = (row["metrics"][f"{name}@5"] for name in ("P", "R", "nDCG"))
            by_repo.setdefault(row["query_id"].rpartition("/")[0], []).append(Metrics(*values))
        assert len(by_repo) == 6
        expected = macro(by_repo[name] for name in sorted(by_repo))
        got = [cell["metrics"][f"{name}@5"] for name in ("P", "R", "nDCG")]
        assert [one["mean"] for one in got] == [
            expected.precision, expected.recall, expected.ndcg,
        ]  # fmt: skip
        # Student's t over six repositories.
        assert all(one["ci95"][0] <= one["mean"] <= one["ci95"][1] for one in got)
        short = cell["chunker"].partition(":")[0].removeprefix("code-chunk-")
        printed = [percentage(one["mean"]) for one in got]
        assert any(line.split()[:4] == [short, *printed] for line in done.stdout.splitlines()), (
            done.stdout
        )
    assert "mean of 6 repositories, k=5" in done.stdout
    assert "mean of 6 repositories, k=10" in done.stdout
