"""Rows of JSON lines, each checked against a model and known by its file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.outside.checked import Model, valid
from harness.outside.shapes import numbered, parse_json, refuse_halves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from harness.model import Corpus


def blank(corpora: Iterable[Corpus]) -> int:
    """How many documents of corpora are without text."""
    return sum(not source.text.strip() for corpus in corpora for source in corpus.sources)


def rows(file: Path, model: type[Model]) -> Iterator[tuple[str, Model]]:
    """The rows of a file, each with its place for messages; blank lines are none.

    Raises:
        InputError: A row is malformed, by its file, line and part, or there is none.
    """
    empty = True
    for number, line in numbered(file):
        if not line.strip():
            continue
        empty = False
        where = f"{file}, line {number}"
        raw = parse_json(line, where)
        if not isinstance(raw, dict):
            raise InputError(f"{where}: a row is an object, not {raw!r:.40}")
        found = valid(model, raw, where)
        refuse_halves(found.model_dump(), line, where)
        yield where, found
    if empty:
        raise InputError(f"{file} holds no row")
