"""LlamaIndex's CodeSplitter: nodes of the syntax tree, joined as long as they fit."""

from collections.abc import Sized
from functools import partial

from chunkers.adapters._library import Adapter, Limit, known, named
from chunkers.languages import GRAMMARS, grammar_of, grammar_versions, parser
from chunkers.locate import spans_of
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "syntax"


def make(*, max_size: int = 600, unit: Unit = "nws") -> Adapter:
    """LlamaIndex's CodeSplitter; soft limit.

    It may lose the end of a node.

    It refuses a source that begins with a syntax error.

    Args:
        max_size: `max_chars`, or `max_tokens` if the unit is not `chars`. The gap before a node is
            not counted.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1, or a grammar is missing.
        MissingError: llama-index-core is missing.
    """
    limit = Limit(max_size, unit)
    return Adapter(
        partial(_chunk, limit),
        ("llama-index-core",),
        limit,
        grammars=grammar_versions(),
        languages=tuple(_grammars()),
        faults=("no crash", "exactly-once", "size limit"),
    )


def _grammars() -> dict[str, str]:
    return named(" ".join(name for name in GRAMMARS if grammar_of(name)))


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    language = known(source, services, _grammars())
    if language is None:
        return []
    from llama_index.core.node_parser import CodeSplitter

    count = limit.counter(services)

    def tokens(text: str) -> Sized:
        """As many items as tokens; the library only reads their number."""
        return range(count(text))

    # Without a parser and a tokenizer the library would download its own.
    splitter = CodeSplitter(
        language,
        max_chars=limit.max_size,
        max_tokens=limit.max_size,
        count_mode="char" if limit.unit == "chars" else "token",
        tokenizer=tokens,
        parser=parser(language),
    )
    return spans_of(source, splitter.split_text(source.text), services)
