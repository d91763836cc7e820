"""semantic-text-splitter's CodeSplitter: the largest nodes of the syntax tree that fit."""

import importlib
from functools import partial

from chunkers.adapters._library import Adapter, Limit, known, named, spans_at
from chunkers.languages import GRAMMARS, grammar_versions
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "syntax"

# The grammars of the extra are in no wheel.
_GRAMMARS = named(" ".join(name for name, grammar in GRAMMARS.items() if grammar.module))


def make(*, max_size: int = 600, unit: Unit = "nws", overlap: int = 0) -> Adapter:
    """semantic-text-splitter's CodeSplitter; hard limit.

    It is called with `trim=False`.

    Its time grows faster than the depth of nesting.

    Args:
        max_size: `capacity`.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.
        overlap: `overlap`, in the same unit: how much a chunk may repeat of the chunk before.

    Raises:
        InputError: `max_size` is below 1, `overlap` is not below it, or a grammar is missing.
        MissingError: semantic-text-splitter is missing.
    """
    limit = Limit(max_size, unit, overlap)
    return Adapter(
        partial(_chunk, limit),
        ("semantic-text-splitter",),
        limit,
        grammars=grammar_versions(),
        languages=tuple(_GRAMMARS),
        faults=("time per MB",),
    )


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    language = known(source, services, _GRAMMARS)
    if language is None:
        return []
    from semantic_text_splitter import CodeSplitter

    # The library has its own tree-sitter, so it gets the wheel's object.
    wheel = importlib.import_module(GRAMMARS[language].module)
    grammar = getattr(wheel, GRAMMARS[language].function)()
    count = limit.counter(services)
    splitter = CodeSplitter.from_callback(grammar, count, limit.max_size, limit.overlap, trim=False)
    return spans_at(source, splitter.chunk_indices(source.text), services)
