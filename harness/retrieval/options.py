"""What becomes of a retriever's ranking: options that every retriever has."""

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
    """How one ranking, or two, become what is delivered.

    Attributes:
        expand: What each ranked chunk brings with it; see `harness.retrieval.expansion`.
        hops: Rankings of a query: 2 where what the first one found makes a second query; see
            `harness.retrieval.hops`.
        hop_chunks: Units of the first ranking that make the second query, and that stay in front.
    """

    expand: Expand = "none"
    hops: int = 1
    hop_chunks: int = 5


def ranking_options(
    *, expand: Expand = "none", hops: Literal["1", "2"] = "1", hop_chunks: int = 5
) -> RankingOptions:
    """The options of every retriever.

    Raises:
        InputError: `hop_chunks` is out of range, or given where there is one hop.
    """
    if not 1 <= hop_chunks <= _MOST:
        raise InputError(f"hop_chunks={hop_chunks}: it is 1 to {_MOST}")
    if hops == "1" and hop_chunks != RankingOptions.hop_chunks:
        raise InputError(f"hop_chunks={hop_chunks}: it needs hops=2 beside it")
    return RankingOptions(expand, int(hops), hop_chunks)


def refuse_profile(name: str, policy: RankingOptions, profile: Profile) -> None:
    """Refuse a policy that a profile cannot have.

    Raises:
        InputError: Two hops, where the profile reproduces rankings of one query each.
    """
    if policy.hops > 1 and profile.similarity != "cosine":
        raise InputError(
            f"retriever {name}: hops=2 is refused under profile {profile.name}, which reproduces "
            "rankings of one query each; choose another profile"
        )


def refuse_dataset(name: str, policy: RankingOptions, dataset: Dataset) -> None:
    """Refuse a policy that a data set cannot have.

    Raises:
        InputError: Expansion, where documents are ranked and not chunks.
    """
    if policy.expand != "none" and dataset.gold == "document":
        raise InputError(
            f"retriever {name}: expand={policy.expand} is refused for {dataset.name}, where whole "
            "documents are ranked; leave it out"
        )
