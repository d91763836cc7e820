"""What the program says of wrong usage: the exit code, and one or two lines."""

import json

import pytest
from commands import call, says


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a source file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("def first(number):\n    return number\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "-r", "bm25", "-c", "ast", "-e", "minlm"),
        ("run", "-r", "bm25", "-c", "fixed", "-e", "minilm", "-e", "minlm:windows=max"),
        ("chunk", "a.py", "-e", "minlm"),
        ("audit", "-d", "stdlib", "-e", "minlm"),
    ],
)
def test_an_unknown_embedder_is_refused_also_where_nothing_embeds(folder, capsys, arguments):
    says(call(capsys, *arguments), 2, "unknown embedder 'minlm'; did you mean minilm?")


@pytest.mark.parametrize("measure", ["SpanR@10000c", "FileR@5", "IoU@5"])
def test_rankings_of_ids_have_no_lines_to_score(folder, capsys, measure):
    (folder / "run.json").write_text('{"q1": {"d1": 1.0}}')
    (folder / "qrels.json").write_text('{"q1": {"d1": 1}}')
    files = ("--run", "run.json", "--qrels", "qrels.json", "--format", "json")
    reason = "results with paths and lines are needed; give them by --records"
    says(call(capsys, "score", *files, "-m", measure), 2, f"nothing could be scored: {reason}")
    both = call(capsys, "score", *files, "-m", measure, "-m", "MRR")
    assert (both.code, both.json["metrics"]["MRR"]["mean"]) == (0, 1.0)


def test_targets_that_are_not_in_the_folder_leave_nothing_to_score(folder, capsys):
    place = {"path": "b.py", "start_line": 1, "end_line": 2}
    row = {"query_id": "q", "targets": [place], "retrieved": [{"id": "x", **place}]}
    (folder / "rows.jsonl").write_text(json.dumps(row))
    done = call(capsys, "score", "--records", "rows.jsonl", "-m", "SpanR@10c", "--source", ".")
    says(done, 2, "nothing could be scored: no target is found in .")
