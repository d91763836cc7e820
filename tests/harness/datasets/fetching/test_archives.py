"""Unpacking: what an archive may not do, and what is left when it tries."""

import gzip
import hashlib
import io
import json
import lzma
import os
import stat
import tarfile
import tracemalloc
import zipfile

import pytest

from chunkers.errors import InputError
from harness.datasets.cards import load_card
from harness.datasets.fetching import archives
from harness.datasets.fetching.tree_digests import digest_of, tree_sha256, zip_tree_sha256

MOST = 1_000_000
FILES = {"a.py": b"a = 1\r\n", "pkg/b.py": b"b = 2\n", "pkg/empty.py": b"", "pkg/icon.bin": b"\0\1"}


def zipped(members, mode=0o100644, packing=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = packing
            info.create_system, info.external_attr = 3, mode << 16
            archive.writestr(info, data)
    return made.getvalue()


def member(name, kind=tarfile.REGTYPE, data=b"", link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data)
    return info, data


def tarred(members, form=tarfile.PAX_FORMAT):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def into(tmp_path):
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    return folder


def found(folder):
    return {
        one.relative_to(folder).as_posix(): one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file()
    }


def unpack(data, folder, most=MOST, wanted=lambda path: True):
    file = folder.with_name("archive")
    file.write_bytes(data)
    try:
        archives.unpack(file, "an.archive", folder, most, wanted)
    finally:
        file.unlink()


def refused(tmp_path, data, words, most=MOST):
    folder = into(tmp_path)
    with pytest.raises(InputError) as error:
        unpack(data, folder, most)
    assert words in str(error.value)
    assert len(str(error.value).split("\n")) == 1
    outside = [one for one in tmp_path.rglob("*") if folder not in one.parents and one.is_file()]
    assert outside == []
    assert not any(one.is_symlink() for one in tmp_path.rglob("*"))


PLAIN = [member(name, data=data) for name, data in FILES.items()]


@pytest.mark.parametrize(
    "data",
    [
        zipped(FILES.items()),
        zipped(FILES.items(), packing=zipfile.ZIP_STORED),
        tarred(PLAIN),
        gzip.compress(tarred(PLAIN)),
        lzma.compress(tarred(PLAIN)),
        gzip.compress(tarred([member(f"./{i.name}", data=d) for i, d in PLAIN])),
        tarred([member("./", tarfile.DIRTYPE), member("pkg/", tarfile.DIRTYPE), *PLAIN]),
    ],
    ids=["zip", "stored", "tar", "tar.gz", "tar.xz", "with ./", "with folders"],
)
def test_plain_archives_are_unpacked(tmp_path, data):
    folder = into(tmp_path)
    unpack(data, folder)
    assert found(folder) == FILES


@pytest.mark.parametrize("pack", [zipped, lambda one: gzip.compress(tarred(
    [member(name, data=data) for name, data in one]))], ids=["zip", "tar.gz"])  # fmt: skip
class TestBoth:
    def test_only_what_is_wanted_is_written_but_all_is_checked(self, tmp_path, pack):
        folder = into(tmp_path)
        data = pack(FILES.items())
        unpack(data, folder, wanted=lambda path: path.endswith(".py"))
        assert sorted(found(folder)) == ["a.py", "pkg/b.py", "pkg/empty.py"]
        with pytest.raises(InputError, match="not a path inside"):
            unpack(pack([("../x.bin", b"")]), folder, wanted=lambda path: False)
        with pytest.raises(InputError, match="would unpack to"):
            unpack(pack([("x.bin", b"x" * 9)]), folder, 8, lambda path: False)

    @pytest.mark.parametrize(
        "name", ["../x.py", "a/../../x.py", "/x.py", "//x.py", "a//x.py", "C:/x.py", "a\\..\\x.py",
                 "a/./x.py", ".."]
    )  # fmt: skip
    def test_paths_that_lead_outside(self, tmp_path, pack, name):
        refused(tmp_path, pack([("good.py", b"1"), (name, b"2")]), "not a path inside it")

    def test_a_bomb_is_seen_before_it_fills_disk_or_memory(self, tmp_path, pack):
        data = pack([("big.py", bytes(50_000_000))])
        assert len(data) < 200_000
        tracemalloc.start()
        refused(tmp_path, data, "would unpack to")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5_000_000
        assert sum(len(one) for one in found(tmp_path).values()) <= MOST

    def test_many_small_files_are_a_bomb_too(self, tmp_path, pack):
        refused(tmp_path, pack([(f"{i}.py", b"x" * 1000) for i in range(50)]), "would unpack", 9999)

    def test_many_members_are_refused(self, tmp_path, pack, monkeypatch):
        monkeypatch.setattr(archives, "MOST_MEMBERS", 9)
        refused(tmp_path, pack([(f"{i}.py", b"") for i in range(10)]), "more than 9 members")

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    @pytest.mark.parametrize(
        ("second", "words"), [("a.py", "more than once"), ("a.py/b.py", "cannot be unpacked")]
    )
    def test_one_path_for_two_files(self, tmp_path, pack, second, words):
        refused(tmp_path, pack([("a.py", b"1"), (second, b"2")]), words)

    @pytest.mark.parametrize("cut", [0, 3, 40, 200])
    def test_a_truncated_archive(self, tmp_path, pack, cut):
        data = pack([("a.py", os.urandom(2000))])
        folder = into(tmp_path)
        with pytest.raises(InputError, match=r"damaged"):
            unpack(data[:cut], folder)

    def test_a_damaged_archive(self, tmp_path, pack):
        data = bytearray(pack([("a.py", bytes(2000))]))
        data[20:] = bytes(len(data) - 20)
        refused(tmp_path, bytes(data), "damaged")


@pytest.mark.parametrize(
    "mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK]
)
def test_a_zip_archive_brings_no_links_and_devices(tmp_path, mode):
    refused(tmp_path, zipped([("x.py", "/etc/passwd")], mode | 0o777), "a link or a special file")


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
    ids=["link", "hard link", "character device", "block device", "fifo"],
)  # fmt: skip
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_a_tar_archive_brings_no_links_and_devices(tmp_path, kind, form):
    data = tarred([member("a.py", data=b"1"), member("x.py", kind, link="/etc/passwd")], form)
    refused(tmp_path, gzip.compress(data), "a link or a special file")


def test_a_file_is_not_written_through_a_link(tmp_path):
    links = [member("d", tarfile.SYMTYPE, link=".."), member("d/x.py", data=b"1")]
    refused(tmp_path, tarred(links), "a link or a special file")


def test_a_sparse_file_counts_with_its_whole_size(tmp_path):
    info = tarfile.TarInfo("s.py")
    info.pax_headers = {
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(10**15),
        "GNU.sparse.name": "s.py", "GNU.sparse.map": "0,1",
    }  # fmt: skip
    info.size = 1
    refused(tmp_path, tarred([(info, b"x")]), "would unpack to")


def test_modes_are_not_taken_over(tmp_path):
    folder = into(tmp_path)
    info, data = member("x.py", data=b"1")
    info.mode = 0o6777
    unpack(tarred([(info, data)]), folder)
    unpack(zipped([("y.py", b"1")], 0o106777), folder)
    assert not any(one.stat().st_mode & 0o6111 for one in folder.iterdir())


def test_an_encrypted_zip_archive(tmp_path):
    data = bytearray(zipped([("a.py", b"1")]))
    data[data.index(b"PK\1\2") + 8] |= 1
    refused(tmp_path, bytes(data), "encrypted")


def test_a_digest_of_a_tree_is_that_of_its_python_files_in_byte_order(tmp_path):
    files = {"b.py": b"2", "a/x.py": b"1", "a.py": b"0", "é.py": b"3", "a/note.txt": b"-"}
    for name, data in files.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(data)
    (tmp_path / "tree" / "link.py").symlink_to("b.py")
    lines = b"".join(
        name.encode() + b"\t" + hashlib.sha256(files[name]).hexdigest().encode() + b"\n"
        for name in ("a.py", "a/x.py", "b.py", "é.py")
    )
    wanted = hashlib.sha256(lines).hexdigest()
    assert tree_sha256(tmp_path / "tree") == wanted
    (tmp_path / "t.zip").write_bytes(zipped((f"tree/{name}", files[name]) for name in files))
    assert zip_tree_sha256(tmp_path / "t.zip", "tree") == wanted
    assert digest_of([]) == hashlib.sha256(b"").hexdigest()


def test_the_card_of_repoeval_pins_the_published_trees(data):
    published = json.loads((data / "repoeval/TREE_SHA256.json").read_text())["trees"]
    archive = load_card("repoeval-function").files[1].archive
    assert archive.trees == {name: one["sha256"] for name, one in published.items()}
    file = data / "repoeval/repositories/function_level.zip"
    there = {name for name in published if zip_tree_sha256(file, name) == published[name]["sha256"]}
    assert len(there) == 5
