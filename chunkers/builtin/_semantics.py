"""Small units of a source and the similarities of their vectors, for semantic chunkers.

Sums over the dimensions of vectors are computed in a fixed order and in float64, where products of
float32 numbers are exact, so equal vectors give equal cuts on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.grammars.loading import grammar_of
from chunkers.grammars.syntax import syntax_runs
from chunkers.lazy import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.builtin._lines import Runs
    from chunkers.sizes import Lines
    from chunkers.source import Services


def small_units(lines: Lines, services: Services, size: int) -> Runs:
    """Runs of all lines (at least one): statements along the syntax tree, merged while they fit.

    Without a grammar whole lines are packed. No unit is larger than `size`, repeated lines left
    out, unless it is a single line.
    """
    plain = lines.plain
    if grammar_of(plain.source.language):
        return syntax_runs(plain, services, size)
    return plain.pack(0, plain.count - 1, size)


def texts_of(lines: Lines, units: Sequence[tuple[int, int]], buffer: int = 0) -> list[str]:
    """The text of each unit with `buffer` units before and after it."""
    spans = lines.plain.spans(units)
    last = len(spans) - 1
    return [
        lines.source.text[spans[max(0, at - buffer)].start : spans[min(last, at + buffer)].end]
        for at in range(len(spans))
    ]


def vectors_of(texts: Sequence[str], services: Services) -> NDArray[np.float64]:
    """Unit vectors of texts, shape (d, n); a text without a vector is noted and has zeros.

    Raises:
        InputError: There is no embedder, or it returned another number of vectors.
    """
    rows = np.asarray(services.need_embed()(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise InputError(f"embedding {len(texts)} texts gave an array of shape {rows.shape}")
    columns = np.ascontiguousarray(rows.T)
    usable = _usable(columns)
    if not usable.all():
        services.note("unit without a vector")
    return np.where(usable, columns, 0.0)


def _usable(vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns are finite and not zero, shape (n,)."""
    sizes = np.add.reduce(np.abs(vectors), axis=0)
    usable: NDArray[np.bool_] = np.isfinite(sizes) & (sizes > 0)
    return usable


def similarities(vectors: NDArray[np.float64], apart: int) -> NDArray[np.float64]:
    """Cosine of each vector with the vector `apart` places before it, shape (n - apart,).

    It is 1 if one of them is zero, so that a text without a vector causes no cut.

    Args:
        vectors: Unit vectors, shape (d, n).
        apart: From 1 to n - 1.
    """
    cosines = np.add.reduce(vectors[:, apart:] * vectors[:, :-apart], axis=0)
    usable = _usable(vectors)
    return np.where(usable[apart:] & usable[:-apart], cosines, 1.0)


def mean_similarity(vectors: NDArray[np.float64]) -> float:
    """Mean cosine of all pairs of unit vectors, shape (d, n), without zero ones; 1 if no pair."""
    count = int(_usable(vectors).sum())
    if count < 2:
        return 1.0
    # The square of the sum has every pair twice, and each vector with itself.
    total = np.add.reduce(np.add.accumulate(vectors, axis=1)[:, -1] ** 2)
    own = np.add.reduce(np.add.reduce(vectors * vectors, axis=0))
    return float((total - own) / (count * (count - 1)))


def pack_units(lines: Lines, units: Sequence[tuple[int, int]], limit: int) -> Runs:
    """Consecutive units, merged while they fit; a unit that does not fit is cut by lines.

    A unit exceeds the limit if it is a single long line, or because of the lines that it repeats.
    """
    runs: Runs = []
    start, end = units[0][0], -1
    for first, last in units:
        if lines.size(start, last) > limit:
            if start <= end:
                runs.append((start, end))
                start = first
            *whole, (start, _) = lines.pack(start, last, limit)
            runs += whole
        end = last
    return [*runs, (start, end)]
