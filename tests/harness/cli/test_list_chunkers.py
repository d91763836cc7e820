"""`chunkmark list chunkers`: what each is, and whether it can be used here."""

import importlib.metadata

from commands import call

FAMILIES = {"syntax", "text", "semantic", "fixed", "anchor", "process"}
REASON = "chunker semchunk: semchunk is not installed: pip install 'chunkmark[chunkers]'"


def without_semchunk(monkeypatch):
    asked = importlib.metadata.version

    def version(name):
        if name == "semchunk":
            raise importlib.metadata.PackageNotFoundError(name)
        return asked(name)

    monkeypatch.setattr(importlib.metadata, "version", version)


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
    assert lines[0].split()[:6] == ["name", "family", "languages", "version", "usable", "here"]
    (row,) = [line for line in lines if line.startswith("semchunk ")]
    assert row.split()[1:4] == ["text", "chunker", "semchunk:"]  # the reason goes on below
    (row,) = [line for line in lines if line.startswith("fixed ")]
    assert row.split()[:5] == ["fixed", "fixed", "any", "1", "yes"]
