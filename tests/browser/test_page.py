"""The page of a report in a real browser: its table, colours, width, keyboard and print."""

import re

import pytest
from report_pages import make_run, open_details, show_all_columns, write_report

from harness.datasets.loading import load_dataset
from harness.reports.page.table import columns_of, rows_of

RATIO = """(element) => {
    // The WCAG contrast of a text with the nearest opaque background.
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = channels(colour).map((value) => value / 255)
            .map((value) => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    let behind = element;
    while (behind && (channels(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0)
        behind = behind.parentElement;
    const paper = getComputedStyle(behind || document.documentElement).backgroundColor;
    const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
    return (high + .05) / (low + .05);
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page of two data sets, one of them without spans, and two retrievers; and its document."""
    folder = tmp_path_factory.mktemp("page")
    datasets = [load_dataset(f"browser_worlds:{name}") for name in ("plain", "documents")]
    out = make_run(folder / "run", datasets, retrievers=("bm25", "bow"))
    path = folder / "report.html"
    return path, write_report(path, [out]).document


def column(page, at):
    """The texts or the full numbers of a column's cells, from the top; None for a missing one."""
    return page.locator("#cells tbody tr").evaluate_all(
        """(rows, at) => rows.map((row) => {
            const cell = row.cells[at];
            if (!cell.classList.contains("number")) return cell.querySelector("bdi").textContent;
            return cell.dataset.value === "" ? null : Number(cell.dataset.value);
        })""",
        at,
    )


def natural(value):
    """Names sort with their numbers as numbers: `max_size=40` before `max_size=120`."""
    if not isinstance(value, str):
        return value
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", value)]


def test_each_column_sorts_both_ways_with_missing_values_last(opened, report):
    path, document = report
    page = opened(path)
    show_all_columns(page)
    columns = columns_of(document)
    rows = rows_of(document, columns)
    assert {each.kind for each in columns} == {"name", "measure", "fact"}
    for at, each in enumerate(columns):
        stored = [row.values[at] for row in rows]
        values = [v.text if each.kind == "name" else v.number for v in stored]
        present = sorted((value for value in values if value is not None), key=natural)
        lacking = [None] * (len(values) - len(present))
        button = page.locator("#cells thead th").nth(at).locator("button")
        ways = (
            ["descending", "ascending"] if each.kind == "measure" else ["ascending", "descending"]
        )
        for way in ways:
            button.click()
            ordered = present if way == "ascending" else present[::-1]
            assert column(page, at) == ordered + lacking, each
            assert page.locator("#cells [aria-sort]").count() == 1
            assert button.locator("..").get_attribute("aria-sort") == way
    assert any(None in column(page, at) for at in range(len(columns)))


def test_rows_are_filtered_by_words_and_by_names(opened, report):
    path, document = report
    page = opened(path)
    cells = document["cells"]
    shown = page.locator("#cells tbody tr:visible")

    def count(rows):
        assert page.inner_text("#count") == f"{rows} of {len(cells)} rows"
        assert shown.count() == rows

    count(len(cells))
    page.fill("#filter", "FIXED")
    count(sum("fixed" in cell["chunker"] for cell in cells))
    page.select_option(".filter-by >> nth=0", label="browser_worlds:plain")
    count(sum("fixed" in c["chunker"] and "plain" in c["dataset"] for c in cells))
    page.fill("#filter", "no such words")
    count(0)
    page.keyboard.press("Escape")  # empties the field
    count(sum("plain" in cell["dataset"] for cell in cells))
    # Sorting keeps the filter.
    page.click("#cells thead button >> nth=1")
    count(sum("plain" in cell["dataset"] for cell in cells))


def test_columns_are_chosen(opened, report):
    page = opened(report[0])
    page.click(".choose summary")
    head = page.locator("#cells thead th", has_text="SpanR@300c")
    assert head.is_visible()
    page.uncheck(".choose label:has-text('SpanR@300c') input")
    assert not head.is_visible()
    hidden = page.locator("#cells thead th.off", has_text="P@5").first
    assert not hidden.is_visible()
    page.check(".choose label:has-text('P@5') input")
    assert hidden.count() == 0


def test_measures_by_which_chunkers_cannot_be_compared_say_so(opened, report):
    path, document = report
    page = opened(path)
    show_all_columns(page)
    words = "not comparable across chunkers"
    marked = page.locator("#cells thead th", has_text=words)
    wanted = [each.title for each in columns_of(document) if not each.comparable]
    assert marked.locator("button").all_inner_texts() == wanted != []


def background(page):
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def luminance(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 765


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_and_the_switch(opened, report, dark):
    page = opened(report[0], dark=dark)
    before = background(page)
    assert (luminance(before) < 0.5) == dark
    page.click("#theme")
    assert (luminance(background(page)) < 0.5) != dark
    # The choice holds when the system changes its mind; a second click takes it back.
    page.emulate_media(color_scheme="light" if dark else "dark")
    assert (luminance(background(page)) < 0.5) != dark
    page.click("#theme")
    assert background(page) == before


@pytest.mark.parametrize("dark", [False, True])
def test_the_text_of_figures_has_contrast(opened, report, dark):
    page = opened(report[0], dark=dark)
    ratios = page.locator("figure svg text").evaluate_all(f"texts => texts.map({RATIO})")
    assert len(ratios) > 50
    assert min(ratios) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_finding_of_accessibility_in_the_page(opened, report, serious, dark):
    page = opened(report[0], dark=dark)
    open_details(page, "details:not(.bars)")  # bars are figures as the others, and many
    show_all_columns(page)
    assert serious(page) == []


@pytest.mark.parametrize("width", [360, 320])
def test_a_phone_shows_all_without_scrolling_sideways(opened, report, width):
    page = opened(report[0], width=width, height=740)
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # What is wider scrolls in a region of its own, which the keyboard reaches.
        wide = page.evaluate("""() => [...document.querySelectorAll("main *")].filter((part) => {
            const box = part.getBoundingClientRect();
            return part.checkVisibility() && box.right > innerWidth + 1
                && !part.closest("[tabindex='0'], .hidden");
        }).map((part) => part.outerHTML.slice(0, 100))""")
        assert wide == []
        open_details(page)
        show_all_columns(page)


def focus(page):
    return page.evaluate("""() => {
        const part = document.activeElement;
        const style = getComputedStyle(part), box = part.getBoundingClientRect();
        return {
            name: part.className || part.id || part.getAttribute("href") || part.tagName,
            seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
            y: box.top + scrollY, inside: box.bottom > 0 && box.top < innerHeight,
        };
    }""")


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(opened, report):
    page = opened(report[0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('header')") is False  # it was skipped
    page = opened(report[0])
    page.emulate_media(reduced_motion="reduce")  # else it still scrolls to what has the focus
    wanted = page.evaluate("""() => [...document.querySelectorAll(
        "a[href], button, input, select, summary, [tabindex='0']")]
        .filter((part) => part.checkVisibility({ visibilityProperty: true })).length""")
    stops = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        stops.append(focus(page))
    assert stops[0]["name"] == "skip"
    assert [stop for stop in stops if not stop["seen"]] == []
    assert [stop for stop in stops if not stop["inside"]] == []
    ids = [stop["name"] for stop in stops]
    order = ["skip", "#answer", "quiet", "filter", "sort", "command"]
    assert [ids.index(name) for name in order] == sorted(ids.index(name) for name in order)


def test_enter_and_space_sort_and_switch(opened, report):
    page = opened(report[0])
    page.focus("#cells thead th[data-key='SpanR@300c'] button")
    page.keyboard.press("Enter")
    assert page.get_attribute("#cells thead th[data-key='SpanR@300c']", "aria-sort") == "descending"
    page.keyboard.press("Space")
    assert page.get_attribute("#cells thead th[data-key='SpanR@300c']", "aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.closest('th').dataset.key") == "SpanR@300c"
    page.focus("#theme")
    page.keyboard.press("Space")
    assert luminance(background(page)) < 0.5
    page.focus(".choose summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    before = page.evaluate("document.activeElement.checked")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.checked") != before


def test_a_page_opens_a_query_and_switches_chunkers(opened, report):
    page = opened(report[0])
    page.click("nav a[href='#queries']")
    page.click("#query-browser > summary")
    page.click("#query-browser .browser-item >> nth=0")
    page.wait_for_selector("#query-browser .browser-cell.b .rank")
    before = page.inner_text("#query-browser .browser-cell.a h4")
    choice = page.locator("#query-browser select").filter(has_text="whole-file").first
    choice.select_option(label="whole-file, bm25")
    after = page.inner_text("#query-browser .browser-cell.a h4")
    assert "whole-file" in after and after != before
    page.click("#file-browser > summary")
    page.click("#file-browser .browser-item >> nth=0")
    page.wait_for_selector("#file-browser .code-line")


def test_print_shows_the_page_in_light_colours_without_controls(opened, report):
    page = opened(report[0], width=688, dark=True)  # A4 less its margins
    page.emulate_media(media="print", color_scheme="dark")
    assert luminance(background(page)) > 0.9
    for selector in ("nav", "#tools", "#theme", "#query-browser"):
        assert not page.locator(selector).first.is_visible()
    assert page.locator("#answer h1").is_visible()
    cut = page.locator("main table:visible").evaluate_all(
        "tables => tables.filter((table) => table.getBoundingClientRect().right > 690)"
        ".map((table) => table.caption.textContent)"
    )
    assert cut == []
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_the_page_reads_whole(chromium, report):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report[0].as_uri())
    assert page.locator("#cells tbody tr:visible").count() == len(report[1]["cells"])
    assert not page.locator("#tools").is_visible()
    assert not page.locator("#theme").is_visible()
    assert "needs JavaScript" in page.locator("noscript").inner_text()
    context.close()
