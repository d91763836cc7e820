"""`chunkmark list chunkers`: what each is, and whether it can be used here."""

import importlib.metadata

import pytest
from commands import call, says

from chunkers import distributions
from chunkers.errors import install_command
from harness.retrieval.vector_index import INDEXES
from harness.runs.pipeline import EMBEDDERS, RETRIEVERS, describe

FAMILIES = {"syntax", "text", "semantic", "fixed", "control", "process"}
REASON = f"chunker semchunk: semchunk is not installed: {install_command('chunkers')}"


def without_semchunk(monkeypatch):
    asked = distributions.version_of

    def version(name):
        if name == "semchunk":
            raise importlib.metadata.PackageNotFoundError(name)
        return asked(name)

    monkeypatch.setattr(distributions, "version_of", version)


def test_each_has_a_family_and_is_usable_or_says_why_not(capsys, monkeypatch):
    without_semchunk(monkeypatch)
    listed = {
        one["name"]: one
        for one in call(capsys, "list", "chunkers", "--format", "json").json["chunkers"]
    }
    assert {one["family"] for one in listed.values()} == FAMILIES
    assert listed["semchunk"]["problem"] == REASON
    for name, one in listed.items():
        assert one["description"], name
        if not one["problem"] and name != "process":  # it has a version once it has a command
            assert one["version"], name
            assert one["languages"], name
    assert listed["ast"]["languages"] == "any"
    assert "python" in listed["code-chunk-ast"]["languages"].split()


def test_the_table_says_so_too(capsys, monkeypatch):
    without_semchunk(monkeypatch)
    lines = call(capsys, "list", "chunkers").out.splitlines()
    assert lines[0].split() == ["name", "family", "languages", "description"]
    (row,) = [line for line in lines if line.startswith("semchunk ")]
    assert row.split()[1:5] == ["text", "not", "usable:", "chunker"]
    (row,) = [line for line in lines if line.startswith("fixed ")]
    assert row.split()[:3] == ["fixed", "fixed", "any"]


def test_each_part_has_one_line_of_100_columns(capsys):
    listed = call(capsys, "list", "--format", "json").json
    lines = call(capsys, "list").out.splitlines()
    parts = sum(len(rows) for kind, rows in listed.items() if kind != "schema")
    assert len(lines) == parts + 2 * (len(listed) - 1)  # each kind has a title and a heading
    assert max(map(len, lines)) <= 100


def test_one_part_is_shown_in_full(capsys):
    listed = call(capsys, "list", "chunkers", "--format", "json").json["chunkers"]
    (ast,) = (one for one in listed if one["name"] == "ast")
    shown = call(capsys, "list", "chunkers", "ast", "--format", "json").json
    assert shown == {"schema": "chunkmark.list/1", "chunkers": [ast]}
    table = call(capsys, "list", "chunkers", "ast").out
    assert "max_size=600" in table
    assert ast["description"] in table
    says(call(capsys, "list", "chunkers", "asst"), 2, "unknown chunker 'asst'; did you mean ast?")


@pytest.mark.parametrize("name", ["R", "R@10", "Recall", "recall@10"])
def test_list_knows_a_measure_by_every_name_that_run_takes(capsys, name):
    assert (
        call(capsys, "list", "measures", name, "--format", "json").json["measures"][0]["name"]
        == "R"
    )


def test_profiles_stand_side_by_side_in_markdown(capsys):
    header = call(capsys, "list", "profiles", "--format", "markdown").out.splitlines()[0]
    assert header.startswith("| field | default | code-chunk | trec |")


@pytest.mark.parametrize("registry", [EMBEDDERS, RETRIEVERS, INDEXES])
def test_a_table_describes_parts_as_their_modules_do(registry):
    """It imports no built-in part, so it reads the first lines of their files."""
    names = ("name", "origin", "description")
    whole = [[row[name] for name in names] for row in describe(registry)]
    assert whole == [[row[name] for name in names] for row in describe(registry, options=False)]
