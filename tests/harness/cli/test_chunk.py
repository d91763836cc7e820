"""Cutting by tokens and vectors from the command line."""

import sys
from pathlib import Path

import pytest
from commands import call, says
from worlds import grid

from chunkers import Source
from harness.model import Corpus, Dataset, Query, Target

ANSWERS = Path(__file__).parents[2] / "support" / "answers.py"

TEXT = "import os\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    y = x + 1\n    return y\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_file_is_cut_by_the_tokens_and_vectors_of_the_default_embedder(capsys, file):
    specs = (
        "semantic:max_size=30,min_size=0,unit_size=10",
        "fixed-tokens:max_size=9",
        "ast:unit=tokens",
    )
    done = call(capsys, "chunk", file, *(f"-c{spec}" for spec in specs), "--format", "json")
    assert done.code == 0, done.err
    results = done.json["results"]
    assert [one["chunker"] for one in results] == list(specs)
    assert all(one["health"]["coverage"] == 1 for one in results)
    assert all(len(one["chunks"]) > 1 for one in results[:2])
    assert results[1]["health"]["size_max"] <= 9


def test_an_embedder_that_is_not_at_hand_is_named_only_where_it_is_needed(capsys, file, tmp_path):
    nowhere = f"vectors:{tmp_path}"
    says(call(capsys, "chunk", file, "-c", "semantic", "-e", nowhere), 2, nowhere, "vectors.npy")
    assert call(capsys, "chunk", file, "-c", "ast", "-e", nowhere).code == 0


def test_a_header_is_shown_apart_from_the_text(capsys, file):
    done = call(capsys, "chunk", file, "-c", "fixed:max_size=18,header=on", "--format", "json")
    (result,) = done.json["results"]
    assert result["health"]["coverage"] == 1
    last = result["chunks"][-1]
    assert last["text"] == TEXT[last["start"] : last["end"]] == "    y = x + 1\n    return y\n"
    assert last["embed_text"] == f"a.py\ng\ndef g(x):\n{last['text']}"
    assert (last["start_line"], last["end_line"], last["size"]) == (9, 10, 12)


def test_semantic_chunks_are_ranked_by_words(capsys, tmp_path):
    done = call(
        capsys, "run", "-d", "meaning:tiny", "-c", "semantic", "-c", "cluster-semantic", "-r",
        "bm25", "-m", "nDCG@10", "-o", tmp_path / "run", "--format", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    cells = done.json["cells"]
    assert [(cell["chunker"], cell["embedder"]) for cell in cells] == [
        ("semantic", "none"),
        ("cluster-semantic", "none"),
    ]
    assert all(cell["cost"]["chunking_texts"] > 10 for cell in cells)


def test_header_and_overlap_sweep(capsys, tmp_path):
    done = call(
        capsys, "run", "-d", "meaning:tiny", "-c", "ast:header=on|off", "-c", "fixed:overlap=0|3",
        "-r", "bm25", "-m", "nDCG@10", "-o", tmp_path / "run", "--format", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    names = [cell["chunker"] for cell in done.json["cells"]]
    assert names == ["ast:header=on", "ast", "fixed", "fixed:overlap=3"]
    headed, plain, once, twice = (cell["health"] for cell in done.json["cells"])
    assert headed["chunks"] == plain["chunks"]
    assert once["repeated"] == 0 < twice["repeated"]


def test_a_file_and_a_run_over_it_are_told_the_same_losses(capsys, file, tmp_path):
    spec = "worlds:lossy"
    (shown,) = call(capsys, "chunk", file, "-c", spec, "--format", "json").json["results"]
    corpus = Corpus("one", (Source(TEXT, "a.py", "python"),))
    query = Query("q", "one", "return y", (Target("a.py", 8, 10),))
    dataset = Dataset(name="one", gold="span", corpora=(corpus,), queries=(query,))
    (cell,) = grid(tmp_path, dataset=dataset, chunkers=(spec,), retrievers=("bm25",)).cells
    for name in ("coverage", "repeated", "over_size", "size_max", "size_p95", "blank", "notes"):
        assert shown["health"][name] == cell.cell["health"][name], name
    assert 0 < shown["health"]["coverage"] < 1
    assert shown["health"]["repeated"] == shown["boundaries"]["repeated"] > 0


def test_a_file_of_which_nothing_is_kept_is_marked(capsys, file, tmp_path):
    spec = f"""process:command="'{sys.executable}' '{ANSWERS}' answer\""""
    file.write_text('bad {"chunks": []}\n')
    done = call(capsys, "chunk", file, "-c", spec, "--format", "json")
    (result,) = done.json["results"]
    assert result["chunks"] == []
    assert result["health"]["coverage"] == 0
    assert result["health"]["notes"] == {"no chunk": 1}
    assert "no chunk" in call(capsys, "chunk", file, "-c", spec).out
    file.write_text(" \n")
    blank = call(capsys, "chunk", file, "-c", "ast", "--format", "json").json["results"][0]
    assert (blank["health"]["coverage"], blank["health"]["notes"]) == (None, {})
