"""Chunks of a fixed number of tokens of the embedder."""

from chunkers.builtin._lines import LineChunker, pack_lines

FAMILY = "fixed"


def make(*, max_size: int = 254) -> LineChunker:
    """As many whole lines as fit into a number of tokens.

    This is the usual meaning of chunks of a fixed number of tokens: tokens of the embedder that
    searches, or of the run's first embedder for lexical retrieval. Each line is tokenised alone.
    The bundled embedder sees 254 tokens of a text.

    Args:
        max_size: Tokens of a chunk, special ones left out. No chunk has more, unless a single
            character does; a line that has more is cut between words.

    Raises:
        InputError: `max_size` is below 1.
    """
    return LineChunker(pack_lines, max_size, "tokens", "2")
