"""The commands and files of docs/adding-a-chunker.md, and its package installed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chunkers.testing import CHECKS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tests/packages/blank-lines"
PAGE = (ROOT / "docs/adding-a-chunker.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines()]


def run(command: str, folder: Path, path: str = "") -> str:
    """Run a command of the page with the program of this environment."""
    name, *rest = shlex.split(command)
    start = [sys.executable, "-m", {"chunkmark": "harness.cli"}.get(name, name), *rest]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (path, str(ROOT))))}
    done = subprocess.run(
        start, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the page says to write."""
    folder = tmp_path_factory.mktemp("adding")
    code, test, _ = blocks("python")
    (folder / "blanklines.py").write_text(code, encoding="utf-8")
    (folder / "test_blanklines.py").write_text(test, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it."""
    copy = tmp_path_factory.mktemp("package") / "blank-lines"
    shutil.copytree(PACKAGE, copy)
    site = tmp_path_factory.mktemp("site")
    run(
        f"pip install --quiet --no-deps --no-build-isolation --no-index --target '{site}' .",
        copy,
    )
    return site


def test_the_chunk_of_step_1_is_what_it_says(folder: Path):
    (command,) = commands(blocks("console")[0])
    new, ast = json.loads(run(f"{command} --format json", folder))["results"]
    assert (new["chunker"], ast["chunker"]) == (
        "blanklines:at_blank_lines,max_size=200",
        "ast:max_size=200",
    )
    assert len(new["chunks"]) > 2
    assert new["health"]["coverage"] == 1.0
    assert new["health"]["over_size"] == 0


def test_the_checks_of_step_2_hold(folder: Path):
    (command,) = commands(blocks("console")[1])
    printed = run(command, folder)
    assert "blanklines:at_blank_lines: conforms" in printed
    for name in CHECKS:
        assert re.search(rf"^\|.*\b{name}\b.*\|.*\|$", PAGE, re.MULTILINE), name
    run("pytest -q -p no:cacheprovider test_blanklines.py", folder)


@pytest.mark.parametrize(
    ("number", "chunkers"), [(0, 4), pytest.param(1, 2, marks=pytest.mark.slow)]
)
def test_the_runs_of_step_3_score_it(folder: Path, number: int, chunkers: int):
    command = commands(blocks("console")[2])[number]
    cells = json.loads(run(f"{command} --format json", folder))["cells"]
    assert len(cells) == chunkers
    assert {cell["health"]["coverage"] for cell in cells} == {1.0}


def test_the_package_of_step_4_is_found_by_its_name(site: Path, tmp_path: Path):
    install, *others = commands(blocks("console")[3])
    assert install == "pip install ./blank-lines"
    listed = json.loads(run(f"{others[0]} --format json", tmp_path, str(site)))["chunkers"]
    (row,) = (entry for entry in listed if entry["name"] == "blank-lines")
    assert (row["origin"], row["version"], row["options"]) == (
        "blank-lines",
        "1.0",
        {"max_size": "600"},
    )
    cells = json.loads(run(f"{others[1]} --format json", tmp_path, str(site)))["cells"]
    assert [cell["chunker"] for cell in cells] == ["blank-lines", "blank-lines:max_size=300"]


def test_the_tests_of_the_package_pass(site: Path, tmp_path: Path):
    shutil.copytree(PACKAGE / "tests", tmp_path / "tests")
    run("pytest -q -p no:cacheprovider tests", tmp_path, str(site))


def test_the_page_shows_what_the_package_holds():
    code = (PACKAGE / "src/blank_lines/__init__.py").read_text("utf-8")
    shown = blocks("python")[2]
    for part in shown.split("        ...\n"):
        assert part.strip() in code
    (entry,) = blocks("toml")
    assert entry in (PACKAGE / "pyproject.toml").read_text("utf-8")
    for name in re.findall(r"^  (\S+)$", PAGE, re.MULTILINE):
        assert (PACKAGE / name).is_file(), name
