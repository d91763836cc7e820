"""The page of a report: its numbers, its safety, and the runs that it can show."""

import json
import os
import re
import shlex
import shutil
from html.parser import HTMLParser

import jinja2
import pytest
from browser_worlds import BIDI, HOSTILE, LONG, TERMINAL
from commands import call, says
from report_pages import rehash
from worlds import grid, small

from chunkers.errors import InputError, install_command
from harness.datasets.loading import load_dataset
from harness.model import Dataset
from harness.reports.page.assemble import ReportOptions, make_report
from harness.reports.page.browser import BrowserData
from harness.reports.page.document import report_document
from harness.reports.page.pairs import pairs_of
from harness.reports.page.render import render, sentence
from harness.reports.page.stored import read_run, repeat_command
from harness.runs.record import read_record

CHUNKERS = ("ast:max_size=120", "fixed:max_size=120", "whole-file")
VOID = {"meta", "input", "br", "img", "link", "hr", "use", "path", "rect", "line"}


class Page(HTMLParser):
    """The elements of a page: tag, attributes, and all text inside."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", **dict(attrs), "inside": list(self._open)}
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop()["tag"] == tag  # every element is closed in its place

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def tagged(self, tag, **attributes):
        return [
            element
            for element in self.elements
            if element["tag"] == tag and all(element.get(k) == v for k, v in attributes.items())
        ]

    def inside(self, element):
        return [other for other in self.elements if any(one is element for one in other["inside"])]


def page_of(*folders, baseline=None, prices=None):
    """A page without figures and browsers."""
    document = report_document([read_run(folder) for folder in folders], baseline, prices)
    return Page(render(document)), document


def made(tmp_path, world="plain", name="run", **options):
    dataset = world if isinstance(world, Dataset) else load_dataset(f"browser_worlds:{world}")
    given = {"retrievers": ("bm25",), "chunkers": CHUNKERS, "datasets": (dataset.name,)} | options
    grid(tmp_path, name, dataset, **given)
    return tmp_path / name


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made(tmp_path_factory.mktemp("page"), load_dataset("report_worlds:wide"))


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    sizes = "|".join(str(size) for size in range(60, 180, 10))
    chunkers = (f"ast:max_size={sizes}", "fixed:max_size=120")
    wide = load_dataset("report_worlds:wide")
    return read_run(made(tmp_path_factory.mktemp("many"), wide, chunkers=chunkers))


def text_of(page, element_id):
    (element,) = [one for one in page.elements if one.get("id") == element_id]
    return " ".join(element["text"].split())


def test_every_number_of_the_table_is_that_of_the_run_folder(run):
    page, _ = page_of(run)
    (table,) = page.tagged("table", id="cells")
    heads = [one for one in page.inside(table) if one["tag"] == "th" and "data-key" in one]
    rows = [one for one in page.inside(table) if one["tag"] == "tr"][1:]
    manifest = json.loads((run / "manifest.json").read_text())
    compared = 0
    for row, names in zip(rows, manifest["cells"], strict=True):
        cells = [one for one in page.inside(row) if one["tag"] in ("td", "th")]
        folder = run / "cells" / names["key"]
        metrics = json.loads((folder / "metrics.json").read_text())
        stored = json.loads((folder / "cell.json").read_text())
        assert names["chunker"] in cells[0]["text"]
        measures = [head["data-key"] for head in heads if head["data-kind"] == "measure"]
        assert measures == list(metrics["metrics"])
        for head, cell in zip(heads, cells, strict=True):
            if head["data-kind"] == "measure":
                metric = metrics["metrics"][head["data-key"]]
                assert float(cell["data-value"]) == metric["mean"]
                assert cell["text"].startswith(f"{metric['mean']:.3f}")
                ends = [float(cell["data-low"]), float(cell["data-high"])]
                assert ends == metric["ci95"]
                anchors = [
                    float(one["data-value"]) for one in page.inside(cell) if "data-value" in one
                ]
                assert anchors == [metric["random"], metric["oracle"]]
                assert ("not comparable" in head["text"]) is not metric["comparable"]
                compared += 1
            elif head["data-kind"] == "fact":
                part, _, key = head["data-key"].partition(".")
                value = stored[part][key] if key else metrics["n_queries"]
                shown = cell["data-value"]
                assert (None if shown == "" else float(shown)) == value, head["data-key"]
    assert compared == 3 * 11


def test_differences_and_costs_are_those_of_compare_and_run(run, capsys):
    page, _ = page_of(run)
    compared = call(capsys, "compare", run, "--format", "json").json
    (section,) = page.tagged("section", id="differences")
    rows = [one for one in page.inside(section) if one["tag"] == "tr" and "tbody" in
            [parent["tag"] for parent in one["inside"]]]  # fmt: skip
    pairs = [pair for pair in compared["pairs"] if pair["estimand"] == "these corpora"]
    shown = [
        [cell["text"] for cell in page.inside(row) if cell["tag"] in ("td", "th")] for row in rows
    ]
    for pair, row in zip(pairs, shown[: len(pairs)], strict=True):
        assert row[:3] == [pair["a"], pair["b"], f"{100 * pair['difference']:.1f}"]
        assert row[8] == pair["verdict"]
    again = call(capsys, "run", "-d", "report_worlds:wide", "-r", "bm25", "-o", run,
                 *(f"-c{name}" for name in CHUNKERS), "--format", "json").json  # fmt: skip
    answer = text_of(page, "answer")
    assert again["verdicts"][0]["sentences"][0].replace("`", "") in answer


def test_the_same_runs_give_the_same_bytes(run, tmp_path, capsys):
    file, folder = tmp_path / "r.html", tmp_path / "figures"
    done = call(capsys, "report", run, "-o", file, "--figures", folder)
    assert done.code == 0, done.err
    report = make_report([run], ReportOptions())
    assert file.read_bytes() == report.page.encode()
    written = {file.name for file in folder.iterdir()}
    assert written == {f"{f.name}.{form}" for f in report.figures for form in ("svg", "png", "csv")}
    page = Page(report.page)
    assert len(page.tagged("script")) == 2  # the program, and the data of the browsers
    assert len(page.tagged("h1")) == 1
    assert [one for one in page.elements if "src" in one or one["tag"] == "link"] == []
    ids = [one["id"] for one in page.elements if "id" in one]
    assert len(ids) == len(set(ids))
    links = [one["href"][1:] for one in page.tagged("a")]
    assert set(links) <= set(ids)


def test_the_record_of_a_cell_is_read_once(run, monkeypatch):
    read = []

    def counted(folder):
        read.append(folder)
        return read_record(folder)

    monkeypatch.setattr("harness.runs.record.read_record", counted)
    report = make_report([run], ReportOptions())
    assert sorted(read) == sorted((run / "cells").iterdir())
    known = report.document["compare"][0]["contests"][0]["curves"]
    assert known == report_document([read_run(run)])["compare"][0]["contests"][0]["curves"]


def renamed(run, tmp_path, old, new):
    """A copy of a run with another name for a part, as a hostile plug-in might give."""
    copy = shutil.copytree(run, tmp_path / "renamed")
    for file in [copy / "manifest.json", *copy.glob("cells/*/cell.json")]:
        text = file.read_text()
        file.write_text(text.replace(json.dumps(old), json.dumps(new)))
    return copy


NAMES = [
    HOSTILE, "`" + HOSTILE, "--><svg onload=alert(1)>", '" onfocus="alert(1)" autofocus="',
    "&lt;b&gt;", "{{ 7 * 7 }}", TERMINAL, BIDI, LONG, "\u2028\u2029]]>", "a\x00b\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("part", ["fixed:max_size=120", "report_worlds:wide"])
def test_a_name_is_shown_as_text(run, tmp_path, name, part):
    old = part
    if part.startswith("fixed"):  # a chunker's name is a spec
        name = f"fixed:label={json.dumps(name.replace(chr(0xD800), ''), ensure_ascii=False)}"
    text = render(report_document([read_run(renamed(run, tmp_path, old, name))]))
    page = Page(text)
    assert [one for one in page.elements if one["tag"] in ("img", "svg", "b")] == []
    handlers = [key for one in page.elements for key in one if key.startswith("on")]
    assert handlers == []
    assert len(page.tagged("script")) == 1
    assert not set(text) & set("\x00\x1b\x07\u202e\u2066\u2028\u2029\ud800")
    shown = "".join(mark if mark.isprintable() else "\ufffd" for mark in name)
    bdi = [one["text"] for one in page.tagged("bdi")]
    assert shown in bdi


def test_the_manifest_is_shown_whole_and_ends_no_element(run):
    document = report_document([read_run(run)])
    (stored,) = document["runs"]
    stored["manifest"] |= {"notes": ["</pre></script>&lt;'\u2028\u202e\x1b"]}
    (shown,) = [
        one["text"] for one in Page(render(document)).tagged("pre") if one["text"].startswith("{")
    ]
    assert json.loads(shown) == stored["manifest"]
    assert not set(shown) & set("<>&\u2028\u202e\x1b")


def test_a_note_of_the_browsers_is_shown_as_text(run):
    marks = "<b>\x1b[31m\u202e\u2066\u2028\x00"
    text = render(
        report_document([read_run(run)]), (), BrowserData("AAAA", (f"{marks}: left out",))
    )
    (note,) = Page(text).tagged("p", **{"class": "note"})
    assert note["text"] == "<b>" + "\ufffd[31m" + 4 * "\ufffd" + ": left out"
    assert not set(text) & set(marks[3:]) - set("[31m")


@pytest.mark.parametrize("names", ["SCRIPTS", "STYLES"])
def test_a_page_without_a_file_of_its_style_or_script_is_not_made(run, monkeypatch, names):
    monkeypatch.setattr(f"harness.reports.page.render.{names}", ("absent",))
    with pytest.raises(FileNotFoundError, match="absent"):
        render(report_document([read_run(run)]))


def test_a_page_without_one_of_its_sections_is_not_made(run, monkeypatch):
    exists = os.path.isfile
    monkeypatch.setattr(
        "os.path.isfile", lambda path: "browser.html.j2" not in str(path) and exists(path)
    )
    with pytest.raises(jinja2.TemplateNotFound, match=r"browser\.html\.j2"):
        render(report_document([read_run(run)]))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a<b` leads", "<code><bdi>a&lt;b</bdi></code> leads"),
        ("`a`b` leads", "`a`b` leads"),  # whose end is a name's cannot be told
        ("no <b> name", "no &lt;b&gt; name"),
        (f"`{'x' * 100}`", f"<code><bdi>{'x' * 40} … {'x' * 40}</bdi></code>"),
    ],
)
def test_a_sentence_sets_names_as_code(text, html):
    assert str(sentence(text)) == html


class TestRunsOfAllKinds:
    def test_one_chunker(self, tmp_path):
        page, document = page_of(made(tmp_path, chunkers=("fixed:max_size=120",)))
        assert document["summary"]["headline"].startswith(
            "Nothing is compared: there is one chunker"
        )
        assert "one chunker" in text_of(page, "answer")
        assert len(page.tagged("table", id="cells")) == 1
        assert page.tagged("section", id="differences") == []

    def test_documents_without_lines(self, tmp_path):
        page, document = page_of(made(tmp_path, "documents", chunkers=CHUNKERS[:2]))
        assert [part["measure"] for part in document["summary"]["parts"]] == ["nDCG@10"]
        shown = [one["data-key"] for one in page.tagged("th") if one.get("data-kind") == "measure"]
        assert "nDCG@10" in shown
        assert "nDCG@10" in text_of(page, "results")

    def test_a_failed_cell(self, tmp_path):
        chunkers = (*CHUNKERS[:2], "worlds:failing")
        page, document = page_of(made(tmp_path, chunkers=chunkers))
        (failed,) = document["failed"]
        assert failed["reason"] in text_of(page, "warnings")
        assert "worlds:failing is not scored" in text_of(page, "answer")
        assert document["runs"][0]["done"] == document["runs"][0]["planned"] == 3

    def test_only_failed_cells(self, tmp_path):
        page, document = page_of(made(tmp_path, chunkers=("worlds:failing",)))
        assert document["summary"]["headline"] == "There is no result."
        assert "worlds:failing" in text_of(page, "warnings")
        assert page.tagged("section", id="results") == []

    def test_fifty_chunkers(self, tmp_path):
        sizes = "|".join(str(size) for size in range(60, 160, 2))
        page, document = page_of(made(tmp_path, chunkers=(f"fixed:max_size={sizes}",)))
        assert len(document["cells"]) == 50
        (compared,) = document["compare"]
        names = {pair["b"] for pair in compared["pairs"]}
        assert names == {"fixed:max_size=60"}  # each with the baseline alone
        (table,) = page.tagged("table", id="cells")
        assert len([one for one in page.inside(table) if one["tag"] == "tr"]) == 51

    @pytest.mark.parametrize("given", [None, "fixed:max_size=120", "fixed"])
    def test_the_differences_of_many_chunkers_are_from_the_baseline_of_the_answer(
        self, many, given
    ):
        document = report_document([many], given)
        (compared,), (verdict,) = document["compare"], document["verdicts"]
        names = {pair["b"] for pair in compared["pairs"]}
        assert names == {verdict["baseline"]} == {"fixed:max_size=120"}
        assert len(compared["pairs"]) == 12 * 2

    def test_many_chunkers_without_the_baseline_are_not_compared(self, many):
        document = report_document([many], "function")
        assert document["compare"] == []
        (reason,) = document["not_compared"]
        assert "they have no `function` in common" in reason
        assert reason in document["warnings"]
        assert document["verdicts"][0]["sentences"][0].startswith("Not compared")

    def test_two_runs_of_many_chunkers(self, many, run):
        document = report_document([many, read_run(run)])
        (compared,) = document["compare"]
        assert {pair["b"] for pair in compared["pairs"]} == {"fixed:max_size=120 (run)"}

    def test_runs_without_a_common_measure_are_not_compared(self, tmp_path):
        runs = [
            read_run(made(tmp_path, name=measure, measures=(measure,), chunkers=(chunker,)))
            for measure, chunker in (("SpanR@300c", CHUNKERS[0]), ("SpanR@100c", CHUNKERS[1]))
        ]
        document = report_document(runs)
        assert document["compare"] == []
        assert "fewer than two cells have" in document["not_compared"][0]

    def test_no_query(self, run, tmp_path):
        copy = shutil.copytree(run, tmp_path / "none")
        for cell in copy.glob("cells/*"):
            for name in ("queries", "targets", "per_query", "scores"):
                (cell / f"{name}.jsonl").write_text("")
            (cell / "run.trec").write_text("")
            metrics = json.loads((cell / "metrics.json").read_text())
            metrics |= {"n_queries": 0, "by": {}}
            for metric in metrics["metrics"].values():
                metric.update(dict.fromkeys(("mean", "ci95", "oracle", "random")))
            (cell / "metrics.json").write_text(json.dumps(metrics))
            rehash(cell)
        done = make_report([copy], ReportOptions())
        assert "no query" in done.document["summary"]["headline"]
        page = Page(done.page)
        assert "There is no query" in text_of(page, "answer").replace("Nothing is compared: t", "T")
        (table,) = page.tagged("table", id="cells")
        values = [one["data-value"] for one in page.inside(table) if "data-low" in one]
        assert values == []

    def test_a_run_without_a_cell(self, run, tmp_path):
        manifest = json.loads((run / "manifest.json").read_text())
        (tmp_path / "cells").mkdir()
        manifest |= {"cells": [], "status": "running"}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        page, _ = page_of(tmp_path)
        assert "0 of 3 cells so far" in text_of(page, "answer")
        assert "no cell has a result" in text_of(page, "warnings")

    def test_a_truncated_cell_is_marked_and_not_compared(self, run, tmp_path):
        copy = shutil.copytree(run, tmp_path / "truncated")
        file = copy / "cells" / json.loads((copy / "manifest.json").read_text())["cells"][0]["key"]
        cell = json.loads((file / "cell.json").read_text())
        cell["health"]["unseen_chunk_tokens"] = 0.4
        (file / "cell.json").write_text(json.dumps(cell))
        page, document = page_of(copy)
        names = {pair["a"] for compared in document["compare"] for pair in compared["pairs"]}
        assert "ast:max_size=120" not in names
        assert "never saw 40.0% of the chunk tokens" in text_of(page, "warnings")


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("cell.json", "health.coverage"),
        ("cell.json", "health.median_c"),
        ("cell.json", "health.over_size"),
        ("cell.json", "health.notes"),
        ("cell.json", "cost.tokens"),
        ("metrics.json", "left_out"),
        ("metrics.json", "by"),
        ("metrics.json", "asked.profile.name"),
    ],
)
def test_a_fact_that_a_cell_lacks_is_not_made_up(run, tmp_path, file, path):
    copy = shutil.copytree(run, tmp_path / "damaged")
    damaged = min(copy.glob("cells/*")) / file
    document = json.loads(damaged.read_text())
    *parents, name = path.split(".")
    part = document
    for parent in parents:
        part = part[parent]
    del part[name]
    damaged.write_text(json.dumps(document))
    with pytest.raises(InputError, match=re.escape(f"{damaged} is damaged")):
        read_run(copy)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.trec", "q\n"),
        ("run.trec", None),
        ("targets.jsonl", '{"query_id": 1}\n'),
        ("queries.jsonl", "[]\n"),
    ],
)
def test_a_damaged_file_is_one_line_and_no_reason_to_compare_nothing(
    run, tmp_path, capsys, name, text
):
    copy = shutil.copytree(run, tmp_path / "damaged")
    for file in copy.glob(f"cells/*/{name}"):
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    says(
        call(capsys, "report", copy, "-o", tmp_path / "r.html"), 2, "; delete its folder", "/cells/"
    )
    says(call(capsys, "compare", copy), 2, "delete its folder")


def test_a_damaged_manifest_is_blamed_for_itself_alone(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "damaged")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"failed": [{"chunker": "x"}]}))
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        read_run(copy)


COMMANDS = [
    {},
    {
        "chunkers": ("fixed:max_size=100|120",),
        "limit": 2,
        "seed": 3,
        "measures": ("nDCG@10", "MRR"),
    },
    {"depth": 7, "languages": ("*.rho=python",), "max_failures": "50%", "file_timeout": 9.5},
    {"mask_query": False, "profile": "default:assemble=merge"},
    {"match_size": "fixed:max_size=120"},
]


@pytest.mark.parametrize("options", COMMANDS, ids=range(len(COMMANDS)))
def test_the_command_repeats_the_run(tmp_path, capsys, options):
    folder = made(tmp_path, datasets=("browser_worlds:plain",), **options)
    manifest = json.loads((folder / "manifest.json").read_text())
    again = tmp_path / "again"
    program, *words = shlex.split(repeat_command(manifest, str(again)))
    assert program == "chunkmark"
    assert call(capsys, *words).code == 0
    repeated = json.loads((again / "manifest.json").read_text())
    assert [cell["key"] for cell in repeated["cells"]] == [
        cell["key"] for cell in manifest["cells"]
    ]
    assert repeated["config"] == manifest["config"]


def test_sources_that_disagree_are_named(run, tmp_path):
    turned = made(tmp_path, small(name="other", queries=small().queries[:2]))
    page, document = page_of(run, turned)
    (source,) = document["sources"]
    assert [len(column["order"]) for column in source["columns"]] == [2, 2]
    for column in source["columns"]:
        means = [row["mean"] for row in column["order"]]
        assert means == sorted(means, reverse=True)
    assert source["sentences"]
    shown = text_of(page, "sources")
    assert all(line.replace("`", "") in shown for line in source["sentences"])


def test_runs_whose_folders_have_one_name_are_told_apart(run, tmp_path):
    alone = report_document([read_run(run)])
    expected = [(pair["a"], pair["b"], pair["difference"]) for pair in alone["compare"][0]["pairs"]]
    folders = [shutil.copytree(run, tmp_path / parent / "run") for parent in "ab"]
    document = report_document([read_run(folder) for folder in folders])
    ((contest,),) = (compared["contests"] for compared in document["compare"])
    assert len(contest["cells"]) == 6
    for at, part in enumerate(document["summary"]["parts"]):
        pairs = pairs_of(document, contest, at)
        assert [(pair["a"], pair["b"], pair["difference"]) for pair in pairs] == expected
        assert part["sure"] == alone["summary"]["parts"][0]["sure"]
        assert any(" queries in " in line for line in part["sure"])


def test_wrong_input_is_one_or_two_lines(run, tmp_path, capsys, monkeypatch):
    says(call(capsys, "report", tmp_path), 2, "is not a run folder")
    says(call(capsys, "report", run, "--baseline", "fixd"), 2, "--baseline fixd", "in no run")
    says(call(capsys, "report", run, "--price", "0.1"), 2, "no embedder")
    (tmp_path / "file").write_text("")
    says(call(capsys, "report", run, "-o", tmp_path / "file" / "r.html"), 2, "cannot be written")
    says(call(capsys, "report", run, "--sources", "-1"), 2, "--sources")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    says(call(capsys, "report", run), 2, "jinja2", install_command("report"))
