"""LangChain's RecursiveCharacterTextSplitter: paragraphs, lines, words, characters."""

from chunkers.adapters._langchain import adapter
from chunkers.adapters._library import Adapter, Limit
from chunkers.sizes import Unit

FAMILY = "text"


def make(
    *, max_size: int = 600, unit: Unit = "nws", overlap: int = 0, strip: bool = True
) -> Adapter:
    """LangChain's RecursiveCharacterTextSplitter; hard limit.

    Args:
        max_size: `chunk_size`.
        unit: What `length_function` counts: `nws`, `chars` or `tokens`.
        overlap: `chunk_overlap`, in the same unit: how much a chunk may repeat of the one before.
        strip: `strip_whitespace`: whether chunks lose the white space at their ends.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not below it.
        MissingError: langchain-text-splitters is missing.
    """
    return adapter(Limit(max_size, unit, overlap), None, strip=strip)
