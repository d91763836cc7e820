"""Full disks, obstacles in the place of a file, and archives with false sizes."""

import hashlib
import io
import struct
import subprocess
import sys
import zipfile

import pytest
from commands import says
from fetched import DATA, TARGET, entry, fetch, left
from file_server import serving

from chunkers.errors import InputError
from harness.datasets.fetching import download
from harness.datasets.fetching.archives import unpack


def test_a_servers_words_cannot_steer_the_terminal(capsys, data_dir, card, monkeypatch):
    monkeypatch.setattr(download, "TRIES", 1)
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        server.faults = [
            lambda handler, data: handler.wfile.write(b"\x1b[31mEVIL\x07 words\r\n\r\n")
        ]
        done = fetch(capsys)
    says(done, 2, "\\x1b[31mEVIL\\x07 words")
    assert "\x1b" not in done.err


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\u202eb", "a\udc80b", "a\rb"])
def test_no_message_holds_what_cannot_be_printed(text):
    said = str(InputError(f"é: {text}\nsecond line"))
    assert said.split("\n")[1] == "second line"
    assert said.replace("\n", "").isprintable()
    assert str(InputError(said)) == said


def test_what_lies_in_the_way_is_seen_before_anything_is_fetched(capsys, data_dir, card):
    with serving(data=DATA) as server:
        card(entry(f"{server.url}/data"))
        (data_dir / TARGET).mkdir(parents=True)
        says(fetch(capsys), 2, "data.bin exists and is not a file", "move it away")
        digest = hashlib.sha256(DATA).hexdigest()
        card(
            '[[files]]\npath = "mine/x.zip"\ninstead = "mine/x"\n[files.archive]\n'
            f'url = "{server.url}/data"\nsha256 = "{digest}"\n'
        )
        (data_dir / "mine/x").write_bytes(b"")
        says(fetch(capsys), 2, "x exists and is not a folder", "move it away")
        assert server.requests == []


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from pathlib import Path
from chunkers.errors import InputError
from harness.datasets.fetching import download
wanted = download.Download(sys.argv[1], Path(sys.argv[3]), sys.argv[4], None, 1 << 30, "advice")
try:
    with download.downloaded(wanted, lambda done, total: None):
        pass
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("most", "tag", "kept"),
    [
        (0, True, []),
        (100_001, True, [".partial-x.archive", ".partial-x.archive.json"]),
        # What no call can go on with does not stay.
        (100_001, False, []),
    ],
)
def test_a_disk_that_is_full_leaves_what_can_be_gone_on_with(tmp_path, most, tag, kept):
    with serving(data=DATA) as server:
        server.tag = server.tag if tag else (lambda data: None)
        done = subprocess.run(
            [sys.executable, "-c", FULL, f"{server.url}/data", str(most),
             str(tmp_path / ".partial-x.archive"), "0" * 64],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert "cannot be written: File too large\nmake room" in done.stdout, done.stderr
    assert left(tmp_path) == kept


def test_what_cannot_be_gone_on_with_is_not_said_to_be(capsys, data_dir, card, monkeypatch):
    monkeypatch.setattr(download, "TRIES", 1)
    with serving(data=DATA) as server:
        server.tag = lambda data: None
        card(entry(f"{server.url}/data"))
        server.faults = [lambda handler, data: handler.whole_or_part(data, sent=100)]
        done = fetch(capsys)
        says(done, 2, "received 100 bytes")
    assert "resume" not in done.err
    assert left(data_dir) == []


def zipped(*files, zip64=False):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            with archive.open(name, "w", force_zip64=zip64) as member:
                member.write(data)
    return bytearray(made.getvalue())


def unpacked(folder, data, most=10_000):
    file = folder / "x.zip"
    file.write_bytes(data)
    (folder / "unpacked").mkdir()
    unpack(file, "x.zip", folder / "unpacked", most)


def with_sizes(data, size):
    """A zip64 archive whose directory says that its member has so many bytes."""
    at = data.index(b"PK\1\2")
    name = struct.unpack("<H", data[at + 28 : at + 30])[0]
    extra = struct.pack("<HHQ", 1, 8, size)
    data[at + 24 : at + 28] = b"\xff" * 4
    data[at + 30 : at + 32] = struct.pack("<H", len(extra))
    data[at + 46 + name : at + 46 + name] = extra
    end = data.index(b"PK\5\6")
    data[end + 12 : end + 16] = struct.pack("<I", end - at)
    return data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            with_sizes(zipped(("a.py", b"x = 1\n")), 1 << 40),
            "would unpack to more than",
        ),
        (with_sizes(zipped(("a.py", b"x" * 5000)), 10), "is damaged"),
        (with_sizes(zipped(("a.py", b"x = 1\n")), 6)[:-30], "is damaged"),
    ],
)
def test_large_archives_that_lie_are_refused(tmp_path, data, words):
    with pytest.raises(InputError, match=words):
        unpacked(tmp_path, data)


@pytest.mark.parametrize("data", [zipped(("a.py", b"x = 1\n"), zip64=True),
                                  with_sizes(zipped(("a.py", b"x = 1\n")), 6)])  # fmt: skip
def test_large_archives_are_unpacked(tmp_path, data):
    unpacked(tmp_path, data)
    assert (tmp_path / "unpacked/a.py").read_bytes() == b"x = 1\n"
