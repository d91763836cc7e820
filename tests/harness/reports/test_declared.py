"""The primary measure and the margin that a run declares decide its verdicts everywhere."""

import json

import pytest
from commands import call, says

QUICK = ("run", "-c", "fixed", "-c", "function", "-r", "bm25", "-m", "SpanR@10000c", "-m",
         "SpanR@2500c", "-m", "nDCG@10")  # fmt: skip
JSON = ("--format", "json")


@pytest.fixture(scope="module")
def suite_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("declared")
    suite = folder / "suite.toml"
    suite.write_text(
        'chunkers = ["fixed", "function"]\nretrievers = ["bm25"]\n'
        'measures = ["SpanR@10000c", "SpanR@2500c", "nDCG@10"]\n'
        'primary = "spanr@2500c"\nmargin = 0.25\n'
    )
    return suite, folder / "run"


def test_the_answer_and_the_comparison_are_about_them(capsys, suite_run):
    suite, out = suite_run
    document = call(capsys, "run", suite, "-o", out, *JSON).json
    (answer,) = document["verdicts"]
    assert (answer["measure"], answer["margin"]) == ("SpanR@2500c", 0.25)
    first = answer["differences"][0]
    assert (first["measure"], first["exploratory"], first["verdict"]) == (
        "SpanR@2500c", False, "equivalent",
    )  # fmt: skip
    assert {cell["primary"] for cell in document["cells"]} == {"SpanR@2500c"}
    assert "Equivalent to `fixed` by SpanR@2500c: `function`, within 25.0 points." in (
        call(capsys, "run", suite, "-o", out).out.replace("\n", " ")
    )
    compared = call(capsys, "compare", out, *JSON).json
    assert (compared["primary"], compared["margin"]) == ("SpanR@2500c", 0.25)
    chosen = call(capsys, "compare", out, "-m", "SpanR@10000c", "--margin", "0.03", *JSON).json
    assert (chosen["primary"], chosen["margin"]) == ("SpanR@10000c", 0.03)
    config = json.loads((out / "manifest.json").read_text("utf-8"))["config"]
    assert (config["primary"], config["margin"]) == ("spanr@2500c", 0.25)


def test_options_override_the_suite_and_runs_that_disagree_are_not_merged(
    capsys, suite_run, tmp_path
):
    suite, out = suite_run
    call(capsys, "run", suite, "-o", out, *JSON)
    other = call(capsys, "run", suite, "--primary", "SpanR@10000c", "-o", tmp_path / "a", *JSON)
    assert other.json["verdicts"][0]["measure"] == "SpanR@10000c"
    says(call(capsys, "compare", out, tmp_path / "a"), 2, "SpanR@10000c, SpanR@2500c", "by -m")
    call(capsys, "run", suite, "--margin", "0.1", "-o", tmp_path / "b", *JSON)
    says(call(capsys, "compare", out, tmp_path / "b"), 2, "different margins: 0.1, 0.25")
    wrong = call(capsys, "run", suite, "-m", "MRR", "-o", tmp_path / "c")
    says(wrong, 2, "primary SpanR@2500c is not among the measures of the run")
    says(call(capsys, *QUICK, "--primary", "MRR"), 2, "--primary MRR is not among the measures")
    says(call(capsys, *QUICK, "--margin", "1"), 2, "--margin must be a number above 0 and below 1")


def test_a_measure_that_compares_no_chunkers_gives_no_verdict(capsys, tmp_path):
    done = call(capsys, *QUICK, "-c", "ast", "-c", "random-cuts", "--primary", "nDCG@10", "-o",
                tmp_path / "run", *JSON)  # fmt: skip
    (answer,) = done.json["verdicts"]
    assert answer["sentences"][0].startswith("nDCG@10 cannot compare chunkers")
    assert {row["verdict"] for row in answer["differences"]} == {"not comparable"}
    assert not any("random boundaries" in sentence for sentence in answer["sentences"])
