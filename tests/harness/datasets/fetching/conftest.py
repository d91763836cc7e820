"""A data folder, a folder of cards, and patience for tests."""

import pytest

import harness.datasets.cards
from harness.datasets.fetching import download

CARD = """
name = "mine"
title = "Mine"
description = "d"
loader = "package.module:load"
licence = "MIT"
source = "https://example.org/mine"
revision = "1"
measures = "m"
"""


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.001)
    monkeypatch.setattr(download, "TIMEOUT", 5.0)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    folder = tmp_path / "data folder"
    folder.mkdir()
    monkeypatch.setenv("CHUNKMARK_DATA", str(folder))
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def card(tmp_path, monkeypatch):
    """Writes the card of a data set `mine`, which has these files."""
    folder = tmp_path / "cards"

    def write(text):
        (folder / "mine").mkdir(parents=True, exist_ok=True)
        (folder / "mine" / "dataset.toml").write_text(CARD + text)

    monkeypatch.setattr(harness.datasets.cards, "cards_dir", lambda: folder)
    return write
