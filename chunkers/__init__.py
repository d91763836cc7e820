"""Whatever cuts code into chunks. Knows nothing of the harness."""

from chunkers.errors import InputError
from chunkers.languages import language_of
from chunkers.loading import ListedChunker, LoadedChunker, list_chunkers, load_chunker
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
