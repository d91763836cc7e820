"""Corpora for queries out of calls."""

from __future__ import annotations

from chunkers.languages import language_of
from chunkers.source import Source
from harness.building.calls.queries import call_queries
from harness.model import Corpus


def corpus_of(files: dict[str, str]) -> Corpus:
    """Files, path -> text, in the languages of their names."""
    sources = [Source(text, path, language_of(path)) for path, text in sorted(files.items())]
    return Corpus("c", tuple(sources))


def reasons(files: dict[str, str]) -> dict[str, int]:
    """Why files of which no call makes a query make none."""
    found = call_queries(corpus_of(files))
    assert not found.queries
    return dict(found.left_out)
