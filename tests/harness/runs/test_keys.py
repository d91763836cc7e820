"""What makes a cell another one, and what makes its metrics others."""

from worlds import grid, small

from chunkers.source import Source
from harness.model import Corpus, Relevance
from harness.runs import runner


def key(tmp_path, name, dataset=None, **changes):
    asked = {"chunkers": ("fixed:max_size=120",), "retrievers": ("bm25",)} | changes
    (cell,) = grid(tmp_path, name, dataset, **asked).cells
    return cell.key


def test_a_key_holds_what_a_ranking_depends_on_and_nothing_else(tmp_path, monkeypatch):
    text = "elsewhere = 1\n"
    other = small()
    more = (*other.corpora, Corpus("three", (Source(text, "three/x.py"),)))
    same = [
        key(tmp_path, "plain"),
        key(tmp_path, "measures", measures=("MRR", "SpanR@500c")),
        key(tmp_path, "twins", profile="default:twins=false"),
        key(tmp_path, "unused embedder", embedders=("minilm:windows=max",)),
    ]
    different = [
        key(tmp_path, "corpus", small(corpora=more)),
        key(tmp_path, "relevance", small(relevance=Relevance("iou", 0.3))),
        key(tmp_path, "chunker", chunkers=("fixed:max_size=121",)),
        key(tmp_path, "retriever", retrievers=("bm25:k1=1.2",)),
        key(tmp_path, "depth", depth=7),
        key(tmp_path, "deep cut-off", measures=("R@2000",)),
        key(tmp_path, "budget", measures=("SpanR@90000c",)),
        key(tmp_path, "limit", limit=2),
        key(tmp_path, "seed", seed=1),
        key(tmp_path, "ties", profile="trec"),
        key(tmp_path, "dense", retrievers=("dense",)),
        key(tmp_path, "windows", retrievers=("dense",), embedders=("minilm:windows=max",)),
        key(tmp_path, "tokens", chunkers=("fixed:max_size=120,unit=tokens",)),
    ]
    monkeypatch.setattr("harness.runs.runner.code_hash", lambda *patterns: "edited")
    different.append(key(tmp_path, "code"))
    assert len(set(same)) == 1
    assert len({*different, *same}) == len(different) + 1


def test_edited_code_of_measures_computes_metrics_again(tmp_path, monkeypatch):
    first = grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
    path = first.out / "cells" / first.cells[0].key / "metrics.json"
    before = path.stat().st_mtime_ns
    code_hash = runner.code_hash
    monkeypatch.setattr(
        runner, "code_hash", lambda *p: code_hash(*p) if p != runner.SCORING else "edited"
    )
    assert (
        grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",)).cells[0].key == path.parent.name
    )
    assert path.stat().st_mtime_ns > before


def test_values_of_each_query_of_another_question_are_not_reused(tmp_path):
    result = grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
    rows = result.out / "cells" / result.cells[0].key / "per_query.jsonl"
    whole = rows.read_bytes()
    rows.write_text("{}\n")  # as a kill between two files could leave it
    grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
    assert rows.read_bytes() == whole


def test_the_order_in_which_corpora_and_queries_are_given_changes_nothing(tmp_path):
    from dataclasses import replace

    from worlds import files, small

    given = small()
    turned = replace(given, corpora=given.corpora[::-1], queries=given.queries[::-1])
    asked = {"chunkers": ("fixed:max_size=30",), "retrievers": ("bm25",)}
    first, second = (
        grid(tmp_path, name, one, **asked) for name, one in (("a", given), ("b", turned))
    )
    assert files(first.out) == files(second.out)


def test_versions_of_grammars_count_wherever_syntax_trees_are_read(monkeypatch):
    from chunkers import load_chunker
    from harness.runs.pipeline import load_retriever

    def versions():
        chunkers = [
            load_chunker(one).version for one in ("fixed:header=on", "whole-file:header=on")
        ]
        return [*chunkers, load_retriever("bm25:expand=parent")[1].version]

    def plain():
        return [load_chunker("fixed").version, load_retriever("bm25:expand=neighbours")[1].version]

    before, other = versions(), plain()
    monkeypatch.setattr("chunkers.plugins.loading.grammar_versions", lambda: "other")
    monkeypatch.setattr("harness.runs.pipeline.grammar_versions", lambda: "other")
    assert all(one != now for one, now in zip(before, versions(), strict=True))
    assert plain() == other
