"""astchunk, the reference of cAST: nodes of the syntax tree, split, then merged."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chunkers.adapters._library import Adapter, Limit, known, named
from chunkers.lazy import np
from chunkers.source import Services, Source, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FAMILY = "syntax"

#: Language -> its name in the library, which reads TypeScript by the grammar of TSX.
_LANGUAGES = named("csharp java python typescript", tsx="typescript")
_WHEELS = tuple(f"tree-sitter-{name}" for name in ("python", "java", "c-sharp", "typescript"))


def make(*, max_size: int = 600, expansion: bool = False) -> Adapter:
    """astchunk, the reference of cAST; hard limit.

    A node without children that is over the limit is dropped: long literals and comments are in no
    chunk, though the text before and after may be in one. Such a span has gaps. White space between
    nodes is replaced by line feeds and blanks. It fails on deep nesting.

    Args:
        max_size: `max_chunk_size`, in bytes of UTF-8, white space left out.
        expansion: `chunk_expansion`: whether path, classes and functions come before each chunk.

    Raises:
        InputError: `max_size` is below 1.
        MissingError: astchunk is missing.
    """
    limit = Limit(max_size, "nws")
    return Adapter(
        functools.partial(_chunk, limit, expansion),
        ("astchunk", "tree-sitter", *_WHEELS),
        limit,
        languages=tuple(_LANGUAGES),
        faults=("exactly-once", "no crash"),
    )


def _chunk(limit: Limit, expansion: bool, source: Source, services: Services) -> list[Span]:
    language = known(source, services, _LANGUAGES)
    if language is None:
        return []
    builder = _library()(
        max_chunk_size=limit.max_size, language=language, metadata_template="default"
    )
    # The steps of `chunkify`, which returns no offsets.
    octets = source.text.encode()
    tree = builder.parser.parse(octets)
    windows = list(builder.assign_tree_to_windows(source.text, tree.root_node))
    chunks = builder.convert_windows_to_chunks(windows, {"filepath": source.path}, expansion)
    offsets = _characters(octets)
    return [
        _span(source, window, chunk.strcode, offsets)
        for window, chunk in zip(windows, chunks, strict=True)
    ]


def _characters(octets: bytes) -> NDArray[np.int64]:
    """Offset in characters of every offset in bytes, shape (len(octets) + 1,)."""
    first = (np.frombuffer(octets, dtype=np.uint8) & 0xC0) != 0x80
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(first, dtype=np.int64)))


def _span(source: Source, window: Sequence[Any], text: str, offsets: NDArray[np.int64]) -> Span:
    """The span of a window of nodes, with a gap for other text than white space between them."""
    ranges = [node.brange for node in window]
    places = [(int(offsets[place.start]), int(offsets[place.stop])) for place in ranges]
    between = zip((end for _, end in places), (start for start, _ in places[1:]), strict=False)
    gaps = tuple((end, start) for end, start in between if source.lines.size(end, start))
    start, end = places[0][0], places[-1][1]
    # The library indents the first line by as many blanks as there are columns before it.
    margin = len(text) - len(text.lstrip(" "))
    if margin <= start and source.text[start - margin : start].strip(" ") == "":
        start -= margin
    return Span(start, end, None if source.text[start:end] == text else text, gaps=gaps)


@functools.cache
def _library() -> Any:
    """The library's builder, without its crash in tree-sitter 0.26.0.

    Each read of `row` or `column` of a point drops one reference too many there, until the
    interpreter crashes; reading the items of the point does not.
    """
    from astchunk import ASTChunkBuilder
    from astchunk.astnode import ASTNode

    for name, point, item in (
        ("start_line", "start_point", 0),
        ("start_col", "start_point", 1),
        ("end_line", "end_point", 0),
        ("end_col", "end_point", 1),
    ):
        setattr(ASTNode, name, property(functools.partial(_coordinate, point, item)))
    return ASTChunkBuilder


def _coordinate(point: str, item: int, node: Any) -> int:
    return int(getattr(node.node, point)[item])
