"""Runs: same input, same bytes; resume; what is stored is enough; nothing is lost unseen."""

import json
import math

import numpy as np
import pytest
from worlds import files, function, grid, small

import harness
from chunkers.errors import InputError
from chunkers.source import Source
from harness.chunking.corpus import lacking
from harness.model import Absent, Corpus, Dataset, Query, Target
from harness.reports.columns import marked
from harness.reports.document import run_document
from harness.reports.tables import as_markdown
from harness.runs import runner
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.query_set import choose, prepare
from harness.runs.record import encode_id, read_record


def test_the_grid_has_a_cell_for_each_combination_and_one_for_lexical_ones(tmp_path):
    result = grid(tmp_path, embedders=("minilm", "minilm:windows=max"))
    names = [(cell.chunker, cell.embedder, cell.retriever) for cell in result.cells]
    assert len(set(names)) == len(names) == 9
    assert ("whole-file", "none", "bm25") in names
    assert [cell.metrics["n_queries"] for cell in result.cells] == [4] * 9
    manifest = json.loads((result.out / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["datasets"]["small"]["queries_left_out"] == [
        ["q\tgone", "two/gone.py is not indexed"]
    ]
    assert manifest["times"]["total"] > 0


def test_the_same_command_computes_nothing_again(tmp_path):
    first = grid(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in first.out.glob("cells/*/*")}
    second = grid(tmp_path)
    assert {p: p.stat().st_mtime_ns for p in second.out.glob("cells/*/*")} == before
    assert [c.metrics for c in first.cells] == [c.metrics for c in second.cells]


def test_new_measures_are_answered_from_the_stored_ranking(tmp_path):
    first = grid(tmp_path)
    runs = {p: p.stat().st_mtime_ns for p in first.out.glob("cells/*/run.trec")}
    asked = grid(tmp_path, measures=("MAP@3", "FileMRR", "SpanIoU@300c"))
    assert {p: p.stat().st_mtime_ns for p in asked.out.glob("cells/*/run.trec")} == runs
    fresh = grid(tmp_path, "fresh", measures=("MAP@3", "FileMRR", "SpanIoU@300c"))
    assert files(asked.out) == files(fresh.out)
    assert list(asked.cells[0].metrics["metrics"]) == ["MAP@3", "FileMRR", "SpanIoU@300c"]


def test_another_profile_of_the_same_ties_uses_the_same_cells(tmp_path):
    first = grid(tmp_path)
    second = grid(tmp_path, profile="default:twins=false")
    assert [c.key for c in first.cells] == [c.key for c in second.cells]
    fresh = grid(tmp_path, "fresh", profile="default:twins=false")
    assert files(second.out) == files(fresh.out)
    trec = grid(tmp_path, profile="trec")
    assert {c.key for c in trec.cells}.isdisjoint({c.key for c in first.cells})


def test_a_copy_of_a_target_counts_only_where_twins_do(tmp_path):
    """The chunker finds the copy alone: without twins the query has nothing."""

    def values(profile):
        asked = {"chunkers": ("worlds:only_the_copy",), "measures": ("SpanR@10000c", "FileR@5")}
        (cell,) = grid(tmp_path, profile, profile=profile, retrievers=("bm25",), **asked).cells
        lines = (tmp_path / profile / "cells" / cell.key / "per_query.jsonl").read_text()
        rows = [json.loads(line) for line in lines.splitlines()]
        return next(row["metrics"] for row in rows if row["query_id"] == "q alpha")

    assert values("default") == {"SpanR@10000c": 1.0, "FileR@5": 0.0}
    assert values("default:twins=false") == {"SpanR@10000c": 0.0, "FileR@5": 0.0}


def test_what_is_stored_is_what_was_computed(tmp_path):
    """Metrics made from the files alone are the metrics made from memory, byte for byte."""
    first = grid(tmp_path)
    stored = files(first.out)
    for path in first.out.glob("cells/*/metrics.json"):
        path.unlink()
    grid(tmp_path)
    assert files(first.out) == stored


def test_trec_files_give_an_outside_scorer_the_same_numbers(tmp_path):
    import pytrec_eval

    measures = ("nDCG@5", "nDCG@10", "R@5", "P@5", "MAP@1000", "MRR")
    result = grid(tmp_path, profile="default:twins=false", measures=measures)
    names = ("ndcg_cut_5", "ndcg_cut_10", "recall_5", "P_5", "map", "recip_rank")
    for cell in result.cells:
        folder = result.out / "cells" / cell.key
        qrels, ranking = {}, {}
        for line in (folder / "qrels.trec").read_text().splitlines():
            query, _, unit, grade = line.split()
            qrels.setdefault(query, {})[unit] = int(grade)
        for line in (folder / "run.trec").read_text().splitlines():
            query, _, unit, _, score, _ = line.split()
            ranking.setdefault(query, {})[unit] = float(score)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(ranking)
        ours = [json.loads(x) for x in (folder / "per_query.jsonl").read_text().splitlines()]
        assert len(theirs) == len(ours) == 4
        for row in ours:
            values = theirs[encode_id(row["query_id"])]
            for mine, name in zip(measures, names, strict=True):
                assert row["metrics"][mine] == pytest.approx(values[name], abs=1e-12)


def test_rankings_fill_the_budget_and_hold_every_unit_once(tmp_path):
    for cell in grid(tmp_path, depth=1).cells:
        record = read_record(tmp_path / "run" / "cells" / cell.key)
        for query, ranking in zip(record.queries, record.rankings, strict=True):
            units = [c.id for c in record.chunks if c.corpus == query.corpus]
            assert sorted(ranking.ids) == sorted(units)
            assert len(ranking.scores) == len(units)


def test_metrics_carry_anchors_intervals_and_splits(tmp_path):
    cell = grid(tmp_path).cells[0]
    for one in cell.metrics["metrics"].values():
        assert one["random"] <= one["oracle"] + 1e-12
        assert one["mean"] <= one["oracle"] + 1e-12
        assert one["ci95"] is None or one["ci95"][0] <= one["mean"] <= one["ci95"][1]
        assert one["n"] == 4
        assert set(one["by_corpus"]) == {"one", "two"}
    assert cell.metrics["metrics"]["SpanR@10000c"]["comparable"]
    assert not cell.metrics["metrics"]["R@5"]["comparable"]
    assert {v: one["n"] for v, one in cell.metrics["by"]["kind"].items()} == {
        "first": 2,
        "other": 2,
    }


def test_health_counts_what_was_seen_and_lost(tmp_path):
    cells = {(c.chunker, c.retriever): c.cell for c in grid(tmp_path).cells}
    health = cells["ast:max_size=120", "dense"]["health"]
    assert (health["files_seen"], health["files_indexed"], health["files_skipped"]) == (6, 4, 2)
    assert health["coverage"] == 1.0
    assert health["repeated"] == 0.0
    assert health["gold_uncut"] == health["zero_vectors"] == health["blank"] == 0
    assert health["duplicates"] == 4  # the copied function, cut in two like its original
    assert health["size_max"] <= 120
    assert cells["ast:max_size=120", "dense"]["latency_ms"]["total"]["p95"] > 0
    assert cells["ast:max_size=120", "bm25"]["latency_ms"]["embedding"] is None
    assert cells["ast:max_size=120", "bm25"]["cost"]["vectors"] is None
    whole = cells["whole-file", "dense"]
    assert whole["health"]["unseen_chunk_tokens"] == 0.0
    assert whole["cost"]["vectors"] > whole["health"]["chunks"]  # windows


def test_lost_text_keeps_its_queries_in_the_mean(tmp_path):
    result = grid(tmp_path, chunkers=("worlds:lossy",), retrievers=("bm25",))
    (cell,) = result.cells
    health = cell.cell["health"]
    assert 0.1 < health["coverage"] < 0.6
    assert health["repeated"] == health["coverage"]
    assert health["gold_uncut"] == 2
    assert health["blank"] == 1 + 2  # of two/rho.py, and twice that of two/blank.py
    assert cell.metrics["n_queries"] == 4
    assert cell.metrics["metrics"]["SpanR@10000c"]["mean"] < 0.5
    assert result.failures == []


@pytest.mark.parametrize(
    ("text", "embedded", "count"),
    [
        ("def f(x):\n    return x\n", "def f(x):\n    return x\n", 0),
        ("def f(x):\n    return x\n", "a.py\n\ndef f(x): return x", 0),  # a header, indented anew
        ("def f(x):\n    return x\n", "return x def f(x):", 0),  # in another order
        ("a + b", "a+b", 0),
        ("def f(x):\n    return x\n", "def f(x):", 7),
        ("x x x", "x", 2),  # a word counts as often as it occurs
        ("walk = 1", "walks the tree", 6),  # a part of a word is no word
        ("größe = 'é'", "größe", 4),
        ("some code", "a summary by a model", 8),
    ],
)
def test_what_an_embedded_text_lacks_is_counted_in_characters(text, embedded, count):
    assert lacking(text, embedded) == count


def test_text_that_is_not_embedded_is_shown_beside_the_coverage(tmp_path):
    chunkers = ("worlds:naming_alone", "ast:header=on", "fixed")
    result = grid(tmp_path, chunkers=chunkers, retrievers=("bm25",))
    document = run_document(result)
    short, headed, plain = (cell["health"] for cell in document["cells"])
    texts = [s.text for corpus in small().corpora for s in corpus.sources if s.text.strip()]
    whole = sum(len("".join(text.split())) for text in texts)
    first = sum(len("".join(text.split("\n")[0].split())) for text in texts)
    assert math.isclose(short["embedded"], first / whole)
    assert (short["coverage"], headed["embedded"], plain["embedded"]) == (1.0, 1.0, 1.0)
    assert [marked(cell) for cell in document["cells"]] == ["worlds:naming_alone e", *chunkers[1:]]
    table = as_markdown(document)
    assert "| coverage | embedded |" in table
    assert f"{1 - first / whole:.2%} of the chunks' text is not in what is embedded" in table
    without = grid(tmp_path, name="plain", chunkers=("fixed",), retrievers=("bm25",))
    assert "| embedded |" not in as_markdown(run_document(without))


@pytest.mark.parametrize(("others", "share"), [(0, 0.0), (1, 0.5), (2, 2 / 3)])
def test_a_row_that_is_mostly_cut_in_another_way_has_a_sign(tmp_path, others, share):
    sources = [Source(function("alpha"), "a.py", "python")]
    sources += [Source("plain words\n" * 99, f"t{n}.txt") for n in range(others)]
    query = Query("a", "one", "transform", (Target("a.py", 1, 2),))
    dataset = Dataset("mixed", "span", (Corpus("one", tuple(sources)),), (query,))
    result = grid(tmp_path, dataset=dataset, chunkers=("ast", "fixed"), retrievers=("bm25",))
    ast, fixed = run_document(result)["cells"]
    assert math.isclose(ast["health"]["fallback"], share)
    assert fixed["health"]["fallback"] == 0
    assert [marked(ast), marked(fixed)] == ["ast f" if share > 0.5 else "ast", "fixed"]


def test_a_chunker_that_fails_on_a_file_is_named_and_the_rest_goes_on(tmp_path):
    for _ in range(2):  # a stored cell remembers
        given = {"chunkers": ("worlds:failing", "fixed"), "retrievers": ("bm25",)}
        result = grid(tmp_path, **given, max_failures="1")
        assert len(result.cells) == 2
        assert result.failures == [
            "worlds:failing failed on one/copy of alpha.py of corpus one of small: RuntimeError: "
            "cannot parse this (worlds.py, line 79)"
        ]
        assert result.cells[0].cell["health"]["files_failed"] == 1


def test_a_size_in_tokens_is_the_embedders_even_for_a_lexical_cell(tmp_path):
    chunker = "fixed:max_size=60,unit=tokens"
    result = grid(tmp_path, chunkers=(chunker,), embedders=("minilm",))
    assert [cell.chunker for cell in result.cells] == [chunker] * 2
    for cell in result.cells:
        assert cell.cell["identity"]["tokenizer"]
        assert 30 < cell.cell["health"]["size_max"] <= 60
    assert result.cells[0].cell["health"]["chunks"] == result.cells[1].cell["health"]["chunks"]


def test_what_a_reader_must_know_is_marked(tmp_path):
    dataset = small(
        corpora=(
            Corpus("one", (Source(function("alpha", 60), "one/alpha.py", "python"),)),
            Corpus("two", (Source("plain words\n" * 9, "two/rho.txt"),)),
        ),
        queries=(
            Query("a", "one", "transform", (Target("one/alpha.py", 1, 2),)),
            Query("b", "two", "words", (Target("two/rho.txt", 1, 2),)),
        ),
    )
    chunkers = ("ast:max_size=4000", "fixed:max_size=10")
    result = grid(tmp_path, dataset=dataset, chunkers=chunkers, retrievers=("dense",))
    large, tiny = (" / ".join(cell["marks"]) for cell in run_document(result)["cells"])
    assert "truncated: the embedder never saw" in large
    assert "100% of the files are one chunk" in large
    assert "fallback: fixed (unknown language): 1 file" in large
    assert "truncated" not in tiny


def test_a_cut_off_deeper_than_the_depth_deepens_the_ranking(tmp_path):
    sources = tuple(Source(f"word {'x ' * n}", f"d{n}") for n in range(9))
    query = Query("q", "docs", "word", qrels={"d8": 1})
    dataset = Dataset("docs", "document", (Corpus("docs", sources),), (query,), pooling="max")
    asked = {"chunkers": ("whole-file",), "retrievers": ("bm25",), "measures": ("R@9",)}
    (cell,) = grid(tmp_path, dataset=dataset, depth=2, **asked).cells
    assert cell.metrics["metrics"]["R@9"]["mean"] == 1.0


def test_somebody_elses_manifest_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    theirs = '{"manifest_version": 3, "name": "my extension"}'
    (tmp_path / "run" / "manifest.json").write_text(theirs)
    with pytest.raises(InputError, match="holds other files"):
        grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
    assert (tmp_path / "run" / "manifest.json").read_text() == theirs
    (tmp_path / "run" / "manifest.json").unlink()


@pytest.mark.damages
def test_a_changed_file_is_not_scored_again(tmp_path):
    asked = {"chunkers": ("fixed",), "retrievers": ("bm25",)}
    result = grid(tmp_path, **asked)
    path = result.out / "cells" / result.cells[0].key / "run.trec"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))
    with pytest.raises(InputError, match="was changed or removed"):
        grid(tmp_path, **asked, measures=("MAP@3",))


def test_a_run_that_was_killed_at_once_goes_on(tmp_path):
    (tmp_path / "run" / "cells").mkdir(parents=True)
    (tmp_path / "run" / ".partial-manifest.json-1").write_text("{")
    assert grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",)).cells


def test_no_chunker_changes_a_source_for_the_next(tmp_path):
    chunkers = ("worlds:spoiling", "fixed")
    result = grid(tmp_path, chunkers=chunkers, retrievers=("bm25",))
    assert [(one.chunker, len(one.failures)) for one in result.failed] == [("worlds:spoiling", 4)]
    assert [cell.cell["health"]["coverage"] for cell in result.cells] == [1.0]


def test_chunks_without_text_to_embed_are_dropped_and_counted(tmp_path):
    given = {"chunkers": ("worlds:headless",), "max_failures": "3"}
    (cell,) = grid(tmp_path, retrievers=("dense",), **given).cells
    assert cell.cell["health"]["chunks"] == 1
    assert cell.cell["health"]["blank"] == 3


def test_a_chunker_that_leaves_the_program_fails_on_its_file(tmp_path):
    result = grid(tmp_path, chunkers=("worlds:leaving",), retrievers=("bm25",))
    assert [reason for _, _, reason in result.failed[0].failures] == [
        "SystemExit: 0 (worlds.py, line 116)"
    ] * 4


def test_absent_corpora_belong_to_their_data_set(tmp_path):
    from harness.reports.document import run_document
    from harness.reports.tables import as_markdown

    absent = small(name="with absent", absent=(Absent("three", "no tree", 7),))
    config = RunConfig().over(chunkers=("fixed",), retrievers=("bm25",), measures=("MRR",))
    result = runner.run(make_plan(config), [small(), absent], tmp_path / "run")
    document = run_document(result)
    assert document["absent"] == [
        {"dataset": "with absent", "corpus": "three", "reason": "no tree", "n_queries": 7}
    ]
    first, second = as_markdown(document).split("### ")[1:]
    assert ("no tree" in first, "no tree" in second) == (False, True)
    assert "means over queries" in first


def test_limit_takes_the_first_of_a_seeded_permutation(tmp_path):
    dataset = small()
    one, two, all_of_them = (choose(dataset.queries, n, 0) for n in (1, 2, 99))
    assert len(two) == 2
    assert one[0] in two
    assert [q.id for q in all_of_them] == sorted(q.id for q in dataset.queries)
    assert all_of_them == choose(dataset.queries, None, 0)
    assert len({tuple(q.id for q in choose(dataset.queries, 2, seed)) for seed in range(9)}) > 1
    assert prepare(dataset, 1).corpora == tuple(c for c in dataset.corpora if c.id == one[0].corpus)


def test_a_data_set_without_a_usable_query_is_an_error():
    dataset = small(queries=(Query("q", "one", "x", (Target("gone.py", 1, 1),)),))
    with pytest.raises(InputError, match=r"small: no query .* gone\.py is not indexed"):
        prepare(dataset)


def test_documents_are_ranked_and_judged_by_id(tmp_path):
    sources = tuple(Source(t, p) for p, t in [("a", "red fox"), ("b", ""), ("c d", "blue whale")])
    queries = (
        Query("1", "docs", "red fox", qrels={"a": 1, "b": 1, "c d": 0}),
        Query("2", "docs", "blue whale", qrels={"c d": 2}),
        Query("3", "docs", "green", qrels={"a": 0}),
    )
    dataset = Dataset("docs", "document", (Corpus("docs", sources),), queries, pooling="max")
    measures = ("nDCG@10", "R@10", "MRR", "Judged@10", "SpanR@100c")

    def values(profile):
        cell = grid(tmp_path, profile, dataset, chunkers=("whole-file",), measures=measures,
                    profile=profile).cells[0]  # fmt: skip
        return cell.metrics

    default = values("default")
    assert default["n_queries"] == 2
    assert default["left_out"] == {"only grades of 0 or less": 1}
    assert default["metrics"]["R@10"]["mean"] == 0.75
    assert default["metrics"]["R@10"]["oracle"] == 0.75  # the blank document is never found
    assert default["metrics"]["SpanR@100c"]["mean"] is None
    assert default["metrics"]["nDCG@10"]["comparable"]
    trec = values("trec")
    assert trec["n_queries"] == 3
    assert trec["metrics"]["R@10"]["mean"] == 0.5


def test_evaluate_is_the_run_as_a_function():
    result = harness.evaluate(small(), chunkers=["fixed"], retriever="bm25", measures=["MRR"])
    assert result.cells[0].metrics["metrics"]["MRR"]["mean"] > 0
    assert result.out is None


@pytest.mark.damages
def test_a_damaged_cell_is_named(tmp_path):
    result = grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
    folder = result.out / "cells" / result.cells[0].key
    (folder / "scores.jsonl").write_text("{")
    (folder / "metrics.json").unlink()
    with pytest.raises(InputError, match="was changed or removed"):
        grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))


@pytest.mark.parametrize("name", ["plain", "with space", "per%cent", "tab\t", "é", "a\nb", "\x7f"])
def test_ids_survive_the_trec_files(name):
    from urllib.parse import unquote

    encoded = encode_id(name)
    assert unquote(encoded) == name
    assert encoded.split() == [encoded]


def test_smaller_batches_after_out_of_memory_are_another_cell(tmp_path, monkeypatch):
    from harness.embedding.embedder import OutOfMemoryError
    from harness.embedding.pretrained import Loaded

    run = Loaded.run

    def tight(self, texts, rows, output):
        if rows > 4:
            raise OutOfMemoryError("no")
        return run(self, texts, rows, output)

    monkeypatch.setattr(Loaded, "run", tight)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    asked = {"chunkers": ("fixed",), "retrievers": ("dense",)}
    halved = grid(tmp_path, **asked)
    manifest = json.loads((halved.out / "manifest.json").read_text())
    assert len(manifest["notes"]) == 2
    monkeypatch.undo()
    plain = grid(tmp_path, **asked)
    assert plain.cells[0].key != halved.cells[0].key


def test_a_stored_vector_that_is_not_finite_is_counted_and_ranks_last(tmp_path, monkeypatch):
    from harness.embedding.pretrained import Loaded

    run = Loaded.run

    def broken(self, *asked):
        for batch in run(self, *asked):
            batch.outputs[0][:] = np.nan
            yield batch

    monkeypatch.setattr(Loaded, "run", broken)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    (cell,) = grid(tmp_path, chunkers=("fixed:max_size=60",), retrievers=("dense",)).cells
    assert cell.cell["health"]["zero_vectors"] >= 1
    assert all(one["mean"] is not None for one in cell.metrics["metrics"].values())


def test_evaluate_takes_a_data_set_and_no_name():
    with pytest.raises(InputError, match="use load_dataset"):
        harness.evaluate("stdlib")
