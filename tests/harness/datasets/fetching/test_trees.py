"""Archives of trees: fetched, unpacked, checked by the trees' digests, and put in place whole."""

import gzip
import hashlib
import io
import tarfile
import zipfile

import pytest
from commands import call, says
from file_server import breaking_after, serving

from harness.datasets.fetching.tree_digests import digest_of

TREES = {
    "one": {"a.py": b"a = 1\r\n", "pkg/b.py": b"b = 2\n", "note.txt": b"not checked"},
    "two": {"a.py": b"", "LICENSE": b"free"},
}
HERE = "mine/trees"


def digest(tree):
    files = TREES[tree].items()
    return digest_of((n, hashlib.sha256(d).hexdigest()) for n, d in files if n.endswith(".py"))


def members(top="", trees=TREES):
    return {f"{top}{tree}/{n}": data for tree, files in trees.items() for n, data in files.items()}


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(files, link=None):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo("link.py")
            info.type, info.linkname = link, "/etc/passwd"
            archive.addfile(info)
    return gzip.compress(made.getvalue())


def entry(url, more="", trees=("one", "two")):
    pinned = "".join(f'{tree} = "{digest(tree)}"\n' for tree in trees)
    table = f"[files.archive.trees]\n{pinned}" if trees else ""
    return (
        f'[[files]]\npath = "mine/trees.zip"\nsha256 = "{"0" * 64}"\ninstead = "{HERE}"\n'
        f'[files.archive]\nurl = "{url}/archive"\n{more}{table}'
    )


def fetch(capsys):
    return call(capsys, "dataset", "fetch", "mine", "--format", "json")


def left(folder):
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*"))


PLACED = ["mine", HERE] + [
    f"{HERE}/{one}" for one in ("one", "one/a.py", "one/pkg", "one/pkg/b.py", "two", "two/a.py")
]


@pytest.mark.parametrize(
    "data",
    [zipped(members()), zipped(members("top/")), tarred(members()), tarred(members("./top/"))],
    ids=["zip", "zip in a folder", "tar.gz", "tar.gz in a folder"],
)
def test_the_python_files_of_pinned_trees_are_put_in_place(capsys, data_dir, card, data):
    with serving(archive=data) as server:
        card(entry(server.url))
        done = fetch(capsys)
        assert done.code == 0, done.err
        [row] = done.json["files"]
        assert (row["state"], row["note"]) == ("fetched", "2 of 2 trees, as published")
        assert left(data_dir) == PLACED
        assert (data_dir / HERE / "one/a.py").read_bytes() == b"a = 1\r\n"
        assert fetch(capsys).json["files"][0]["state"] == "at hand"
        assert len(server.requests) == 1


def test_an_archive_is_gone_on_with(capsys, data_dir, card):
    data = zipped(members())
    with serving(archive=data) as server:
        card(entry(server.url))
        server.faults = [breaking_after(100)]
        assert fetch(capsys).code == 0
        assert server.requests[1][1]["Range"] == "bytes=100-"
    assert left(data_dir) == PLACED


def test_trees_that_nobody_pinned_stay_in_the_archive(capsys, data_dir, card):
    with serving(archive=zipped(members())) as server:
        card(entry(server.url, trees=("two",)))
        assert fetch(capsys).code == 0
    assert left(data_dir) == ["mine", HERE, f"{HERE}/two", f"{HERE}/two/a.py"]


def test_trees_that_are_not_in_the_archive_are_named(capsys, data_dir, card):
    with serving(archive=zipped(members(trees={"one": TREES["one"]}))) as server:
        card(entry(server.url))
        assert fetch(capsys).json["files"][0]["note"] == ("1 of 2 trees, as published; without two")


EVIL = {
    "other line ends": (zipped(members() | {"one/a.py": b"a = 1\n"}), "one are not as published"),
    "a further file": (zipped(members() | {"one/c.py": b""}), "one are not as published"),
    "none of the trees": (zipped({"x/a.py": b""}), "has none of one, two"),
    "no archive": (b"<html>not found</html>" * 99, "damaged"),
    "outside": (zipped(members() | {"../x.py": b""}), "not a path inside it"),
    "absolute": (tarred(members() | {"/etc/x.py": b""}), "not a path inside it"),
    "a link": (tarred(members(), tarfile.SYMTYPE), "a link or a special file"),
    "a hard link": (tarred(members(), tarfile.LNKTYPE), "a link or a special file"),
    "a device": (tarred(members(), tarfile.CHRTYPE), "a link or a special file"),
    "a bomb": (tarred(members() | {"one/big.py": bytes(9_000_000)}), "would unpack to"),
    "a zip bomb": (zipped(members() | {"one/big.py": bytes(9_000_000)}), "would unpack to"),
    "a truncated archive": (zipped(members())[:-30], "damaged"),
}


@pytest.mark.parametrize("what", EVIL)
def test_nothing_of_an_evil_archive_is_kept(capsys, data_dir, card, what):
    data, words = EVIL[what]
    with serving(archive=data) as server:
        card(entry(server.url, "max_unpacked = 5000000\n"))
        says(fetch(capsys), 2, words)
    assert left(data_dir) == ["mine"]
    assert left(data_dir.parent) == ["cards", "cards/mine", "cards/mine/dataset.toml",
                                     "data folder", "data folder/mine"]  # fmt: skip


def test_an_archive_that_is_too_large_is_not_received(capsys, data_dir, card):
    with serving(archive=bytes(100_000)) as server:
        card(entry(server.url, "max_bytes = 50000\n"))
        says(fetch(capsys), 2, "has 100000 bytes, more than 50000")
    assert left(data_dir) == ["mine"]


def test_an_archive_of_known_digest_is_unpacked_whole(capsys, data_dir, card):
    data = tarred(members())
    good = f'sha256 = "{hashlib.sha256(data).hexdigest()}"\n'
    with serving(archive=data) as server:
        card(entry(server.url, f'sha256 = "{"1" * 64}"\n', trees=()))
        says(fetch(capsys), 2, "not the published file")
        assert left(data_dir) == ["mine"]
        card(entry(server.url, good, trees=()))
        assert fetch(capsys).code == 0
    assert (data_dir / HERE / "one/note.txt").read_bytes() == b"not checked"


def test_an_archive_of_which_nothing_is_known_is_told_of(capsys, data_dir, card):
    with serving(archive=zipped(members())) as server:
        card(entry(server.url, trees=()))
        done = fetch(capsys)
        assert done.code == 3
        assert done.json["files"][0]["state"] == "to place"
        assert done.json["files"][0]["source"] == f"{server.url}/archive"
        assert server.requests == []
    assert left(data_dir) == []


def test_what_a_killed_process_left_is_cleared(capsys, data_dir, card):
    (data_dir / "mine/.partial-trees/unpacked/one").mkdir(parents=True)
    (data_dir / "mine/.partial-trees/unpacked/one/old.py").write_text("old")
    with serving(archive=zipped(members())) as server:
        card(entry(server.url))
        assert fetch(capsys).code == 0
    assert left(data_dir) == PLACED


def test_trees_at_hand_are_checked_by_the_same_rule(capsys, data_dir, card):
    card(entry("http://127.0.0.1:1"))
    for name, data in members().items():
        (data_dir / HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / HERE / name).write_bytes(data)
    assert fetch(capsys).json["files"][0]["note"] == "2 of 2 trees, as published"
    (data_dir / HERE / "two/a.py").write_bytes(b"\n")
    says(fetch(capsys), 2, "the Python files of two are not as published")


def test_trees_that_somebody_else_packed_are_checked_in_their_archive(capsys, data_dir, card):
    card(entry("http://127.0.0.1:1"))
    (data_dir / "mine").mkdir()
    (data_dir / "mine/trees.zip").write_bytes(zipped(members()))
    assert fetch(capsys).json["files"][0]["note"] == "2 of 2 trees, as published"
    (data_dir / "mine/trees.zip").write_bytes(zipped(members() | {"one/a.py": b"a = 1\n"}))
    says(fetch(capsys), 2, "the Python files of one are not as published")
    (data_dir / "mine/trees.zip").write_bytes(b"PK no archive")
    says(fetch(capsys), 2, "cannot be read as a zip archive")


def test_the_published_trees_of_repoeval_are_found_whole(capsys, data, monkeypatch):
    if not (data / "repoeval").is_dir():
        pytest.skip("repoeval is not in $CHUNKMARK_DATA")
    done = call(capsys, "dataset", "fetch", "repoeval-function", "--format", "json")
    assert done.code == 0
    assert {row["note"] for row in done.json["files"]} == {"as published"}
