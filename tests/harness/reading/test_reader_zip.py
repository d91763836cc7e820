import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.model import Skipped
from harness.reading import reader
from harness.reading.reader import ReadRules, read_folder, read_zip, zip_folders

RULES = ReadRules(suffixes=(".py",), guess="cp1252")


def make(file: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def patch(file: Path, old: bytes, new: bytes) -> None:
    data = file.read_bytes()
    assert old in data
    assert len(old) == len(new)
    file.write_bytes(data.replace(old, new))


def test_an_archive_reads_like_the_folder_it_was_made_from(tmp_path: Path) -> None:
    members = {
        "tree/b.py": b"b = 1\r\n",
        "tree/a/x.py": b"caf\xe9",
        "tree/a-b/x.py": b"",
        "tree/icon.py": b"\0",
        "tree/LICENSE": b"MIT",
        "tree2/other.py": b"no",
    }
    archive = make(tmp_path / "trees.zip", members)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "out")
    from_zip = read_zip(archive, "tree", RULES)
    assert from_zip == read_folder(tmp_path / "out/tree", RULES)
    assert [source.path for source in from_zip[0]] == ["a-b/x.py", "a/x.py", "b.py"]
    assert from_zip[0][2].text == "b = 1\r\n"
    assert not list(tmp_path.glob("tree*/"))


def test_the_prefix_is_a_folder_and_not_the_start_of_a_name(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"tree2/a.py": b"", "tree/b.py": b""})
    assert [source.path for source in read_zip(archive, "tree/", RULES)[0]] == ["b.py"]
    assert read_zip(archive, "tre", RULES) == ((), ())
    assert [source.path for source in read_zip(archive, "", RULES)[0]] == [
        "tree/b.py",
        "tree2/a.py",
    ]
    assert zip_folders(archive) == {"tree", "tree2"}


@pytest.mark.parametrize(
    "name",
    [
        "../evil.py",
        "a/../../evil.py",
        "/etc/evil.py",
        "a//b.py",
        "./a.py",
        "C:/evil.py",
        "..\\e.py",
    ],
)
def test_names_that_leave_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / "a.zip", {"good/a.py": b"", name: b""})
    with pytest.raises(InputError, match=r"a\.zip is refused: .* is not a path inside it"):
        read_zip(archive, "good", RULES)


def test_a_name_cut_short_by_nul_is_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"good/aX.py": b""})
    patch(archive, b"aX.py", b"a\0.py")
    with pytest.raises(InputError, match="not a path inside it"):
        read_zip(archive, "good", RULES)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        warnings.simplefilter("ignore", UserWarning)
        archive.writestr("t/a.py", b"one")
        archive.writestr("t/a.py", b"two")
    with pytest.raises(InputError, match=r"holds 't/a\.py' more than once"):
        read_zip(tmp_path / "a.zip", "t", RULES)


def test_names_that_differ_in_case_are_two_files(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"t/a.py": b"1", "t/A.py": b"2"})
    assert [source.text for source in read_zip(archive, "t", RULES)[0]] == ["2", "1"]


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"t/a.py": b"x"})
    data = bytearray(archive.read_bytes())
    flags = data.index(b"PK\1\2") + 8
    data[flags : flags + 2] = struct.pack("<H", 1)
    archive.write_bytes(data)
    with pytest.raises(InputError, match=r"'t/a\.py' is encrypted"):
        read_zip(archive, "t", RULES)


def test_a_bomb_in_one_file_is_skipped_unread(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"t/bomb.py": b" " * 3_000_000, "t/a.py": b""})
    sources, skipped = read_zip(archive, "t", RULES)
    assert [source.path for source in sources] == ["a.py"]
    assert skipped == (Skipped("bomb.py", "larger than 1000000 bytes"),)


def test_a_bomb_in_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make(tmp_path / "a.zip", {f"t/{i}.py": b" " * 1000 for i in range(20)})
    assert len(read_zip(archive, "t", RULES)[0]) == 20
    monkeypatch.setattr(reader, "_ZIP_TOTAL", 19_999)
    with pytest.raises(InputError, match="would unpack to 20000 bytes, more than 19999"):
        read_zip(archive, "t", RULES)


def test_a_bomb_that_declares_less_than_it_holds_is_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"t/a.py": b" " * 3_000_000})
    patch(archive, struct.pack("<L", 3_000_000), struct.pack("<L", 10))
    with pytest.raises(InputError, match=r"'t/a\.py' is damaged"):
        read_zip(archive, "t", RULES)


def test_a_damaged_member_is_an_error(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"t/a.py": b"x = 1\n" * 50})
    start = archive.read_bytes().index(b"a.py") + 4
    data = bytearray(archive.read_bytes())
    data[start : start + 8] = b"\xff" * 8
    archive.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.zip: 't/a\.py' is damaged"):
        read_zip(archive, "t", RULES)


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\3\4 cut short"])
def test_what_is_no_archive_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.zip cannot be read as a zip archive"):
        read_zip(tmp_path / "a.zip", "t", RULES)


def test_a_missing_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.zip cannot be read"):
        zip_folders(tmp_path / "none.zip")


def test_links_and_closed_folders_in_an_archive_are_listed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("t/link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("t/.git/hook.py", b"")
        archive.mkdir("t/empty")
    assert read_zip(tmp_path / "a.zip", "t", RULES) == (
        (),
        (Skipped(".git/hook.py", "folder not entered"), Skipped("link.py", "link")),
    )
