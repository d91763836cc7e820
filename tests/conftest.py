"""What all tests share: no network, and one store of vectors for the whole session."""

import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
collect_ignore = ["packages"]  # tests of example packages, which are run where those are installed


@pytest.fixture(scope="session", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store of vectors; `$CHUNKMARK_CACHE` keeps it from one session to the next."""
    chosen = os.environ.get("CHUNKMARK_CACHE")
    path = Path(chosen) if chosen else tmp_path_factory.mktemp("cache")
    os.environ["CHUNKMARK_CACHE"] = str(path)
    return path


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it are skipped without it."""
    chosen = os.environ.get("CHUNKMARK_DATA")
    if not chosen:
        pytest.skip("CHUNKMARK_DATA names no data folder")
    return Path(chosen)
