"""The page of a leaderboard in a real browser; some of its names try to be more than text."""

import pytest
from browser_worlds import BIDI, HOSTILE, LONG, TERMINAL
from made_cells import cell, noise
from report_pages import open_details

from harness.reports.leaderboard.board import make_board
from harness.reports.page.board import board_page

CHUNKERS = (
    "ast",
    "fixed:max_size=120",
    "fixed:max_size=40",
    "whole-file",
    HOSTILE,
    BIDI + TERMINAL,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "board.html"
    tasks = ("beir:folder", HOSTILE, LONG)
    cells = [
        cell(chunker, noise(at) + 0.05 * at, dataset=task)
        for task in tasks
        for at, chunker in enumerate(CHUNKERS)
    ]
    path.write_text(board_page(make_board([*cells, cell("one task", noise(9), dataset=tasks[0])])))
    return path


def column(page, at):
    return page.locator("#cells tbody tr").evaluate_all(
        "(rows, at) => rows.map((row) => row.cells[at].textContent.trim())", at
    )


def test_names_show_as_text_and_columns_sort(opened, path):
    page = opened(path)
    assert column(page, 0) == ["1", "2", "3", "4", "5", "6", "-"]
    names = column(page, 1)
    assert names[1] == HOSTILE
    assert "whole-file control" in [" ".join(name.split()) for name in names]
    assert page.locator("img, iframe, [onerror]").count() == 0
    page.click("#cells thead button:text-is('mean')")
    assert column(page, 1) == names
    page.click("#cells thead button:text-is('mean')")
    assert column(page, 1) == [*names[-2::-1], names[-1]]  # what has no mean stays last
    page.click("#cells thead button:text-is('chunker')")
    order = [name for name in column(page, 1) if name.startswith("fixed")]
    assert order == ["fixed:max_size=40", "fixed:max_size=120"]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False)])
def test_the_layout_holds(opened, path, serious, width, dark):
    page = opened(path, width=width, dark=dark)
    open_details(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
