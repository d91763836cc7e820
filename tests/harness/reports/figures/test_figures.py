"""Figures: their numbers, their SVG, and what they make of one, many and hostile names."""

import copy
import csv
import itertools
import re
import struct
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from page_colours import DARK
from worlds import function, grid, small

from chunkers.languages import language_of
from chunkers.source import Source
from harness.model import Corpus, Query, Target
from harness.reports.compare import compare_document
from harness.reports.contests import contests
from harness.reports.document import run_document
from harness.reports.figures.curves import span_curves
from harness.reports.figures.figure import write_figures
from harness.reports.figures.front import front_of
from harness.reports.figures.gallery import _group_of, figures
from harness.reports.figures.groups import groups_of
from harness.reports.figures.style import LIGHT, labels, lines_of, spread, ticks_between
from harness.reports.figures.sweeps import sweeps_of
from harness.runs.folder import read_manifest
from harness.runs.stored_values import read_stored_cells
from harness.stats import MARGIN

TEXTS = {
    f"{corpus}/f{at:02}.{'js' if at > 9 else 'py'}": function(f"{corpus}{at}", 4 + at)
    + function(f"other{at}")
    for corpus in ("one", "two")
    for at in range(12)
}
CHUNKERS = ("ast:max_size=120", "ast:max_size=60", "fixed:max_size=120", "whole-file")
FIXED = "fixed:max_size=120"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    result = grid(out, dataset=dataset(), chunkers=CHUNKERS, retrievers=("bm25", "bow"))
    stored = list(read_stored_cells(out / "run"))
    document = run_document(result, baseline=FIXED)
    document["compare"] = [compare_document(contests(stored), baseline=FIXED)]
    document["runs"] = [{"manifest": read_manifest(out / "run")}]
    return document, stored


@pytest.fixture(scope="module")
def drawn(world):
    return figures(*world)


def dataset():
    """Two corpora of twelve files, in each of which is the target of one query."""
    corpora = [
        Corpus(
            name,
            tuple(Source(t, p, language_of(p)) for p, t in TEXTS.items() if p.startswith(name)),
        )
        for name in ("one", "two")
    ]
    queries = [
        Query(path, path[:3], f"transform {path[:3]}{at}", (Target(path, 2, 4 + at % 12),))
        for at, path in enumerate(TEXTS)
    ]
    return small(corpora=tuple(corpora), queries=tuple(queries))


def rows_of(drawn, start, retriever):
    """The rows of the figure with this start of its name, as dicts."""
    (figure,) = [f for f in drawn if f.name.startswith(start) and f.name.endswith(retriever)]
    return [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]


def cells_of(document, retriever):
    return {c["chunker"]: c for c in document["cells"] if c["retriever"] == retriever}


def test_every_kind_of_figure_is_drawn(drawn):
    assert list(dict.fromkeys(figure.section for figure in drawn)) == [
        "differences", "curves", "front", "queries", "breakdowns", "sweeps", "sizes", "costs",
        "latency", "bars",
    ]  # fmt: skip
    names = [figure.name for figure in drawn]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in names)
    assert all(figure.caption and figure.alt and figure.rows for figure in drawn)


def test_the_numbers_of_a_csv_are_those_of_metrics_json(world, drawn, tmp_path):
    document, _ = world
    measures = list(document["cells"][0]["metrics"])
    bars = [figure for figure in drawn if figure.section == "bars"]
    seen = 0
    for figure in bars:
        measure = figure.columns[2]
        for row in figure.rows:
            metric = cells_of(document, row[1])[row[0]]["metrics"][measure]
            assert list(row[2:]) == [metric["mean"], *metric["ci95"], metric["n"]]
            seen += 1
    assert seen == len(measures) * len(document["cells"])
    file = write_figures(bars[:1], tmp_path)[2]
    with file.open(newline="") as lines:
        columns, *rows = csv.reader(lines)
    assert tuple(columns) == bars[0].columns
    assert [[*row[:2], *map(float, row[2:])] for row in rows] == [list(r) for r in bars[0].rows]


@pytest.mark.parametrize("retriever", ["bm25", "bow"])
def test_other_numbers_are_those_of_the_documents(world, drawn, retriever):
    document, stored = world
    cells = cells_of(document, retriever)
    (contest,) = [
        part for part in document["compare"][0]["contests"] if retriever in part["shared"]
    ]
    curve = {(row["chunker"], row["budget_c"]): row for row in rows_of(drawn, "curves", retriever)}
    for name, points in contest["curves"]["chunkers"].items():
        for point in points:
            row = curve[name, point["budget"]]
            assert [row["mean"], [row["ci95_low"], row["ci95_high"]]] == [
                point["mean"],
                point["ci95"],
            ]
    for row in rows_of(drawn, "front", retriever):
        cell = cells[row["chunker"]]
        assert row["mean"] == cell["metrics"]["SpanR@10000c"]["mean"]
        assert row.get("chars_delivered") in (None, cell["cost"]["chars_delivered"])
    for row in rows_of(drawn, "costs", retriever):
        cell = cells[row["chunker"]]
        assert row["chunks"] == cell["health"]["chunks"]
        assert row["chars_delivered"] == cell["cost"]["chars_delivered"]
    for row in rows_of(drawn, "latency", retriever):
        times = cells[row["chunker"]]["latency_ms"][row["step"]]
        assert (row["p50_ms"], row["p95_ms"]) == (times["p50"], times["p95"])
    for row in rows_of(drawn, "by-corpus", retriever):
        by_corpus = cells[row["chunker"]]["metrics"]["SpanR@10000c"]["by_corpus"]
        assert row["SpanR@10000c"] == pytest.approx(by_corpus[row["corpus"]], abs=1e-12)
    pairs = {
        pair["a"]: pair
        for pair in contest["pairs"]
        if pair["b"] == FIXED and pair["estimand"] == "these corpora"
    }
    rows = rows_of(drawn, "queries", retriever)
    assert {row["chunker"] for row in rows} == pairs.keys()
    for row in rows:
        pair = pairs[row["chunker"]]
        assert [row[key] for key in ("wins", "ties", "losses")] == [
            pair[key] for key in ("wins", "ties", "losses")
        ]
        assert row["mean_difference"] == pytest.approx(pair["difference"], abs=1e-12)
    (answer,) = [a for a in document["verdicts"] if a["retriever"] == retriever]
    for row, own in zip(
        rows_of(drawn, "differences", retriever), answer["differences"], strict=True
    ):
        assert (row["chunker"], row["difference"]) == (own["chunker"], own["difference"])
        assert row["verdict"] == own["verdict"]
    assert answer["margin"] == MARGIN
    assert {cell.names["chunker"] for cell in stored} == set(cells)


def test_the_median_size_is_that_of_the_health_of_a_cell(world, drawn):
    document, _ = world
    (figure,) = [figure for figure in drawn if figure.section == "sizes"]
    for row in figure.rows:
        values = dict(zip(figure.columns, row, strict=True))
        health = cells_of(document, "bm25")[values["chunker"]]["health"]
        assert values["chunks"] == health["chunks"]
        assert values["p50_c"] == health["median_c"]
        assert values["chunker"] == "whole-file" or values["max_c"] == health["size_max"]


def test_few_queries_are_marked_and_a_language_that_is_not_read_has_no_mean(world):
    document, stored = world
    own = copy.deepcopy(document)
    own["cells"][0]["health"]["notes"] = {"not read: javascript": 4}
    first = cells_of(own, "bm25")["ast:max_size=120"]
    assert first is own["cells"][0]
    drawn = figures(own, stored)
    rows = rows_of(drawn, "by-language", "bm25")
    counts = {row["language"]: row["n"] for row in rows}
    assert counts == {"python": 20, "javascript": 4}
    means = {(row["chunker"], row["language"]): row["SpanR@10000c"] for row in rows}
    assert means["ast:max_size=120", "javascript"] is None
    assert means["ast:max_size=120", "python"] is not None
    assert None not in [means[FIXED, language] for language in counts]
    figure = next(f for f in drawn if f.name == "by-language-small-bm25")
    assert "under 10 queries" in figure.caption
    assert ">n=4<" in figure.svg
    corpus = next(f for f in drawn if f.name == "by-corpus-small-bm25")
    assert "under 10 queries" not in corpus.caption


def test_an_svg_is_accessible_and_follows_the_colours_of_its_page(drawn):
    ids = []
    for figure in drawn:
        text = figure.svg
        root = ET.fromstring(text)  # noqa: S314 - it is our own
        assert root.get("role") == "img"
        linked = root.get("aria-labelledby").split()
        by_id = {element.get("id"): element.text for element in root.iter()}
        assert [by_id[own] for own in linked] == [figure.title, figure.alt]
        own = [element.get("id") for element in root.iter() if element.get("id")]
        assert set(re.findall(r'(?:href="|url\()#([\w-]+)', text)) <= set(own)
        ids += own
        styles = " ".join(element.get("style", "") for element in root.iter())
        assert set(re.findall(r": #\w{6}", re.sub(r"var\([^)]*\)", "", styles))) == set()
        assert "DejaVu" not in text
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "title", "desc", "defs", "g", "path", "use", "text", "tspan",
                        "clipPath", "rect", "pattern"}  # fmt: skip
        assert all(size >= 9 for size in map(float, re.findall(r"font-size: ([\d.]+)px", styles)))
    assert len(set(ids)) == len(ids)


def test_the_same_figures_have_the_same_bytes(world, drawn, tmp_path):
    chosen = drawn[::12]
    first = [file.read_bytes() for file in write_figures(chosen, tmp_path / "a")]
    again = [figure for figure in figures(*world) if figure.name in {f.name for f in chosen}]
    files = write_figures(again, tmp_path / "b" / "deeper")
    assert [file.read_bytes() for file in files] == first
    assert [file.suffix for file in files[:3]] == [".svg", ".png", ".csv"]
    width = struct.unpack(">I", files[1].read_bytes()[16:20])[0]
    assert width == pytest.approx(400 / 72 * 192, abs=1)


HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "$\\frac{1}{2}$ #0072b2; ]]>",
    "x" * 10_000,
    "two\nlines\x1b[31m\u202eevil\u200f",
)


def renamed(value, names):
    if isinstance(value, dict):
        return {names.get(key, key): renamed(own, names) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(renamed(own, names) for own in value)
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    "hostile", [HOSTILE, ("日本語の名前" * 9, "a\ud800", "", "&lt;b&gt; \xa0")]
)
def test_hostile_names_are_text(world, hostile):
    document, stored = world
    own = renamed(copy.deepcopy(document), dict(zip(CHUNKERS, hostile, strict=True)))
    own = renamed(own, {"small": hostile[0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = figures(own, stored)
        for figure in {figure.section: figure for figure in drawn}.values():
            root = ET.fromstring(figure.svg)  # noqa: S314 - it is our own
            assert {element.tag.rpartition("}")[2] for element in root.iter()}.isdisjoint(
                {"script", "img", "image", "foreignObject"}
            )
            texts = [e.text or "" for e in root.iter() if e.tag.endswith(("text", "title", "desc"))]
            assert all(text.isprintable() for text in texts)
            assert max(len(text) for text in texts) < 4_000
            assert not any(key.startswith("on") for e in root.iter() for key in e.attrib)
    assert len(drawn) > 20
    assert re.fullmatch("[a-z0-9-]+", drawn[0].name)


def test_dollar_signs_are_no_formula(world):
    document, stored = world
    name = "$x^2$"
    own = renamed(copy.deepcopy(document), {"ast:max_size=120": name})
    drawn = figures(own, stored)
    curves = next(figure for figure in drawn if figure.section == "curves")
    assert f">{name}<" in curves.svg


def test_embedders_stand_with_their_tokenizers(world):
    document, stored = world
    own = copy.deepcopy(document)
    names = {"bm25": "st:a", "bow": "st:b,prompt=x"}
    for cell in own["cells"]:
        cell["embedder"], cell["retriever"] = names[cell["retriever"]], "dense"
    identities = {name: {"weights": "f" * 64} for name in names.values()}
    own["runs"] = [{"manifest": {"embedders": identities}}]
    drawn = figures(own, stored)
    figure = next(f for f in drawn if f.name == "bars-spanr-10000c-by-embedder-small")
    assert [row[:2] for row in figure.rows] == [
        (f"{name}, dense", chunker) for name in names.values() for chunker in CHUNKERS
    ]
    assert figure.svg.count(">tokens: st:a<") == 2  # the same weights, so the same tokenizer
    for row in figure.rows[: len(CHUNKERS)]:
        metric = cells_of(document, "bm25")[row[1]]["metrics"]["SpanR@10000c"]
        assert row[2] == metric["mean"]


def test_runs_of_one_data_set_are_told_apart(world):
    document, stored = world
    cells = [{**cell, "run": run} for run in (0, 1) for cell in document["cells"]]
    verdicts = [{**answer, "run": run} for run in (0, 1) for answer in document["verdicts"]]
    drawn = figures(document | {"cells": cells, "verdicts": verdicts}, stored)
    titles = [figure.title for figure in drawn]
    assert len(set(titles)) == len(titles)
    assert {"Sizes of chunks: small, run 1", "Sizes of chunks: small, run 2"} <= set(titles)
    # The seconds of a front are those of its own run: of fewer queries, or of the first alone.
    contests = [part for compared in document["compare"] for part in compared["contests"]]
    one, two = groups_of(document | {"cells": cells, "verdicts": verdicts}, stored)[::2]
    assert _group_of(contests[0], [one, two]) is None
    assert _group_of(contests[0], [one]) is one
    assert _group_of(contests[0] | {"n_queries": 1}, [one]) is None


def test_a_difference_that_rounds_to_zero_has_no_minus(world):
    document, stored = world
    own = copy.deepcopy(document)
    for row in own["verdicts"][0]["differences"]:
        row.update(difference=-0.0004, verdict="equivalent")
    text = figures(own, stored)[0].svg
    assert ">+0.0 equivalent<" in text
    assert "0.0 equivalent<" not in text.replace(">+0.0 equivalent<", "")


def test_one_chunker_is_compared_with_none(world):
    document, stored = world
    one = [cell for cell in document["cells"] if cell["retriever"] == "bm25"][:1]
    own = document | {"cells": one, "verdicts": [], "compare": []}
    drawn = figures(own, stored)
    assert {f.section for f in drawn} == {"breakdowns", "sizes", "costs", "latency", "bars"}
    assert drawn[-1].svg


def test_without_a_cell_there_is_no_figure(world):
    document, _ = world
    assert figures(document | {"cells": [], "verdicts": [], "compare": []}, []) == []


def test_measures_without_a_value_are_not_drawn(world):
    document, stored = world
    own = copy.deepcopy(document) | {"verdicts": [], "compare": []}
    for cell in own["cells"]:
        for metric in cell["metrics"].values():
            metric.update(mean=None, ci95=None)
        cell["primary"] = None
        cell["cost"] = dict.fromkeys(cell["cost"])
        cell["latency_ms"] = {"embedding": None, "search": None, "total": None}
        cell["by"] = {}
    drawn = figures(own, stored)
    assert {figure.section for figure in drawn} == {"sizes", "costs"}
    assert all(figure.svg for figure in drawn)


def test_of_fifty_chunkers_a_readable_number_is_drawn_and_the_rest_is_counted(world):
    document, stored = world
    own = copy.deepcopy(document)
    template = cells_of(own, "bm25")["ast:max_size=120"]
    many = [{**template, "chunker": f"ast:max_size={size}"} for size in range(100, 150)]
    for at, cell in enumerate(many):
        metric = template["metrics"]["SpanR@10000c"]
        mean = metric["mean"] * (1 - at / 100)
        cell["metrics"] = cell["metrics"] | {"SpanR@10000c": metric | {"mean": mean}}
    drawn = figures(own | {"cells": many, "verdicts": [], "compare": []}, stored)
    by_name = {figure.section: figure for figure in reversed(drawn)}
    bars = by_name["bars"]
    assert len(bars.rows) == 50
    assert "20 of 50 chunkers" in bars.caption
    text = bars.svg
    assert ">ast:max_size=100<" in text
    assert ">ast:max_size=149<" not in text
    height = float(re.search(r'viewBox="0 0 400 ([\d.]+)"', text)[1])
    assert height < 700
    contest = document["compare"][0]["contests"][0]
    curve = contest["curves"]["chunkers"]["ast:max_size=120"]
    curves = contest["curves"] | {"chunkers": {f"c{at}": curve for at in range(50)}, "turns": []}
    (lines,) = span_curves(contest | {"curves": curves}, "c49")
    assert "8 of 50 chunkers" in lines.caption
    assert ">c49<" in lines.svg  # the baseline


def linear(color):
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


# Machado, Oliveira and Fernandes (2009), table 1, severity 1: protanopia, deuteranopia, tritanopia.
BLINDNESS = (
    [[0.152, 1.052, -0.204], [0.114, 0.786, 0.099], [-0.003, -0.048, 1.051]],
    [[0.367, 0.860, -0.227], [0.280, 0.672, 0.047], [-0.011, 0.042, 0.968]],
    [[1.255, -0.076, -0.178], [-0.078, 0.930, 0.147], [0.004, 0.691, 0.303]],
)  # fmt: skip


def lab(light):
    """CIE L*a*b* of linear sRGB, under its white point."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("seen", [np.eye(3), *map(np.array, BLINDNESS)])
def test_colours_of_lines_stay_apart_under_colour_blindness(palette, seen):
    lines = [lab(seen @ linear(palette[key])) for key in palette if key.startswith("series")]
    assert len(lines) == 8
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(lines, 2)) > 15


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_have_enough_contrast(palette):
    assert palette.keys() == LIGHT.keys()
    assert len(set(palette.values())) == len(palette)

    def contrast(name, below):
        low, high = sorted(luminance(palette[key]) for key in (name, below))
        return (high + 0.05) / (low + 0.05)

    for name in palette:
        if name.startswith("series"):
            assert contrast(name, "paper") >= 3, name
    for name, below in itertools.product(("ink", "muted"), ("paper", "band")):
        assert contrast(name, below) >= 4.5, (name, below)


def test_labels_of_different_names_differ_and_fit():
    names = [f"chunker:option={'x' * 80},number={at},more={'y' * 80}" for at in range(12)]
    names += ["ast", "fixed:max_size=1200,overlap=50", "日本語" * 30]
    own = labels(names)
    assert len(set(own.values())) == len(names)
    assert all(len(line) <= 19 for lines in own.values() for line in lines)
    assert own["ast"] == ("ast",)
    assert own["fixed:max_size=1200,overlap=50"] == ("fixed:", "max_size=1…rlap=50") or own[
        "fixed:max_size=1200,overlap=50"
    ] == ("fixed:max_size=1200", ",overlap=50")
    lines = lines_of(names, 20)
    assert len(set(lines.values())) == len(names)
    assert lines["日本語" * 30] == "日本語日本語…日本語"


def test_spread_labels_do_not_overlap():
    places = [5.0, 5.0, 6.0, 90.0, 99.0]
    moved = spread(places, [10.0] * 5, 0, 100)
    assert sorted(moved) == moved
    assert all(b - a >= 10 for a, b in itertools.pairwise(moved))
    assert min(moved) >= 5
    assert max(moved) <= 95


def test_the_front_has_no_dominated_point():
    points = [("a", 1.0, 0.5), ("b", 2.0, 0.5), ("c", 3.0, 0.7), ("d", 3.0, 0.6), ("e", 9.0, 0.9)]
    assert front_of(points) == ["a", "c", "e"]


def test_sweeps_are_of_one_option_and_know_the_defaults_of_built_in_chunkers():
    names = ["fixed", "fixed:max_size=300", "fixed:max_size=300,overlap=20", "ast",
             "ast:max_size=900", "my:part,max_size=5", "a (run)", "function"]  # fmt: skip
    assert sweeps_of(names) == {
        "max_size": {
            "fixed": {"600": "fixed", "300": "fixed:max_size=300"},
            "ast": {"600": "ast", "900": "ast:max_size=900"},
        },
        "overlap": {
            "fixed:max_size=300": {
                "0": "fixed:max_size=300",
                "20": "fixed:max_size=300,overlap=20",
            }
        },
    }


@pytest.mark.parametrize(("low", "high"), [(1, 3), (5, 60_000), (600, 601), (1, 1e9)])
def test_logarithmic_ticks_are_few(low, high):
    ticks = ticks_between(low * 0.8, high * 1.25)
    assert 1 <= len(ticks) <= 6
    assert all(low * 0.8 <= tick <= high * 1.25 for tick in ticks)
