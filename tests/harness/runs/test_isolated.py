"""Real runs with chunkers that break: a file fails alone, too many files fail their cell."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from breaking import BROKEN
from commands import call, says
from worlds import files, grid, small

from chunkers import InputError, Source, load_chunker
from chunkers.processes import pool
from chunkers.source import Services
from chunkers.testing.services import cheap_services
from harness.chunking.corpus import chunk_corpora, chunk_corpus
from harness.chunking.cutters import HERE
from harness.chunking.limits import TooManyFailuresError
from harness.model import Corpus
from harness.reports.document import run_document
from harness.reports.tables import as_csv, as_markdown
from harness.runs.failures import parse_max_failures

SUPPORT = Path(__file__).parents[2] / "support"
LEXICAL = {"retrievers": ("bm25",), "measures": ("MRR",)}


def test_what_breaks_on_one_file_fails_there_alone(tmp_path):
    reasons = {
        "hangs": "took over 20 s",
        "allocates": "needed over 2048 MiB",
        "recurses": "RecursionError: maximum recursion depth exceeded",
        "segfaults": "died of SIGSEGV",
        "exits": "left with exit code 0",
        "raises": "TypeError: 'Source' object is not subscriptable",
        "interrupts": "KeyboardInterrupt:",
        "reorders": "chunker breaking:reorders on one/copy of alpha.py: item 2 is Span(0, 1)",
    }
    chunkers = (*(f"breaking:{name}" for name in reasons), "breaking:prints")
    result = grid(tmp_path, chunkers=chunkers, max_failures="1", file_timeout=20.0, **LEXICAL)
    assert result.failed == ()
    for cell, reason in zip(result.cells, reasons.values(), strict=False):
        ((corpus, path, said),) = cell.cell["failures"]
        assert (corpus, path) == ("one", BROKEN)
        assert said.startswith(reason)
        assert cell.metrics["n_queries"] == 4
        assert cell.cell["health"]["chunks"] == 2
        # The line names the chunker and the file once.
        own = said.removeprefix(f"chunker {cell.chunker} on {BROKEN}: ")
        assert f"{cell.chunker} failed on {BROKEN} of corpus one of small: {own}" in result.failures
    assert result.cells[-1].cell["failures"] == []
    marks = [cell["marks"] for cell in run_document(result)["cells"]]
    assert ["failed on 1 file" in of for of in marks] == [True] * len(reasons) + [False]


def test_a_parser_that_never_returns_costs_its_file(tmp_path):
    # tree-sitter 0.26.0 with the grammar of TSX; a file of one line is not parsed.
    text = "{d(b=(o p<T= )void=>{function d(){}):d=m}\nlet value = 1\n"
    broken = Source(text, "one/x.tsx", "tsx")
    first, second = small().corpora
    corpora = (dataclasses.replace(first, sources=(*first.sources, broken)), second)
    dataset = small(corpora=corpora)
    given = {"chunkers": ("ast:max_size=20", "fixed"), "max_failures": "20%", "file_timeout": 1.0}
    ast, fixed = grid(tmp_path, dataset=dataset, **given, **LEXICAL).cells
    assert ast.cell["failures"] == [["one", "one/x.tsx", "took over 1 s"]]
    assert fixed.cell["failures"] == []
    assert ast.metrics["metrics"]["MRR"]["mean"] > 0


def test_above_the_limit_the_cell_is_no_result_and_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"chunkers": ("breaking:while_there_is_a_flag", "fixed"), **LEXICAL}
    Path("flag").touch()
    result = grid(tmp_path, **given)
    assert [cell.chunker for cell in result.cells] == ["fixed"]
    (failed,) = result.failed
    assert failed.reason == "failed on 4 of 4 files, over --max-failures 1%"
    assert len(failed.failures) == 4
    assert len(list((tmp_path / "run" / "cells").iterdir())) == 1
    document = run_document(result)
    assert document["failed"][0]["chunker"] == "breaking:while_there_is_a_flag"
    for shown in (as_csv(document), as_markdown(document).replace("\\", "")):
        assert "breaking:while_there_is_a_flag" in shown
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert [one["chunker"] for one in manifest["failed"]] == ["breaking:while_there_is_a_flag"]
    assert manifest["status"] == "complete"

    Path("flag").unlink()
    again = grid(tmp_path, **given)
    assert (len(again.cells), again.failed, again.failures) == (2, (), [])


def test_a_chunker_without_any_chunk_has_failed_on_every_file(tmp_path):
    chunkers = ("worlds:returning_nothing", "worlds:returning_blanks", "worlds:only_the_copy")
    result = grid(tmp_path, chunkers=chunkers, **LEXICAL)
    assert [cell.chunker for cell in result.cells] == ["worlds:only_the_copy"]
    assert [cell.chunker for cell in result.failed] == [*chunkers[:2]]
    for cell in result.failed:
        assert cell.reason.startswith("returned no chunk for any of 4 files; it must")
        assert {reason for _, _, reason in cell.failures} == {"no chunk"}
    for allowed in ("100%", "4"):
        result = grid(tmp_path, chunkers=chunkers, max_failures=allowed, **LEXICAL)
        assert all("no chunk for any of 4 files" in cell.reason for cell in result.failed)


def test_a_stored_cell_is_held_to_what_may_fail_now(tmp_path):
    given = {"chunkers": ("worlds:failing",), **LEXICAL}
    assert grid(tmp_path, max_failures="25%", **given).failed == ()
    result = grid(tmp_path, max_failures="24%", **given)
    assert result.cells == ()
    assert result.failed[0].reason == "failed on 1 of 4 files, over --max-failures 24%"
    assert len(grid(tmp_path, max_failures="1", **given).cells) == 1


@pytest.mark.parametrize(
    ("text", "files", "most"),
    [
        ("1%", 99, 0),
        ("1%", 100, 1),
        ("29%", 100, 29),
        ("0.5 %", 1000, 5),
        ("3", 10, 3),
        ("0", 9, 0),
    ],
)
def test_a_share_or_a_number_of_files_may_fail(text, files, most):
    assert parse_max_failures(text).of(files) == most


@pytest.mark.parametrize("text", ["", "1.5", "-1", "101%", "%", "one", "1e3", "nan%"])
def test_what_is_neither_is_refused_by_name(text):
    with pytest.raises(
        InputError,
        match=r"--max-failures must be (a whole number or a percentage of the files|at most 100%)",
    ):
        parse_max_failures(text)


def test_the_program_says_what_failed_and_exits_with_3_above_the_limit(tmp_path, capsys):
    arguments = ["run", "-d", "meaning:tiny", "-r", "bm25", "-c", "worlds:failing", "-m", "MRR"]
    out = ("-o", tmp_path / "run")
    refused = call(capsys, *arguments, *out, "--max-failures", "some")
    says(refused, 2, "--max-failures", "'some'")
    says(call(capsys, *arguments, *out, "--file-timeout", "0"), 2, "--file-timeout", "above 0")

    done = call(capsys, *arguments, *out)
    assert done.code == 3
    assert "(bm25) failed on 1 of 4 files" in done.out
    where = "one/copy of alpha.py of corpus one of meaning:tiny"
    assert f"worlds:failing failed on {where}: RuntimeError" in done.err
    assert "not scored: worlds:failing on meaning:tiny" in done.out
    gate = call(capsys, "gate", tmp_path / "run", "--min", "MRR>0", "--require")
    assert (gate.code, "skipped" in gate.out) == (1, True)

    done = call(capsys, *arguments, *out, "--max-failures", "25%")
    assert done.code == 0
    assert "worlds:failing: failed on 1 file" in done.out


def test_only_a_few_failures_are_named(tmp_path):
    result = grid(tmp_path, chunkers=("worlds:leaving",), max_failures="100%", **LEXICAL)
    assert len(result.failures) == 5
    assert result.failures[-1] == "worlds:leaving failed on 1 more file"


def test_after_a_few_files_that_hang_no_others_are_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = Corpus("one", tuple(Source("a\n", f"{at}.py", "python") for at in range(50)))
    started = time.monotonic()
    with pytest.raises(TooManyFailuresError) as raised:
        limits = pool_limits(0.5)
        chunk_corpora(
            (corpus,), load_chunker("breaking:always_hangs"), Services(), limits=limits, most=1
        )
    assert time.monotonic() - started < 15
    assert (raised.value.tried, raised.value.files) == (3, 50)
    assert [path for _, path, _ in raised.value.failures] == ["0.py", "1.py", "2.py"]
    assert not any(alive(int(path.stem)) for path in tmp_path.glob("*.pid"))


def pool_limits(seconds):
    from harness.chunking.cutters import limits_of

    return limits_of(seconds)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_any_number_of_processes_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_WORTH", 1)
    found = []
    for count in (1, 2, 4):
        monkeypatch.setattr(pool, "_cores", lambda count=count: count)
        chunkers = (
            "breaking:comes_late",
            "worlds:failing",
            "random-cuts",
            "fixed-tokens:max_size=30",
        )
        result = grid(tmp_path, f"by{count}", chunkers=chunkers, max_failures="1", **LEXICAL)
        found.append((files(result.out), result.failures))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "spec",
    ["ast:max_size=80", "fixed-tokens:max_size=20,header=on", "semantic", "code-chunk-ast",
     "worlds:failing", "breaking:reorders"],
)  # fmt: skip
def test_another_process_cuts_as_this_one_does(spec):
    chunker, services = load_chunker(spec), cheap_services()
    here = dataclasses.replace(chunker, made_by="")
    corpora = small().corpora
    there = chunk_corpora(corpora, chunker, services)
    with pytest.warns(UserWarning, match="runs in this process, without limits: it has no file"):
        found = chunk_corpora(corpora, here, services)
    for one, other in zip(there, found, strict=True):
        assert one.chunks
        assert (one.chunks, one.blank, one.failures) == (other.chunks, other.blank, other.failures)
        cut = len(one.corpus.sources) - len(one.failures)
        assert other.notes == one.notes + Counter({HERE: cut})


def test_what_the_embedder_raises_is_no_failure_of_a_file():
    def embed(texts):
        raise InputError("the embedder is gone")

    chunker = load_chunker("meaning:ByVectors")
    with pytest.raises(InputError, match="the embedder is gone"):
        chunk_corpus(small().corpora[0], chunker, embed=embed)

    def swallows(source, services):
        with contextlib.suppress(Exception):
            return chunker.chunk(source, services)
        return []

    here = dataclasses.replace(chunker, chunk=swallows, made_by="")
    with (
        pytest.warns(UserWarning, match="runs in this process"),
        pytest.raises(InputError, match="the embedder is gone"),
    ):
        chunk_corpus(small().corpora[0], here, embed=embed)


def test_a_chunker_that_was_edited_meanwhile_is_refused(tmp_path, monkeypatch):
    (tmp_path / "edited.py").write_text("def make(source): return []\n")
    monkeypatch.syspath_prepend(tmp_path)
    chunker = load_chunker("edited:make")
    assert chunk_corpus(small().corpora[0], chunker).failures == ()
    (tmp_path / "edited.py").write_text("def make(source): return [1]\n")
    with pytest.raises(InputError, match="do not edit its code during a run"):
        chunk_corpus(small().corpora[0], chunker)


def environment(**more):
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def started(folder, command):
    """A program, and the processes in which its chunker hangs."""
    process = subprocess.Popen(
        [sys.executable, *command],
        env=environment(),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores SIGINT, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("*.pid")) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process, [int(path.stem) for path in folder.glob("*.pid")]


@pytest.mark.parametrize(
    ("number", "code", "begins"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_a_run_at_once_and_leaves_no_process(tmp_path, number, code, begins):
    arguments = ["run", "-d", "meaning:tiny", "-r", "bm25", "-c", "breaking:always_hangs"]
    process, hanging = started(tmp_path, ["-m", "harness.cli", *arguments])
    assert all(map(alive, hanging))
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code
    assert said == f"chunkmark: {begins}; rerun the command to resume\n"
    assert len(hanging) == 1
    assert not any(map(alive, hanging))


def test_a_process_whose_parent_was_killed_ends_by_itself(tmp_path):
    code = (
        "import os, time; from chunkers.processes.isolation import *;"
        "w = Worker(LoadTarget('ast'), Limits());"
        "w.load(); open(f'{w._process.pid}.pid', 'w'); time.sleep(60)"
    )
    process, (pid,) = started(tmp_path, ["-c", code])
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)
