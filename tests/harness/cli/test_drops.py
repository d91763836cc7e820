"""`chunkmark gate --against`: what fell since another run, and what could not have been seen."""

import csv
import io
import json
import shutil
import sys

import pytest
from commands import call, says

from harness.reports.gate import as_markdown

MEASURE = "SpanR@10000c"
DATA = "repo:code,queries=questions.jsonl"
NAMES = ("apricot", "beetle", "candle", "dolphin", "ember", "falcon", "garnet", "harbour",
         "island", "juniper", "kettle", "lantern", "meadow", "nettle", "orchid")  # fmt: skip
WHOLE = "from chunkers.source import Span\ndef cut(source):\n    return [Span(0, {end})]\n"
ALL, HALF = WHOLE.format(end="len(source.text)"), WHOLE.format(end="len(source.text) // 2")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Fifteen files with a question each, and a run over them whose chunks are whole files."""
    root = tmp_path_factory.mktemp("drops")
    for name in NAMES:
        body = "".join(f"    {name}_{at} = value + {at}\n" for at in range(8))
        file = root / "code" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"def {name}(value):\n{body}")
    questions = [
        {"id": name, "text": f"the {name} of it", "targets": [f"{name}.py:1-9"]} for name in NAMES
    ]
    (root / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.syspath_prepend(str(root))
        yield root


@pytest.fixture(scope="module")
def base(made):
    return run(made, "base", ALL)


def run(root, out, code, *more):
    """The run folder of a chunker of the user's own, whose code is given."""
    from harness.cli.main import main

    (root / "own_cutter.py").write_text(code)
    sys.modules.pop("own_cutter", None)
    with pytest.raises(SystemExit) as left:
        main(["run", "-d", DATA, "-c", "own_cutter:cut", "-r", "bm25", "-m", MEASURE,
              "-m", "MRR", "-o", out, *more])  # fmt: skip
    assert not left.value.code
    return root / out


def edited(base, out, change, names=None):
    """A copy of a run whose query number `at` has the value `change(at, value)`."""
    shutil.copytree(base, out)
    (cell,) = (out / "cells").iterdir()
    rows = [json.loads(line) for line in (cell / "per_query.jsonl").read_text().splitlines()]
    for at, row in enumerate(rows):
        row["metrics"][MEASURE] = change(at, row["metrics"][MEASURE])
    (cell / "per_query.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    replace(cell / "cell.json", key="changed")
    if names:
        manifest = json.loads((out / "manifest.json").read_text())
        manifest["cells"][0] |= names
        (out / "manifest.json").write_text(json.dumps(manifest))
    return out


def replace(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def gate(capsys, run, base, *more, most="0.01", form="json"):
    options = ("--against", base, "--max-drop", f"{MEASURE}={most}", "--format", form)
    return call(capsys, "gate", run, *options, *more)


def test_a_regression_of_a_chunker_fails_and_names_the_queries(made, base, capsys):
    worse = run(made, "worse", HALF)
    done = gate(capsys, worse, base)
    (check,) = done.json["checks"]
    assert (done.code, done.json["verdict"], check["verdict"]) == (1, "fail", "fail")
    assert (check["kind"], check["n_queries"], check["clusters"]) == ("max-drop", 15, 15)
    assert check["drop"] == pytest.approx(check["before"] - check["value"])
    assert 0 < check["drop_at_least"] <= check["drop"]
    queries = check["queries"]
    assert len(queries) == 10
    falls = [query["before"] - query["after"] for query in queries]
    assert falls == sorted(falls, reverse=True)
    for query in queries:
        name = query["query_id"]
        assert query["text"] == f"the {name} of it"
        assert query["targets"] == [f"{name}.py:1-9"]
        assert 0 < query["after"] < query["before"] == 1
    table = gate(capsys, worse, base, form="table").out
    assert "the queries that fell most" in table
    assert "1.000 -> " in table
    assert "gate: fail" in table
    markdown = gate(capsys, worse, base, form="markdown").out
    assert markdown.startswith("### Retrieval: fail\n\n1 of 1 check failed.\n")
    assert markdown.count("<details>") == markdown.count("</details>") == 1
    assert f"{queries[0]['targets'][0]} | 1.000 |" in markdown
    rows = list(csv.DictReader(io.StringIO(gate(capsys, worse, base, form="csv").out)))
    assert [(row["measure"], row["bound"], row["verdict"]) for row in rows] == [
        (MEASURE, "drop <= 0.01", "fail")
    ]
    # Better than before, it passes.
    assert gate(capsys, base, worse).code == 0
    assert gate(capsys, worse, base, most="0.9").code == 0


def test_a_comment_stays_shorter_than_github_allows(made, base, capsys):
    (check,) = gate(capsys, run(made, "worse", HALF), base).json["checks"]
    long = [query | {"text": "what <b>is\n" + "x" * 999} for query in check["queries"]]
    checks = [check | {"queries": long}] * 30
    comment = as_markdown({"checks": checks, "verdict": "fail"}, [])
    assert comment.count("<details>") == comment.count("</details>") == 10
    assert "- the queries of 20 more are in --format json" in comment
    assert len(comment) < 65_536
    assert "what \\<b\\>is x" in comment


def test_what_did_not_change_passes(base, tmp_path, capsys):
    shutil.copytree(base, tmp_path / "same")
    done = gate(capsys, tmp_path / "same", base, "--strict", most="0")
    (check,) = done.json["checks"]
    assert (done.code, check["drop"], check["detects"], check["why"]) == (0, 0, 0, None)


@pytest.mark.parametrize(
    ("change", "drop"),
    [
        (lambda at, value: value - (0.4 if at % 2 else -0.3), 0.4 / 15),  # half of them rise
        (lambda at, value: value - 0.9 * (at == 3), 0.06),  # one alone falls
        (lambda at, value: value - 0.5 * (at < 4), 2 / 15),  # four may be chance
        (lambda at, value: value, 0.0),
    ],
)
def test_noise_passes_and_strict_says_what_was_not_seen(base, tmp_path, capsys, change, drop):
    noisy = edited(base, tmp_path / "noisy", change)
    done = gate(capsys, noisy, base)
    (check,) = done.json["checks"]
    assert (done.code, check["verdict"]) == (0, "pass")
    assert check["drop"] == pytest.approx(drop, abs=1e-9)
    assert check["drop_at_least"] <= 1e-12
    assert check["detects"] > 0.01
    assert f"{check['detects']:.2g} may pass unseen with 15 queries in 15 clusters" in done.err
    strict = gate(capsys, noisy, base, "--strict")
    assert (strict.code, strict.json["verdict"]) == (1, "fail")
    assert gate(capsys, noisy, base, "--strict", most="0.5").code == 0


def test_a_drop_that_is_allowed_passes_however_sure_it_is(base, tmp_path, capsys):
    lower = edited(base, tmp_path / "lower", lambda at, value: value - 0.005 - 0.0001 * at)
    done = gate(capsys, lower, base, "--strict")
    (check,) = done.json["checks"]
    assert (done.code, check["verdict"]) == (0, "pass")
    assert 0.005 < check["drop_at_least"] < check["drop"] < 0.01
    assert gate(capsys, lower, base, most="0.005").code == 1


def test_a_set_that_can_show_nothing_is_no_pass(made, capsys):
    few = (run(made, out, code, "--limit", "4") for out, code in (("f1", ALL), ("f2", HALF)))
    few_base, few_run = few
    for form in ("table", "json"):
        says(gate(capsys, few_run, few_base, form=form), 2, "4 queries in 4 clusters can show no")
    strict = gate(capsys, few_run, few_base, "--strict")
    assert (strict.code, strict.json["checks"][0]["verdict"]) == (1, "fail")
    both = gate(capsys, few_run, few_base, "--min", "MRR>0")
    assert (both.code, [check["verdict"] for check in both.json["checks"]]) == (
        0, ["pass", "skipped"],
    )  # fmt: skip
    assert gate(capsys, few_run, few_base, "--min", "MRR>0", "--require").code == 1


def test_a_cell_that_is_gone_fails_and_a_new_one_is_named(base, tmp_path, capsys):
    other = edited(base, tmp_path / "other", lambda _, value: value, {"chunker": "ast"})
    done = gate(capsys, other, base)
    assert done.code == 1
    assert [(check["chunker"], check["verdict"]) for check in done.json["checks"]] == [
        ("own_cutter:cut", "fail"), ("ast", "skipped"),
    ]  # fmt: skip
    assert (
        f"own_cutter:cut on {DATA} (none, bm25) is scored in {base}, but not in {other}" in done.err
    )
    assert f"ast on {DATA} (none, bm25) is scored in {other}, but not in {base}" in done.err


def test_runs_without_a_common_data_set_are_refused(base, tmp_path, capsys):
    other = edited(base, tmp_path / "other", lambda _, value: value, {"dataset": "stdlib"})
    says(gate(capsys, other, base), 2, f"no data set in common: stdlib, and {DATA}", "run both on")
    both = ("--min", "MRR>0")
    says(gate(capsys, base, other, *both), 2, f"no data set in common: {DATA}, and stdlib")
    # Where every chunker failed on it, it is in common.
    replace(other / "manifest.json", failed=[{"dataset": DATA, "chunker": "own_cutter:cut"}])
    assert gate(capsys, other, base).code == 1


def test_a_cell_that_failed_is_gone(made, base, capsys):
    from harness.cli.main import main

    (made / "own_cutter.py").write_text("def cut(source):\n    raise ValueError\n")
    sys.modules.pop("own_cutter", None)
    with pytest.raises(SystemExit):
        main(["run", "-d", DATA, "-c", "own_cutter:cut", "-c", "fixed", "-r", "bm25",
              "-m", MEASURE, "-o", "broken"])  # fmt: skip
    done = gate(capsys, made / "broken", base)
    assert done.code == 1
    assert f"own_cutter:cut on {DATA} (none, bm25) is scored in" in done.err


def test_cells_of_earlier_runs_are_not_compared(made, base, tmp_path, capsys):
    shutil.copytree(base, made / "twice")
    folder = run(made, "twice", HALF)
    assert len(list((folder / "cells").iterdir())) == 2
    assert gate(capsys, folder, base).code == 1
    assert gate(capsys, base, folder).code == 0


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--limit", "8"), "--limit (8, none)"),
        (("--profile", "trec"), "profile (trec, default)"),
        (("--seed", "3"), "--seed (3, 0)"),
        (("--depth", "5"), "--depth ("),
    ],
)
def test_other_data_or_scoring_is_refused(made, base, tmp_path, capsys, options, word):
    other = run(made, str(tmp_path / "other"), ALL, *options)
    says(gate(capsys, other, base), 2, "cannot be compared: they differ in", word)


def test_other_queries_are_refused(base, tmp_path, capsys):
    other = edited(base, tmp_path / "other", lambda _, value: value)
    (cell,) = (other / "cells").iterdir()
    lines = (cell / "per_query.jsonl").read_text().splitlines()
    (cell / "per_query.jsonl").write_text("\n".join(lines[1:]) + "\n")
    says(gate(capsys, other, base), 2, "have different queries; 1 is in one alone")


def test_a_measure_that_the_base_had_fails(base, tmp_path, capsys):
    shutil.copytree(base, tmp_path / "run")
    (cell,) = (tmp_path / "run" / "cells").iterdir()
    rows = [json.loads(line) for line in (cell / "per_query.jsonl").read_text().splitlines()]
    for row in rows:
        del row["metrics"]["MRR"]
    (cell / "per_query.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--against", base, "--max-drop", "MRR=0.01", "--format", "json")
    done = call(capsys, "gate", tmp_path / "run", *options)
    assert done.code == 1
    assert done.json["checks"][0]["why"].startswith("MRR has no values in ")


def test_means_over_corpora_are_not_gated_by_those_over_queries(made, tmp_path, capsys):
    base = run(made, "corpora", ALL, "--profile", "code-chunk")
    shutil.copytree(base, tmp_path / "run")
    options = ("--against", base, "--max-drop", f"{MEASURE}=0.01")
    says(call(capsys, "gate", tmp_path / "run", *options), 2, "means of profile code-chunk")


def test_strict_needs_drops(base, capsys):
    says(call(capsys, "gate", base, "--strict", "--min", "MRR>0.1"), 2, "--strict is about drops")


def test_a_measure_that_a_run_lacks_is_skipped(base, tmp_path, capsys):
    shutil.copytree(base, tmp_path / "run")
    options = ("--against", base, "--max-drop", "MAP=0.01")
    says(
        call(capsys, "gate", tmp_path / "run", *options),
        2,
        "MAP has no values",
        "rerun `chunkmark run` with -m",
    )
    assert call(capsys, "gate", tmp_path / "run", *options, "--require").code == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-drop", "MRR=0.1"), ["--against"]),
        (("--against", "{base}"), ["--max-drop"]),
        (("--against", "{base}", "--min", "MRR>0"), ["--max-drop"]),
        (("--against", "{base}", "--max-drop", "MRR"), ["invalid drop 'MRR'", "'SpanR@10000c="]),
        (("--against", "{base}", "--max-drop", "MRR=1%"), ["invalid drop"]),
        (("--against", "{base}", "--max-drop", "MRR=-0.1"), ["from 0 to below 1"]),
        (("--against", "{base}", "--max-drop", "MRR=nan"), ["invalid drop"]),
        (("--against", "{base}", "--max-drop", "MRR=1"), ["invalid drop"]),
        (("--against", "{base}", "--max-drop", "MPR=0.1"), ["MPR"]),
        (("--against", "{base}", "--max-drop", "MRR=0.1"), ["compared with itself"]),
        (("--against", "nowhere", "--max-drop", "MRR=0.1"), ["nowhere does not exist"]),
    ],
)
def test_wrong_usage_is_named(base, capsys, options, words):
    given = [option.format(base=base) for option in options]
    says(call(capsys, "gate", base, *given), 2, *words)


def test_only_folders_of_complete_runs_are_compared(base, tmp_path, capsys):
    shutil.copytree(base, tmp_path / "run")
    replace(tmp_path / "run" / "manifest.json", status="running")
    for first, second in ((tmp_path / "run", base), (base, tmp_path / "run")):
        says(gate(capsys, first, second), 2, "is incomplete")
    (tmp_path / "run.json").write_text("{}")
    says(gate(capsys, tmp_path / "run.json", base), 2, "run.json is a file")
