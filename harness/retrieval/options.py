"""Options of every retriever: expansion of its rankings, and a second hop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError

if TYPE_CHECKING:
    from harness.measures.profiles import Profile
    from harness.model import Dataset

_MOST = 1_000_000

Expand = Literal["none", "neighbours", "parent"]


@dataclass(frozen=True)
class RankingOptions:
    """Options that act on rankings.

    Attributes:
        expand: The chunks that follow each ranked chunk; see `harness.retrieval.expansion`.
        hops: Number of rankings of a query; see `harness.retrieval.hops`.
        hop_chunks: Number of units of the first ranking that make the second query and stay first.
        index: Name of the index that searches vectors.
        exact: Whether it finds all of the nearest.
    """

    expand: Expand = "none"
    hops: int = 1
    hop_chunks: int = 5
    index: str = "flat"
    exact: bool = True


def require_range(option: str, value: float, low: int, high: int) -> None:
    """Raise an InputError unless the value of an option is in a range."""
    if not low <= value <= high:
        text = f"{value:g}" if isinstance(value, float) else f"{value}"
        raise InputError(f"{option}={text}: must be {low} to {high}")


def ranking_options(
    *,
    expand: Expand = "none",
    hops: Literal["1", "2"] = "1",
    hop_chunks: int = 5,
    index: str = "flat",
) -> RankingOptions:
    """The options of every retriever.

    Raises:
        InputError: `hop_chunks` is out of range, or given without hops=2.
    """
    require_range("hop_chunks", hop_chunks, 1, _MOST)
    if hops == "1" and hop_chunks != RankingOptions.hop_chunks:
        raise InputError(f"hop_chunks={hop_chunks}: needs hops=2")
    return RankingOptions(expand, int(hops), hop_chunks, index)


def refuse_profile(name: str, options: RankingOptions, profile: Profile) -> None:
    """Refuse options that a profile does not allow.

    Raises:
        InputError: Two hops, or another index than `flat`, under a profile that reproduces rankings
            of one query each, in which every text is scored.
    """
    if options.index != "flat" and profile.similarity != "cosine":
        raise InputError(
            f"retriever {name}: index={options.index} is refused under profile {profile.name}, "
            "which scores every text; choose another profile"
        )
    if options.hops > 1 and profile.similarity != "cosine":
        raise InputError(
            f"retriever {name}: hops=2 is refused under profile {profile.name}, which reproduces "
            "rankings of one query each; choose another profile"
        )


def refuse_dataset(name: str, options: RankingOptions, dataset: Dataset) -> None:
    """Refuse options that a data set does not allow.

    Raises:
        InputError: Expansion of documents, or an approximate index where all chunks of a document
            count.
    """
    if not options.exact and dataset.pooling in ("first", "sum"):
        raise InputError(
            f"retriever {name}: an approximate index finds only some chunks of a document, and "
            f"pooling={dataset.pooling} of {dataset.name} needs all; choose --index flat"
        )
    if options.expand != "none" and dataset.gold == "document":
        raise InputError(
            f"retriever {name}: expand={options.expand} is refused for {dataset.name}, where whole "
            "documents are ranked; leave it out"
        )
