"""LangChain's RecursiveCharacterTextSplitter with the separators of a language."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, installed, known, named
from chunkers.adapters.langchain_recursive import split
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "text"

#: Language -> what the library calls it, where it has separators for it.
_LANGUAGES = named(
    "c cpp csharp elixir go haskell html java kotlin lua markdown php powershell python r ruby rust"
    " scala swift",
    javascript="js",
    restructuredtext="rst",
    tsx="ts",
    typescript="ts",
)


def make(
    *, max_size: int = 600, unit: Unit = "nws", overlap: int = 0, strip: bool = True
) -> Adapter:
    """LangChain's splitter made by `from_language`; its limit is hard.

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
    return Adapter(partial(_chunk, limit, strip), version, limit, languages=tuple(_LANGUAGES))


def _chunk(limit: Limit, strip: bool, source: Source, services: Services) -> list[Span]:
    language = known(source, services, _LANGUAGES)
    return [] if language is None else split(limit, strip, language, source, services)
