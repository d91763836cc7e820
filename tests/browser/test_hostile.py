"""A report of a repository whose names and texts try to be more than text."""

import json
import os

import pytest
from browser_worlds import BIDI, HOSTILE, LONG, TERMINAL
from report_pages import make_run, open_details, show_all_columns, write_report
from worlds import function

from harness.datasets.loading import load_dataset

TEMPLATE = "{{7*7}}${7*7}"
ATTRIBUTE = "\" onfocus='alert(1)' autofocus x=\""
COMMENT = "--><!--<script>alert(1)//\u2028\u2029]]>"
MARKS = (HOSTILE, TEMPLATE, ATTRIBUTE, COMMENT, BIDI, TERMINAL)
ENTITY = "&lt;img&#x20;src&gt;"

# As a name of a file each is part of a path; a slash in it makes a folder.
PATHS = [f"{at} {mark}.py" for at, mark in enumerate((*MARKS, ENTITY, "y" * 240))]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page of a folder of hostile files with questions, one of them of 10,000 characters."""
    folder = tmp_path_factory.mktemp("hostile")
    root = folder / f"{TEMPLATE} <b onclick=alert(1)>"
    text = "".join(f"# {mark}\n" for mark in (*MARKS, ENTITY)) + f"NAME = '{LONG}'\n"
    for at, path in enumerate(PATHS):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + function(f"name_{at}", 8) + function(f"more_{at}"), "utf-8")
    (root / os.fsdecode(b"\xff.py")).write_text(function("undecodable"))
    questions = folder / "questions.jsonl"
    rows = [
        {"id": f"q {mark} {at}", "text": f"transform name_{at} {mark}", "targets": f"{path}:9-18"}
        for at, (path, mark) in enumerate(zip(PATHS, (*MARKS, ENTITY, LONG), strict=True))
    ]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    name = f"repo:{json.dumps(str(root))},queries={json.dumps(str(questions))}"
    label = json.dumps("".join(MARKS))
    chunkers = ("fixed:max_size=200", f"browser_worlds:labelled,label={label}", "ast:max_size=200")
    dataset = load_dataset(name)
    assert len(dataset.queries) == len(PATHS)
    measures = ("SpanR@300c", "nDCG@10")
    make_run(folder / "run", [dataset], chunkers=chunkers, measures=measures)
    path = folder / "report.html"
    return path, write_report(path, [folder / "run"]).document


def test_names_and_texts_show_as_text(opened, report):
    """A dialog, an error or a request fails the test at its end."""
    path, document = report
    page = opened(path, timeout=10_000)
    open_details(page)
    show_all_columns(page)
    page.wait_for_selector("#query-browser .browser-item")
    page.wait_for_selector("#file-browser .browser-item")
    for name in ("query", "file"):
        for item in range(len(PATHS)):
            page.click(f"#{name}-browser .browser-item >> nth={item}")
        page.fill(f"#{name}-browser input[type=search]", HOSTILE)
        page.click(f"#{name}-browser .browser-item")
    text = page.inner_text("#query-browser .browser-detail")
    assert f"transform name_0 {HOSTILE}" in text
    assert f"# {HOSTILE}" in page.inner_text("#file-browser .code")
    assert HOSTILE in page.inner_text("#file-browser .browser-detail h3")
    label = document["cells"][1]["chunker"]
    assert HOSTILE in label
    shown = page.locator("#cells tbody th bdi").all_text_contents()
    assert any(HOSTILE in name and TEMPLATE in name for name in shown)
    assert TEMPLATE in page.inner_text("#answer") + page.text_content("#results")
    assert "49" not in page.inner_text("#answer h1")
    # Nothing of it became an element, and no control character reached the page.
    assert page.locator("img, main b, iframe, [onclick], [onfocus], [autofocus]").count() == 0
    assert page.locator("script").count() == 2
    raw = path.read_text("utf-8")
    assert not set(raw) & set("\x00\x07\x1b\u202e\u2066\u2028\u2029")
    body = page.evaluate("document.body.innerText")
    assert not set(body) & set("\x00\x07\x1b\u202e\u2066\u2028\u2029")


@pytest.mark.parametrize("width", [1280, 360])
def test_the_layout_holds(opened, report, serious, width):
    page = opened(report[0], width=width, timeout=10_000)
    open_details(page, "details:not(.bars)")
    page.wait_for_selector("#query-browser .browser-item")
    page.fill("#query-browser input[type=search]", "y" * 240)
    page.click("#query-browser .browser-item")
    page.wait_for_selector("#query-browser .browser-cell.a .rank")
    assert LONG in page.inner_text("#query-browser .query-text")
    page.wait_for_selector("#file-browser .browser-item")
    page.click("#file-browser .browser-item")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1280:
        assert serious(page) == []
