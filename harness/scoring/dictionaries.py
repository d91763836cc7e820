"""Rankings and judgements as JSON dictionaries."""

from __future__ import annotations

from typing import Any

from chunkers.errors import InputError
from harness.support.json_files import finite_number, id_of

Ranking = dict[str, float] | list[str]


def rankings_of(document: Any, where: str) -> dict[str, Ranking]:
    """`{query: {document: score}}` or `{query: [document, ...]}` in rank order.

    Args:
        document: From `parse_json`.
        where: Its place, for messages.

    Raises:
        InputError: It is something else, or a score is no finite number.
    """
    rankings: dict[str, Ranking] = {}
    for query, row in _rows(document, where, "score").items():
        name = f"{where}: query {query}"
        if isinstance(row, list):
            rankings[query] = [id_of(one, f"{name}: a document id") for one in row]
        else:
            rankings[query] = _numbers(row, name, "score")
    return rankings


def grades_of(document: Any, where: str) -> dict[str, dict[str, float]]:
    """`{query: {document: grade}}`; grades may be fractions. A list of documents has grade 1.

    Raises:
        InputError: It is something else, or a grade is no finite number.
    """
    grades: dict[str, dict[str, float]] = {}
    for query, row in _rows(document, where, "grade").items():
        name = f"{where}: query {query}"
        if isinstance(row, list):
            grades[query] = dict.fromkeys(
                (id_of(one, f"{name}: a document id") for one in row), 1.0
            )
        else:
            grades[query] = _numbers(row, name, "grade")
    return grades


def _rows(document: Any, where: str, kind: str) -> dict[str, Any]:
    shape = f'write {{"query": {{"document": {kind}}}}} or {{"query": ["document", ...]}}'
    if not isinstance(document, dict):
        raise InputError(f"{where} is no dictionary of queries\n{shape}")
    for query, row in document.items():
        if not isinstance(row, dict | list):
            raise InputError(f"{where}: query {query} has {row!r:.40}\n{shape}")
    return document


def _numbers(row: dict[str, Any], where: str, kind: str) -> dict[str, float]:
    return {
        one: finite_number(value, f"{where}: the {kind} of {one}") for one, value in row.items()
    }
