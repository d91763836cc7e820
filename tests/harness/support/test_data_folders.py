from pathlib import Path

import platformdirs
import pytest

from chunkers.errors import InputError
from harness.support.data_folders import cache_dir, data_dirs, find_data


@pytest.fixture(autouse=True)
def _no_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHUNKMARK_DATA", raising=False)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))


def test_the_cache_is_the_variable_or_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKMARK_CACHE", "/somewhere")
    assert cache_dir() == Path("/somewhere")
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("CHUNKMARK_CACHE")
        else:
            monkeypatch.setenv("CHUNKMARK_CACHE", unset)
        assert cache_dir() == platformdirs.user_cache_path("chunkmark", appauthor=False)


def test_data_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, variable = tmp_path / "given", tmp_path / "variable"
    given.mkdir()
    assert data_dirs() == (tmp_path / "cache/data",)
    monkeypatch.setenv("CHUNKMARK_DATA", str(variable))
    assert data_dirs(given) == (given, variable, tmp_path / "cache/data")
    for folder in reversed(data_dirs(given)):
        (folder / "set").mkdir(parents=True)
        assert find_data("set", given) == folder / "set"


def test_an_empty_variable_names_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKMARK_DATA", "")
    assert data_dirs() == (tmp_path / "cache/data",)


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        find_data("set")
    assert list(tmp_path.iterdir()) == []


def test_missing_data_says_where_was_looked_and_what_to_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKMARK_DATA", "/variable")
    with pytest.raises(InputError) as error:
        find_data("set/file.zip", tmp_path, advice="unpack the archive from example.org, then ")
    message = str(error.value)
    assert len(message.splitlines()) == 2
    looked = [str(tmp_path), "/variable", str(tmp_path / "cache/data")]
    named = [
        "set/file.zip",
        "unpack the archive from example.org, then place it",
        "--data-dir",
        "$CHUNKMARK_DATA",
    ]
    for part in looked + named:
        assert part in message


def test_a_mistyped_data_dir_is_an_error_and_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--data-dir .*typo is not a folder"):
        data_dirs(tmp_path / "typo")
