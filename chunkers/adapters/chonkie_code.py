"""chonkie's CodeChunker: nodes of the syntax tree, grouped by size."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, known, named, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "syntax"

#: Language -> its grammar in tree-sitter-language-pack.
_GRAMMARS = named(
    "bash c cmake commonlisp cpp csharp css dart dockerfile elisp elixir elm erlang fortran go"
    " gomod groovy hack haskell hcl html java javascript jsdoc json julia kotlin lua make markdown"
    " objc ocaml perl php powershell python r ruby rust scala scss sql swift toml tsx typescript"
    " xml yaml zig",
    embedded_template="embeddedtemplate",
    restructuredtext="rst",
)


def make(*, max_size: int = 600, unit: Unit = "nws") -> Adapter:
    """Chonkie's CodeChunker; soft limit.

    It fails on deep nesting.

    Args:
        max_size: `chunk_size`. White space between nodes is not counted, and a node without
            children is never split.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1.
        MissingError: chonkie or the grammars are missing, or the installed grammars are downloaded
            at first use.
    """
    limit = Limit(max_size, unit)
    return Adapter(
        partial(_chunk, limit),
        ("chonkie", "tree-sitter", "tree-sitter-language-pack"),
        limit,
        languages=tuple(_GRAMMARS),
        faults=("no crash", "size limit"),
    )


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    language = known(source, services, _GRAMMARS)
    if language is None:
        return []
    from chonkie import CodeChunker

    chunker = CodeChunker(limit.counter(services), limit.max_size, language)
    chunks = ((chunk.start_index, chunk.text) for chunk in chunker.chunk(source.text))
    return spans_at(source, chunks, services)
