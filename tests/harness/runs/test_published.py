"""Runs over real data: the queries that must be there, and values that others computed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def chunkmark(*arguments: str) -> dict:
    command = [sys.executable, "-m", "harness.cli", *arguments, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("retriever", ["bm25", pytest.param("dense", marks=pytest.mark.slow)])
def test_repoeval_runs_its_five_trees_and_reports_the_absent_one(
    tmp_path: Path, data: Path, retriever: str
):
    found = chunkmark(
        "run", "-d", "repoeval-function", "-c", "ast", "-c", "fixed", "-r", retriever,
        "-m", "nDCG@5", "-m", "SpanR@10000c", "-o", str(tmp_path / "run"),
    )  # fmt: skip
    assert [cell["n_queries"] for cell in found["cells"]] == [351, 351]
    (absent,) = found["absent"]
    assert (absent["corpus"], absent["n_queries"]) == ("facebookresearch_omnivore", 22)
    assert absent["reason"]
    for cell in found["cells"]:
        assert len(cell["metrics"]["nDCG@5"]["by_corpus"]) == 5
        assert cell["health"]["coverage"] == 1.0
        if retriever == "dense":
            assert cell["health"]["unseen_query_tokens"] > 0.5
            assert cell["health"]["unseen_chunk_tokens"] < 0.1


@pytest.mark.slow
def test_cosqa_scores_as_coir_scores_it(tmp_path: Path, data: Path):
    golden = json.loads((data / "golden" / "cosqa_minilm_coir_eval.json").read_text("utf-8"))
    ours = {"NDCG": "nDCG", "MAP": "MAP", "Recall": "R", "P": "P"}
    expected = {
        ours[name.split("@")[0]] + "@" + name.split("@")[1]: value
        for family in ("NDCG", "MAP", "Recall", "Precision")
        for name, value in golden[family].items()
    }
    assert expected["nDCG@10"] == 0.59263
    asked = [part for name in expected for part in ("-m", name)]
    found = chunkmark(
        "run", "-d", f"beir:{data / 'cosqa' / 'beir'}", "-c", "whole-file", *asked,
        "--profile", "trec", "-o", str(tmp_path / "run"),
    )  # fmt: skip
    (cell,) = found["cells"]
    assert cell["n_queries"] == 500
    for name, value in expected.items():
        assert cell["metrics"][name]["mean"] == pytest.approx(value, abs=1e-4), name
        assert cell["metrics"][name]["comparable"]
