import hashlib
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.datasets.cards import (
    as_published,
    card_names,
    cards_dir,
    find_file,
    load_card,
    missing_files,
    read_card,
)

CARD = """
name = "mine"
title = "Mine"
description = "d"
loader = "package.module:load"
licence = "MIT"
source = "example.org"
revision = "1"
measures = "m"
"""
FILE = '\n[[files]]\npath = "mine/data.bin"\nbytes = 3\n'


@pytest.fixture(autouse=True)
def _no_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHUNKMARK_DATA", raising=False)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))


def write(tmp_path: Path, text: str, folder: str = "mine") -> Path:
    file = tmp_path / folder / "dataset.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_in_a_checkout_cards_are_read_where_they_lie() -> None:
    assert cards_dir() == Path(__file__).parents[3] / "datasets"


def test_every_card_is_whole_and_says_what_is_wrong_with_its_data() -> None:
    assert {"beir", "repoeval-function", "stdlib"} <= set(card_names())
    for name in card_names():
        card = load_card(name)
        assert card.name == name
        assert card.faults
        assert all((file.sha256 is None) == (file.bytes is None) for file in card.files)


def test_a_small_card_is_read(tmp_path: Path) -> None:
    card = read_card(write(tmp_path, CARD + FILE + "[settings]\nanything = [1, 2]\n"))
    assert (card.title, card.faults, card.settings) == ("Mine", (), {"anything": [1, 2]})
    assert card.files[0].path == "mine/data.bin"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "Mine"', 'title = "Mine"\nmore = 1', "unknown key 'more'"),
        ('title = "Mine"', "", "the key 'title' is missing"),
        ('title = "Mine"', "title = 1", "title must be text, not a number"),
        ('licence = "MIT"', 'licence = ""', "licence is empty"),
        ('"package.module:load"', '"package.module"', "loader has an invalid value"),
        ('name = "mine"', 'name = "Not a name"', "name has an invalid value"),
        ('name = "mine"', 'name = "other"', "the name 'other' is not its folder's"),
        ("bytes = 3", 'bytes = "3"', "files, item 1: bytes must be a whole number, not text"),
        ("bytes = 3", 'bytes = 3\nsha256 = "abc"', "files, item 1: sha256 has an invalid value"),
        ('title = "Mine"', "title = ", "invalid TOML"),
        (FILE, '[[any_of]]\nwhat = "x"\nbeside = ["x"]\n', "any_of needs files"),
    ],
)
def test_a_wrong_card_is_one_clear_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in CARD + FILE
    file = write(tmp_path, (CARD + FILE).replace(old, new))
    with pytest.raises(InputError) as error:
        read_card(file)
    assert says in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_a_missing_card_and_one_in_another_encoding_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_card(tmp_path / "mine/dataset.toml")
    file = write(tmp_path, CARD)
    file.write_bytes(CARD.replace("Mine", "é").encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8; save it as UTF-8"):
        read_card(file)


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    card = read_card(write(tmp_path, CARD + FILE))
    assert missing_files(card, tmp_path) == ("mine/data.bin",)
    with pytest.raises(InputError) as error:
        find_file(card, 0, tmp_path)
    assert len(str(error.value).splitlines()) == 2
    assert f"mine/data.bin is in none of the data folders: {tmp_path}, " in str(error.value)
    assert "run `chunkmark dataset fetch mine`, which says where to get it" in str(error.value)


def test_a_file_or_the_folder_instead_of_it_is_found(tmp_path: Path) -> None:
    card = read_card(write(tmp_path, CARD + FILE + 'instead = "mine/data"\n'))
    (tmp_path / "mine/data").mkdir()
    assert find_file(card, 0, tmp_path) == tmp_path / "mine/data"
    assert missing_files(card, tmp_path) == ()
    (tmp_path / "mine/data.bin").write_bytes(b"abc")
    assert find_file(card, 0, tmp_path) == tmp_path / "mine/data.bin"


def test_files_are_compared_with_what_was_published(tmp_path: Path) -> None:
    plain = read_card(write(tmp_path, CARD + FILE)).files[0]
    assert as_published(plain, b"abc")
    assert not as_published(plain, b"abcd")
    digest = hashlib.sha256(b"abc").hexdigest()
    pinned = read_card(write(tmp_path, CARD + FILE + f'sha256 = "{digest}"\n')).files[0]
    assert as_published(pinned, b"abc")
    assert not as_published(pinned, b"abd")
