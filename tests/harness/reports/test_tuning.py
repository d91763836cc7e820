"""Tuning: chosen on one half, reported on the other."""

import numpy as np
import pytest
from commands import call
from made_cells import MEASURE, cell, noise

from harness.reports.tuning import tune, tuning_lines
from harness.stats.halves import dev_half


def sweep(name, columns, **options):
    return [cell(f"{name}:max_size={size}", values, **options) for size, values in columns.items()]


def test_a_value_is_chosen_on_the_dev_half_and_reported_on_the_other():
    dev = dev_half([("corpus 0", f"file {at}") for at in range(200)], 7)
    base = noise(1)
    # 300 is best where it is chosen, 600 where it is reported.
    small, large = base + 0.2 * dev, base + 0.1 * ~dev
    cells = [*sweep("ast", {300: small, 600: large}), cell("function", noise(2))]
    (choice,), (contest,) = tune(cells, "max_size", seed=7)
    assert choice["chosen"] == "ast:max_size=300"
    assert choice["mean"] == pytest.approx(base[~dev].mean())
    assert choice["ci95"][0] < choice["mean"] < choice["ci95"][1]
    rows = {row["chunker"]: (row["dev"], row["test"]) for row in choice["values"]}
    assert rows["ast:max_size=300"] == pytest.approx((small[dev].mean(), small[~dev].mean()))
    assert rows["ast:max_size=600"][1] == pytest.approx(large[~dev].mean())
    assert list(contest.cells) == ["ast:max_size=300", "function"]
    assert contest.shared[-1] == "test half"
    assert contest.columns(MEASURE)["function"] == pytest.approx(noise(2)[~dev])
    assert choice["dev"]["n_queries"] + len(contest.queries) == 200
    (line,) = tuning_lines([choice])
    assert "`ast:max_size=300` has the highest SpanR@10000c of 2 values of max_size" in line


def test_every_chunker_with_a_sweep_is_tuned_by_itself_and_ties_take_the_first():
    base = noise(1)
    cells = [*sweep("ast", {300: base, 600: base}), *sweep("fixed", {300: base, 600: base + 0.1})]
    choices, (contest,) = tune(cells, "max_size")
    assert [choice["chosen"] for choice in choices] == ["ast:max_size=300", "fixed:max_size=600"]
    assert list(contest.cells) == ["ast:max_size=300", "fixed:max_size=600"]


def test_a_sweep_alone_has_its_mean_and_no_contest():
    choices, finals = tune(sweep("ast", {300: noise(1), 600: noise(2)}), "max_size")
    assert len(choices) == 1
    assert finals == []


def test_without_a_difference_the_mean_that_is_reported_is_not_too_high():
    """The best of ten equal values looks good on the half that it was chosen on alone."""
    gaps = []
    for world in range(60):
        columns = {size: noise(100 * world + size, 60, 0.3) for size in range(1, 11)}
        (choice,), _ = tune(sweep("ast", columns), "max_size", seed=world)
        dev = max(row["dev"] for row in choice["values"])
        gaps.append((dev - 0.5, choice["mean"] - 0.5))
    dev, test = np.mean(gaps, axis=0)
    error = np.std(gaps, axis=0)[1] / np.sqrt(60)
    assert dev > 0.05  # about 1.54 standard errors of 0.3 / sqrt(30)
    assert abs(test) < 3 * error


@pytest.mark.parametrize("factor", ["chunker", "retriever", "language"])
def test_a_factor_that_is_no_option_cannot_be_tuned(factor):
    with pytest.raises(Exception, match=f"an option of chunkers, not of '{factor}'"):
        tune(sweep("ast", {300: noise(1), 600: noise(2)}), factor)


def test_queries_of_one_file_have_no_halves():
    cells = sweep("ast", {300: noise(1), 600: noise(2)})
    for one in cells:
        one.members.update(dict.fromkeys(one.members, ("corpus 0", "file")))
    with pytest.raises(Exception, match="all queries are in one cluster"):
        tune(cells, "max_size")


def test_the_command_prints_and_stores_what_was_chosen(tmp_path, capsys):
    run = tmp_path / "run"
    call(capsys, "run", "-c", "ast:max_size=300|1200", "-c", "function", "-r", "bm25",
         "-m", MEASURE, "-o", run)  # fmt: skip
    options = ("compare", run, "--over", "max_size", "--tune", "dev/test")
    document = call(capsys, *options, "--format", "json").json
    (choice,) = document["tuning"]
    (contest,) = document["contests"]
    assert choice["test"]["n_queries"] == contest["n_queries"]
    assert {row["chunker"] for row in choice["values"]} == {
        "ast:max_size=300", "ast:max_size=1200",
    }  # fmt: skip
    assert document["pairs"][0]["a"] == choice["chosen"]
    assert document["variance"] is None  # nothing but the test half is reported
    for form in ("table", "markdown"):
        assert "on the dev half" in " ".join(call(capsys, *options, "--format", form).out.split())
    done = call(capsys, "compare", run, "--over", "overlap", "--tune", "dev/test")
    assert done.code == 2
    assert "--over overlap: no chunker has two values of it" in done.err
