"""What breaks off is gone on with, and only where it is of the same bytes."""

from commands import says
from fetched import DATA, TARGET, entry, fetch, left
from file_server import breaking_after, sends, serving

from harness.datasets.fetching import download


def test_what_breaks_off_is_gone_on_with_in_one_call(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(300_000), breaking_after(400_000)]
        assert fetch(capsys).code == 0
        asked = [headers.get("Range") for _, headers in server.requests]
    assert asked == [None, "bytes=300000-", "bytes=700000-"]
    assert (data_dir / TARGET).read_bytes() == DATA
    assert left(data_dir) == [TARGET]


def test_what_breaks_off_is_kept_named_and_gone_on_with_by_the_next_call(
    capsys, data_dir, card, monkeypatch
):
    monkeypatch.setattr(download, "TRIES", 1)
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(300_000)]
        broken = fetch(capsys)
        says(
            broken,
            2,
            "received 300000 bytes",
            "300000 bytes are kept in",
            "by hand",
        )
        assert str(data_dir / "mine" / ".partial-data.bin") in broken.err
        assert left(data_dir) == ["mine/.partial-data.bin", "mine/.partial-data.bin.json"]
        assert fetch(capsys).code == 0
        assert server.requests[-1][1]["Range"] == "bytes=300000-"
    assert (data_dir / TARGET).read_bytes() == DATA
    assert left(data_dir) == [TARGET]


def test_a_server_that_sends_no_parts_is_asked_for_all(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.ranges, server.faults = False, [breaking_after(300_000)]
        assert fetch(capsys).code == 0
        assert len(server.requests) == 2
    assert (data_dir / TARGET).read_bytes() == DATA


def test_without_a_version_nothing_is_gone_on_with(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.tag, server.faults = lambda data: None, [breaking_after(300_000)]
        assert fetch(capsys).code == 0
        assert [headers.get("Range") for _, headers in server.requests] == [None, None]
    assert (data_dir / TARGET).read_bytes() == DATA


def test_a_weak_version_tells_no_bytes_apart(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.tag, server.faults = lambda data: 'W/"1"', [breaking_after(300_000)]
        assert fetch(capsys).code == 0
        assert server.requests[1][1].get("Range") is None


def test_a_file_that_changed_meanwhile_comes_whole(capsys, data_dir, card):
    with serving(data=b"x" * len(DATA)) as server:
        card(entry(f"{server.url}/data"))

        def change(handler, data):
            handler.whole_or_part(data, sent=300_000)
            server.files["/data"] = DATA

        server.faults = [change]
        assert fetch(capsys).code == 0
    assert (data_dir / TARGET).read_bytes() == DATA


def test_parts_of_two_versions_under_one_name_are_fetched_anew(capsys, data_dir, card):
    with serving(data=b"x" * len(DATA)) as server:
        server.tag = lambda data: '"always"'
        card(entry(f"{server.url}/data"))

        def change(handler, data):
            handler.whole_or_part(data, sent=300_000)
            server.files["/data"] = DATA

        server.faults = [change]
        assert fetch(capsys).code == 0
        asked = [headers.get("Range") for _, headers in server.requests]
    assert asked == [None, "bytes=300000-", None]
    assert (data_dir / TARGET).read_bytes() == DATA


def test_another_part_than_was_asked_for_is_not_taken(capsys, data_dir, card):
    wrong = sends(206, DATA[100:], len(DATA) - 100, Content_Range="bytes 100-1023999/1024000")
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(300_000), wrong]
        assert fetch(capsys).code == 0
        asked = [headers.get("Range") for _, headers in server.requests]
    assert asked == [None, "bytes=300000-", None]
    assert (data_dir / TARGET).read_bytes() == DATA


def test_a_part_nobody_asked_for_is_not_taken(capsys, data_dir, card):
    part = sends(206, DATA, len(DATA), Content_Range="bytes 0-1023999/1024000")
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [part]
        assert fetch(capsys).code == 0
        assert len(server.requests) == 2


def test_a_partial_file_of_another_card_is_not_gone_on_with(capsys, data_dir, card, monkeypatch):
    monkeypatch.setattr(download, "TRIES", 1)
    other = DATA[::-1]
    with serving(data=DATA, other=other) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [breaking_after(300_000)]
        assert fetch(capsys).code == 2
        card(entry(f"{server.url}/other", other))
        assert fetch(capsys).code == 0
        assert server.requests[-1][1].get("Range") is None
    assert (data_dir / TARGET).read_bytes() == other


def test_a_partial_file_that_is_whole_is_only_checked(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        (data_dir / "mine").mkdir()
        (data_dir / "mine" / ".partial-data.bin").write_bytes(DATA)
        assert fetch(capsys).code == 0
        assert server.requests == []
    assert left(data_dir) == [TARGET]


def test_a_partial_file_that_somebody_spoiled_is_fetched_anew(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        (data_dir / "mine").mkdir()
        (data_dir / "mine" / ".partial-data.bin").write_bytes(b"x" * len(DATA))
        assert fetch(capsys).code == 0
    assert (data_dir / TARGET).read_bytes() == DATA
    assert left(data_dir) == [TARGET]
