"""Chunkers: they cut code into chunks, and do not depend on the harness."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkers.errors import InputError
    from chunkers.languages import language_of
    from chunkers.plugins.loading import ListedChunker, LoadedChunker, list_chunkers, load_chunker
    from chunkers.source import Chunker, LineIndex, Services, Source, Span

__all__ = [
    "Chunker",
    "InputError",
    "LineIndex",
    "ListedChunker",
    "LoadedChunker",
    "Services",
    "Source",
    "Span",
    "language_of",
    "list_chunkers",
    "load_chunker",
]

_HOMES = {
    "InputError": "errors",
    "language_of": "languages",
    **dict.fromkeys(
        ("ListedChunker", "LoadedChunker", "list_chunkers", "load_chunker"), "plugins.loading"
    ),
    **dict.fromkeys(("Chunker", "LineIndex", "Services", "Source", "Span"), "source"),
}


def __getattr__(name: str) -> Any:
    """Import a name on first use: `chunkmark --help` needs none of the grammars."""
    if name not in _HOMES:
        raise AttributeError(f"module 'chunkers' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"chunkers.{_HOMES[name]}"), name)
