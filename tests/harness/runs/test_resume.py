"""Threads, the store's history, a kill and an interrupt change no byte of a run."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from worlds import BYTES, files, grid

from chunkers.errors import InputError
from harness.embedding.vector_store import VectorStore

REDFRAMES = "repoeval-function:repos=maxhumber_redframes"


def command(out, *more):
    options = ["run", "-d", REDFRAMES, "-c", "fixed", "-m", "nDCG@5", "-m", "SpanR@10000c"]
    return [sys.executable, "-m", "harness.cli", *options, "-o", str(out), *more]


def in_its_own_cache(path, threads="2"):
    return {**os.environ, "CHUNKMARK_CACHE": str(path), "OMP_NUM_THREADS": threads}


def test_threads_store_history_and_a_kill_change_no_byte(tmp_path, data):
    plain = tmp_path / "plain"
    subprocess.run(command(plain), check=True, env=in_its_own_cache(tmp_path / "a"),
                   capture_output=True)  # fmt: skip
    expected = files(plain)
    assert len(expected) == len(BYTES)

    single = tmp_path / "single"
    env = in_its_own_cache(tmp_path / "b", threads="1")
    prefilled = [*command(tmp_path / "other", "--limit", "3"), "-c", "ast"]
    subprocess.run(prefilled, check=True, env=env, capture_output=True)
    subprocess.run(command(single), check=True, env=env, capture_output=True)
    assert files(single) == expected

    killed = tmp_path / "killed"
    env = in_its_own_cache(tmp_path / "c")
    process = subprocess.Popen(command(killed), env=env, stderr=subprocess.DEVNULL)
    store = tmp_path / "c" / "vectors.sqlite"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists() and sum(n for *_, n in counts(store)) > 40:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.05)
    assert process.wait() == -signal.SIGKILL
    assert not list(killed.glob("cells/*/metrics.json"))
    held = sum(n for *_, n in counts(store))
    assert held > 40
    seconds = stored_seconds(store)
    subprocess.run(command(killed), check=True, env=env, capture_output=True)
    assert files(killed) == expected
    # A row keeps the time at which it was embedded; a second embedding would not be the same.
    after = stored_seconds(store)
    assert {key: after[key] for key in seconds} == seconds
    manifest = json.loads((killed / "manifest.json").read_text())
    assert manifest["times"]["embedding"] > 0
    cell = json.loads(next(killed.glob("cells/*/cell.json")).read_text())
    assert cell["cost"]["embedded_now"] == len(after) - len(seconds)


def test_an_interrupt_is_no_failure_and_the_run_goes_on(tmp_path, data):
    env = in_its_own_cache(tmp_path / "cache")
    process = subprocess.Popen(
        command(tmp_path / "run"),
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores SIGINT, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    store = tmp_path / "cache" / "vectors.sqlite"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists() and sum(n for *_, n in counts(store)) > 10:
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.05)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.strip().split("\n")[-1].startswith("chunkmark: interrupted")
    subprocess.run(command(tmp_path / "run"), check=True, env=env, capture_output=True)
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "complete"
    assert not list((tmp_path / "run" / "cells").glob(".partial-*"))


def counts(path):
    try:
        store = VectorStore(path)
    except InputError:
        return []
    try:
        return store.counts()
    finally:
        store.close()


def stored_seconds(path):
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT model, text, seconds FROM vectors")
        return {(model, text): seconds for model, text, seconds in rows}


def test_an_unusable_store_stops_what_embeds_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "vectors.sqlite").mkdir()  # a damaged file would be replaced
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path))
    asked = {"chunkers": ("fixed",)}
    assert len(grid(tmp_path, retrievers=("bm25",), **asked).cells) == 1
    with pytest.raises(InputError, match="the store of vectors cannot be used"):
        grid(tmp_path, retrievers=("bm25", "dense"), depth=7, **asked)
    assert len(list((tmp_path / "run" / "cells").iterdir())) == 1  # no work was done before
