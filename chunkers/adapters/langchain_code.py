"""LangChain's RecursiveCharacterTextSplitter with the separators of a language."""

from chunkers.adapters._langchain import adapter
from chunkers.adapters._library import Adapter, Limit, named
from chunkers.sizes import Unit

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
    """LangChain's `from_language` splitter; hard limit.

    Options and errors are those of `langchain-recursive`.
    """
    return adapter(Limit(max_size, unit, overlap), _LANGUAGES, strip=strip)
