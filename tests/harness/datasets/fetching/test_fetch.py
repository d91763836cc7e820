"""`chunkmark dataset fetch` against a server on this machine: how every fetch ends, and what it
leaves."""

import socket

import pytest
from commands import call, says
from fetched import DATA, TARGET, entry, fetch, left
from file_server import breaking_after, sends, serving, status

from harness.datasets.fetching import download


def test_a_file_is_fetched_once_and_then_checked(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        done = fetch(capsys, "--format", "json")
        assert done.code == 0
        assert done.json["schema"] == "chunkmark.dataset-fetch/1"
        assert done.json["files"][0] | {"source": ""} == {
            "path": TARGET,
            "state": "fetched",
            "where": str(data_dir / TARGET),
            "bytes": len(DATA),
            "source": "",
            "note": "as published",
        }
        assert (data_dir / TARGET).read_bytes() == DATA
        again = fetch(capsys, "--format", "json")
        assert again.json["files"][0]["state"] == "at hand"
        assert len(server.requests) == 1
    assert left(data_dir) == [TARGET]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (None, "is not the published file: its sha256 is"),
        (sends(200, b"x" * 500, 500), "has 500 bytes, not 1024000 as published"),
        (sends(200, b"x", 10**12), "has 1000000000000 bytes, not 1024000"),
        (sends(200, DATA + b"x"), "has more than 1024000 bytes"),
    ],
    ids=["wrong hash", "truncated", "announced too large", "never ending"],
)
def test_what_is_not_the_published_file_is_not_kept(capsys, data_dir, card, fault, words):
    with serving(data=b"y" * len(DATA)) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [fault]
        says(fetch(capsys), 2, words, "nothing of it was kept")
    assert left(data_dir) == []


def test_a_server_that_always_breaks_off_is_given_up(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(100)] * 20
        says(fetch(capsys), 2, "peer closed", "500 bytes are kept")
        assert len(server.requests) == download.TRIES


def test_tries_that_get_on_do_not_count(capsys, data_dir, card, monkeypatch):
    monkeypatch.setattr(download, "_PROGRESS", 1000)
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(100_000)] * 8
        assert fetch(capsys).code == 0
        assert len(server.requests) == 9


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_server_is_asked_again(capsys, data_dir, card, code):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [status(code, Retry_After="0")] * 2
        assert fetch(capsys).code == 0
        assert len(server.requests) == 3


def test_a_server_that_asks_for_a_long_wait_is_left_in_peace(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [status(503, Retry_After="3600")]
        says(fetch(capsys), 2, "HTTP 503", "the server asks to wait 3600 seconds")
        assert len(server.requests) == 1
    assert left(data_dir) == []


@pytest.mark.parametrize("code", [403, 404, 410])
def test_a_file_that_is_not_there_is_asked_for_once(capsys, data_dir, card, code):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [status(code)]
        says(fetch(capsys), 2, f"HTTP {code}", f"place the file by hand as {data_dir / TARGET}")
        assert len(server.requests) == 1
    assert left(data_dir) == []


def test_without_a_network_the_message_says_what_to_place_where(capsys, data_dir, card):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/data"
        card(entry(url))
        done = fetch(capsys)
    says(done, 2, url, "refused", f"place the file by hand as {data_dir / TARGET}")
    assert left(data_dir) == []
    card(entry("https://no-such-host.invalid/data"))
    says(fetch(capsys), 2, "no-such-host.invalid", "by hand")


def test_redirects_lead_to_the_same_host_or_to_https(capsys, data_dir, card):
    with serving(data=DATA) as server, serving(data=DATA) as other:
        card(entry(f"{server.url}/moved"))
        server.faults = [status(302, Location="/data")]
        assert fetch(capsys).code == 0
        (data_dir / TARGET).unlink()
        for there, words in [
            (f"{other.url}/data", "neither https nor the same host"),
            ("file:///etc/passwd", "neither https nor the same host"),
            ("ftp://127.0.0.1/data", "neither https nor the same host"),
            ("", "more than 5 times"),
        ]:
            server.faults = [status(302, Location=there)] * 9
            says(fetch(capsys), 2, words)
        assert other.requests == []
    assert left(data_dir) == []


def test_a_local_server_is_never_asked_through_a_proxy(capsys, data_dir, card, monkeypatch):
    with serving(data=DATA) as server, serving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        card(entry(f"{server.url}/data"))
        assert fetch(capsys).code == 0
        assert proxy.requests == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://h/x", "x", "http://"])
def test_other_addresses_are_not_asked(capsys, data_dir, card, url):
    card(entry(url))
    says(fetch(capsys), 2, "is not an http(s) address")
    assert left(data_dir) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\\\\b", "C:/x"])
def test_a_card_places_nothing_outside_of_the_folder(capsys, data_dir, card, path):
    card(entry("http://127.0.0.1:1/data", path=path))
    says(fetch(capsys), 2, "outside the folder")


def test_a_file_of_unknown_digest_is_not_fetched_but_told_of(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(
            f'[[files]]\npath = "mine/other.bin"\nbytes = 3\nurl = "{server.url}/data"\n'
            '[[files]]\npath = "mine/third.bin"\n' + entry(f"{server.url}/data")
        )
        done = fetch(capsys)
        assert done.code == 3
        assert f"{server.url}/data" in done.out
        assert str(data_dir / "mine/other.bin") in done.out
        assert "https://example.org/mine" in done.out
        assert [path for path, _ in server.requests] == ["/data"]
    assert left(data_dir) == [TARGET]


def test_a_file_that_is_not_as_published_is_never_overwritten(capsys, data_dir, card):
    (data_dir / "mine").mkdir()
    (data_dir / TARGET).write_bytes(b"mine")
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        says(fetch(capsys), 2, "is not as published", "move it away")
        assert server.requests == []
    assert (data_dir / TARGET).read_bytes() == b"mine"


def test_a_folder_that_cannot_be_written_is_one_clear_line(capsys, data_dir, card):
    (data_dir / "mine").write_text("a file in the place of the folder")
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        says(fetch(capsys), 2, "cannot be written", "--data-dir")


def test_two_processes_do_not_write_one_file(capsys, data_dir, card):
    from filelock import FileLock

    (data_dir / "mine").mkdir()
    with serving(data=DATA) as server, FileLock(data_dir / "mine/.partial-data.bin.lock"):
        card(entry(f"{server.url}/data"))
        says(fetch(capsys), 2, "another process")
        assert server.requests == []


def test_progress_is_told_in_bytes(tmp_path):
    told = []
    with serving(data=DATA) as server:
        wanted = download.Download(
            f"{server.url}/data", tmp_path / ".partial-x", None, None, len(DATA), "advice"
        )
        with download.downloaded(wanted, lambda done, total: told.append((done, total))):
            assert wanted.partial.read_bytes() == DATA
    assert told[-1] == (len(DATA), len(DATA))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert left(tmp_path) == []


def test_data_sets_without_files_and_unknown_ones(capsys):
    done = call(capsys, "dataset", "fetch", "stdlib")
    assert (done.code, done.out) == (0, "stdlib needs no files\n")
    says(call(capsys, "dataset", "fetch", "repoeval-functoin"), 2, "unknown data set", "repoeval")
    for form in ("json", "csv", "markdown"):
        assert call(capsys, "dataset", "fetch", "stdlib", "--format", form).code == 0
    assert call(capsys, "dataset", "fetch", "stdlib", "--format", "json").json["files"] == []


def test_of_what_one_does_one_must_be_placed_beside_the_first_file(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data") + '[[any_of]]\nwhat = "code"\nbeside = ["a/*", "b/"]\n')
        done = fetch(capsys, "--format", "json")
        assert done.code == 3
        (_, row) = done.json["files"]
        assert (row["path"], row["state"]) == ("code", "to place")
        assert row["where"] == f"{data_dir}/mine/a/*, or another of them"
        (data_dir / "mine/a").mkdir()
        (data_dir / "mine/a/x.jsonl").write_text("")
        again = fetch(capsys, "--format", "json")
        assert again.code == 0
        assert again.json["files"][1]["state"] == "at hand"


def test_what_a_data_set_does_without_is_checked_where_it_lies(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data") + "optional = true\n")
        assert fetch(capsys, "--format", "json").json["files"] == []
        (data_dir / "mine").mkdir()
        notes = []
        for data in (DATA, DATA[1:]):
            (data_dir / TARGET).write_bytes(data)
            notes.append(fetch(capsys, "--format", "json").json["files"][0]["note"])
        assert notes[0] == "as published"
        assert notes[1].startswith("not as published")
        assert server.requests == []
