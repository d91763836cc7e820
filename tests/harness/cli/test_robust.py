"""The command that edits a corpus: its document, its formats, its refusals, planted brittleness."""

import csv
import io
import os
import subprocess
import sys

import pytest
from commands import call, says
from rich.console import Console

from harness.datasets.loading import load_dataset
from harness.reports.robust import as_latex, as_markdown, print_table
from harness.robust.study import PLAIN, plan_of, study
from harness.robust.transformations import TRANSFORMATIONS, transform
from harness.runs.config import RunConfig
from harness.runs.runner import run

OWN = '''
import re
from chunkers.source import Source, Span
from harness.model import Corpus, Dataset, Query, Region, Target


def brittle(source):
    """Cuts where two lines in a row are blank."""
    text = source.text
    cuts = [0, *(match.end() for match in re.finditer(r"\\n\\n\\n+", text)), len(text)]
    return [Span(a, b) for a, b in zip(cuts, cuts[1:]) if text[a:b].strip()]


def no_cr(source):
    if "\\r" in source.text:
        raise ValueError("no luck")
    return [Span(0, len(source.text))]


def not_base64(source):
    if "base64" in source.path:
        raise ValueError("no luck")
    return [Span(0, len(source.text))]


def never(source):
    raise ValueError("no luck")


def functions(data_dir):
    """24 files of three functions, of which a query names the first lines alone."""
    files, queries = [], []
    for file in range(24):
        text = ""
        for function in range(3):
            name = f"word{file}x{function}"
            first = text.count("\\n") + 1
            body = "".join(f"\\n    step_{line} = prepare({line}, mode)\\n    keep(step_{line})\\n"
                           for line in range(12))
            text += f"def {name}(mode):\\n    start({name})\\n{body}\\n\\n"
            lines = (first, text.count("\\n") - 2)
            queries.append(Query(name, "c", name, (Target(f"{file}.py", *lines),),
                                 cluster=f"{file}.py"))
        files.append(Source(text, f"{file:02}.py".replace("0", "", file < 10), "python"))
    return Dataset("functions", "span", (Corpus("c", tuple(files)),), tuple(queries))


def masked(data_dir):
    """A query that is lines of its own corpus, which are masked."""
    text = "def a():\\n    return one()\\n\\n\\ndef b():\\n    x = 1\\n\\n    return a(x)\\n"
    source = Source(text, "a.py", "python")
    query = Query("q", "c", "return a(x)", (Target("a.py", 1, 2),), region=Region("a.py", 6, 8))
    other = Source("def c():\\n    return two()\\n", "b.py", "python")
    return Dataset("masked", "span", (Corpus("c", (source, other)),), (query,), mask=True)


def documents(data_dir):
    return Dataset("documents", "document", (Corpus("c", (Source("x", "a"),)),),
                   (Query("q", "c", "x", qrels={"a": 1}),), pooling="max")
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Chunkers and data sets in the current folder."""
    (tmp_path / "own_parts.py").write_text(OWN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def robust(capsys, *options):
    done = call(capsys, "robust", "-r", "bm25", *options)
    assert done.code == 0, done.err
    return done


def rows_of(document, measure="SpanR@10000c"):
    return {
        (row["dataset"], row["chunker"], row["transformation"]): row
        for row in document["rows"]
        if row["measure"] == measure
    }


def test_a_chunker_that_depends_on_blank_lines_is_found(capsys, own):
    options = ("-d", "own_parts:functions", "-c", "own_parts:brittle", "-c", "ast", "-c", "fixed",
               "-t", "blank-lines", "-t", "indent-2", "-t", "identity")  # fmt: skip
    document = robust(capsys, *options, "--format", "json").json
    rows = rows_of(document)
    brittle = rows["own_parts:functions", "own_parts:brittle", "blank-lines"]
    assert (brittle["verdict"], brittle["changed"], brittle["files"]) == ("worse", 24, 24)
    assert brittle["difference"] < -0.3
    assert brittle["difference"] == pytest.approx(brittle["after"] - brittle["before"])
    assert brittle["difference_low"] < brittle["difference"] < brittle["difference_high"] < 0
    assert brittle["p"] <= brittle["p_adjusted"] < 0.05
    assert brittle["worse"] > 60
    assert rows["own_parts:functions", "ast", "blank-lines"]["difference"] == 0
    assert rows["own_parts:functions", "fixed", "blank-lines"]["difference"] == 0
    (most,) = (row for row in document["most"] if row["chunker"] == "own_parts:brittle")
    assert most["transformation"] == "blank-lines"
    out = io.StringIO()
    print_table(document, Console(file=out, width=130))
    text = out.getvalue()
    assert "own_parts:brittle by bm25 on own_parts:functions: hurt most by blank-lines, -" in text
    assert (
        "ast by bm25 on own_parts:functions: no transformation is shown to hurt; lowest mean after"
        in text
    )


def test_what_changes_no_file_has_no_verdict(capsys, own):
    options = ("-d", "own_parts:functions", "-c", "ast", "-t", "identity", "-t", "no-comments")
    done = robust(capsys, *options, "--format", "json")
    for row in done.json["rows"]:
        assert (row["verdict"], row["changed"], row["difference"]) == ("no file changed", 0, None)
        assert row["before"] == row["after"]
    assert done.json["most"] == []
    assert robust(capsys, *options).out.count("no file changed") == 4


def test_the_identity_is_the_plain_run(tmp_path):
    plan = plan_of(RunConfig().over(chunkers=("ast", "fixed"), retrievers=("bm25",), limit=30))
    dataset = load_dataset("stdlib")
    same, changed = transform(dataset, "identity")
    assert (same, changed) == (dataset, 0)
    trials = study([dataset], plan, ["identity"], tmp_path / "study").trials
    assert [trial.transformation for trial in trials] == [PLAIN, "identity"]
    plain = run(plan, [dataset], tmp_path / "plain")
    assert len(plain.cells) == 2
    for cell in plain.cells:
        for trial in trials:
            stored = trial.cells[cell.chunker, cell.embedder, cell.retriever]
            assert stored.metrics == cell.metrics
            for name in ("run.trec", "per_query.jsonl", "chunks.jsonl", "targets.jsonl"):
                own = tmp_path / "plain" / "cells" / cell.key / name
                assert (stored.folder / name).read_bytes() == own.read_bytes()


def test_data_sets_embedders_and_formats(capsys, own):
    options = ("-d", "own_parts:functions", "-d", "own_parts:masked", "-c", "ast", "-c", "fixed",
               "-t", "crlf", "-t", "header", "--limit", "8")  # fmt: skip
    document = robust(capsys, *options, "--format", "json").json
    assert document["schema"] == "chunkmark.robust/1"
    rows = rows_of(document)
    assert len(rows) == 2 * 2 * 2
    assert len(document["rows"]) == 2 * len(rows)
    row = rows["own_parts:functions", "fixed", "header"]
    markdown = as_markdown(document)
    assert robust(capsys, *options, "--format", "markdown").out == markdown
    shown = (
        f"| fixed | bm25 | header | {row['changed']}/24 | {row['chunks']} | {row['after']:.3f} |"
    )
    assert shown in markdown
    assert f"fixed & bm25 & header & {row['changed']}/24 & {row['chunks']} &" in as_latex(document)
    text = robust(capsys, *options, "--format", "csv").out
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == len(document["rows"])
    assert [float(line["after"]) for line in table] == [one["after"] for one in document["rows"]]
    dense = call(capsys, "robust", "-d", "own_parts:masked", "-r", "dense", "-r", "bm25",
                 "-c", "ast", "-t", "crlf", "--format", "json").json  # fmt: skip
    assert {(one["retriever"], one["embedder"]) for one in dense["rows"]} == {
        ("dense", "minilm"), ("bm25", "none"),
    }  # fmt: skip


def test_masked_lines_move_along(capsys, own):
    dataset = load_dataset("own_parts:masked")
    for name, lines in (("blank-lines", (8, 11)), ("crlf", (6, 8)), ("header", (20, 22))):
        new, _ = transform(dataset, name)
        region = new.queries[0].region
        assert (region.start_line, region.end_line) == lines
        assert "return a(x)" in new.corpora[0].sources[0].lines.text_of(*lines)
    document = robust(capsys, "-d", "own_parts:masked", "-c", "fixed", "--format", "json").json
    assert len(document["rows"]) == 2 * len(TRANSFORMATIONS)


def test_the_same_seed_gives_the_same_bytes_in_any_process():
    program = (
        "from harness.datasets.loading import load_dataset\n"
        "from harness.robust.transformations import transform\n"
        "dataset = load_dataset('stdlib')\n"
        "for name in ('order', 'names'):\n"
        "    print(transform(dataset, name, 3)[0].fingerprint)\n"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(prints) == 1


def test_a_chunker_that_fails_after_an_edit_is_named(capsys, own):
    options = ("-c", "own_parts:no_cr", "-c", "fixed", "-t", "crlf", "-t", "header")
    done = call(capsys, "robust", "-r", "bm25", "--limit", "5", *options, "--format", "json")
    assert done.code == 3
    line = done.json["failures"][0]
    assert line.startswith("crlf: not scored: own_parts:no_cr on stdlib (bm25) failed")
    assert line in done.err
    names = [row[1:] for row in rows_of(done.json)]
    assert names == [("own_parts:no_cr", "header"), ("fixed", "crlf"), ("fixed", "header")]


def test_an_embedder_that_is_not_used_is_said(capsys, own):
    options = ("-c", "fixed", "-t", "header", "--limit", "5", "-e", "minilm")
    done = call(capsys, "robust", "-r", "bm25", *options)
    says(done, 0, "-e minilm is not used: no retriever or chunker of this run needs it")


def test_failures_up_to_the_allowed_share_are_named(capsys, own):
    options = ("-c", "own_parts:not_base64", "-c", "fixed", "-t", "header", "--limit", "5")
    done = call(capsys, "robust", "-r", "bm25", *options, "--max-failures", "99%")
    assert done.code == 0
    assert "header: own_parts:not_base64 failed on" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["-d", "own_parts:documents"],
            ["own_parts:documents: its targets are documents, not lines"],
        ),
        (["-d", "nosuch"], ["unknown data set 'nosuch'"]),
        (["-c", "nosuch"], ["unknown chunker 'nosuch'"]),
        (["-c", "own_parts:never"], ["nothing is left to compare", "own_parts:never", "no luck"]),
        (["-e", "nosuch"], ["unknown embedder 'nosuch'"]),
        (["-r", "nosuch"], ["unknown retriever 'nosuch'"]),
        (["-t", "nosuch"], ["unknown transformation 'nosuch'", "blank-lines"]),
        (["--margin", "0"], ["--margin must be a number above 0"]),
        (["--limit", "0"], ["--limit must be at least 1"]),
        (["--seed", "-1"], ["--seed must be at least 0"]),
    ],
)
def test_wrong_calls_are_refused(capsys, own, options, words):
    code = 3 if "own_parts:never" in options else 2
    says(call(capsys, "robust", "-r", "bm25", *options), code, *words)
