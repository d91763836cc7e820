"""LangChain's RecursiveCharacterTextSplitter, by the separators of text or of a language."""

from __future__ import annotations

from functools import cache, partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from chunkers.adapters._library import Adapter, Limit, known, spans_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chunkers.source import Services, Source, Span


def adapter(limit: Limit, names: Mapping[str, str] | None, *, strip: bool) -> Adapter:
    """The splitter as a chunker; its limit is hard.

    Args:
        limit: `chunk_size`, the unit of `length_function`, and `chunk_overlap` in that unit.
        names: Language -> its name in the library; None for the separators of text.
        strip: `strip_whitespace`: whether chunks lose the white space at their ends.

    Raises:
        MissingError: langchain-text-splitters is missing.
    """
    cut, libraries = partial(_chunk, limit, names, strip), ("langchain-text-splitters",)
    return Adapter(cut, libraries, limit, tuple(names or ()))


def _chunk(
    limit: Limit, names: Mapping[str, str] | None, strip: bool, source: Source, services: Services
) -> list[Span]:
    language = None if names is None else known(source, services, names)
    if names is not None and language is None:
        return []
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
    chunks = zip(chain(splitter.starts, repeat(-1)), texts, strict=False)
    return spans_at(source, chunks, services)


@cache
def _splitter() -> Any:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Splitter(RecursiveCharacterTextSplitter):  # type: ignore[misc]
        """Records where its strings start.

        The library's `start_index` is -1 if the overlap is not in characters, and too small for
        text that repeats itself. But pieces are taken in order, without gaps.
        """

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.starts: list[int] = []
            self._end = 0  # of the pieces of the next string

        def _merge_splits(self, splits: Iterable[str], separator: str) -> Any:
            return super()._merge_splits(self._taken(splits), separator)

        def _taken(self, splits: Iterable[str]) -> Iterator[str]:
            for piece in splits:
                yield piece  # before it is added, the pieces before it may be joined
                self._end += len(piece)

        def _join_docs(self, docs: list[str], separator: str) -> Any:
            text = super()._join_docs(docs, separator)
            if text is not None:
                whole = separator.join(docs)
                self.starts.append(self._end - len(whole) + whole.index(text))
            return text

    return Splitter
