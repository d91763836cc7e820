"""Real headless Chromium. Without it or playwright, the tests here are skipped, with the reason.

With `CHUNKMARK_BROWSER=required`, as in `.ci/run`, they fail instead.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.report import chromium as launch_chromium


def missing() -> list[str]:
    """What the tests need and this machine lacks."""
    packages = [name for name in ("playwright", "axe_playwright_python") if not find_spec(name)]
    return packages + [name for name in ("chromium",) if not shutil.which(name)]


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    if names := missing():
        reason = f"not installed: {', '.join(names)}"
        if os.environ.get("CHUNKMARK_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with launch_chromium() as browser:
        yield browser


@pytest.fixture
def opened(chromium):
    """Opens files or loopback addresses, and watches the pages.

    At the end of the test no page may have logged an error or a warning, shown a dialog, or asked
    the network for anything but itself.
    """
    contexts, errors = [], []

    def open_page(path, fragment="", width=1280, height=900, dark=False, timeout=5000):
        address = str(path) if str(path).startswith("http://127.0.0.1:") else Path(path).as_uri()
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(timeout)

        def refuse_dialog(dialog):
            errors.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        def check_message(message):
            if message.type in ("error", "warning"):
                errors.append(f"console: {message.text}")

        def check_request(request):
            own = request.url.split("#")[0] == address
            if not own and not request.url.startswith(("data:", "blob:")):
                errors.append(f"request: {request.url}")

        page.on("pageerror", lambda error: errors.append(f"page: {error}"))
        page.on("dialog", refuse_dialog)
        page.on("console", check_message)
        page.on("request", check_request)
        page.goto(f"{address}{fragment}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def serious():
    """Finds what axe-core calls a serious or critical violation of accessibility."""

    def violations(page):
        from axe_playwright_python.sync_playwright import Axe

        return [
            (each["id"], node["html"][:200])
            for each in Axe()
            .run(page, options={"resultTypes": ["violations"]})
            .response["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    return violations
