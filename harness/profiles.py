"""Profiles: every convention on which two scorers can differ, as one frozen object each."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from chunkers.spec import bind, canonical, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable

Switch = Literal["true", "false"]


@dataclass(frozen=True)
class Profile:
    """The conventions of one scoring.

    Attributes:
        name: The spec in canonical form, such as `trec:complete=true`.
        description: What it reproduces, in one line.
        similarity: How the dense retriever of a run scores. A ranking given to `score` keeps the
            scores that it has.
        blank: What becomes of blank texts and of zero or non-finite vectors in a run: `drop`
            leaves them out of the index and counts them.
        ties: `corpus-order`: score descending, then unit in corpus order (where only ids exist,
            id ascending). `float32-id-desc`: the score as a 32-bit float descending, then id
            descending.
        nothing_relevant: A query whose judgements all have grades of 0 or less: `left-out` of
            the mean and counted, or `zero`, in the mean.
        absent: A judged query that the run does not hold: `zero`, in the mean, or `left-out`.
        twins: Whether copies of a target elsewhere in the corpus count as the target. Whoever
            builds the gold of a cell acts on it.
        mean: What a mean is taken over.
    """

    name: str
    description: str
    similarity: Literal["cosine"]
    blank: Literal["drop"]
    ties: Literal["corpus-order", "float32-id-desc"]
    nothing_relevant: Literal["left-out", "zero"]
    absent: Literal["zero", "left-out"]
    twins: bool
    mean: Literal["queries"] = "queries"

    def ranking_fields(self) -> dict[str, str]:
        """What a ranking depends on, keys sorted: the profile's share of a cell's key.

        Ties belong to it: the stored ranking is the one that an outside scorer sees.
        """
        return {"blank": self.blank, "similarity": self.similarity, "ties": self.ties}


def _default(*, twins: Switch = "true") -> Profile:
    return Profile(
        name="default",
        description="chunkmark's own: nothing leaves a mean unseen, copies of a target count",
        similarity="cosine",
        blank="drop",
        ties="corpus-order",
        nothing_relevant="left-out",
        absent="zero",
        twins=twins == "true",
    )


def _trec(*, complete: Switch = "false", twins: Switch = "false") -> Profile:
    return Profile(
        name="trec",
        description="pytrec_eval and trec_eval: float32 scores, ties by id descending",
        similarity="cosine",
        blank="drop",
        ties="float32-id-desc",
        nothing_relevant="zero",
        absent="zero" if complete == "true" else "left-out",
        twins=twins == "true",
    )


_PROFILES: dict[str, Callable[..., Profile]] = {"default": _default, "trec": _trec}


def load_profile(spec_text: str) -> Profile:
    """The profile that a spec names, such as `default` or `trec:complete=true`.

    Raises:
        InputError: An unknown profile, key or value.
    """
    spec = parse_spec(spec_text)
    make = _PROFILES.get(spec.name)
    if make is None:
        near = difflib.get_close_matches(spec.name, _PROFILES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"unknown profile {spec.name!r}; {hint}there are {', '.join(_PROFILES)}")
    bound = bind(make, spec, "profile")
    return replace(make(**bound), name=canonical(make, spec, bound))


def list_profiles() -> tuple[Profile, ...]:
    """Every profile with its options at their defaults."""
    return tuple(load_profile(name) for name in _PROFILES)
