"""The tables of `chunkmark gate`: for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from harness.reports.plain import markdown_escaped, markdown_table, plain, print_rows
from harness.runs.folder import PARTS
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console

_DROPS = {"before": "before", "value": "value", "drop": "drop", "drop_at_least": "at least",
          "detects": "detects"}  # fmt: skip
_TEXT = 90  # characters of a query that are shown
_DETAILED = (
    10  # failed checks with their queries: a comment on GitHub has at most 65,536 characters
)


def table_of(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and a row for each check; drops have columns only if some were checked."""
    checks = document["checks"]
    drops = any(check["kind"] == "max-drop" for check in checks)
    values = _DROPS if drops else {"value": "value"}
    columns = [*PARTS, "queries", "measure", *values.values(), "bound", "verdict"]
    rows = [
        [
            *(str(check[column] or "-") for column in (*PARTS, "n_queries", "measure")),
            *(_number(check.get(key), "z.4f" if drops else ".6g") for key in values),
            f"{check['operator']} {check['threshold']:g}",
            check["verdict"],
        ]
        for check in checks
    ]
    return columns, rows


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(round(value, 12), form)


def print_gate(document: Mapping[str, Any], console: Console) -> None:
    """Print the checks to a terminal, and the queries that fell where one failed."""
    print_rows(*table_of(document), console)
    for check in _fallen(document):
        console.print()
        console.print(plain(_heading(check)), style="bold")
        for query, target, before, after in _queries(check):
            console.print(plain(f"{before} -> {after}  {query}"))
            console.print(plain(f"                {target}"))
    console.print(f"gate: {document['verdict']}{_skipped(document)}")


def _skipped(document: Mapping[str, Any]) -> str:
    """How many checks are skipped; empty without one."""
    checks = document["checks"]
    skipped = sum(check["verdict"] == "skipped" for check in checks)
    return f"; {skipped} of {counted(len(checks), 'check')} skipped" if skipped else ""


def as_markdown(document: Mapping[str, Any], notes: Iterable[str]) -> str:
    """The checks as a comment on a pull request."""
    checks = document["checks"]
    failed = sum(check["verdict"] == "fail" for check in checks)
    lines = [
        f"### Retrieval: {document['verdict']}",
        "",
        f"{failed} of {counted(len(checks), 'check')} failed{_skipped(document)}.",
        "",
        *markdown_table(*table_of(document)),
        *(f"- {markdown_escaped(note)}" for note in notes),
    ]
    fallen = list(_fallen(document))
    if len(fallen) > _DETAILED:
        lines.append(f"- the queries of {len(fallen) - _DETAILED} more are in --format json")
    for check in fallen[:_DETAILED]:
        lines += [
            "",
            f"<details><summary>{html.escape(plain(_heading(check)))}</summary>",
            "",
            *markdown_table(("query", "target", "before", "after"), _queries(check)),
            "</details>",
        ]
    return "\n".join([*lines, ""])


def _fallen(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The failed checks that name queries."""
    for check in document["checks"]:
        if check["verdict"] == "fail" and check.get("queries"):
            yield check


def _heading(check: Mapping[str, Any]) -> str:
    return (
        f"{check['measure']} of {check['chunker']} on {check['dataset']} ({check['embedder']}, "
        f"{check['retriever']}): the queries that fell most"
    )


def _queries(check: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for query in check["queries"]:
        text = " ".join(query["text"].split())
        yield (
            f"{query['query_id']}: {text[:_TEXT]}",
            ", ".join(query["targets"][:3]) or "-",
            f"{query['before']:.3f}",
            f"{query['after']:.3f}",
        )
