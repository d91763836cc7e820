"""Projected measures of a run: all lines are stored, and the values are the definition's."""

import json
import math

import numpy as np
import pytest
from worlds import function, grid, small

from chunkers.source import Source
from harness.measures.profiles import load_profile
from harness.model import Corpus, Dataset, Query
from harness.runs.record import read_record
from harness.runs.results import judge
from harness.runs.verify import verify

ASKED = {"measures": ("pnDCG@3", "pnDCG@10", "nDCG@10"), "retrievers": ("bm25",)}


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def world():
    """A corpus with a file that no chunk of `worlds:lossy` touches, and one of blank lines."""
    return {source.path: source for one in small().corpora for source in one.sources}


def test_every_file_is_stored_with_its_lines_cut_or_not(tmp_path):
    (cell,) = grid(tmp_path, chunkers=("worlds:lossy",), **ASKED).cells
    folder = tmp_path / "run" / "cells" / cell.key
    want = [
        {
            "corpus": path.split("/", maxsplit=1)[0],
            "path": path,
            "nws": len("".join(source.text.split())),
            "lines": sum(bool(line.strip()) for line in source.text.split("\n")),
        }
        for path, source in world().items()
    ]
    assert rows(folder / "files.jsonl") == want
    assert {one["lines"] for one in want} > {0, 38}
    assert "files.jsonl" in cell.cell["files"]
    assert [vars_of(one) for one in read_record(folder).files] == want


def vars_of(row):
    return {name: getattr(row, name) for name in row.__slots__}


def by_hand(folder, query, k):
    """The value by the words of the definition, from the stored files and the texts."""
    lines = [  # of the query's corpus, in order: path and number of every non-blank line
        (path, number)
        for path, source in world().items()
        if path.startswith(f"{query['corpus']}/")
        for number, line in enumerate(source.text.split("\n"), 1)
        if line.strip()
    ]
    by_path = {}
    for path, number in lines:
        by_path.setdefault(path, []).append(number)
    units = [
        (path, set(numbers[at : at + 10]))
        for path, numbers in by_path.items()
        for at in range(0, len(numbers), 10)
    ]
    chunks = {row["id"]: row for row in rows(folder / "chunks.jsonl")}
    place = read_record(folder)
    ranking = place.rankings[[one.id for one in place.queries].index(query["query_id"])]
    known = [score for score in ranking.scores if score is not None]
    low = known[-1] if known else 0.0
    best = {}
    for name, score in zip(ranking.ids, ranking.scores, strict=True):
        chunk = chunks[name]
        for number in range(chunk["start_line"], chunk["end_line"] + 1):
            key = (chunk["path"], number)
            best[key] = max(best.get(key, low), low if score is None else score)
    means = [
        math.fsum(best.get((path, number), low) for number in numbers) / len(numbers)
        for path, numbers in units
    ]
    order = sorted(range(len(units)), key=lambda at: (-round(means[at], 9), at))
    (target,) = [
        one for one in rows(folder / "targets.jsonl") if one["query_id"] == query["query_id"]
    ]
    gold = {
        at
        for at, (path, numbers) in enumerate(units)
        if path == target["path"]
        and numbers & set(range(target["start_line"], target["end_line"] + 1))
    }
    gains = [
        at in gold and any((units[at][0], number) in best for number in units[at][1])
        for at in order[:k]
    ]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, len(gold))))
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains)) / ideal


@pytest.mark.parametrize("chunker", ["ast:max_size=120", "whole-file", "worlds:lossy"])
def test_values_of_a_run_are_those_of_the_words(tmp_path, chunker):
    asked = ASKED | {"profile": "default:twins=false"}
    (cell,) = grid(tmp_path, chunkers=(chunker,), **asked).cells
    folder = tmp_path / "run" / "cells" / cell.key
    values = {row["query_id"]: row["metrics"] for row in rows(folder / "per_query.jsonl")}
    for query in rows(folder / "queries.jsonl"):
        for k in (3, 10):
            want = by_hand(folder, query, k)
            assert values[query["query_id"]][f"pnDCG@{k}"] == pytest.approx(want, abs=1e-12)
    assert cell.metrics["metrics"]["pnDCG@10"]["comparable"]
    assert cell.metrics["metrics"]["pnDCG@10"]["random_error"] > 0


def test_a_copy_of_the_target_counts_where_twins_do(tmp_path):
    asked = ASKED | {"chunkers": ("worlds:only_the_copy",)}
    for profile, want in (("default", 1.0), ("default:twins=false", 0.0)):
        (cell,) = grid(tmp_path, profile, profile=profile, **asked).cells
        lines = rows(tmp_path / profile / "cells" / cell.key / "per_query.jsonl")
        value = next(row["metrics"]["pnDCG@10"] for row in lines if row["query_id"] == "q alpha")
        assert (value > 0) == (want > 0)


def test_the_number_of_units_is_the_same_for_every_chunker(tmp_path):
    cells = grid(tmp_path, chunkers=("ast:max_size=60", "whole-file"), **ASKED).cells
    names = [tmp_path / "run" / "cells" / cell.key / "files.jsonl" for cell in cells]
    assert names[0].read_bytes() == names[1].read_bytes()


@pytest.mark.damages
def test_a_changed_or_missing_line_count_is_found(tmp_path):
    (cell,) = grid(tmp_path, chunkers=("fixed",), **ASKED).cells
    folder = tmp_path / "run" / "cells" / cell.key
    whole = (folder / "files.jsonl").read_text()
    (folder / "files.jsonl").write_text(whole.replace('"lines": 38', '"lines": 8'))
    assert verify(tmp_path / "run")[0].differences
    (folder / "files.jsonl").unlink()
    assert verify(tmp_path / "run")[0].differences


def test_documents_have_no_projection_and_say_why(tmp_path):
    sources = tuple(Source(function(name), name) for name in ("a", "b"))
    query = Query("q", "docs", "transform a", qrels={"a": 1})
    dataset = Dataset("docs", "document", (Corpus("docs", sources),), (query,), pooling="max")
    (cell,) = grid(tmp_path, dataset=dataset, chunkers=("whole-file",), **ASKED).cells
    found = cell.metrics["metrics"]["pnDCG@3"]
    assert (found["mean"], found["why"]) == (None, "the gold is documents, not lines of files")


def test_a_profile_that_knows_float32_scores_breaks_no_tie_by_more(tmp_path):
    (cell,) = grid(tmp_path, chunkers=("fixed:max_size=60",), profile="trec", **ASKED).cells
    record = read_record(tmp_path / "run" / "cells" / cell.key)
    judged = judge(record, small().relevance, load_profile("trec"))
    for scores in judged.cell.projection.scores:
        known = scores[~np.isnan(scores)]
        assert len(known)
        assert (known == known.astype(np.float32)).all()


def test_what_a_chunk_brings_has_its_score_in_the_projection_too(tmp_path):
    asked = ASKED | {"retrievers": ("bm25:expand=neighbours",), "chunkers": ("ast:max_size=60",)}
    (cell,) = grid(tmp_path, **asked).cells
    record = read_record(tmp_path / "run" / "cells" / cell.key)
    judged = judge(record, small().relevance, load_profile("default"))
    assert any(ranking.by_rank for ranking in record.rankings)
    for ranking, scores in zip(record.rankings, judged.cell.projection.scores, strict=True):
        known = [score is not None for score in ranking.scores]
        assert (~np.isnan(scores)).tolist() == known
        assert scores[known].tolist() == [one for one in ranking.scores if one is not None]
