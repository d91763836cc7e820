"""Suites: files of run options, and the built-in ones, which are chosen by their names."""

import json
from pathlib import Path

import pytest
from commands import call, says

from chunkers.errors import InputError
from chunkers.plugins.spec import parse_spec
from harness.datasets.suites import load_suite
from harness.runs.plan import make_plan

ROOT = Path(__file__).parents[3]


def test_they_are_listed_with_what_they_compare(capsys):
    files = sorted((ROOT / "datasets/suites").glob("*.toml"))
    listed = call(capsys, "list", "suites", "--format", "json").json["suites"]
    assert [row["name"] for row in listed] == [file.stem for file in files]
    assert {"quick"} <= {file.stem for file in files}
    assert [row["file"] for row in listed] == [str(file) for file in files]
    assert all(row["description"].endswith(".") for row in listed)


def test_quick_runs_by_its_name_and_options_override_it(capsys, tmp_path):
    options = ("-c", "fixed", "--limit", "5", "-o", tmp_path / "run", "--format", "json")
    (cell,) = call(capsys, "run", "quick", *options).json["cells"]
    assert (cell["dataset"], cell["chunker"], cell["retriever"]) == ("stdlib", "fixed", "bm25")
    assert cell["n_queries"] == 5
    assert list(cell["metrics"]) == list(load_suite(Path("quick")).measures)


def test_a_file_goes_before_a_built_in_suite_and_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built_in = load_suite(ROOT / "datasets/suites/quick.toml")
    assert load_suite(Path("quick")) == built_in
    Path("quick").mkdir()
    assert load_suite(Path("quick")) == built_in
    Path("quick").rmdir()
    Path("quick").write_text("limit = 3\n")
    assert load_suite(Path("quick")).limit == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quik", ["suite quik does not exist", "did you mean quick?", "give a TOML file"]),
        ("zzz", ["suite zzz does not exist", "choose from", "quick", "a TOML file"]),
        ("suites/quick", ["suite suites/quick does not exist", "choose from"]),
        ("quick.toml", ["suite quick.toml does not exist", "did you mean quick?"]),
        ("../quick", ["suite ../quick does not exist"]),
        (".", [". is a folder, not a suite", "write -d repo:."]),
    ],
)
def test_an_unknown_name_says_what_there_is(capsys, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    says(call(capsys, "run", name), 2, *words)


def test_the_published_tables_are_printed(capsys, tmp_path, monkeypatch, data: Path):
    monkeypatch.delenv("CHUNKMARK_DATA", raising=False)
    options = ("--data-dir", data, "-o", tmp_path / "run")
    cells = call(capsys, "run", "repoeval-reference", *options, "--format", "json").json["cells"]
    assert len(cells) == 4
    published = []
    for cell in cells:
        name, _, rest = cell["chunker"].partition(":")
        size = 1800 if "max_size=1800" in rest else 1500
        (folder,) = (data / "golden/e2e").glob(f"published_*_max{size}_k5/maxhumber_redframes")
        file = folder / f"{name.removeprefix('code-chunk-')}.results.json"
        summary = json.loads(file.read_text("utf-8"))["summary"]["5"]
        means = [cell["metrics"][measure]["mean"] for measure in ("P@5", "R@5", "nDCG@5")]
        assert means == [summary["precision"], summary["recall"], summary["ndcg"]]
        published.append([f"{100 * mean:.1f}%" for mean in means])
    printed = call(capsys, "run", "repoeval-reference", *options).out
    table = [line.split()[:4] for line in printed[printed.index("mean of 1") :].splitlines()]
    assert all(means in [row[1:] for row in table] for means in published), printed


def test_a_path_in_a_data_folder_is_found_quoted_and_named_if_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path / "second"))
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    suite = tmp_path / "suite.toml"
    suite.write_text('embedders = ["minilm", "vectors:<data>/v"]\nmeasures = ["<data>/v"]\n')
    first = tmp_path / "first, with a comma"
    first.mkdir()
    with pytest.raises(InputError, match=r"suite .*: v is in none of the data folders: .*first,"):
        load_suite(suite, first)
    (tmp_path / "second/v").mkdir(parents=True)
    assert load_suite(suite, first).embedders == ("minilm", f'vectors:"{tmp_path}/second/v"')
    (first / "v").mkdir()
    config = load_suite(suite, first)
    assert parse_spec(config.embedders[1]).argument == str(first / "v")
    assert config.measures == ("<data>/v",)
    suite.write_text('datasets = ["repo:x,order=<data>/v,seed=3"]\n')
    assert parse_spec(load_suite(suite, first).datasets[0]).options == (
        ("order", str(first / "v")), ("seed", "3"),
    )  # fmt: skip


def test_the_plan_of_quick_needs_no_model():
    plan = make_plan(load_suite(Path("quick")))
    assert (plan.embedders, plan.cells) == ((), 4)
