"""Real headless Chromium. Without it or playwright, the tests here are skipped, with the reason."""

import shutil

import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Opens files; at the end of the test no page may have logged an error or asked the network."""
    contexts, errors = [], []

    def open_file(path, fragment="", width=1280, height=900, dark=False):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:", "blob:"))
                else errors.append(sent.url))  # fmt: skip
        page.goto(f"file://{path}{fragment}")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert errors == []
