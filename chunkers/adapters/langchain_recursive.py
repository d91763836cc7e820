"""LangChain's RecursiveCharacterTextSplitter: paragraphs, lines, words, characters."""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain, repeat
from typing import Any

from chunkers.adapters._library import Adapter, Limit, installed, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "text"


def make(
    *, max_size: int = 600, unit: Unit = "nws", overlap: int = 0, strip: bool = True
) -> Adapter:
    """LangChain's RecursiveCharacterTextSplitter; its limit is hard.

    Args:
        max_size: `chunk_size`.
        unit: What `length_function` counts: `nws`, `chars` or `tokens`.
        overlap: `chunk_overlap`, in the same unit: how much a chunk may repeat of the one before.
        strip: `strip_whitespace`: whether chunks lose the white space at their ends.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not below it.
        MissingError: langchain-text-splitters is missing.
    """
    limit = Limit(max_size, unit, overlap)
    version = f"1 ({installed('langchain-text-splitters')})"
    return Adapter(partial(split, limit, strip, None), version, limit)


def split(
    limit: Limit, strip: bool, language: str | None, source: Source, services: Services
) -> list[Span]:
    """Spans of what LangChain's splitter returns, by the separators of a language or of text."""
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    separators = None
    if language is not None:
        separators = RecursiveCharacterTextSplitter.get_separators_for_language(Language(language))
    splitter = _splitter()(
        separators=separators,
        is_separator_regex=language is not None,
        chunk_size=limit.max_size,
        chunk_overlap=limit.overlap,
        length_function=limit.counter(services),
        strip_whitespace=strip,
    )
    texts = splitter.split_text(source.text)
    found = zip(chain(splitter.starts, repeat(-1)), texts, strict=False)
    return spans_at(source, found, services, limit.overlap)


@cache
def _splitter() -> Any:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Splitter(RecursiveCharacterTextSplitter):  # type: ignore[misc]
        """Notes where its strings start.

        `start_index` of the library is -1 where the overlap is not in characters, and text that
        repeats itself is found too early. But pieces are taken in order, without a gap.
        """

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.starts: list[int] = []
            self._end = 0  # of the pieces that the next string is joined of

        def _merge_splits(self, splits: Iterable[str], separator: str) -> Any:
            return super()._merge_splits(self._taken(splits), separator)

        def _taken(self, splits: Iterable[str]) -> Iterator[str]:
            for piece in splits:
                yield piece  # before it is added, what came before it may be joined
                self._end += len(piece)

        def _join_docs(self, docs: list[str], separator: str) -> Any:
            text = super()._join_docs(docs, separator)
            if text is not None:
                whole = separator.join(docs)
                self.starts.append(self._end - len(whole) + whole.index(text))
            return text

    return Splitter
