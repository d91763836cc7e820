"""Built-in suites: each can be run, and is chosen by its name."""

from pathlib import Path

import pytest
from commands import call, says

from harness.datasets.suites import find_suite, list_suites
from harness.runs.config import load_suite
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
    assert list(cell["metrics"]) == list(load_suite(find_suite(Path("quick"))).measures)


def test_a_file_goes_before_a_built_in_suite_and_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built_in = ROOT / "datasets/suites/quick.toml"
    assert find_suite(Path("quick")) == built_in
    Path("quick").mkdir()
    assert find_suite(Path("quick")) == built_in
    Path("quick").rmdir()
    Path("quick").write_text("limit = 3\n")
    assert load_suite(find_suite(Path("quick"))).limit == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quik", ["suite quik does not exist", "did you mean quick?", "give a TOML file"]),
        ("zzz", ["suite zzz does not exist", "choose from", "quick", "a data set by -d"]),
        ("suites/quick", ["suite suites/quick does not exist", "choose from"]),
        ("quick.toml", ["suite quick.toml does not exist", "did you mean quick?"]),
        ("../quick", ["suite ../quick does not exist"]),
        (".", ["suite . is a folder"]),
    ],
)
def test_an_unknown_name_says_what_there_is(capsys, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    says(call(capsys, "run", name), 2, *words)


def test_the_plan_of_quick_needs_no_model():
    plan = make_plan(load_suite(find_suite(Path("quick"))))
    assert (plan.embedders, plan.cells) == ((), 4)
    assert [suite.name for suite in list_suites()] == sorted(s.name for s in list_suites())
