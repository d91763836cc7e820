"""When memorybench takes two places for the same: any path that ends alike, any shared line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True)
class Lines:
    """First and last line, inclusive; the last may lie before the first, which is no line."""

    start: int
    end: int


def lines_overlap(one: Lines, other: Lines) -> bool:
    """Whether two ranges touch."""
    return one.end >= other.start and one.start <= other.end


def line_iou(one: Lines, other: Lines) -> float:
    """Shared lines ÷ all lines."""
    shared = min(one.end, other.end) - max(one.start, other.start) + 1
    if shared <= 0:
        return 0.0
    return shared / ((one.end - one.start + 1) + (other.end - other.start + 1) - shared)


def normalize_path(path: str) -> str:
    """Forward slashes, none in front, lower case."""
    return path.replace("\\", "/").lstrip("/").lower()


def path_matches(one: str, other: str) -> bool:
    """Whether two paths are equal or either ends in the other at a slash; repositories apart."""
    left, right = normalize_path(one), normalize_path(other)
    return left == right or left.endswith(f"/{right}") or right.endswith(f"/{left}")


def file_matches(path: str, paths: Collection[str]) -> bool:
    """Whether a path matches any of several."""
    return any(path_matches(path, one) for one in paths)


def cross_file_coverage(found: Collection[str], gold: Collection[str]) -> float:
    """Gold paths that match a found one ÷ all gold paths; 1 where there are none."""
    return covered(found, gold) / len(gold) if gold else 1.0


def covered(found: Collection[str], gold: Collection[str]) -> int:
    """Number of gold paths that match a found one."""
    return sum(file_matches(one, found) for one in gold)


def is_location_relevant(
    path: str,
    lines: Lines | None,
    target_path: str,
    target_lines: Lines | None,
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
