"""Lines whose vectors a test gives, and where a chunker cuts them."""

import numpy as np

from chunkers import Services, Source, load_chunker
from chunkers.testing.services import count_tokens

LINES = 8


def told(vectors):
    """Services whose embedder gives the line `n` the vector `vectors[n]`, and buffers none."""
    rows = np.array(vectors, dtype=np.float32)

    def given(texts):
        return rows[[int(text.split()[0]) for text in texts]]

    return Services(given, count_tokens)


def numbered(count=LINES, width=10):
    """Lines of the same size; each begins with its number."""
    return Source("".join(f"{n:02} {'x' * (width - 2)}\n" for n in range(count)), "a.txt", None)


def angles(*degrees):
    """Unit vectors in a plane."""
    turned = np.radians(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


def first_lines(spec, source, given):
    spans = load_chunker(spec).chunk(source, given)
    return [source.lines.line_of(span.start) - 1 for span in spans]
