"""What all tests share: no network, and one store of vectors for the whole session."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
# The same examples on every machine; `--hypothesis-profile explore` draws new ones.
# No test fails for its time, which depends on what else the machine does.
_PATIENT = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("repeatable", derandomize=True, **_PATIENT)
hypothesis.settings.register_profile("explore", **_PATIENT)
hypothesis.settings.load_profile("repeatable")
collect_ignore = ["packages"]  # tests of example packages, which are run where those are installed


def pytest_configure(config: pytest.Config) -> None:
    """One store of vectors; `$CHUNKMARK_CACHE` keeps it from one session to the next."""
    if "CHUNKMARK_CACHE" not in os.environ:  # processes that share the tests inherit it
        os.environ["CHUNKMARK_CACHE"] = tempfile.mkdtemp(prefix="chunkmark-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop("CHUNKMARK_CACHE")))


@pytest.fixture(autouse=True)
def import_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test keeps the modules that another has imported from a folder of its own.

    The command line adds the current folder to `sys.path`.
    """
    before, known = list(sys.path), set(sys.modules)
    yield
    added = {*sys.path, str(tmp_path_factory.getbasetemp())}.difference(before)
    sys.path[:] = before
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None)
        if file and any(Path(file).is_relative_to(folder) for folder in added):
            del sys.modules[name]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it are skipped without it."""
    chosen = os.environ.get("CHUNKMARK_DATA")
    if not chosen:
        pytest.skip("CHUNKMARK_DATA names no data folder")
    return Path(chosen)
