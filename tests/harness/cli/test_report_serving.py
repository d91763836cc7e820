"""`chunkmark report --serve`: the page on this machine alone, made again while a run goes on."""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from commands import call, says
from report_worlds import wide
from worlds import grid

from chunkers.errors import InputError
from harness.cli.serving import PageServer


def ask(address, path="", **headers):
    """Status, headers and text of an answer."""
    request = urllib.request.Request(address + path, headers=headers)  # noqa: S310 - this machine
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


@contextmanager
def serving(folder, make):
    with PageServer([folder], make) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


def touch(folder, text="{}"):
    (folder / "manifest.json").write_text(text)


class TestServer:
    def test_it_makes_the_page_again_when_the_folder_has_changed(self, tmp_path):
        pages = iter(["<p>one</p>", "<p>two</p>"])
        touch(tmp_path)
        with serving(tmp_path, lambda tag: next(pages)) as address:
            status, headers, text = ask(address)
            assert (status, text) == (200, "<p>one</p>")
            tag = headers["ETag"]
            assert ask(address, **{"If-None-Match": tag})[0] == 304
            touch(tmp_path, '{"more": 1}')
            status, headers, text = ask(address, **{"If-None-Match": tag})
            assert (status, text) == (200, "<p>two</p>")
            assert headers["ETag"] != tag

    def test_a_page_that_is_overtaken_has_the_tag_of_the_folder_it_was_made_of(self, tmp_path):
        def make(tag):
            if (tmp_path / "manifest.json").read_text() == "{}":
                touch(tmp_path, '{"more": 1}')
            return tag

        touch(tmp_path)
        with serving(tmp_path, make) as address:
            _, headers, text = ask(address)
            assert headers["ETag"] == text
            _, headers, newer = ask(address, **{"If-None-Match": text})
            assert headers["ETag"] == newer != text
            assert ask(address, **{"If-None-Match": newer})[0] == 304

    def test_a_folder_that_is_damaged_is_an_error_with_its_reason(self, tmp_path):
        touch(tmp_path)

        def make(tag):
            if (tmp_path / "manifest.json").read_text() != "{}":
                raise InputError("<it> is damaged")
            return "<p>one</p>"

        with serving(tmp_path, make) as address:
            assert ask(address)[0] == 200
            touch(tmp_path, '{"half": ')
            status, _, text = ask(address)
            assert (status, "&lt;it&gt; is damaged" in text) == (503, True)
            touch(tmp_path)
            assert ask(address)[::2] == (200, "<p>one</p>")

    def test_nothing_else_is_served(self, tmp_path):
        touch(tmp_path)
        with serving(tmp_path, lambda tag: "page") as address:
            assert address.startswith("http://127.0.0.1:")
            for path in ("manifest.json", "../etc/passwd", "%2e%2e/x"):
                assert ask(address, path)[0] == 404
            # A page elsewhere whose name was made to lead here.
            assert ask(address, Host="evil.example")[0] == 403
            status, _, text = ask(address, "?x")
            assert (status, "page" in text) == (404, False)


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "report", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    grid(folder, "run", wide(), retrievers=("bm25",))
    return folder / "run"


def test_a_run_that_goes_on_is_shown_as_far_as_it_is(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    whole = json.loads((folder / "manifest.json").read_text())
    part = whole | {"status": "running", "cells": whole["cells"][:2]}
    (folder / "manifest.json").write_text(json.dumps(part))
    process = start(folder, "--serve")
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        _, headers, text = ask(address)
        assert "2 of 3 cells so far" in " ".join(text.split())
        assert f'data-live="{headers["ETag"]}"' in html.unescape(text)
        assert "connect-src &#39;self&#39;" in text
        (folder / "manifest.json").write_text(json.dumps(whole))
        _, _, text = ask(address)
        assert "cells so far" not in text
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""
        assert not list(tmp_path.glob("*.html"))
    finally:
        process.kill()
        process.communicate()


def test_only_a_report_is_replaced(run, tmp_path, capsys):
    source, page, empty = (tmp_path / name for name in ("a.py", "page.html", "empty.html"))
    source.write_text("x = 1\n")
    empty.touch()
    says(call(capsys, "report", run, "-o", source), 2, f"{source} exists and is not a report", "-o")
    assert source.read_text() == "x = 1\n"
    says(call(capsys, "report", run, "-o", tmp_path), 2, "is a folder; name a file with -o")
    for out in (page, page, empty):
        assert call(capsys, "report", run, "-o", out).code == 0
    figures = ("-o", page, "--figures", source)
    says(call(capsys, "report", run, *figures), 2, "a.py is a file; name a folder with --figures")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("{run}",), ["is given more than once"]),
        (("{run}/../run",), ["is given more than once"]),
        (("--serve", "--out", "page.html"), ["--serve writes no file; remove --serve or --out"]),
        (("--serve", "--figures", "shown"), ["--serve writes no file; remove --serve or --figur"]),
    ],
)
def test_what_has_no_effect_on_a_report_is_refused(run, capsys, options, words):
    says(call(capsys, "report", run, *(option.format(run=run) for option in options)), 2, *words)


def test_a_folder_that_is_no_run_is_one_line(tmp_path, capsys):
    says(call(capsys, "report", tmp_path, "--serve"), 2, f"{tmp_path} is not a run folder")
