"""Break-downs: means over the queries of a language, a folder, a corpus, a file or a tag."""

import csv
import io
import math
import re
from pathlib import Path

import pytest
from commands import call, says

from harness.reports.breakdowns import single_queries

CODE = {
    "a/one.py": 'def first(x):\n    """Add one to whatever number comes."""\n    return x + 1\n',
    "b/two.py": 'def second(x):\n    """Take two off whatever number goes."""\n    return x - 2\n',
    "b/three.go": "package b\n\n// Third halves all the numbers given to it.\n"
    "func Third(x int) int {\n\treturn x / 2\n}\n",
}
ASKED = ("-r", "bm25", "-c", "ast", "-c", "fixed", "-m", "nDCG@10", "-m", "MRR")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for path, text in CODE.items():
        (tmp_path / "repo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / path).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "repo:repo"


def run(capsys, dataset: str, *more: str):
    return call(capsys, "run", "-d", dataset, *ASKED, *more)


def test_every_break_down_holds_every_query_once(repository: str, capsys):
    names = ("language", "folder", "corpus", "source", "name-overlap")
    options = [part for name in names for part in ("--by", name)]
    for cell in run(capsys, repository, "--format", "json", *options).json["cells"]:
        assert list(cell["by"]) == list(names)
        assert {value: one["n"] for value, one in cell["by"]["source"].items()} == {
            "a/one.py": 1, "b/three.go": 1, "b/two.py": 1
        }  # fmt: skip
        assert {value: one["n"] for value, one in cell["by"]["folder"].items()} == {"a": 1, "b": 2}
        assert set(cell["by"]["language"]) == {"go", "python"}
        assert set(cell["by"]["corpus"]) == {"repo"}
        for values in cell["by"].values():
            assert sum(one["n"] for one in values.values()) == cell["n_queries"] == 3
            for name, whole in cell["metrics"].items():
                parts = [one["n"] * one["metrics"][name] for one in values.values()]
                assert math.isclose(sum(parts) / 3, whole["mean"])


def test_tags_are_broken_down_as_they_are_without_being_asked_for(repository: str, capsys):
    unasked = run(capsys, repository, "--format", "json").json["cells"]
    asked = run(capsys, repository, "--format", "json", "--by", "folder").json["cells"]
    assert [cell["by"]["folder"] for cell in unasked] == [cell["by"]["folder"] for cell in asked]
    assert [set(cell["by"]) for cell in asked] == [{"folder"}] * 2


def test_a_mean_of_groups_stands_beside_the_mean_over_queries(repository: str, capsys):
    names = ("language", "source", "folder:1", "corpus", "name-overlap")
    options = [part for name in names for part in ("--by", name)]
    cells = run(capsys, repository, "--format", "json", *options).json["cells"]
    for cell in cells:
        # One corpus is no mean of groups, and neither are values of another kind.
        assert list(cell["by_groups"]) == ["language", "source", "folder:1"]
        for tag, part in cell["by_groups"].items():
            values = [one["metrics"] for one in cell["by"][tag].values()]
            assert part["n"] == len(values)
            for name, mean in part["metrics"].items():
                assert math.isclose(mean, sum(one[name] for one in values) / len(values))
    languages = {cell["chunker"]: cell["by_groups"]["language"]["metrics"] for cell in cells}
    table = run(capsys, repository, "--by", "language").out
    queries = {cell["chunker"]: cell["metrics"]["nDCG@10"]["mean"] for cell in cells}
    for name, means in languages.items():
        assert re.search(rf"^{name} .* {queries[name]:.3f} +{means['nDCG@10']:.3f} *$", table, re.M)
    assert "by language, one query alone: go; such a mean says nothing" in table
    markdown = run(capsys, repository, "--by", "language", "--format", "markdown").out
    assert "| language, mean of 2 groups |" in markdown
    assert "- by language, one query alone: go;" in markdown
    rows = csv.DictReader(io.StringIO(
        run(capsys, repository, "--by", "language", "--format", "csv").out
    ))  # fmt: skip
    found = {row["chunker"]: row["value"] for row in rows if row["name"] == "language: MRR"}
    assert found == {name: str(means["MRR"]) for name, means in languages.items()}


def test_groups_of_one_query_are_named():
    one, two = {"n": 1, "metrics": {}}, {"n": 2, "metrics": {}}
    assert single_queries("language", {"go": two}) == ""
    assert single_queries("language", {"go": one, "c": two}).startswith(
        "by language, one query alone: go; "
    )
    many = {f"{name}.py": one for name in "abcdefg"}
    assert ": a.py, b.py, c.py, d.py, e.py and 2 more; " in single_queries("source", many)


def test_every_form_of_a_result_has_them(repository: str, capsys):
    table = run(capsys, repository, "--by", "source").out
    assert "nDCG@10* by source" in table
    assert "b/three.go" in table
    assert (
        "source=b/three.go, n=1"
        in run(capsys, repository, "--by", "source", "--format", "markdown").out
    )
    rows = csv.DictReader(io.StringIO(
        run(capsys, repository, "--by", "source", "--format", "csv").out
    ))  # fmt: skip
    named = {(row["chunker"], row["name"]): row["n"] for row in rows if row["kind"] == "by"}
    assert len(named) == 2 * 3 * 2
    assert named["ast", "source=a/one.py: MRR"] == "1"


def test_many_values_stand_below_each_other(tmp_path: Path, monkeypatch, capsys):
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text(
            f'def f{number}(x):\n    """Return the wanted thing number {number} of it."""\n'
            f"    return x + {number}\n", "utf-8",
        )  # fmt: skip
    monkeypatch.chdir(tmp_path)
    out = run(capsys, "repo:.", "--by", "source").out
    assert len(re.findall(r"^m\d+\.py ", out, re.M)) == 30
    assert "m12.py and 35 more; " in out
    assert "10 more with fewer queries" in out


def test_a_data_set_without_such_tags_is_broken_down_by_its_targets(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    options = ("--limit", "10", "--by", "language", "--by", "folder", "--format", "json")
    found = run(capsys, "stdlib", *options).json["cells"][0]["by"]
    assert {value: one["n"] for value, one in found["language"].items()} == {"python": 10}
    assert sum(one["n"] for one in found["folder"].values()) == 10


def test_an_unknown_break_down_is_refused_before_the_work(repository: str, capsys, tmp_path: Path):
    says(run(capsys, repository, "--by", "lang"), 2, "--by lang", "did you mean language")
    assert not (tmp_path / "chunkmark-run").exists()


def test_folders_are_packages_or_as_deep_as_asked_for(repository: str, capsys, tmp_path: Path):
    (tmp_path / "repo/services").mkdir()
    for name in ("a", "b"):
        (tmp_path / "repo" / name).rename(tmp_path / "repo/services" / name)
    options = ("--by", "folder", "--by", "folder:1", "--by", "folder:2", "--format", "json")
    by = run(capsys, repository, *options).json["cells"][0]["by"]
    sizes = {
        name: {value: part["n"] for value, part in parts.items()} for name, parts in by.items()
    }
    packages = {"services/a": 1, "services/b": 2}
    assert sizes == {"folder": packages, "folder:1": {"services": 3}, "folder:2": packages}
    says(run(capsys, repository, "--by", "folder:0"), 2, "--by folder:0", "folder")
