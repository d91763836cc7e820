"""Matches the sizes of chunkers: sets `max_size` so that their median chunks are equal."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.plugins.spec import parse_spec
from harness.support.arrays import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus

    Cut = Callable[[LoadedChunker], Sequence[ChunkedCorpus]]

TOLERANCE = 0.02
"""The difference of a median chunk from the wanted size, as a share of it, that ends a search."""

STEPS = 16
"""Times that a chunker cuts the data set, at most."""

_LARGEST = 10**9  # limit
_STUCK = 3  # limits with equal medians that end a search outside of a bracket


def parse_match_size(text: str | None) -> int | LoadedChunker | None:
    """The size to match, in non-white-space characters, or the chunker whose median is matched.

    Raises:
        InputError: It is neither.
    """
    if text is None:
        return None
    if re.fullmatch(r"[+-]?[0-9]+", text):
        if int(text) > 0:
            return int(text)
        raise InputError(f"match_size must be above 0, not {text}")
    if re.fullmatch(r"[0-9]+ ?c", text):
        raise InputError(f"match_size is a number of characters; write {text[:-1].strip()}")
    try:
        chunker = load_chunker(text)
    except InputError as error:
        raise InputError(f"match_size takes a number of characters or a chunker: {error}") from None
    if chunker.embeds:
        raise InputError(f"match_size: {text} embeds to cut; give a number of characters instead")
    return chunker


class _SizeError(Exception):
    """The options of a chunker do not allow a size."""


def match_sizes(
    chunkers: Sequence[LoadedChunker], target: int | LoadedChunker, cut: Cut
) -> tuple[list[LoadedChunker], list[str]]:
    """Set the `max_size` of each chunker that has one.

    Args:
        chunkers: The chunkers of a run.
        target: The wanted median chunk, or the chunker whose median is wanted.
        cut: Cuts all files of the data set.

    Returns:
        The chunkers, each once, and a line on each: its median, or why it was left as it is.

    Raises:
        InputError: A chunker makes no chunk.
    """
    wanted = float(target) if isinstance(target, int) else median_chunk(cut(target), target.name)
    matched: dict[str, LoadedChunker] = {}
    seen: dict[str, str] = {}
    lines = [f"wanted median chunk: {wanted:.0f} c"]
    for chunker in chunkers:
        same = seen.setdefault(str(parse_spec(chunker.name).without("max_size")), chunker.name)
        if same != chunker.name:
            lines.append(f"{chunker.name}: as {same}")
            continue
        sized, line = chunker, _why_not(chunker)
        if line is None:
            try:
                sized, line = _matched(chunker, wanted, cut)
            except _SizeError as error:
                line = f"left as it is, since {error}"
        lines.append(f"{chunker.name}: {line}")
        matched[sized.name] = sized
    return list(matched.values()), lines


def _matched(chunker: LoadedChunker, wanted: float, cut: Cut) -> tuple[LoadedChunker, str]:
    """A chunker with the limit that comes nearest, and what its median chunk is."""

    def median_of(limit: int) -> float:
        try:
            sized = _sized(chunker, limit)
        except InputError as error:  # its overlap, say, is as large
            raise _SizeError(str(error)) from error
        return median_chunk(cut(sized), chunker.name)

    limit, medians = search(median_of, chunker.max_size or 1, wanted)
    reached = medians[limit]
    near = abs(reached - wanted) <= TOLERANCE * wanted
    line = f"max_size={limit}, median chunk {reached:.0f} c"
    return _sized(chunker, limit), line if near else f"{line}, the nearest that it reaches"


def median_chunk(corpora: Sequence[ChunkedCorpus], name: str) -> float:
    """The median size of chunks in non-white-space characters.

    Raises:
        InputError: There is none.
    """
    sizes = np.concatenate([corpus.chunks.chars for corpus in corpora])
    if not len(sizes):
        raise InputError(f"{name} makes no chunk, so its size cannot be matched; leave it out")
    return float(percentile(sizes, 50))


def search(
    median_of: Callable[[int], float], start: int, wanted: float
) -> tuple[int, dict[int, float]]:
    """The size limit whose median chunk is nearest to what is wanted.

    Medians grow with the limit, about in proportion, so the next limit is scaled by the ratio of
    the medians; where that leaves the bracket of limits with too small and too large medians, or
    every third time, the bracket is halved.

    Args:
        median_of: The median chunk of a limit.
        start: The first limit.
        wanted: The wanted median, above 0.

    Returns:
        The limit, of those tried with equally near medians the smallest, and the medians of all
        limits tried.
    """
    medians: dict[int, float] = {}
    size = start
    for step in range(STEPS):
        medians[size] = median_of(size)
        if abs(medians[size] - wanted) <= TOLERANCE * wanted:
            break
        low = max((limit for limit, value in medians.items() if value < wanted), default=None)
        high = min((limit for limit, value in medians.items() if value > wanted), default=None)
        scaled = round(size * min(max(wanted / max(medians[size], 1), 1 / 4), 4))
        if low is not None and high is not None:
            if high - low <= 1:  # also where a larger limit gives smaller chunks
                break
            inside = low < scaled < high and step % 3 != 2
            size = scaled if inside else (low + high) // 2
        else:
            last = [*medians.values()][-_STUCK:]
            size = min(max(1, scaled + 1 if low is not None else scaled - 1), _LARGEST)
            if size in medians or (len(last) == _STUCK and len(set(last)) == 1):
                break
    best = min(medians, key=lambda limit: (abs(medians[limit] - wanted), limit))
    return best, medians


def _sized(chunker: LoadedChunker, size: int) -> LoadedChunker:
    spec = parse_spec(chunker.name).without("max_size")
    return load_chunker(replace(spec, options=(*spec.options, ("max_size", str(size)))))


def _why_not(chunker: LoadedChunker) -> str | None:
    """Why the size of a chunker is left as it is; None if it can be set."""
    if chunker.embeds:
        return "left as it is, since it embeds to cut"
    try:
        sized = chunker.max_size is not None and _sized(chunker, chunker.max_size)
    except InputError:  # the limit is no option
        sized = False
    return None if sized else "left as it is, since it has no max_size"
