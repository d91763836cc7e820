"""What the numbers of a cell depend on besides its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.model import Relevance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile


@dataclass(frozen=True)
class MetricOptions:
    """The inputs of metrics besides the record; together they decide every byte of metrics.json."""

    measures: tuple[Measure, ...]
    profile: Profile
    relevance: Relevance
    seed: int


def options_of(asked: Mapping[str, Any]) -> MetricOptions:
    """The options of stored metrics, from the entry `asked` of metrics.json."""
    return MetricOptions(
        measures=tuple(parse_measure(name) for name in asked["measures"]),
        profile=load_profile(asked["profile"]["name"]),
        relevance=Relevance(**asked["relevance"]),
        seed=asked["seed"],
    )
