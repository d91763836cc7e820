"""The wheel, installed elsewhere, brings its data set cards along."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json, pathlib
import harness.datasets.cards
from harness.datasets.loading import load_dataset
from harness.datasets.registry import list_datasets
from harness.datasets.suites import list_suites
print(json.dumps({
    "harness": str(pathlib.Path(harness.datasets.cards.__file__)),
    "cards": str(harness.datasets.cards.cards_dir()),
    "names": [one.name for one in list_datasets()],
    "suites": [one.name for one in list_suites()],
    "queries": len(load_dataset("stdlib").queries),
}))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    copy = tmp_path_factory.mktemp("copy") / "chunkmark"
    unwanted = shutil.ignore_patterns(
        ".*", "build", "dist", "*.egg-info", "__pycache__", "chunkmark-run"
    )
    shutil.copytree(ROOT, copy, ignore=unwanted)
    new = copy / "datasets/brand-new"
    new.mkdir()
    card = (copy / "datasets/beir/dataset.toml").read_text(encoding="utf-8")
    (new / "dataset.toml").write_text(card.replace('"beir"', '"brand-new"'), encoding="utf-8")
    run(sys.executable, "-m", "build", "--no-isolation", str(copy), cwd=copy)
    return copy / "dist"


@pytest.fixture(scope="module")
def site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
        "--target", str(site), str(wheel), cwd=site)  # fmt: skip
    return site


def run(*command: str, cwd: Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_an_installed_wheel_lists_and_loads_the_data_sets(site: Path, tmp_path: Path) -> None:
    found = json.loads(run(sys.executable, "-c", SCRIPT, cwd=tmp_path, PYTHONPATH=str(site)))
    assert Path(found["harness"]).is_relative_to(site)
    assert Path(found["cards"]) == site / "share/chunkmark/datasets"
    folders = {card.parent.name for card in (ROOT / "datasets").glob("*/dataset.toml")}
    assert set(found["names"]) == folders | {"brand-new"}
    assert found["suites"] == sorted(file.stem for file in (ROOT / "datasets/suites").iterdir())
    assert "quick" in found["suites"]
    assert found["queries"] > 100


def test_another_datasets_package_beside_it_is_left_alone(site: Path, tmp_path: Path) -> None:
    other = site / "datasets"
    other.mkdir()
    (other / "__init__.py").write_text("raise ImportError('not ours')\n")
    (site / "pyproject.toml").write_text('[project]\nname = "datasets"\n')
    try:
        found = json.loads(run(sys.executable, "-c", SCRIPT, cwd=tmp_path, PYTHONPATH=str(site)))
    finally:
        shutil.rmtree(other)
        (site / "pyproject.toml").unlink()
    assert Path(found["cards"]) == site / "share/chunkmark/datasets"


def test_the_sdist_holds_what_the_wheel_is_built_from(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"setup.py", "datasets/stdlib/dataset.toml", "harness/datasets/cards.py"} <= names


def test_the_wheel_installs_no_package_called_datasets(site: Path) -> None:
    assert not (site / "datasets").exists()
    assert sorted(path.name for path in site.iterdir() if path.name[0] not in "._b") == [
        "chunkers",
        "chunkmark-0.1.0.dist-info",
        "harness",
        "share",
    ]


def test_the_installed_program_runs_the_default_job(site: Path, tmp_path: Path) -> None:
    """Without a data folder, with an empty store, away from the checkout."""
    program = str(site / "bin" / "chunkmark")
    variables = {
        "PYTHONPATH": str(site),
        "CHUNKMARK_CACHE": str(tmp_path / "cache"),
        "CHUNKMARK_DATA": str(tmp_path / "no-data"),
    }
    found = json.loads(run(program, "run", "--format", "json", cwd=tmp_path, **variables))
    assert [cell["chunker"] for cell in found["cells"]] == [
        "ast", "fixed", "function", "whole-file", "random-cuts",
    ]  # fmt: skip
    assert found["out"] == "chunkmark-run"
    assert (found["absent"], found["failures"]) == ([], [])
    for cell in found["cells"]:
        assert cell["dataset"] == "stdlib"
        assert cell["n_queries"] > 100
        assert set(cell["metrics"]) == {
            "nDCG@5", "nDCG@10", "P@5", "P@10", "R@5", "R@10", "MRR",
            "SpanR@10000c", "SpanR@2500c", "SpanP@10000c", "Complete@10000c",
        }  # fmt: skip
        for one in cell["metrics"].values():
            low, high = one["ci95"]
            assert 0 <= low <= one["mean"] <= high <= 1
            assert one["random"] < one["mean"] <= one["oracle"] <= 1
        assert cell["health"]["coverage"] == 1.0
        assert cell["health"]["gold_uncut"] == 0
        assert set(cell["by"]["name-overlap"]) == {"no", "yes"}
    (model,) = json.loads(
        run(program, "cache", "info", "--format", "json", cwd=tmp_path, **variables)
    )["models"]
    assert model["vectors"] <= 1800
    table = run(program, "run", cwd=tmp_path, **variables)
    assert all(word in table for word in ("SpanR", "oracle", "random", "95 %", "chunks", "2500c"))
    run(program, "report", "chunkmark-run", "--sources", "0", cwd=tmp_path, **variables)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert table.split("\n")[0].partition(":")[0] in page
    assert all(f'id="{part}"' in page for part in ("answer", "cells", "figures", "query-browser"))
