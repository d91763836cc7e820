"""Runs with a served model: what they show, what a kill costs, and that no key is anywhere."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from embedding_server import Api, cut_short, serving, status, vector_of

KEY = "sk-secret-0123456789abcdef"
ASKED = ("run", "-c", "fixed:max_size=300", "-m", "R@5", "--limit", "12", "--format", "json")


@pytest.fixture
def api():
    with serving() as made:
        yield made


def started(api: Api, tmp_path, *more, key=KEY):
    environment = {
        **os.environ,
        "OPENAI_API_KEY": key,
        "CHUNKMARK_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *more, *ASKED, "-o", str(tmp_path / "run"),
         "-e", f"openai:some-model,base_url={api.url},batch=8,timeout=5"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def finished(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out), err


def test_a_killed_run_goes_on_and_asks_for_nothing_again(api, tmp_path):
    api.seconds = 0.3
    process = started(api, tmp_path)
    while len(api.requests) < 8:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    first = api.texts
    api.seconds = 0.0
    del api.requests[:]
    (cell,) = finished(started(api, tmp_path))[0]["cells"]
    # Lost is what was under way, and what came in the second before.
    assert len(set(first) & set(api.texts)) <= 8 * 5
    assert len(set(first) - set(api.texts)) >= 8 * 3
    assert len(api.texts) == len(set(api.texts))
    assert cell["cost"]["embedded_now"] == len(api.texts)

    del api.requests[:]
    again = finished(started(api, tmp_path))[0]["cells"][0]
    assert api.requests == []
    assert again["metrics"] == cell["metrics"]

    whole = tmp_path / "whole"
    whole.mkdir()
    undisturbed = finished(started(api, whole))[0]["cells"][0]
    assert undisturbed["metrics"] == cell["metrics"]
    assert undisturbed["key"] == cell["key"]


def test_a_run_shows_what_is_known_and_null_for_what_is_not(api, tmp_path):
    document, _ = finished(started(api, tmp_path))
    (cell,) = document["cells"]
    assert cell["health"]["unseen_chunk_tokens"] is None
    assert cell["health"]["unseen_query_tokens"] is None
    assert cell["cost"]["tokens"] is None
    assert cell["cost"]["embedding_seconds"] > 0
    assert cell["latency_ms"]["embedding"]["p50"] > 0
    assert cell["latency_ms"]["total"]["p95"] >= cell["latency_ms"]["search"]["p95"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    (known,) = manifest["embedders"].values()
    assert known["server"] == api.url
    assert "as served" in known["vectors"]


def hidden(tmp_path, *outputs):
    """No file and no output of a run holds the key, or a part of it that says something."""
    part = KEY[:12]
    for text in outputs:
        assert part not in text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert part.encode() not in path.read_bytes(), path


LEAKY = {
    "refused": [status(400, {"error": {"message": f"Bearer {KEY}"}}, reason=KEY)] * 9,
    "no quota": [
        status(
            429,
            {"error": {"code": "insufficient_quota", "message": KEY}},
            [("Retry-After", "0.01")],
            reason=KEY,
        )
    ]
    * 6,
    "unknown": [status(404, {"error": {"message": f"Bearer {KEY}"}}, reason=KEY)],
    "not accepted": [status(401, {"error": {"message": KEY}}, [("X-Key", KEY)], reason=KEY)],
    "busy": [status(503, {"detail": KEY}, [("Retry-After", "0.01")], reason=KEY)] * 6,
    "sent on": [status(308, {"at": KEY}, [("Location", f"http://127.0.0.1:9/{KEY}")])],
    "wrong": [lambda handler, answer: {"data": [{"index": KEY, "embedding": KEY}], "error": KEY}],
}


@pytest.mark.parametrize("faults", LEAKY.values(), ids=LEAKY)
def test_no_error_shows_the_key_even_where_the_server_quotes_it(api, tmp_path, faults):
    api.faults = list(faults)
    process = started(api, tmp_path, "--debug")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert "Traceback" in err
    assert "chunkmark: openai:some-model" in err
    assert KEY in api.requests[0]["headers"]["Authorization"]
    hidden(tmp_path, out, err)


def test_no_file_of_a_run_holds_the_key(api, tmp_path):
    api.faults = [status(429, {"error": KEY}, [("Retry-After", "0.1")]), cut_short]
    document, err = finished(started(api, tmp_path, "--debug"))
    hidden(tmp_path, json.dumps(document), err)
    assert (tmp_path / "cache" / "vectors.sqlite").exists()


def test_no_key_no_run(api, tmp_path):
    process = started(api, tmp_path, key="")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "OPENAI_API_KEY holds no key" in err
    assert not (tmp_path / "run").exists()
    assert api.requests == []


def test_the_server_of_these_tests_tells_texts_apart():
    assert (vector_of("a") != vector_of("b")).any()
