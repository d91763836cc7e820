"""When memorybench takes two places for the same: any path that ends alike, any shared line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True)
class LineRange:
    """First and last line, inclusive; the last may lie before the first, which is no line."""

    start: int
    end: int


def lines_overlap(first: LineRange, second: LineRange) -> bool:
    """Whether two ranges touch."""
    return first.end >= second.start and first.start <= second.end


def line_iou(first: LineRange, second: LineRange) -> float:
    """Shared lines ÷ all lines."""
    shared = min(first.end, second.end) - max(first.start, second.start) + 1
    if shared <= 0:
        return 0.0
    return shared / ((first.end - first.start + 1) + (second.end - second.start + 1) - shared)


def normalize_path(path: str) -> str:
    """Forward slashes, none in front, lower case."""
    return path.replace("\\", "/").lstrip("/").lower()


def path_matches(first: str, second: str) -> bool:
    """Whether two paths are equal or either ends in the other at a slash; repositories apart."""
    a, b = normalize_path(first), normalize_path(second)
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}")


def file_matches(path: str, paths: Collection[str]) -> bool:
    """Whether a path matches any of several."""
    return any(path_matches(path, candidate) for candidate in paths)


def cross_file_coverage(paths: Collection[str], gold: Collection[str]) -> float:
    """Gold paths that match one of `paths` ÷ all gold paths; 1 where there are none."""
    return covered(paths, gold) / len(gold) if gold else 1.0


def covered(paths: Collection[str], gold: Collection[str]) -> int:
    """Number of gold paths that match one of `paths`."""
    return sum(file_matches(path, paths) for path in gold)


def is_location_relevant(
    path: str,
    lines: LineRange | None,
    target_path: str,
    target_lines: LineRange | None,
    iou_threshold: float | None = None,
) -> bool:
    """Whether a chunk is relevant to a target by place.

    Args:
        path: Of the chunk.
        lines: Of the chunk; without them, or without those of the target, the path decides.
        target_path: Of the target.
        target_lines: Of the target.
        iou_threshold: Line IoU that is needed; None or 0: a shared line is enough.
    """
    if not path_matches(path, target_path):
        return False
    if lines is None or target_lines is None:
        return True
    if iou_threshold:
        return line_iou(lines, target_lines) >= iou_threshold
    return lines_overlap(lines, target_lines)
