"""The query browser and the file browser in a real browser."""

import json
import re
from collections import Counter
from functools import cache

import pytest
from browser_worlds import ASTRAL, HOSTILE, LONG
from report_pages import expanded
from worlds import grid

from harness.datasets.loading import load_dataset
from harness.reports.page.browser import browser_data, disagreement
from harness.reports.page.document import report_document
from harness.reports.page.render import render
from harness.reports.page.stored import read_run
from harness.runs.record import read_record
from harness.runs.stored_values import read_stored_cells

PAIR = ("ast:max_size=120", "fixed:max_size=120,overlap=30")
SPANS = ("SpanR@300c", "SpanR@1000c", "SpanP@1000c", "nDCG@10")


@cache
def stored(folder, world, chunkers, measures, limit=None):
    """The cells of a run of a world."""
    dataset = load_dataset(f"browser_worlds:{world}")
    given = {"chunkers": chunkers, "retrievers": ("bm25",), "datasets": (dataset.name,)}
    given |= {"limit": limit}
    folder.mkdir(exist_ok=True)
    grid(folder, dataset=dataset, measures=measures, **given)
    return list(read_stored_cells(folder / "run"))


def rendered(runs, data):
    """A page with the browsers, without figures."""
    return render(report_document([read_run(run) for run in runs]), (), data)


@pytest.fixture
def show(opened, tmp_path):
    """Opens the browsers of a world; returns the page, its data and its cells."""

    def show_world(world, fragment="", chunkers=PAIR, measures=SPANS, data=None, **window):
        cells = stored(tmp_path, world, chunkers, measures)
        data = browser_data(cells, **(data or {}))
        path = tmp_path / "report.html"
        path.write_text(rendered([tmp_path / "run"], data), "utf-8")
        (part,) = expanded(data.block)["sets"]
        return opened(path, fragment, **window), part, cells

    return show_world


def open_browser(page, name):
    page.click(f"#{name}-browser > summary")
    page.wait_for_selector(f"#{name}-browser .browser-item")


def open_query(page, text):
    page.fill("#query-browser input[type=search]", text)
    page.click("#query-browser .browser-item")


def items(page, name):
    return page.locator(f"#{name}-browser .browser-item").all_inner_texts()


def lines_of(page, selector):
    """Source lines of a view, by number."""
    rows = page.locator(f"{selector} .code-line")
    return dict(
        rows.evaluate_all(
            """rows => rows.map(row => [Number(row.querySelector('.line-number').textContent),
                row.querySelector('.line-source').textContent])"""
        )
    )


def test_queries_that_differ_most_come_first_and_show_the_stored_values(show):
    page, part, cells = show("plain")
    assert page.locator(".browser-item").count() == 0  # nothing is unpacked before
    open_browser(page, "query")
    a, b = (cells[at] for at in part["pair"])
    gaps = {q: a.values[q][SPANS[0]] - b.values[q][SPANS[0]] for q in a.values}
    shown = page.locator("#query-browser .browser-item").evaluate_all(
        "items => items.map(item => item.dataset.id)"
    )
    assert sorted(shown) == sorted(gaps)
    assert [abs(gaps[q]) for q in shown] == sorted(map(abs, gaps.values()), reverse=True)
    for query in shown:
        page.click(f'#query-browser .browser-item[data-id="{query}"]')
        values = page.locator("#query-browser .browser-detail tbody tr").evaluate_all(
            """rows => rows.map(row => [...row.children].map(cell =>
                cell.tagName === "TH" ? cell.textContent : Number(cell.dataset.value)))"""
        )
        for name, *row in values:
            wanted = a.values[query][name], b.values[query][name]
            assert row == [*wanted, wanted[0] - wanted[1]]


def test_a_query_shows_gold_chunks_reasons_and_the_end_of_the_budget(show):
    page, part, cells = show("plain", "#query=q+rho")
    page.wait_for_selector("#query-browser .browser-detail h3")
    assert "transform q rho" in page.inner_text(".query-text")
    at = next(n for n, query in enumerate(part["queries"]) if query["id"] == "q rho")
    for side, number in zip("ab", part["pair"], strict=True):
        cell, record = part["cells"][number], read_record(cells[number].folder)
        shown, query = cell["shown"][at], record.queries[at]
        sizes = zip(record.chunks, record.chunks.chars.tolist(), strict=True)
        chunks = {row.id: (row, size) for row, size in sizes if row.corpus == query.corpus}
        ranked = [chunks[name] for name in record.rankings[at].ids[: len(shown[0])]]
        texts = page.locator(f".browser-cell.{side} .rank summary").all_inner_texts()
        for rank, ((chunk, size), text) in enumerate(zip(ranked, texts, strict=True)):
            lines = f"{chunk.start_line}\u2013{chunk.end_line}"
            assert text.startswith(f"{rank + 1}. {chunk.path}:{lines} · {size} c, score ")
            relevant = any(reason[0] == rank and reason[2] > 0 for reason in shown[2])
            assert ("relevant" in text) == relevant
        rank, last, *_ = shown[3][cell["budgets"].index(300)]
        end = page.inner_text(f".browser-cell.{side} .budget-end")
        assert f"after {last} of {ranked[rank][1]} c of rank {rank + 1}" in end
        credited = sum(high - low for low, high in shown[3][0][3])
        gold = page.locator("#query-browser section p").all_inner_texts()
        place = query.places[0]
        size = place.stretch[2] - place.stretch[1]
        assert any(f"{credited} of {size} c of it delivered within 300 c" in line for line in gold)
    assert set(lines_of(page, "#query-browser section")) >= set(range(1, 33))


def test_a_ranked_chunk_opens_on_its_source(show):
    page, _, _ = show("plain", "#query=q+alpha", chunkers=PAIR[:1])
    page.wait_for_selector(".browser-cell.a .rank")
    page.click(".browser-cell.a .rank >> nth=0")
    page.wait_for_selector(".browser-cell.a .rank .code")
    words = page.inner_text(".browser-cell.a .rank details p >> nth=0")
    assert words == (
        "Relevant, grade 1: it holds 68 of 133 c of one/alpha.py:1\u20136 "
        "(one shared non-blank line is enough)."
    )
    number = page.locator(".browser-cell.a .rank .code-line:not(.outside) .line-number")
    first, *_, last = number.all_inner_texts()
    assert f":{first}\u2013{last} ·" in page.inner_text(".browser-cell.a .rank summary >> nth=0")
    before = len(lines_of(page, ".browser-cell.a .rank"))
    page.click(".browser-cell.a .rank button:has-text('below')")
    assert len(lines_of(page, ".browser-cell.a .rank")) > before


def test_every_rank_says_why_it_counts(show):
    """A relevant chunk, its copy, and two that hold too little of the target or of its copy."""
    page, _, _ = show("plain,relevance=share", "#query=q+alpha", chunkers=PAIR[:1])
    page.wait_for_selector(".rank")
    badges = page.locator(".rank .badge").all_inner_texts()
    below = "holds gold, below the rule"
    words = ["relevant", "copy of gold", below, below]
    assert [badge for badge in badges if badge != "beyond the budget"] == words
    assert page.locator(".rank.counts").count() == 2
    ranks = page.locator(".rank").all()[:5]
    for rank in ranks:
        rank.locator("summary").click()
    target, rule = "of 133 c of one/alpha.py:1\u20136", "(share of the target, threshold 0.5)."
    assert [rank.locator("p").first.inner_text() for rank in ranks] == [
        f"Relevant, grade 1: it holds 68 {target} {rule}",
        f"Counts as a copy of one/alpha.py:1\u20133: it holds the same text, 68 {target}. "
        "It counts once, whichever comes first.",
        f"Not relevant: it holds 65 {target} {rule}",
        f"Not relevant: it holds 65 {target} {rule}",
        "Not relevant: it holds no line of a target.",
    ]


def test_gold_is_marked_on_its_characters(show):
    """Also where JavaScript counts characters twice, and Windows ends lines."""
    page, _, _ = show("astral", "#query=q")
    page.wait_for_selector("#query-browser .code .gold")
    marked = page.locator("#query-browser section .code-line .gold").all_inner_texts()
    text = load_dataset("browser_worlds:astral").corpora[0].sources[0].text
    gold = [line.rstrip("\r") for line in text.split("\n")[8:16]]
    assert "".join("".join(marked).split()) == "".join("".join(gold).split())
    assert ASTRAL in "".join(gold)


def test_other_chunkers_and_budgets_are_chosen_without_losing_the_focus(show):
    page, part, _ = show("plain", "#query=q+rho", chunkers=(*PAIR, "whole-file"))
    page.wait_for_selector(".browser-cell.b")
    page.focus("#query-browser select >> nth=1")
    page.select_option("#query-browser select >> nth=1", label="whole-file")
    assert "B whole-file" in page.inner_text(".browser-cell.b h4")
    assert page.evaluate("document.activeElement.selectedOptions[0].textContent") == "whole-file"
    assert "b=whole-file" in page.evaluate("location.hash")
    before = page.inner_text(".browser-cell.a .budget-end")
    page.select_option(".browser-detail .browser-controls select", "1000")
    assert page.evaluate("document.activeElement.value") == "1000"
    ends = page.locator(".browser-cell.a .budget-end").all_inner_texts()
    assert before not in ends
    # The other browser follows.
    open_browser(page, "file")
    page.click("#file-browser .browser-item >> nth=0")
    assert "B whole-file" in page.inner_text("#file-browser .browser-detail")
    assert len(part["cells"]) == 3


def test_queries_are_filtered_and_sorted(show):
    page, part, cells = show("plain")
    open_browser(page, "query")
    page.fill("#query-browser input[type=search]", "SIGMA")
    assert len(items(page, "query")) == 1
    page.fill("#query-browser input[type=search]", "one/alpha.py")
    assert len(items(page, "query")) == 2
    page.fill("#query-browser input[type=search]", "")
    page.select_option("#query-browser select >> nth=4", label="kind: first")
    assert sorted(text.split("\n")[-1] for text in items(page, "query")) == ["q alpha", "q rho"]
    page.select_option("#query-browser select >> nth=4", "")
    page.select_option("#query-browser select >> nth=2", "id")
    assert [text.split("\n")[-1] for text in items(page, "query")] == sorted(cells[0].values)
    page.fill("#query-browser input[type=search]", "no such words")
    assert items(page, "query") == []
    assert "0 queries" in page.inner_text("#query-browser [role=status]")
    assert len(part["queries"]) == 4


def tab_to(page, name):
    """Press the tabulator until an element of a class has the focus."""
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == name:
            return
    raise AssertionError(f"no {name}")


@pytest.mark.parametrize("name", ["query", "file"])
def test_both_browsers_work_with_the_keyboard_alone(show, name):
    page, part, _ = show("plain")
    page.focus(f"#{name}-browser > summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#{name}-browser .browser-item")
    tab_to(page, "browser-item")
    first = page.evaluate("document.activeElement.dataset.id")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.dataset.id")
    assert chosen != first
    page.keyboard.press("Enter")
    title = chosen if name == "query" else part["files"][int(chosen)][1]
    assert title in page.evaluate("document.activeElement.textContent")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    if name == "query":
        page.focus(".browser-cell.a .rank summary >> nth=0")
        page.keyboard.press("Enter")
        page.wait_for_selector(".browser-cell.a .rank .code")
    tab_to(page, "code")


def test_a_link_opens_a_query_and_leads_to_its_file(show):
    page, _, _ = show("plain", "#query=q+sigma&a=fixed:max_size=120,overlap=30&b=ast:max_size=120")
    page.wait_for_selector(".browser-cell.b")
    assert "A fixed" in page.inner_text(".browser-cell.a h4")
    page.click("#query-browser a >> nth=0")
    page.wait_for_selector("#file-browser .browser-detail h3")
    assert "two/rho.py" in page.inner_text("#file-browser .browser-detail h3")
    assert page.evaluate("location.hash").startswith("#file=two%2Frho.py")
    page.evaluate("location.hash = '#query=q+beta'")
    page.locator(":focus", has_text="q beta").wait_for()
    page.evaluate("location.hash = '#query=no+such+query'")
    assert "q beta" in page.inner_text("#query-browser h3")


def test_files_that_are_cut_most_differently_come_first(show):
    """By the measure of the data, which chooses the sources."""
    page, part, cells = show("plain")
    open_browser(page, "file")
    edges = []
    for at in part["pair"]:
        by_file = {}
        for chunk in read_record(cells[at].folder).chunks:
            by_file.setdefault(chunk.path, set()).update(chunk.nws)
        edges.append(by_file)
    scores = {
        path: disagreement([frozenset(row.get(path, ())) for row in edges])
        for _, path, *_ in part["files"]
    }
    shown = [text.split("\n")[1].split(" in ")[0] for text in items(page, "file")]
    assert sorted(shown) == sorted(scores)
    assert [scores[path] for path in shown] == sorted(scores.values(), reverse=True)
    for path, text in zip(shown, items(page, "file"), strict=True):
        both = [row.get(path, set()) for row in edges]
        assert text.startswith(f"{len(both[0] ^ both[1])} of {len(both[0] | both[1])}")
    page.fill("#file-browser input[type=search]", "copy")
    assert len(items(page, "file")) == 1


def losses(cell, path, size):
    """How many of the characters of a file lie in no chunk, and how many in several."""
    held = Counter(
        at
        for chunk in read_record(cell.folder).chunks
        if chunk.path == path
        for at in range(*chunk.nws)
        if not any(low <= at < high for low, high in chunk.gaps)
    )
    return size - len(held), sum(times > 1 for times in held.values())


def test_lost_text_and_overlaps_are_marked_beside_their_lines(show):
    page, part, cells = show("plain", "#file=one/alpha.py", chunkers=("worlds:lossy", PAIR[1]))
    page.wait_for_selector("#file-browser .code-line")
    facts = page.inner_text("#file-browser .browser-detail")
    lossy = "a" if "A worlds:lossy" in facts else "b"
    size = next(file[2] for file in part["files"] if file[1] == "one/alpha.py")
    for side, number in zip("ab", part["pair"], strict=True):
        lost, twice = losses(cells[number], "one/alpha.py", size)
        assert (f"{lost} c in no chunk" in facts) == (lost > 0)
        assert twice and f"{twice} c in several chunks" in facts
        titles = "\n".join(
            page.locator(f"#file-browser .code-line .gutter.{side}[title]").evaluate_all(
                "marks => marks.map(mark => mark.title)"
            )
        )
        assert sum(map(int, re.findall(r"(\d+) c in no chunk", titles))) == lost
        assert sum(map(int, re.findall(r"(\d+) c in several chunks", titles))) == twice
    source = load_dataset("browser_worlds:plain").corpora[0].sources[0]
    kinds = page.locator(f"#file-browser .code-line .gutter.{lossy}").evaluate_all(
        "marks => marks.map(mark => mark.className)"
    )
    half = source.lines.count // 2
    for line, kind in enumerate(kinds, 1):
        written = bool(source.text.split("\n")[line - 1].strip())
        assert ("lost" in kind) == (written and line > half)
        assert ("overlap" in kind) == (written and line <= half)


def test_text_missing_inside_a_chunk_is_marked(show):
    page, part, cells = show("plain", "#file=two/rho.py", chunkers=("browser_worlds:gappy",))
    page.wait_for_selector("#file-browser .code-line")
    lost = page.locator("#file-browser .code-line:has(.gutter.lost) .line-number").all_inner_texts()
    assert lost == ["4", "14", "24"]
    size = next(file[2] for file in part["files"] if file[1] == "two/rho.py")
    missing, twice = losses(cells[0], "two/rho.py", size)
    assert missing and not twice
    assert f", {missing} c in no chunk" in page.inner_text("#file-browser .browser-detail")
    page.evaluate("location.hash = '#query=q+rho'")
    page.wait_for_selector(".browser-cell.a .rank")
    page.click(".browser-cell.a .rank >> nth=0")
    page.wait_for_selector(".browser-cell.a .rank .lost-a")


def test_a_long_file_draws_what_is_in_sight(show):
    page, part, _ = show("long", chunkers=("ast", "fixed"))
    open_browser(page, "file")
    began = page.evaluate("performance.now()")
    page.click("#file-browser .browser-item")
    page.wait_for_selector("#file-browser .code-line")
    assert page.evaluate("performance.now()") - began < 1500
    assert page.locator("#file-browser .code-line").count() < 200
    page.evaluate("document.querySelector('#file-browser .code').scrollTop = 1e9")
    page.locator("#file-browser .code-rows", has_text="name_1499").wait_for()
    assert 11_998 in lines_of(page, "#file-browser")
    assert page.locator("#file-browser .code-line").count() < 200
    assert part["files"][0][:2] == ["one", "a.py"]


def test_hostile_text_shows_as_text_on_a_phone(show):
    page, part, _ = show("hostile", width=360)
    open_browser(page, "query")
    open_query(page, "alpha")
    text = page.inner_text("#query-browser .browser-detail")
    assert HOSTILE in text
    assert "\u2039U+202E\u203aevil" in text
    assert "␛[31mred␛[0m␇" in text
    for mark in ("\u202e", "\x1b", "\u2066"):
        assert mark not in text
    for rank in page.locator(".rank summary").all():
        rank.click()
    open_browser(page, "file")
    for number in range(2):
        page.click(f"#file-browser .browser-item >> nth={number}")
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # Both at once, for the page may still scroll.
    end, begin = page.evaluate("""() => [
        document.querySelector(".browser-cell.a").getBoundingClientRect().bottom,
        document.querySelector(".browser-cell.b").getBoundingClientRect().top,
    ]""")
    assert begin >= end
    open_query(page, "q long")
    assert LONG in page.inner_text(".query-text")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert len(part["queries"]) == 2


def test_a_masked_query_shows_its_lines_as_masked(show):
    page, _, cells = show("masked", "#query=q")
    page.wait_for_selector("#query-browser .browser-detail")
    assert "lines 9\u201314 of one/alpha.py are masked" in page.inner_text(".browser-detail")
    page.click("#query-browser section button:has-text('above')")
    lines = lines_of(page, "#query-browser section")
    masked = [line for line, text in lines.items() if text.endswith("masked for this query")]
    assert masked == list(range(9, 15))
    assert not any("beta_0" in lines[line] for line in masked)
    assert "beta_5 = transform" in lines[15]
    open_browser(page, "file")
    assert [text.split("\n")[1] for text in items(page, "file")] == ["one/alpha.py", "one/other.py"]
    page.select_option("#file-browser select >> nth=2", "masked")
    (only,) = items(page, "file")
    assert "one/alpha.py as masked for q" in only
    page.click("#file-browser .browser-item")
    assert "def beta" not in page.inner_text("#file-browser .code")
    assert json.loads((cells[0].folder / "queries.jsonl").read_text())["mask"]["start_line"] == 9


def test_documents_show_their_text_and_grades(show):
    page, _, _ = show("documents", chunkers=("whole-file", PAIR[1]), measures=("nDCG@10",))
    open_browser(page, "query")
    open_query(page, "q1")
    detail = page.inner_text("#query-browser .browser-detail")
    assert "d1, grade 2" in detail and "1 relevant document" in detail
    page.click(".browser-cell.a .rank >> nth=0")
    page.wait_for_selector(".browser-cell.a .rank .code")
    assert "Relevant: judged with grade 2." in page.inner_text(".browser-cell.a")
    assert lines_of(page, ".browser-cell.a .rank")[1] == "sort a list of numbers"
    open_query(page, "q2")
    page.click(".browser-cell.a details:has-text('not in these ranks') summary")
    assert "d3: not retrieved" in page.inner_text(".browser-cell.a")


def test_without_texts_lines_and_values_remain(show):
    page, _, _ = show("plain", data={"limit": 0})
    open_browser(page, "query")
    open_query(page, "q rho")
    detail = page.inner_text("#query-browser .browser-detail")
    assert "The text of two/rho.py is not shown: it does not fit in this report" in detail
    page.click(".browser-cell.a .rank >> nth=0")
    page.wait_for_selector(".browser-cell.a .rank .note:has-text('is not shown')")
    open_browser(page, "file")
    page.fill("#file-browser input[type=search]", "rho")
    page.click("#file-browser .browser-item")
    assert max(lines_of(page, "#file-browser")) >= 40


def test_a_data_set_that_does_not_load_is_named(show, monkeypatch, tmp_path):
    stored(tmp_path, "plain", PAIR, SPANS)
    monkeypatch.delattr("browser_worlds.plain")
    page, _, _ = show("plain")
    open_browser(page, "query")
    assert "the data set does not load" in page.inner_text("#query-browser .note")
    open_query(page, "q rho")
    assert "the source could not be read" in page.inner_text("#query-browser .browser-detail")


def test_a_single_cell_shows_alone(show):
    page, _, _ = show("plain", "#query=q+rho", chunkers=PAIR[:1])
    page.wait_for_selector(".browser-cell.a")
    assert page.locator(".browser-cell").count() == 1
    assert "A \u2212 B" not in page.inner_text("#query-browser")
    open_browser(page, "file")
    page.click("#file-browser .browser-item >> nth=0")
    assert page.locator("#file-browser .code-line .gutter.b").count() == 0


def test_data_sets_are_chosen_and_a_cell_may_lack_a_query(opened, tmp_path):
    cells = [
        *stored(tmp_path / "1", "plain", PAIR[:1], SPANS),
        *stored(tmp_path / "2", "plain", PAIR[1:], SPANS, limit=2),
        *stored(tmp_path / "3", "documents", ("whole-file",), ("nDCG@10",)),
    ]
    runs = [tmp_path / number / "run" for number in "123"]
    (tmp_path / "report.html").write_text(rendered(runs, browser_data(cells)), "utf-8")
    page = opened(tmp_path / "report.html")
    open_browser(page, "query")
    lacking = sorted(set(cells[0].values) - set(cells[1].values))
    shown = page.locator("#query-browser .browser-item").evaluate_all(
        "items => items.map(item => item.dataset.id)"
    )
    assert sorted(shown[-len(lacking) :]) == lacking  # without a difference, so last
    page.click(f'#query-browser .browser-item[data-id="{lacking[0]}"]')
    assert "does not have the query" in page.inner_text("#query-browser .browser-cells")
    page.select_option("#query-browser select >> nth=0", label="browser_worlds:documents")
    assert len(items(page, "query")) == 2
    assert page.locator("#query-browser .browser-cell").count() == 0
    open_query(page, "q2")
    page.evaluate("location.hash = '#query=q+rho&data=browser_worlds%3Aplain'")
    page.locator(":focus", has_text="q rho").wait_for()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("delete window.DecompressionStream", "needs one of 2023 or later"),
        ("document.getElementById('browser-data').textContent = 'AAAA'", "cannot be unpacked"),
    ],
)
def test_data_that_cannot_be_unpacked_are_named(show, damage, words):
    page, _, _ = show("documents", chunkers=("whole-file",), measures=("nDCG@10",))
    page.evaluate(damage)
    page.click("#query-browser > summary")
    page.wait_for_selector(f"#query-browser [role=alert]:has-text('{words}')")


@pytest.mark.parametrize(("world", "dark"), [("plain", False), ("masked", True)])
def test_no_serious_finding_of_accessibility(show, serious, world, dark):
    page, _, _ = show(world, dark=dark)
    open_browser(page, "query")
    page.click("#query-browser .browser-item >> nth=0")
    for rank in page.locator(".rank summary").all():
        rank.click()
    open_browser(page, "file")
    page.click("#file-browser .browser-item >> nth=0")
    assert serious(page) == []
