"""Random numbers whose bits are fixed by a seed alone.

Only the raw 64-bit words of PCG64 are used, which numpy promises not to change; the methods of its
`Generator` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.support.arrays import Ints


def words(seed: tuple[int, ...]) -> np.random.PCG64:
    """A source of random 64-bit words; every part of the seed is 0 or above."""
    return np.random.PCG64(np.random.SeedSequence(seed))


def permutation(source: np.random.PCG64, n: int) -> Ints:
    """A random order of 0 to n-1, shape (n,)."""
    numbers = source.random_raw(n)
    # numpy sorts 16 bits by radix, so that two passes over 32 bits are faster than one over 64.
    high = (numbers >> np.uint64(32)).astype("<u4")
    low, top = high.view("<u2").reshape(n, 2).T
    order = np.argsort(low, kind="stable")
    order = order[np.argsort(top[order], kind="stable")]
    ordered = high[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.argsort(numbers, kind="stable")
    return order


def draws(source: np.random.PCG64, n: int, shape: tuple[int, int]) -> Ints:
    """Numbers from 0 to n-1, with replacement; n is below 2**31, the bias below n / 2**32."""
    high = source.random_raw(shape[0] * shape[1]).reshape(shape) >> np.uint64(32)
    return ((high * np.uint64(n)) >> np.uint64(32)).astype(np.int64)
