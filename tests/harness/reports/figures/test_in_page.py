"""Figures in the page of a report: the same colours, and the same numbers as metrics.json."""

import re

from page_colours import ON_DARK, ON_LIGHT, STYLE, colours
from worlds import grid

from harness.reports.figures.style import LIGHT
from harness.reports.page.assemble import ReportOptions, make_report


def test_the_style_of_the_page_sets_the_colours_of_figures():
    assert LIGHT.items() <= ON_LIGHT.items()
    assert len(ON_DARK) == 2
    assert ON_DARK[0] == ON_DARK[1]
    assert ON_DARK[0].keys() == ON_LIGHT.keys()
    printed = colours(STYLE.partition("@media print")[2])
    assert {key: printed[key] for key in LIGHT if key.startswith("series")} == {
        key: color for key, color in LIGHT.items() if key.startswith("series")
    }


def test_the_page_holds_each_figure_with_the_numbers_of_metrics_json(tmp_path):
    result = grid(tmp_path, chunkers=("ast:max_size=120", "whole-file"), retrievers=("bm25",))
    report = make_report([tmp_path / "run"], ReportOptions())
    for figure in report.figures:
        assert report.page.count(f'<figure id="figure-{figure.name}"') == 1
        assert report.page.count(f'aria-labelledby="{figure.name}-title') == 1
    ids = re.findall(r'\bid="([^"]+)"', report.page)
    assert len(set(ids)) == len(ids)
    bars = report.page.partition('<figure id="figure-bars-spanr-10000c')[2].partition("</figure>")[
        0
    ]
    shown = {float(value) for value in re.findall(r'class="number" title="([^"]+)"', bars)}
    means = {cell.metrics["metrics"]["SpanR@10000c"]["mean"] for cell in result.cells}
    assert means <= shown
