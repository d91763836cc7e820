"""The documentation describes what exists: keys, options, commands, paths, links."""

import doctest
import importlib
import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from harness.cli.commands import COMMANDS, load_command

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "run"
    options = ["run", "-r", "bm25", "-c", "fixed", "--limit", "5", "-o", str(out)]
    subprocess.run([sys.executable, "-m", "harness.cli", *options], check=True, capture_output=True)
    return out


def keys(value: object, depth: int) -> set[str]:
    if isinstance(value, list):
        return set().union(*(keys(item, depth) for item in value))
    if not isinstance(value, dict) or depth == 0:
        return set()
    return set(value).union(*(keys(item, depth - 1) for item in value.values()))


def test_every_key_of_the_run_folder_is_documented(finished: Path):
    words = set(re.findall(r"`([a-z_0-9]+)`", (ROOT / "docs/run-folder.md").read_text("utf-8")))
    manifest = json.loads((finished / "manifest.json").read_text("utf-8"))
    (folder,) = (finished / "cells").iterdir()
    documents = [keys(manifest, 1), *(keys(entry, 1) for entry in manifest["datasets"].values())]
    cell = json.loads((folder / "cell.json").read_text("utf-8"))
    documents += [keys(cell, 1), keys(cell["health"], 1), keys(cell["cost"], 1)]
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    documents += [keys(metrics, 1), *(keys(entry, 1) for entry in metrics["metrics"].values())]
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


def test_the_commands_of_the_readme_are_those_of_the_makefile():
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"\bmake ([a-z-]+)", readme)
    assert {"run", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_examples_on_parity_are_what_they_print():
    path = ROOT / "docs/parity.md"
    failed, tried = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert (failed, tried > 15) == (0, True)


def test_the_pages_show_what_this_code_prints(tmp_path: Path):
    """Chunk counts and notes, if this Python's library is the one on the page."""
    readme = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs/reading-results.md").read_text("utf-8")
    command = [sys.executable, "-m", "harness.cli", "run", "-r", "bm25", "-o", str(tmp_path)]
    document, markdown = (
        subprocess.run(
            [*command, "--format", form], capture_output=True, encoding="utf-8", check=True
        ).stdout
        for form in ("json", "markdown")
    )
    cells = json.loads(document)["cells"]
    if f"data {cells[0]['fingerprint'][:12]}" not in page:
        pytest.skip("the output in the documentation was made with another release of Python")
    for cell in cells:
        name, count = cell["chunker"], cell["health"]["chunks"]
        assert re.search(rf"^\| {name} \| .* \| {count} \|", readme, re.MULTILINE), name
        assert re.search(rf"^{name} +{count} ", page, re.MULTILINE), name
    notes = [note.replace("\\", "") for note in re.findall(r"^- (.*)$", markdown, re.MULTILINE)]
    # The page shows a dense run; what a lexical one did not retrieve is noted for it alone.
    notes = [note for note in notes if "was retrieved" not in note]
    assert notes
    assert [note for note in notes if note not in " ".join(page.split())] == []


def test_the_readme_shows_scores_of_the_whole_output():
    readme = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs/reading-results.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z-]+) \| ([\d.]+) ([\d.]+-[\d.]+) \|", readme, re.MULTILINE)
    assert len(rows) == 5
    for name, mean, ends in rows:
        assert re.search(rf"^{name} +10000c {mean} +{re.escape(ends)} ", page, re.MULTILINE), name


def test_every_page_is_linked_from_the_index():
    index = (ROOT / "docs/index.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text("utf-8")):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_exist_and_have_a_text_alternative(page: Path):
    text = page.read_text("utf-8")
    assert re.findall(r"!\[\]", text) == []
    for name in re.findall(r'(?:src|srcset)="([^"]+)"', text):
        assert (page.parent / name).stat().st_size < 150_000, name
    for element in re.findall(r"<img[^>]*>", text):
        assert re.search(r'alt="[^"]{20,}"', element), element
    assert page.name != "README.md" or "<img" in text


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_names_in_the_text_exist(page: Path):
    text = page.read_text("utf-8")
    for name in re.findall(r"`((?:harness|chunkers|datasets|tests|benchmarks)/[\w./-]*)`", text):
        if "my_name" not in name and "my-name" not in name:
            assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:harness|chunkers)(?:\.\w+)+)(?:\([^`]*\))?`", text):
        assert _exists(name), name
    for name in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert _exists(name), name


def _exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    head, _, last = name.rpartition(".")
    try:
        module = importlib.import_module(head)
    except ModuleNotFoundError:
        return False
    return hasattr(module, last) or importlib.util.find_spec(name) is not None


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every call of chunkmark in the code blocks and inline code of a page."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shell = "\n".join(block for language, block in blocks if language in ("", "console", "yaml"))
    lines = [line.strip().removeprefix("$ ") for line in shell.splitlines()]
    for line in [*lines, *re.findall(r"`(chunkmark [^`\n]+)`", text)]:
        if line.startswith("chunkmark "):
            yield shlex.split(line, comments=True)[1:]


def test_the_workflow_saves_what_it_restores_and_compares():
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text("utf-8"), re.DOTALL)
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    caches = [step["with"] for step in steps if "cache/" in step.get("uses", "")]
    assert caches[0]["path"] == caches[1]["path"]
    assert caches[0]["key"] == caches[1]["key"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert "mv chunkmark-run main-run" in scripts[-1]
    assert "gate chunkmark-run --against main-run" in scripts[-2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path):
    for call in commands(page):
        path = next((path for path in (" ".join(call[:2]), call[0]) if path in COMMANDS), "")
        params = load_command(path).params if path else []
        options = {"--help", "--debug", "--version"}
        options |= {name for param in params for name in (*param.opts, *param.secondary_opts)}
        assert path or call[0] in {"COMMAND", "dataset", *options}, f"chunkmark {' '.join(call)}"
        for word in call:
            if re.match(r"--?[a-z]", word):
                assert word in options, f"{path} {word}"


def test_the_suite_file_of_the_page_runs(tmp_path: Path):
    (suite,) = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs/commands.md").read_text("utf-8"), re.DOTALL
    )
    (tmp_path / "suite.toml").write_text(suite, encoding="utf-8")
    options = ["-r", "bm25", "--limit", "5", "-o", str(tmp_path / "run"), "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", str(tmp_path / "suite.toml"), *options],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = [cell["chunker"] for cell in json.loads(done.stdout)["cells"]]
    assert names == ["ast", "fixed:max_size=300", "fixed"]


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.slow
def test_the_python_in_the_readme_runs(tmp_path: Path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    scores, means = done.stdout.splitlines()
    assert scores.startswith("ast 0.")
    assert means == "{'nDCG@10': 0.6309297535714575, 'MRR': 0.5}"
