"""Audits of copies, cuts and truncation on planted cases; a run's audit says the same."""

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from commands import call, says
from worlds import function, grid, small

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.source import Source, Span
from harness.audit.audit import (
    Audit,
    ChunkerAudit,
    Duplicates,
    GoldCut,
    Sizes,
    Truncation,
    Twins,
    audit_dataset,
    audit_run,
)
from harness.audit.interpretation import findings
from harness.datasets.loading import load_dataset
from harness.model import Corpus, Dataset, Query, Target


@dataclass(frozen=True)
class Words:
    """An embedder whose tokens are words; it must not be asked for a vector."""

    limit: int | None = 256
    query_limit: int | None = 4
    windows: str | None = None
    name: str = "words"

    def count_tokens(self, texts):
        return np.array([len(text.split()) for text in texts], dtype=np.int64)


def per_line(source):
    """One chunk a line."""
    lines = source.lines
    return [Span(*lines.offsets_of(n, n)) for n in range(1, lines.count + 1)]


def by_files(source):
    return [Span(0, len(source.text))]


def as_planted(source):
    """Lines 1-3, 4, 5-6; 7 without its last character; that character, 8; not 9; 10-12."""
    of = source.lines.offsets_of
    almost = of(7, 7)[1] - 2
    cuts = [of(1, 3), of(4, 4), of(5, 6), (of(7, 7)[0], almost), (almost, of(8, 8)[1]), of(10, 12)]
    return [Span(*one) for one in cuts]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.setitem(sys.modules, "audited", sys.modules[__name__])


def corpus(**files):
    sources = (Source(text, f"{name}.py") for name, text in sorted(files.items()))
    return Corpus("c", tuple(sources))


def audit(dataset, chunker="audited:by_files", embedder=None, **options):
    return audit_dataset(dataset, [load_chunker(chunker)], [embedder or Words()], **options)


ROOT = Path(__file__).parents[3]
LINES = "".join(f"line{n} is here\n" for n in range(1, 13))


def cut(*targets, text=LINES):
    gold = tuple(Target("a.py", first, last) for first, last in targets)
    query = Query("q", "c", "x", gold)
    return audit(Dataset("made", "span", (corpus(a=text),), (query,)), "audited:as_planted")


@pytest.mark.parametrize(
    ("target", "right"),
    [
        ((1, 3), GoldCut(1, 1.0, 1.0, 0, 0, 0)),
        ((1, 4), GoldCut(1, 0.0, 2.0, 0, 0, 1)),  # the last line alone in a chunk
        ((4, 6), GoldCut(1, 0.0, 2.0, 0, 1, 0)),  # the first line is
        ((3, 5), GoldCut(1, 0.0, 3.0, 0, 1, 1)),
        ((4, 4), GoldCut(1, 1.0, 1.0, 0, 0, 0)),  # one line has no rest to be cut from
        ((7, 7), GoldCut(1, 0.0, 2.0, 0, 0, 0)),
        ((7, 8), GoldCut(1, 0.0, 2.0, 0, 0, 0)),  # a chunk holds characters of both
        ((9, 9), GoldCut(1, 0.0, 0.0, 1, 0, 0)),
        ((8, 9), GoldCut(1, 0.0, 1.0, 0, 1, 1)),  # the last line is in no chunk
        ((9, 11), GoldCut(1, 0.0, 1.0, 0, 1, 0)),
    ],
)
def test_cuts_through_a_target_are_counted(target, right):
    assert cut(target).chunkers[0].gold_cut == right


def test_cuts_are_counted_over_all_targets():
    one = cut((1, 3), (4, 6), (9, 9), (10, 11)).chunkers[0].gold_cut
    assert one == GoldCut(4, 0.5, 1.0, 1, 1, 0)


def test_sizes_are_in_characters_that_are_not_white_space():
    # 33, 11, 22, 10, 12 and 36 of them
    assert cut((1, 3)).chunkers[0].sizes == Sizes(median=12, p95=36, largest=36)
    (found,) = (row.found for row in findings(cut((1, 3))) if row.audit == "sizes")
    assert found == "median 12 c, 95 % up to 36 c, largest 36 c"


def test_blank_lines_cut_nothing_off():
    text = "@deco\n\n\ndef f():\n" + "body()\n" * 8
    one = cut((1, 4), text=text).chunkers[0].gold_cut
    # Chunks are lines 1-3 and 4: the decorator is alone with blank lines.
    assert one == GoldCut(1, 0.0, 2.0, 0, 1, 1)


BODY = function("alpha", 8)


def test_copies_of_targets_and_files_are_counted():
    files = {"a": BODY + "x = 1\n", "b": "y = 2\n" + BODY, "c": BODY, "d": f"\n{BODY}", "e": "\n"}
    queries = (
        Query("q", "c", "x", (Target("a.py", 1, 10), Target("b.py", 1, 1))),
        Query("r", "c", "x", (Target("a.py", 13, 13),)),
    )
    one = audit(Dataset("made", "span", (corpus(**files),), queries))
    assert one.twins == Twins(targets=3, with_twins=1, twins=3, queries_touched=0.5)
    assert one.identical_files == 2  # white space is no difference, blank files are no copies
    assert one.chunkers[0].duplicates == Duplicates(4, 0)


def test_chunks_with_one_text_are_duplicates_within_their_corpus():
    one = corpus(a="x = 1\ny = 2\nx = 1\n", b="x = 1\n")
    two = Corpus("d", (Source("y = 2\n", "a.py"),))
    queries = (Query("q", "c", "x", (Target("a.py"),)), Query("r", "d", "x", (Target("a.py"),)))
    found = audit(Dataset("made", "span", (one, two), queries), "audited:per_line").chunkers[0]
    assert found.duplicates == Duplicates(5, 3)
    assert found.duplicates.share == 0.6


def test_tokens_over_the_limit_are_counted_without_a_vector():
    words = ["word " * n + "\n" for n in (100, 256, 600)]
    query = Query("q", "c", "one two three four five", (Target("a.py"),))
    dataset = Dataset("made", "span", (corpus(a=words[0], b=words[1], c=words[2]),), (query,))
    one = audit(dataset)
    right = Truncation(texts=3, tokens=956, unseen=344 / 956, truncated=1, limit=256)
    assert one.chunkers[0].truncation == {"words": right}
    assert right.marked
    assert one.queries_truncated == {"words": Truncation(1, 5, 1 / 5, 1, 4)}
    assert not audit(dataset, embedder=Words(limit=600)).chunkers[0].truncation["words"].marked
    unknown = audit(dataset, embedder=Words(limit=None, query_limit=None))
    assert unknown.chunkers[0].truncation == unknown.queries_truncated == {"words": None}


def test_windows_are_what_is_counted_where_they_are_what_is_embedded():
    text = "".join("word " * 100 + "\n" for _ in range(6))
    query = Query("q", "c", "x", (Target("a.py"),))
    one = audit(
        Dataset("made", "span", (corpus(a=text),), (query,)), embedder=Words(windows="mean")
    )
    assert one.chunkers[0].truncation["words"] == Truncation(3, 600, 0.0, 0, 256)


def test_an_overlapping_chunk_counts_once_for_each_time_it_is_embedded():
    query = Query("q", "c", "x", (Target("a.py"),))
    text = "one two\n" * 3
    dataset = Dataset("made", "span", (corpus(a=text),), (query,))
    one = audit(dataset, "audited:per_line", Words(limit=1)).chunkers[0]
    assert one.truncation["words"] == Truncation(3, 6, 0.5, 3, 1)


def test_documents_have_neither_twins_nor_cuts():
    sources = (Source("red fox", "d1"), Source("blue whale", "d2"))
    query = Query("q", "c", "red fox", qrels={"d1": 1})
    one = audit(Dataset("made", "document", (Corpus("c", sources),), (query,), pooling="max"))
    assert one.twins is None
    assert one.chunkers[0].gold_cut is None
    assert one.self_retrieval.inside_gold == 1.0


def test_limit_looks_at_the_queries_of_a_run_with_that_limit(tmp_path):
    dataset = small()
    run = grid(tmp_path, dataset=dataset, chunkers=("fixed",), retrievers=("bm25",), limit=2)
    assert audit(dataset, limit=2).queries == run.cells[0].metrics["n_queries"]


@pytest.mark.parametrize("mask", [False, True])
def test_a_stored_run_says_what_its_data_set_says(tmp_path, mask):
    dataset = load_dataset("stdlib") if not mask else masked()
    names = ("ast:max_size=200", "fixed:max_size=200", "whole-file")
    given = {"chunkers": names, "retrievers": ("bm25",), "mask_query": mask, "limit": 10}
    run = grid(tmp_path, dataset=dataset, **given)
    (stored,) = audit_run(run.out)
    assert stored.mask_query is mask
    assert stored.self_retrieval is stored.identical_files is None
    assert stored.needs_dataset == ("self-retrieval", "identical files")
    chunkers = [load_chunker(name) for name in names]
    fresh = audit_dataset(replace(dataset, mask=mask), chunkers, [], 10)
    assert (stored.mask_query, stored.queries) == (fresh.mask_query, fresh.queries)
    assert stored.twins == fresh.twins
    for cell, chunker in zip(stored.chunkers, fresh.chunkers, strict=True):
        assert replace(cell, truncation={}) == chunker
    if mask:
        unmasked = audit_dataset(rebuilt(), chunkers, [])
        assert [chunker.gold_cut for chunker in unmasked.chunkers] == [
            chunker.gold_cut for chunker in fresh.chunkers
        ]


def masked():
    from harness.model import Region

    text = function("alpha") + function("beta", 12)
    query = Query("q", "c", "x", (Target("a.py", 9, 22),), region=Region("a.py", 1, 8))
    return Dataset("made", "span", (corpus(a=text, b=function("gamma")),), (query,))


def rebuilt():
    query = Query("q", "c", "x", (Target("a.py", 1, 14),))
    return Dataset("made", "span", (corpus(a=function("beta", 12), b=function("gamma")),), (query,))


def test_a_stored_run_knows_what_its_model_saw(tmp_path):
    run = grid(tmp_path, chunkers=("whole-file", "audited:by_files"), retrievers=("dense", "bm25"))
    (stored,) = audit_run(run.out)
    for chunker in stored.chunkers:
        cell = next(c for c in run.cells if c.chunker == chunker.chunker and c.embedder != "none")
        (one,) = chunker.truncation.values()
        assert one.unseen == cell.cell["health"]["unseen_chunk_tokens"]
        assert one.truncated == cell.cell["health"]["truncated_chunks"]
        assert one.marked == (one.unseen > 0.1)
    assert [one.marked for c in stored.chunkers for one in c.truncation.values()] == [False, True]
    texts = [(one.audit, one.of, one.reading) for one in findings(stored)]
    (marked,) = [text for text in texts if text[2].startswith("! over 10%")]
    assert marked[:2] == ("truncation of chunks", "audited:by_files, minilm")
    (needed,) = [text for text in texts if "audit the data set" in text[2]]
    assert needed[0] == "self-retrieval, identical files"


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a run folder"):
        audit_run(tmp_path)


class ByVectors:
    embeds = True

    def chunk(self, source, services):
        raise AssertionError("it must not be asked")


def by_vectors():
    return ByVectors()


class TestCommand:
    def test_nothing_to_audit_and_options_without_a_data_set_are_refused(self, capsys, tmp_path):
        says(call(capsys, "audit"), 2, "give a run folder")
        says(call(capsys, "audit", tmp_path), 2, tmp_path, "not a run folder")
        says(call(capsys, "audit", tmp_path, "-c", "ast"), 2, "-d")
        says(call(capsys, "audit", "-d", "stdlibb"), 2, "stdlibb", "stdlib")
        vectors = call(capsys, "audit", "-d", "audited:made", "-c", "audited:by_vectors")
        says(vectors, 2, "audited:by_vectors", "embeds nothing", "audit the run folder")

    def test_every_form_holds_every_audit(self, capsys):
        given = ("audit", "-d", "audited:made", "-c", "audited:per_line")
        names = ["self-retrieval", "twins", "identical files", "truncation of queries",
                 "truncation of chunks", "duplicates", "gold cut"]  # fmt: skip
        for form in ("table", "csv", "markdown", "json"):
            done = call(capsys, *given, "--format", form)
            assert done.code == 0
            assert not [name for name in names if name not in done.out]
        document = done.json
        assert document["schema"] == "chunkmark.audit/1"
        (one,) = document["audits"]
        assert one["self_retrieval"]["lines_in_gold"] == 1.0
        assert one["chunkers"][0]["duplicates"] == {"chunks": 2, "duplicates": 0, "share": 0.0}
        assert one["chunkers"][0]["truncation"]["minilm"]["limit"] == 254
        assert all(found["reading"] for found in one["findings"])

    def test_a_run_and_a_data_set_are_audited_together(self, capsys, tmp_path):
        grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",))
        done = call(capsys, "audit", tmp_path / "run", "-d", "audited:made", "--format", "json")
        sources = [one["source"] for one in done.json["audits"]]
        assert sources == [str(tmp_path / "run"), "data set"]
        assert "warning: -d audited:made is not a data set of" in done.err

    def test_a_chunker_that_fails_is_said(self, capsys):
        done = call(capsys, "audit", "-d", "audited:made", "-c", "worlds:leaving")
        assert done.code == 3
        assert "failures (worlds:leaving): failed on 1 file, such as a.py: SystemExit" in done.out


def made(data_dir):
    query = Query("q", "c", "x = 1\ny = 2\n", (Target("a.py", 1, 2),))
    return Dataset("made", "span", (corpus(a="x = 1\ny = 2\n"),), (query,))


def test_repoeval_measures_finding_a_text_by_itself(capsys, data):
    done = call(capsys, "audit", "-d", "repoeval-function", "--data-dir", data)
    assert (
        "queries are lines of their targets: retrieval finds the same text, not an answer"
        in done.out
    )
    assert done.out in (ROOT / "docs/audits.md").read_text("utf-8")
    document = call(capsys, "audit", "-d", "repoeval-function", "-c", "ast", "--data-dir", data,
                    "--format", "json").json  # fmt: skip
    (one,) = document["audits"]
    leaks = one["self_retrieval"]
    assert leaks["queries"] == 351
    assert leaks["lines_in_gold"] > 0.9
    assert leaks["queries_over_90"] > 0.9
    assert one["queries_truncated"]["minilm"]["unseen"] > 0.8
    assert one["queries_truncated"]["minilm"]["marked"]
    assert one["twins"]["with_twins"] == 32
    assert json.dumps(document, allow_nan=False)


def test_all_corpora_of_an_audit_are_cut_in_the_same_processes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code = "import os, pathlib; from chunkers import Span\n"
    code += "pathlib.Path(f'{os.getpid()}.pid').touch()\n"
    code += "def whole(source): return [Span(0, len(source.text))]\n"
    (tmp_path / "counted.py").write_text(code)
    assert len(small().corpora) == 2
    (one,) = audit_dataset(small(), [load_chunker("counted:whole")], []).chunkers
    assert one.duplicates.chunks == 3
    pids = {int(path.stem) for path in tmp_path.glob("*.pid")}
    assert len(pids - {os.getpid()}) == 1


@pytest.mark.parametrize(
    ("count", "phrases"),
    [
        (
            1,
            ["1 of 1 target has copies", "1 of 1 text is over", "1 target has no text", "1 chunk "],
        ),
        (2, ["2 of 2 targets have", "2 of 2 texts are over", "2 targets have no", "2 chunks "]),
    ],
)
def test_findings_of_one_are_singular(count, phrases):
    chunker = ChunkerAudit(
        "some",
        Duplicates(count, 0),
        Sizes(1, 1, 1),
        GoldCut(count, 0.0, 0.0, count, 0, 0),
        {"words": Truncation(count, 9, 0.5, count, 2)},
    )
    twins = Twins(count, count, count, 1.0)
    whole = Audit("data set", "d", "f", False, count, None, twins, None, {}, (chunker,))
    said = "\n".join(f"{row.found} {row.reading}" for row in findings(whole))
    assert [phrase for phrase in phrases if phrase not in said] == []
