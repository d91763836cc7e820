"""Renders the document of a report as one HTML page, and fills the templates of pages."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from harness.reports.breakdowns import breakdown_tables
from harness.reports.columns import number
from harness.reports.compare import COLUMNS, sections
from harness.reports.notes import notes_of
from harness.reports.page.table import columns_of, rows_of
from harness.reports.plain import plain
from harness.reports.recommendation import points, points_interval
from harness.reports.tables import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markupsafe import Markup

    from harness.reports.figures.figure import Figure
    from harness.reports.page.browser import BrowserData

TEMPLATES = resources.files("harness.reports.page") / "templates"

STYLES = ("report.css", "browser.css")
SCRIPTS = (
    "report.js",
    "code-view.js",
    "browser-base.js",
    "browser-cuts.js",
    "browser-query.js",
    "browser.js",
)
"""Files of the page's style and script, in this order."""

_LONG = 80
"""Characters of a name that are shown within a sentence."""


def render(
    document: Mapping[str, Any],
    figures: Sequence[Figure] = (),
    browser: BrowserData | None = None,
    *,
    live: str = "",
) -> str:
    """The page of a report: the same text for the same arguments.

    Args:
        document: From `report_document`.
        figures: What is drawn.
        browser: The sources and rankings to browse; None for none.
        live: The ETag of a page that asks its server for a newer one; empty if it does not.
    """
    columns = columns_of(document)
    return fill(
        "report",
        STYLES,
        SCRIPTS,
        live=live,
        document=document,
        summary=document["summary"],
        columns=columns,
        rows=rows_of(document, columns),
        groups=list(_groups(document)),
        differences=list(_differences(document)),
        difference_columns=COLUMNS,
        figures=[*_drawn(figures)],
        browser=browser,
    )


def fill(
    kind: str, styles: Sequence[str], scripts: Sequence[str], *, live: str = "", **values: object
) -> str:
    """The page of a kind, from its template.

    Args:
        kind: `report` or `leaderboard`: the command, and the name of the template.
        styles: Files of its style, in their order.
        scripts: Files of its script, in their order.
        live: The ETag of a page that asks its server for a newer one; empty if it does not.
        values: What the template shows.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness.reports.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "sentence": sentence,
        "number": number,
        "plain": plain,
        "points": points,
        "points_interval": points_interval,
    }
    script = _joined(scripts)
    return environment.get_template(f"{kind}.html.j2").render(
        kind=kind,
        live=live,
        style=_markup(_joined(styles)),
        script=_markup(script),
        policy=_policy(script, live=bool(live)),
        **values,
    )


def _joined(names: Sequence[str]) -> str:
    return "\n".join((TEMPLATES / name).read_text("utf-8") for name in names)


def _markup(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - files of this package


def _policy(script: str, *, live: bool) -> str:
    """The content security policy: nothing is loaded, and no other script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = "; connect-src 'self'" if live else ""
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        f"img-src data:; base-uri 'none'; form-action 'none'{own}"
    )


def sentence(text: str) -> Markup:
    """A sentence whose names between backticks are set as code; a long name is cut."""
    from markupsafe import Markup, escape

    pieces = plain(text).split("`")
    if len(pieces) % 2 == 0:  # a name holds a backtick
        return escape(plain(text))
    return Markup("").join(
        Markup("<code><bdi>{}</bdi></code>").format(_cut(piece)) if at % 2 else escape(piece)
        for at, piece in enumerate(pieces)
    )


def _cut(name: str) -> str:
    half = _LONG // 2
    return name if len(name) <= _LONG else f"{name[:half]} … {name[-half:]}"


def _groups(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The break-downs and notes of the cells that one table of `run` compares."""
    for at in range(len(document["runs"])):
        own = {**document, "cells": [cell for cell in document["cells"] if cell["run"] == at]}
        for heading, cells in groups(own):
            tables = list(breakdown_tables(cells))
            yield {"heading": heading, "tables": tables, "notes": notes_of(own, cells)}


def _differences(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The tables of the comparisons, with what is said above and below them."""
    for compared in document["compare"]:
        yield from sections(compared)


def _drawn(figures: Sequence[Figure]) -> Iterator[dict[str, Any]]:
    for figure in figures:
        yield {"figure": figure, "svg": _markup(figure.svg)}
