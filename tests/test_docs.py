"""Documents say what is there: every key of every file of a run, every option, every command."""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "run"
    options = ["run", "-r", "bm25", "-c", "fixed", "--limit", "5", "-o", str(out)]
    subprocess.run([sys.executable, "-m", "harness.cli", *options], check=True, capture_output=True)
    return out


def keys(value: object, depth: int) -> set[str]:
    if isinstance(value, list):
        return set().union(*(keys(one, depth) for one in value))
    if not isinstance(value, dict) or depth == 0:
        return set()
    return set(value).union(*(keys(one, depth - 1) for one in value.values()))


def test_every_key_of_the_run_folder_is_documented(finished: Path):
    words = set(re.findall(r"`([a-z_0-9]+)`", (ROOT / "docs/run-folder.md").read_text("utf-8")))
    manifest = json.loads((finished / "manifest.json").read_text("utf-8"))
    (folder,) = (finished / "cells").iterdir()
    documents = [keys(manifest, 1), *(keys(one, 1) for one in manifest["datasets"].values())]
    cell = json.loads((folder / "cell.json").read_text("utf-8"))
    documents += [keys(cell, 1), keys(cell["health"], 1), keys(cell["cost"], 1)]
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    documents += [keys(metrics, 1), *(keys(one, 1) for one in metrics["metrics"].values())]
    for name in ("chunks", "queries", "targets", "scores", "per_query"):
        line = (folder / f"{name}.jsonl").read_text("utf-8").split("\n", 1)[0]
        documents.append(keys(json.loads(line), 1))
    missing = set().union(*documents) - words - {"schema"}
    assert not missing


def test_the_folder_holds_the_files_that_are_documented(finished: Path):
    text = (ROOT / "docs/run-folder.md").read_text("utf-8")
    named = set(re.findall(r"[a-z_]+\.(?:jsonl|json|trec)", text)) - {"manifest.json"}
    (folder,) = (finished / "cells").iterdir()
    assert {path.name for path in folder.iterdir()} == named


def test_every_file_that_the_architecture_names_is_there():
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    for name in re.findall(r"`((?:harness|chunkers|datasets)/[a-z_/.]*)`", text):
        if "my_name" not in name:
            assert (ROOT / name).exists(), name


def test_the_commands_of_the_readme_are_those_of_the_makefile():
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"\bmake ([a-z-]+)", readme)
    assert {"run", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_options_in_the_readme_exist():
    readme = (ROOT / "README.md").read_text("utf-8")
    help_text = "".join(
        subprocess.run(
            [sys.executable, "-m", "harness.cli", command, "--help"],
            check=True, capture_output=True, text=True, env={"COLUMNS": "200", "TERM": "dumb"},
        ).stdout
        for command in ("run", "score", "gate")
    )  # fmt: skip
    for option in set(re.findall(r"(?<!\S)--[a-z-]+", readme)):
        assert option in help_text, option


def test_the_examples_on_parity_are_what_they_print():
    path = ROOT / "docs/parity.md"
    failed, tried = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert (failed, tried > 15) == (0, True)


def test_the_chunker_of_the_architecture_page_runs(tmp_path: Path):
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mymodule.py").write_text(code)
    command = ["run", "-c", "mymodule:halves,overlap=20", "-r", "bm25", "--limit", "3"]
    done = subprocess.run(
        [Path(sys.executable).with_name("chunkmark"), *command, "--format", "json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["chunker"] == "mymodule:halves,overlap=20"
    assert cell["health"]["coverage"] == 1.0


def test_the_readme_shows_what_this_code_prints(tmp_path: Path):
    """The chunks of every chunker, where Python's own library is the one that was read."""
    readme = (ROOT / "README.md").read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "-r", "bm25", "-o", str(tmp_path / "run"),
         "--format", "json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    cells = json.loads(done.stdout)["cells"]
    if f"data {cells[0]['fingerprint'][:12]}" not in readme:
        pytest.skip("the README was made with another release of Python")
    for cell in cells:
        row = rf"^{cell['chunker']} +{cell['health']['chunks']} "
        assert re.search(row, readme, re.MULTILINE), cell["chunker"]
