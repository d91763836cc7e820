"""Measures of lines and files for outside rankings."""

import pytest
from commands import says

from harness.scoring.located_cells import SourceFolder, line_cell
from harness.scoring.records import Location


def item(path, first, last, **more):
    return {"path": path, "start_line": first, "end_line": last, **more}


def record(retrieved, targets, query="q"):
    return {"query_id": query, "retrieved": retrieved, "targets": targets}


def test_files_and_line_iou_need_no_source(means):
    row = record(
        [item("x.py", 1, 9), item("a.py", 1, 4), item("a.py", 3, 6), {"path": "b.py"}],
        [item("a.py", 3, 6), item("c.py", 1, 1), {"path": "b.py"}],
    )
    got = means([row], None, "FileR@2", "FileR@3", "FileMRR", "IoU@1", "IoU@2", "IoU@3")
    assert got == {
        "FileR@2": 1 / 3, "FileR@3": 2 / 3, "FileMRR": 0.5,
        "IoU@1": 0.0, "IoU@2": 2 / 6, "IoU@3": 1.0,
    }  # fmt: skip


def test_what_has_no_path_is_a_file_of_its_own(means):
    row = record([{"text": "one"}, {"text": "two"}, item("a.py", 1, 2)], [item("a.py", 1, 2)])
    assert means([row], None, "FileMRR", "IoU@3") == {"FileMRR": 1 / 3, "IoU@3": 1.0}


def test_measures_of_lines_are_over_the_queries_that_have_them(score):
    rows = [
        record([item("a.py", 1, 2)], [item("a.py", 1, 2)], "lines"),
        record([{"path": "a.py"}], [{"path": "a.py"}], "file"),
        {"query_id": "ids", "retrieved_ids": ["a"], "relevant_ids": ["a"]},
    ]
    options = [part for one in ("MRR", "FileMRR", "IoU@1", "SpanR@10c") for part in ("-m", one)]
    found = score(rows, None, *options).json["metrics"]
    assert {name: one["n"] for name, one in found.items()} == {
        "MRR": 3, "FileMRR": 2, "IoU@1": 1, "SpanR@10c": 0,
    }  # fmt: skip
    assert found["SpanR@10c"]["mean"] is None
    assert "--source" in found["SpanR@10c"]["why"]


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "pkg").mkdir(parents=True)
    # Four lines of 4, 4, 0 and 9 characters that count.
    (folder / "pkg" / "a.py").write_bytes(b"aa = 1\r\nbb = 2\r\n\r\nccccc = 333\r\n")
    (folder / "b.py").write_text("12345\n")
    (tmp_path / "outside.py").write_text("12345\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    return folder


def test_span_measures_read_the_source(means, tree):
    row = record(
        [item("b.py", 1, 1), item("pkg/a.py", 1, 3), item("pkg/a.py", 2, 4)],
        [item("pkg/a.py", 2, 4)],
    )
    names = ("SpanR@9c", "SpanR@12c", "SpanP@12c", "SpanR@1000c", "SpanP@1000c", "Complete@1000c")
    got = means([row], None, *names, options=("--source", str(tree)))
    # b.py has 5 characters, the first chunk 4 + 4, the second 4 + 9; the gold is 13.
    assert got == {
        "SpanR@9c": 0.0, "SpanR@12c": 3 / 13, "SpanP@12c": 3 / 12, "SpanR@1000c": 1.0,
        "SpanP@1000c": 13 / 26, "Complete@1000c": 1.0,
    }  # fmt: skip


def test_a_target_without_lines_is_its_whole_file(means, tree):
    row = record([item("pkg/a.py", 1, 1)], [{"path": "pkg/a.py"}])
    got = means([row], None, "SpanR@99c", options=("--source", str(tree)))
    assert got == {"SpanR@99c": 4 / 17}


def test_places_that_are_not_found_are_counted(score, tree):
    rows = [
        record(
            [item("gone.py", 1, 1), item("b.py", 1, 2), item("link.py", 1, 1), item("b.py", 1, 1)],
            [item("b.py", 1, 1), item("pkg/a.py", 3, 3), item("pkg/a.py", 4, 5)],
            "some",
        ),
        record([item("b.py", 1, 1)], [item("gone.py", 1, 1)], "none"),
    ]
    done = score(rows, None, "-m", "SpanR@99c", "-m", "SpanP@99c", "--source", tree)
    for name in ("SpanR@99c", "SpanP@99c"):
        found = done.json["metrics"][name]
        assert (found["mean"], found["n"]) == (1.0, 1)
    assert "3 retrieved items not found" in done.err
    assert "3 targets not found" in done.err


def test_no_target_in_the_source_is_skipped(score, tree):
    row = record([item("b.py", 1, 1)], [item("gone.py", 1, 1)])
    asked = ["-m", "SpanR@99c", "-m", "FileR@1", "--source", tree]
    found = score([row], None, *asked).json["metrics"]["SpanR@99c"]
    assert (found["mean"], found["status"]) == (None, "skipped")


def test_projected_measures_are_skipped_for_they_need_all_lines_and_scores(score, tree):
    row = record([item("b.py", 1, 1)], [item("b.py", 1, 1)])
    for more in ([], ["--source", tree]):
        asked = ["-m", "pndcg@10", "-m", "FileR@1", *more]
        found = score([row], None, *asked).json["metrics"]
        assert list(found) == ["pnDCG@10", "FileR@1"]
        assert (found["pnDCG@10"]["mean"], found["pnDCG@10"]["status"]) == (None, "skipped")
        assert "needs a run folder" in found["pnDCG@10"]["why"]
        assert found["FileR@1"]["mean"] == 1.0


def test_budgets_are_charged_for_merged_lines_where_the_profile_says_so(score, tree):
    """The same line three times: charged once, so the target behind it is reached."""
    first = item("pkg/a.py", 1, 1)
    row = record([first, item("pkg/a.py", 1, 1), item("pkg/a.py", 1, 4)], [item("pkg/a.py", 4, 4)])
    asked = ["-m", "SpanP@999c", "--source", tree]
    plain, merged = (
        score([row], None, *asked, "--profile", name).json["metrics"]["SpanP@999c"]["mean"]
        for name in ("default", "default:assemble=merge")
    )
    assert merged > plain > 0


def test_source_must_be_a_folder(score, tmp_path):
    says(score([record([], [])], None, "--source", tmp_path / "gone"), 2, "gone", "folder")


def test_lines_from_0_are_compared_as_given_but_stand_in_no_file(score, tree):
    row = {
        "itemId": "q", "expected": "x",
        "retrievedContext": [
            {"id": "b", "content": "", "metadata":
                {"filepath": "b.py", "startLine": 0, "endLine": 0}},
        ],
        "metadata": {"groundTruth": {"file": "b.py", "startLine": 0, "endLine": 0}},
    }  # fmt: skip
    found = score([row], None, "-m", "IoU@1", "-m", "SpanR@9c", "--source", tree).json["metrics"]
    assert found["IoU@1"]["mean"] == 1.0
    assert found["SpanR@9c"]["status"] == "skipped"


def test_a_range_that_ends_before_it_begins_meets_nothing():
    backwards, around = Location("a", 9, 3), Location("a", 1, 20)
    assert backwards.shared(around) == around.shared(backwards) == backwards.shared(backwards) == 0
    assert around.shared(Location("a", 20, 30)) == 1
    assert around.shared(Location("b", 1, 20)) == 0


def test_cells_of_no_query_are_empty(tree):
    assert line_cell([]).queries == ()
    assert SourceFolder(tree).cell([]).queries == ()
