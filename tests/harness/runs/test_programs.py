"""Chunkers of the program that runs: in processes where it may be imported, else in its own."""

import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from worlds import small

from chunkers import InputError, Span, load_chunker
from harness.chunking.corpus import chunk_corpus
from harness.chunking.cutters import HERE

SUPPORT = Path(__file__).parents[2] / "support"
CHUNKERS = """
import os, signal, sys, time
from worlds import small
import harness
from chunkers import Span
from chunkers.testing import check_chunker

def whole(source):
    return [Span(0, len(source.text))]

BROKEN = "one/copy of alpha.py"

class Silent(BaseException):
    def __str__(self):
        raise Exception("no")

def raises(source):
    if source.path == BROKEN:
        raise RuntimeError("no")
    return whole(source)

def silent(source):
    if source.path == BROKEN:
        raise Silent
    return whole(source)

def leaves(source):
    return sys.exit(3) if source.path == BROKEN else whole(source)

def notes(source, services):
    if source.path == BROKEN:
        services.notes = None
    return whole(source)

def nothing(source):
    return None if source.path == BROKEN else whole(source)

def generates(source):
    yield from whole(source)

def hangs(source):
    while source.path == BROKEN:
        time.sleep(0.1)
    return whole(source)

def hashed(source):
    names = {f"name{at}" for at in range(50)}
    return [Span(0, len(source.text), " ".join(names))]

def evaluate(*names, **given):
    given = {"retriever": "bm25", "measures": ["MRR"], "max_failures": "100%"} | given
    specs = [f"__main__:{name}" for name in names]
    return harness.evaluate(small(), chunkers=specs, **given)

def show(result):
    for cell in result.cells:
        print([*cell.cell["failures"], cell.cell["health"]["notes"]])
"""
GUARD = 'if __name__ == "__main__":\n    '
NOTE = {HERE: 4}


def program(folder, body, name="script.py", **environment):
    """What a program leaves whose chunkers are CHUNKERS."""
    (folder / name).write_text(CHUNKERS + body + "\n")
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, name],
        env={**os.environ, "PYTHONPATH": path, **environment},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def rows(process):
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return [eval(line) for line in out.splitlines()], said  # noqa: S307 - it is our own


def at(code):
    """The line of the script that begins with some code, as a reason names it."""
    lines = [line.strip() for line in CHUNKERS.split("\n")]
    (line,) = (number for number, line in enumerate(lines, 1) if line.startswith(code))
    return f"(script.py, line {line})"


REASONS = {
    "raises": f"RuntimeError: no {at('raise RuntimeError')}",
    "silent": f"Silent, whose message cannot be read {at('raise Silent')}",
    "leaves": f"SystemExit: 3 {at('return sys.exit(3)')}",
    "notes": "AttributeError: 'NoneType' object has no attribute 'items'",
    "nothing": "chunker __main__:nothing on one/copy of alpha.py: it returned NoneType, not a "
    "list of Span",
}


@pytest.mark.parametrize(("guard", "names"), [("", list(REASONS)), (GUARD, ["silent", "notes"])])
def test_whatever_a_chunker_of_the_program_raises_costs_its_file(tmp_path, guard, names):
    body = f"{guard}show(evaluate(*{names!r}))"
    found, said = rows(program(tmp_path, body))
    notes = dict(NOTE) if not guard else {}
    for row, name in zip(found, names, strict=True):
        assert row[0] == ["one", "one/copy of alpha.py", REASONS[name]]
        assert row[-1] == dict.fromkeys(notes, 3)
    if guard:
        assert said == ""
    else:
        assert "runs in this process, without limits: importing " in said
        assert 'put the code that it runs under `if __name__ == "__main__":`' in said


def test_a_program_that_may_be_imported_cuts_in_processes_with_limits(tmp_path):
    body = f"{GUARD}result = evaluate('hangs', 'generates', file_timeout=2.0); show(result); "
    found, said = rows(program(tmp_path, f"{body}print(len(result.failed[0].failures))"))
    assert found == [[["one", "one/copy of alpha.py", "took over 2 s"], {}], 4]
    assert said == ""


def test_there_the_hash_seed_of_the_program_changes_nothing(tmp_path):
    cut = "chunk_corpus(small().corpora[0], load_chunker('__main__:hashed'))"
    body = f"{GUARD}print([chunk.text for chunk in {cut}.chunks])"
    imports = (
        "from harness.chunking.corpus import chunk_corpus\nfrom chunkers import load_chunker\n"
    )
    found = [rows(program(tmp_path, imports + body, PYTHONHASHSEED=seed))[0] for seed in ("1", "2")]
    assert found[0] == found[1]


def test_a_program_that_cuts_where_it_is_imported_starts_no_processes_without_end(tmp_path):
    body = f"show(evaluate('raises'))\n{GUARD}pass"
    found, said = rows(program(tmp_path, body))
    assert found == [[["one", "one/copy of alpha.py", REASONS["raises"]], {next(iter(NOTE)): 3}]]
    assert "would run while a chunker is imported" in said


def test_the_user_s_interrupt_ends_a_program_that_cuts_itself(tmp_path):
    body = """
def waits(source):
    print("here", flush=True)
    time.sleep(60)

evaluate("waits")
"""
    process = program(tmp_path, body)
    assert process.stdout.readline() == "here\n"
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - started < 20
    assert process.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("guard", ["", GUARD])
def test_the_kit_tries_a_chunker_of_the_program_where_it_may_be_imported(tmp_path, guard):
    given = "languages=[None], programs=0"
    body = f"{guard}print([c.status for c in check_chunker(whole, {given}).checks])"
    process = program(tmp_path, body)
    if guard:
        found, _ = rows(process)
        assert "fail" not in found[0]
        assert "pass" in found[0]
        return
    _, said = process.communicate(timeout=60)
    assert "InputError: whole cannot be checked by other processes: importing" in said


def test_what_was_typed_in_cuts_and_says_so(monkeypatch):
    typed = types.ModuleType("typed")
    typed.__file__ = "<stdin>"
    typed.whole = lambda source: [Span(0, 1)]
    typed.whole.__module__ = "typed"
    monkeypatch.setitem(sys.modules, "typed", typed)
    chunker = load_chunker("typed:whole")
    assert chunker.version.startswith("typed ")
    with pytest.warns(UserWarning, match="it has no file that another process could import"):
        found = chunk_corpus(small().corpora[0], chunker)
    assert (len(found.chunks), found.notes) == (2, {HERE: 2})


class Moody:
    """A chunker whose attributes are what other people's code makes of them."""

    @property
    def max_size(self):
        raise SystemExit("not today")

    def chunk(self, source, services):
        return []


def test_what_a_chunker_declares_may_fail_in_any_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "moody", sys.modules[__name__])
    with pytest.raises(InputError, match="moody:Moody: its attributes cannot be read: SystemExi"):
        load_chunker("moody:Moody")
