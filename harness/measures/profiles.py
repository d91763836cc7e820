"""Profiles: every convention on which two scorers can differ, as one frozen object each."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError, suggestion
from chunkers.plugins.spec import bind, canonical, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Switch = Literal["true", "false"]


def _decides(text: str) -> Any:
    """A field with its explanation."""
    return field(metadata={"means": text})


@dataclass(frozen=True)
class Profile:
    """The conventions of one scoring.

    Each field has the explanation that `explain_profiles` prints. Fields "in a run" apply where
    chunkmark itself ranks; a ranking given to `score` keeps its scores.
    """

    name: str = _decides("the spec in canonical form")
    description: str = _decides("what it reproduces")
    similarity: Literal["cosine", "dot-over-norms"] = _decides(
        "in a run. cosine: of unit vectors; dot-over-norms: dot ÷ (√·√) of the vectors as they "
        "are, summed in float64 one dimension after the other"
    )
    blank: Literal["drop", "index"] = _decides(
        "in a run, blank texts and zero or non-finite vectors. drop: never indexed, counted; "
        "index: indexed, a score of NaN is last and marks the list as disturbed"
    )
    truncate: Literal["query", "head"] = _decides(
        "in a run, what the embedder sees of a long query. query: the end that the data set "
        "names; head: its first tokens"
    )
    overlap: Literal["non-blank-line", "any-line"] = _decides(
        "in a run, what a chunk must share with a target to be relevant"
    )
    twins: bool = _decides("in a run, whether copies of a target elsewhere count as the target")
    assemble: Literal["concatenate", "merge"] = _decides(
        "what a budget delivers. concatenate: the ranked chunks one after the other, repeated "
        "text charged each time; merge: chunks that touch or overlap are merged before they are "
        "charged, so text is charged once"
    )
    deliver: Literal["source", "embed"] = _decides(
        "in a run, what a chunk delivers and is charged for. source: its text; embed: its "
        "embedded text, with its header"
    )
    ref_id: bool = _decides(
        "in a run, whether chunks also carry the reference's own id, with lines from 0"
    )
    ties: Literal["corpus-order", "float32-id-desc"] = _decides(
        "in a run. corpus-order: score descending, then path, start, end; float32-id-desc: score "
        "as a 32-bit float descending, then id descending"
    )
    id_ties: Literal["id-ascending", "float32-id-desc", "as-given"] = _decides(
        "equal scores in a ranking of ids. id-ascending: by id; as-given: in the order in which "
        "the ids were given; float32-id-desc: as in a run"
    )
    mrr: Literal["as-ranked", "as-given-over-all-judged"] = _decides(
        "as-given-over-all-judged: MRR alone leaves equal scores in the order given, and its "
        "mean is over every judged query, absent ones as 0"
    )
    precision: Literal["k", "retrieved"] = _decides(
        "denominator of P@k. retrieved: the number retrieved, at most k"
    )
    recall: Literal["all-gold", "any-hit"] = _decides(
        "R@k. all-gold: relevant in the first k ÷ all relevant; any-hit: 1 if any is there"
    )
    gain: Literal["grade", "binary"] = _decides("what a relevant unit gains. binary: 1")
    ideal: Literal["all-gold", "found-unless-named"] = _decides(
        "ideal of nDCG@k. found-unless-named: of the relevant units in the first k alone, unless "
        "the gold is named by id"
    )
    repeats: Literal["refused", "each-counts"] = _decides(
        "a repeated id in a ranking; each-counts: recall and nDCG can pass 1"
    )
    no_judgements: Literal["left-out", "zero"] = _decides(
        "a query without judgements. left-out: of the mean, counted; zero: 0, in the mean"
    )
    nothing_relevant: Literal["left-out", "zero"] = _decides(
        "a query whose judgements all have grades of 0 or less"
    )
    absent: Literal["left-out", "zero"] = _decides("a judged query that is not in the run")
    same_id: Literal["kept", "dropped"] = _decides("a document whose id is that of the query")
    mean: Literal["queries", "corpora"] = _decides(
        "corpora: over the queries of each corpus, then over corpora"
    )
    places: int | None = _decides("decimal places that means are rounded to; none: not rounded")
    sums: Literal["left-to-right"] = _decides("the order in which numbers are added")

    def ranking_fields(self) -> dict[str, str]:
        """The fields that a ranking depends on, keys sorted: the profile's part of a cell's key.

        Ties are among them: an outside scorer sees the stored ranking.
        """
        return {
            "blank": self.blank,
            "similarity": self.similarity,
            "ties": self.ties,
            "truncate": self.truncate,
        }


_DEFAULT = Profile(
    name="default",
    description="chunkmark's own: nothing leaves a mean unseen, copies of a target count",
    similarity="cosine",
    blank="drop",
    truncate="query",
    overlap="non-blank-line",
    twins=True,
    assemble="concatenate",
    deliver="source",
    ref_id=False,
    ties="corpus-order",
    id_ties="id-ascending",
    mrr="as-ranked",
    precision="k",
    recall="all-gold",
    gain="grade",
    ideal="all-gold",
    repeats="refused",
    no_judgements="left-out",
    nothing_relevant="left-out",
    absent="zero",
    same_id="kept",
    mean="queries",
    places=None,
    sums="left-to-right",
)


def _default(
    *,
    twins: Switch = "true",
    assemble: Literal["concatenate", "merge"] = "concatenate",
    deliver: Literal["source", "embed"] = "source",
) -> Profile:
    if (assemble, deliver) == ("merge", "embed"):
        raise InputError(
            "default: assemble=merge merges text of the source; leave out deliver=embed"
        )
    return replace(_DEFAULT, twins=twins == "true", assemble=assemble, deliver=deliver)


def _code_chunk(*, empty: Literal["keep", "drop"] = "keep") -> Profile:
    return replace(
        _DEFAULT,
        name="code-chunk",
        description="the RepoEval evaluation of code-chunk, means over repositories",
        similarity="dot-over-norms",
        blank="index" if empty == "keep" else "drop",
        truncate="head",
        overlap="any-line",
        twins=False,
        ref_id=True,
        id_ties="as-given",
        gain="binary",
        repeats="each-counts",
        no_judgements="zero",
        nothing_relevant="zero",
        mean="corpora",
    )


def _trec(
    *,
    variant: Literal["trec_eval", "beir"] = "trec_eval",
    complete: Switch = "false",
    twins: Switch = "false",
) -> Profile:
    trec = replace(
        _DEFAULT,
        name="trec",
        description="pytrec_eval and trec_eval: float32 scores, ties by id descending",
        twins=twins == "true",
        ties="float32-id-desc",
        id_ties="float32-id-desc",
        nothing_relevant="zero",
        absent="zero" if complete == "true" else "left-out",
    )
    if variant == "trec_eval":
        return trec
    return replace(
        trec,
        description="BEIR and CoIR: pytrec_eval without identical ids, and an MRR of its own",
        mrr="as-given-over-all-judged",
        same_id="dropped",
        places=5,
    )


def _memorybench() -> Profile:
    return replace(
        _DEFAULT,
        name="memorybench",
        description="memorybench: recall is a hit, precision is of what was retrieved",
        overlap="any-line",
        twins=False,
        id_ties="as-given",
        precision="retrieved",
        recall="any-hit",
        gain="binary",
        ideal="found-unless-named",
        repeats="each-counts",
        no_judgements="zero",
        nothing_relevant="zero",
        absent="left-out",
    )


_PROFILES: dict[str, Callable[..., Profile]] = {
    "default": _default,
    "trec": _trec,
    "code-chunk": _code_chunk,
    "memorybench": _memorybench,
}
_LISTED = ("default", "code-chunk", "trec", "trec:variant=beir", "memorybench")


def load_profile(spec_text: str) -> Profile:
    """The profile of a spec, such as `default` or `trec:complete=true`.

    Raises:
        InputError: An unknown profile, key or value.
    """
    spec = parse_spec(spec_text)
    make = _PROFILES.get(spec.name)
    if make is None:
        raise InputError(f"unknown profile {spec.name!r}; {suggestion(spec.name, _PROFILES)}")
    bound = bind(make, spec, "profile")
    return replace(make(**bound), name=canonical(make, spec, bound))


def list_profiles() -> tuple[Profile, ...]:
    """Every profile with its options at their defaults, and the variant of `trec`."""
    return tuple(load_profile(name) for name in _LISTED)


def explain_profiles() -> tuple[Mapping[str, str], ...]:
    """The profiles side by side: for every field its name, one value a profile, and its meaning.

    Keys: `field`, the name of each listed profile, `means`.
    """
    profiles = list_profiles()
    return tuple(
        {
            "field": each.name,
            **{profile.name: _shown(getattr(profile, each.name)) for profile in profiles},
            "means": each.metadata["means"],
        }
        for each in fields(Profile)
        if each.name != "name"
    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
