"""redframes from the stored vectors: every published run bit for bit, ids to summary."""

import json
from pathlib import Path

import numpy as np
import pytest
from worlds import files

from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.loading import load_dataset
from harness.model import Corpus, Dataset, Query, Target
from harness.reports.document import run_document
from harness.runs.config import RunConfig
from harness.runs.pipeline import load_embedder
from harness.runs.plan import make_plan
from harness.runs.runner import run
from harness.runs.verify import verify

REPO = "maxhumber_redframes"
PREFIX = "path_prefix=/data/repositories/function_level/<corpus>"
PUBLISHED, BYTE = "file_order_published.json", "file_order_byte.json"
RAW = f"code-chunk-ast:header=off,{PREFIX}"
CASES = [
    ("published_2025-12-18T11-56-27_max1800_k5", "ast", f"{RAW},max_size=1800", PUBLISHED),
    ("published_2025-12-18T11-56-27_max1800_k5", "fixed",
     f"code-chunk-fixed:{PREFIX},max_size=1800", PUBLISHED),
    ("published_2025-12-18T11-44-16_max1500_k5", "ast", RAW, PUBLISHED),
    ("published_2025-12-18T11-44-16_max1500_k5", "fixed", f"code-chunk-fixed:{PREFIX}", PUBLISHED),
    ("c16dc6e_parent_openai_astraw_fixed_max1500_k5_10", "ast", RAW, BYTE),
    ("c16dc6e_parent_openai_astraw_fixed_max1500_k5_10", "fixed", f"code-chunk-fixed:{PREFIX}",
     BYTE),
    ("c16dc6e_parent_minilm_max1500_k5_10", "ast", f"code-chunk-ast:{PREFIX}", BYTE),
    ("c16dc6e_parent_minilm_max1500_k5_10", "fixed", f"code-chunk-fixed:{PREFIX}", BYTE),
    ("c16dc6e_parent_minilm_max1500_k5_10", "chonkie", "recorded:recorded,file=", BYTE),
]  # fmt: skip


def jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def replay(spec: str, measures: list[str], out: Path, data: Path, order: Path, vectors: Path):
    dataset = load_dataset(f"repoeval-function:repos={REPO},order={order}", data_dir=data)
    config = RunConfig().over(
        datasets=(dataset.name,),
        chunkers=(spec,),
        embedders=(f"vectors:{vectors}",),
        measures=tuple(measures),
        profile="code-chunk:empty=drop",
    )
    result = run(make_plan(config), [dataset], out)
    assert [one for cell in verify(out) for one in cell.differences] == []
    return result


@pytest.mark.parametrize(("name", "chunker", "spec", "order"), CASES)
def test_published_run_is_reproduced(name, chunker, spec, order, data: Path, tmp_path: Path):
    golden = data / "golden" / "e2e"
    folder = golden / name / REPO
    expected = json.loads((folder / f"{chunker}.results.json").read_text("utf-8"))
    if spec.endswith("file="):
        spec += json.dumps(str(folder / f"{chunker}.chunks.jsonl"))
    measures = [f"{one}@{k}" for k in expected["k_values"] for one in ("P", "R", "nDCG")]
    vectors = golden / ("embeddings_minilm" if "minilm" in name else "embeddings_openai")
    result = replay(spec, measures, tmp_path / "run", data, golden / order, vectors)
    (cell,) = result.cells
    stored = result.out / "cells" / cell.key

    ref = {row["id"]: row["ref_id"] for row in jsonl(stored / "chunks.jsonl")}
    assert list(ref.values()) == [row["id"] for row in jsonl(folder / f"{chunker}.chunks.jsonl")]
    ranked, relevant = {}, {}
    for line in (stored / "run.trec").read_text("utf-8").splitlines():
        query, _, unit, *_ = line.split(" ")
        ranked.setdefault(query, []).append(ref[unit])
    for line in (stored / "qrels.trec").read_text("utf-8").splitlines():
        query, _, unit, _ = line.split(" ")
        relevant.setdefault(query, []).append(ref[unit])
    scores = {row["query_id"]: row["scores"] for row in jsonl(stored / "scores.jsonl")}
    values = {row["query_id"]: row["metrics"] for row in jsonl(stored / "per_query.jsonl")}

    disturbed = set(expected["numpy_replay_identical"]["mismatching_tasks"])
    differing = set()
    for number, task in enumerate(expected["queries"]):
        query = f"{REPO}/{number:04}"
        hits = task["retrievedChunks"]
        same = ranked[query][: len(hits)] == [hit["id"] for hit in hits]
        same &= scores[query][: len(hits)] == [hit["score"] for hit in hits]
        if not same:
            differing.add(task["taskId"])
        assert sorted(relevant.get(query, [])) == sorted(task["relevantChunkIds"])
        for k, metrics in task["metrics"].items():
            got = [values[query][f"{one}@{k}"] for one in ("P", "R", "nDCG")]
            assert got == [metrics[one] for one in ("precision", "recall", "ndcg")], task["taskId"]
    assert differing == disturbed
    assert len(ranked) == len(expected["queries"]) == 42
    for k, summary in expected["summary"].items():
        got = [cell.metrics["metrics"][f"{one}@{k}"]["mean"] for one in ("P", "R", "nDCG")]
        assert got == [summary[one] for one in ("precision", "recall", "ndcg")]


def test_the_disk_cache_holds_the_same_vectors(data: Path):
    golden = data / "golden" / "e2e"
    cache = load_embedder(f"vectors:{golden / 'openai_cache_sample'}")
    ((_, empty),) = next(cache.embed([""], "document"))
    assert empty.vector.shape == (1536,)
    assert not empty.vector.any()


def table(folder: Path, texts: dict[str, list[float]]) -> Path:
    import hashlib

    folder.mkdir()
    np.save(folder / "vectors.npy", np.array(list(texts.values()), dtype=np.float32))
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    (folder / "text_sha256.txt").write_text("\n".join(digests) + "\n")
    return folder


def zero_vector_run(tmp_path: Path, profile: str):
    sources = (Source("", "a.py", "python"), Source("one\ntwo\n", "b.py", "python"))
    query = Query("q", "r", "ask", (Target("b.py", 2, 2),))
    dataset = Dataset("zero", "span", (Corpus("r", sources),), (query,))
    folder = tmp_path / "vectors"
    if not folder.exists():
        table(folder, {"one\n": [3.0, 4.0], "two\n": [1.0, 0.0], "ask": [2.0, 0.0]})
    config = RunConfig().over(
        datasets=("zero",),
        chunkers=("recorded:lines",),
        embedders=(f"vectors:{folder}",),
        measures=("nDCG@5", "P@5"),
        profile=profile,
    )
    return run(make_plan(config), [dataset], tmp_path / profile.replace(":", "-"))


def test_a_zero_vector_scores_nan_and_marks_the_list_as_disturbed(tmp_path: Path):
    kept = zero_vector_run(tmp_path, "code-chunk")
    (cell,) = kept.cells
    assert cell.cell["health"]["disturbed"] == 1
    assert cell.cell["health"]["zero_vectors"] == 1
    stored = kept.out / "cells" / cell.key
    assert jsonl(stored / "scores.jsonl")[0]["scores"] == [1.0, 0.6, None]
    ids = [line.split(" ")[2] for line in (stored / "run.trec").read_text().splitlines()]
    assert ids == ["b.py:2-2", "b.py:1-1", "a.py:0-0"]
    (shown,) = run_document(kept)["cells"]
    assert any("NaN" in mark for mark in shown["marks"])
    dropped = zero_vector_run(tmp_path, "code-chunk:empty=drop")
    assert dropped.cells[0].cell["health"]["disturbed"] == 0
    assert len(jsonl(dropped.out / "cells" / dropped.cells[0].key / "chunks.jsonl")) == 2
    assert set(files(kept.out)) != set(files(dropped.out))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: p / "nothing", "nothing does not exist; give a folder with vectors.npy"),
        (lambda p: p, "has no stored vectors"),
        (lambda p: table(p / "v", {"other": [1.0]}), "no vector for 1 of 1 text"),
    ],
)
def test_a_missing_vector_is_named(make, says, tmp_path: Path):
    with pytest.raises(InputError, match=says):
        list(load_embedder(f"vectors:{make(tmp_path)}").embed(["a text"], "document"))


def test_a_table_of_another_shape_is_refused(tmp_path: Path):
    folder = table(tmp_path / "v", {"a": [1.0], "b": [2.0]})
    (folder / "text_sha256.txt").write_text("0" * 64 + "\n")
    with pytest.raises(InputError, match="1 row is needed, of float32"):
        list(load_embedder(f"vectors:{folder}").embed(["a"], "document"))
    np.save(folder / "vectors.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read"):
        list(load_embedder(f"vectors:{folder}").embed(["a"], "document"))


def test_a_cache_file_that_float32_cannot_hold_is_refused(tmp_path: Path):
    import hashlib

    digest = hashlib.sha256(b"a").hexdigest()
    file = tmp_path / digest[:2] / f"{digest[:16]}.json"
    file.parent.mkdir()
    file.write_text("[0.1]")
    with pytest.raises(InputError, match="float32"):
        list(load_embedder(f"vectors:{tmp_path}").embed(["a"], "document"))
    file.write_text("[0.5, -1]")
    ((_, row),) = next(load_embedder(f"vectors:{tmp_path}").embed(["a"], "document"))
    assert row.vector.tolist() == [0.5, -1.0]
