"""Whether boundaries or size explains a difference."""

import pytest
from made_cells import MEASURE, cell, noise

from harness.reports.contests import contests
from harness.reports.matched import matched_lines, matched_sizes


def stored(chunker, values, size):
    """A stored cell with its median chunk."""
    made = cell(chunker, values)
    made.cell["health"]["median_c"] = size
    return made


def explained(*cells):
    (contest,) = contests(cells)
    return matched_sizes(contest, MEASURE)


BASE, AST = noise(1), 0.5 * noise(2) + 0.25


@pytest.mark.parametrize(
    ("boundaries", "size", "wanted"),
    [(0.1, 0.0, "boundaries"), (0.0, 0.1, "size"), (0.1, 0.1, "both"), (0.1, -0.05, "boundaries"),
     (-0.05, 0.15, "size"), (0.0, 0.0, None)],
)  # fmt: skip
def test_what_was_planted_explains_the_difference(boundaries, size, wanted):
    ast = BASE + noise(3, scale=0.01) - 0.5 + boundaries
    large = ast + noise(4, scale=0.01) - 0.5 + size
    (row,) = explained(
        stored("ast:max_size=900", large, 800),
        stored("ast:max_size=300", ast, 260),
        stored("fixed:max_size=300", BASE, 240),
    )
    assert (row["a"], row["b"], row["sizes"]) == ("ast:max_size=900", "fixed:max_size=300",
                                                 [800, 240])  # fmt: skip
    assert (row["matched"]["a"], row["matched"]["sizes"]) == ("ast:max_size=300", [260, 240])
    parts = [row["matched"][part]["difference"] for part in ("boundaries", "size")]
    assert sum(parts) == pytest.approx(row["difference"])
    assert parts == pytest.approx([boundaries, size], abs=0.01)
    assert row["matched"]["explained_by"] == wanted
    assert len(list(matched_lines([row]))) == (wanted is not None)


def test_both_may_be_at_another_size():
    (first, *_) = explained(
        stored("ast", BASE, 500),
        stored("function", BASE, 100),
        stored("ast:max_size=2", BASE, 305),
        stored("function:max_size=2", BASE, 300),
    )
    assert (first["matched"]["a"], first["matched"]["b"]) == ("ast:max_size=2",
                                                             "function:max_size=2")  # fmt: skip


def test_a_run_without_matched_sizes_says_how_to_get_them():
    (row,) = explained(stored("ast", BASE + 0.1, 500), stored("function", BASE, 100))
    assert row["matched"] is None
    (line,) = matched_lines([row])
    assert "see `chunkmark run --match-size`" in line
    assert "ast - function: 10.0" in line


@pytest.mark.parametrize(("size", "listed"), [(150, 0), (151, 1), (66, 1), (67, 0)])
def test_only_pairs_of_different_size_are_listed(size, listed):
    assert len(explained(stored("ast", BASE, 100), stored("fixed", BASE, size))) == listed


def test_sizes_of_one_chunker_and_baselines_are_not_listed():
    assert not explained(
        stored("ast", BASE, 100), stored("ast:max_size=9", BASE, 900), stored("whole-file", BASE, 5)
    )


def test_a_cell_without_a_chunk_has_no_size():
    assert explained(stored("ast", BASE, 100), stored("fixed", BASE, 0)) == []
