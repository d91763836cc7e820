"""A served report in a real browser, while a run goes on."""

import threading

import pytest
from report_pages import CHUNKERS, make_run
from worlds import small

from harness.cli.serving import PageServer
from harness.reports.page.assemble import ReportOptions, make_report
from harness.runs.folder import read_manifest


def page_of(run, tag):
    return make_report([run], ReportOptions(), live=tag).page


@pytest.fixture
def serve():
    """Serves the report of a run folder; returns its address."""
    started = []

    def start(run, page=page_of):
        server = PageServer([run], lambda tag: page(run, tag))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        started.append((server, thread))
        return server.address

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_open_page_shows_further_cells(opened, serve, tmp_path):
    run = make_run(tmp_path / "run", [small()], chunkers=CHUNKERS[:2])
    page = opened(serve(run), timeout=20_000)
    rows = page.locator("#cells tbody tr")
    assert rows.count() == 2
    make_run(run, [small()], chunkers=CHUNKERS[:3])
    page.wait_for_selector("#cells tbody tr:nth-child(3)")
    assert page.inner_text("#count") == "3 of 3 rows"


def test_a_cell_that_ends_while_the_page_is_made_is_shown(opened, serve, tmp_path):
    run = make_run(tmp_path / "run", [small()], chunkers=CHUNKERS[:2])

    def overtaken(run, tag):
        text = page_of(run, tag)
        if len(read_manifest(run)["cells"]) == 2:
            make_run(run, [small()], chunkers=CHUNKERS[:3])
        return text

    page = opened(serve(run, overtaken), timeout=20_000)
    page.wait_for_selector("#cells tbody tr:nth-child(3)")
