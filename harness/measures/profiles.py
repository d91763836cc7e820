"""Profiles: every convention on which two scorers can differ, as one frozen object each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError, suggestion
from chunkers.plugins.spec import bind, canonical, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Switch = Literal["true", "false"]


def _decides(default: object, text: str) -> Any:
    """A field of the default profile with its explanation."""
    return field(default=default, metadata={"means": text})


@dataclass(frozen=True)
class Profile:
    """The conventions of one scoring.

    Each field has the explanation that `explain_profiles` prints. Fields "in a run" apply where
    chunkmark itself ranks; a ranking given to `score` keeps its scores.
    """

    name: str = _decides("default", "the spec in canonical form")
    description: str = _decides(
        "chunkmark's own: queries left out are reported, copies of a target count",
        "what it reproduces",
    )
    similarity: Literal["cosine", "dot-over-norms"] = _decides(
        "cosine",
        "in a run. cosine: of unit vectors; dot-over-norms: dot ÷ (√·√) of the vectors as they "
        "are, summed in float64 one dimension after the other",
    )
    blank: Literal["drop", "index"] = _decides(
        "drop",
        "in a run, blank texts and zero or non-finite vectors. drop: never indexed, counted; "
        "index: indexed, a score of NaN is last and marks the list as disturbed",
    )
    truncate: Literal["query", "head"] = _decides(
        "query",
        "in a run, what the embedder sees of a long query. query: the end that the data set "
        "names; head: its first tokens",
    )
    overlap: Literal["non-blank-line", "any-line"] = _decides(
        "non-blank-line", "in a run, what a chunk must share with a target to be relevant"
    )
    twins: bool = _decides(
        True, "in a run, whether copies of a target elsewhere count as the target"
    )
    assemble: Literal["concatenate", "merge"] = _decides(
        "concatenate",
        "what a budget delivers. concatenate: the ranked chunks one after the other, repeated "
        "text charged each time; merge: chunks that touch or overlap are merged before they are "
        "charged, so text is charged once",
    )
    deliver: Literal["source", "embed"] = _decides(
        "source",
        "in a run, what a chunk delivers and is charged for. source: its text; embed: its "
        "embedded text, with its header",
    )
    ref_id: bool = _decides(
        False, "in a run, whether chunks also carry the reference's own id, with lines from 0"
    )
    ties: Literal["corpus-order", "float32-id-desc", "id-desc"] = _decides(
        "corpus-order",
        "in a run. corpus-order: score descending, then path, start, end; id-desc: score "
        "descending, then id descending; float32-id-desc: the same, scores as 32-bit floats",
    )
    id_ties: Literal["id-ascending", "float32-id-desc", "id-desc", "as-given"] = _decides(
        "id-ascending",
        "equal scores in a ranking of ids. id-ascending: by id; as-given: in the order in which "
        "the ids were given; float32-id-desc and id-desc: as in a run",
    )
    mrr: Literal["as-ranked", "as-given-over-all-judged", "id-desc-unrounded"] = _decides(
        "as-ranked",
        "as-given-over-all-judged: MRR and Hit alone leave equal scores in the order given, and "
        "their means are over every judged query, absent ones as 0; id-desc-unrounded: MRR alone "
        "takes scores as 64-bit floats, equal ones by id descending, and its mean is not rounded",
    )
    rel: float | None = _decides(
        None,
        "least grade of what is relevant to P, R, F1, MRR, MAP, Hit, Rprec and Bpref. none: any "
        "above 0, as always for nDCG and for measures of lines and files",
    )
    negative: Literal["not-relevant", "unjudged"] = _decides(
        "not-relevant",
        "a grade below 0 in Bpref and nDCG(judged). unjudged: as if there were no judgement",
    )
    precision: Literal["k", "retrieved"] = _decides(
        "k", "denominator of P@k. retrieved: the number retrieved, at most k"
    )
    recall: Literal["all-gold", "any-hit"] = _decides(
        "all-gold",
        "R@k. all-gold: relevant in the first k ÷ all relevant; any-hit: 1 if any is there",
    )
    gain: Literal["grade", "binary"] = _decides("grade", "what a relevant unit gains. binary: 1")
    ideal: Literal["all-gold", "found-unless-named"] = _decides(
        "all-gold",
        "ideal of nDCG@k. found-unless-named: of the relevant units in the first k alone, unless "
        "the gold is named by id",
    )
    repeats: Literal["refused", "each-counts"] = _decides(
        "refused", "a repeated id in a ranking; each-counts: recall and nDCG can pass 1"
    )
    no_judgements: Literal["left-out", "zero"] = _decides(
        "left-out",
        "a query without judgements. left-out: of the mean, counted; zero: 0, in the mean",
    )
    nothing_relevant: Literal["left-out", "zero"] = _decides(
        "left-out", "a query whose judgements all have grades of 0 or less, or below `rel`"
    )
    absent: Literal["left-out", "zero"] = _decides("zero", "a judged query that is not in the run")
    same_id: Literal["kept", "dropped"] = _decides(
        "kept", "a document whose id is that of the query"
    )
    mean: Literal["queries", "corpora"] = _decides(
        "queries", "corpora: over the queries of each corpus, then over corpora"
    )
    places: int | None = _decides(
        None, "decimal places that means are rounded to; none: not rounded"
    )
    sums: Literal["by-query-id", "run-order"] = _decides(
        "by-query-id",
        "the order in which the values of a mean are added. run-order: as a ranking given to "
        "`score` has its queries",
    )

    @property
    def least_grade(self) -> float:
        """The least grade of what is relevant to measures without grades, above 0."""
        return math.ulp(0.0) if self.rel is None else self.rel

    @property
    def own_order(self) -> tuple[str, ...]:
        """The families of measures that `mrr` gives an order of their own."""
        known = {"as-ranked": (), "as-given-over-all-judged": ("MRR", "Hit")}
        return known.get(self.mrr, ("MRR",))

    def round(self, mean: float, measure: str) -> float:
        """A mean as the profile rounds it; `measure` is a printed name."""
        exact = self.mrr == "id-desc-unrounded" and measure.partition("@")[0] == "MRR"
        return mean if self.places is None or exact else round(mean, self.places)

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


def _default(
    *,
    twins: Switch = "true",
    assemble: Literal["concatenate", "merge"] = "concatenate",
    deliver: Literal["source", "embed"] = "source",
    rel: int | float | None = None,
) -> Profile:
    if (assemble, deliver) == ("merge", "embed"):
        raise InputError(
            "default: assemble=merge merges text of the source; leave out deliver=embed"
        )
    return Profile(twins=twins == "true", assemble=assemble, deliver=deliver, rel=_positive(rel))


def _positive(rel: float | None) -> float | None:
    if rel is not None and rel <= 0:
        raise InputError(
            f"rel={rel:g}: grades of 0 or less are never relevant; write rel=1 or more"
        )
    return rel


def _code_chunk(*, empty: Literal["keep", "drop"] = "keep") -> Profile:
    return Profile(
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
    variant: Literal["trec_eval", "trec10", "beir", "mteb"] = "trec_eval",
    complete: Switch = "false",
    twins: Switch = "false",
    rel: int | float | None = None,
) -> Profile:
    trec = Profile(
        name="trec",
        description="pytrec_eval and trec_eval 9: float32 scores, ties by id descending",
        twins=twins == "true",
        ties="float32-id-desc",
        id_ties="float32-id-desc",
        rel=_positive(rel),
        negative="unjudged",
        nothing_relevant="zero",
        absent="zero" if complete == "true" else "left-out",
    )
    if variant == "trec10":
        description = "trec_eval 10: float64 scores, ties by id descending"
        return replace(trec, description=description, ties="id-desc", id_ties="id-desc")
    if variant == "beir":
        return replace(
            trec,
            description="BEIR and CoIR: pytrec_eval without the query's own id; own MRR, Accuracy",
            mrr="as-given-over-all-judged",
            same_id="dropped",
            places=5,
            sums="run-order",
        )
    if variant == "mteb":
        return replace(
            trec,
            description="MTEB: pytrec_eval, but its own MRR",
            mrr="id-desc-unrounded",
            places=5,
            sums="run-order",
        )
    return trec


def _memorybench() -> Profile:
    return Profile(
        name="memorybench",
        description="memorybench: R is 1 or 0, P is the share of what was retrieved",
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
_LISTED = (
    "default", "code-chunk", "trec", "trec:variant=trec10", "trec:variant=beir",
    "trec:variant=mteb", "memorybench",
)  # fmt: skip


def load_profile(spec_text: str) -> Profile:
    """The profile of a spec, such as `default` or `trec:complete=true`.

    Raises:
        InputError: An unknown profile, key or value.
    """
    spec = parse_spec(spec_text)
    make = _PROFILES.get(spec.name)
    if make is None:
        hint = suggestion(spec.name, _PROFILES)
        if spec.name == "beir":
            hint = "write trec:variant=beir"
        raise InputError(f"unknown profile {spec.name!r}; {hint}")
    bound = bind(make, spec, "profile")
    return replace(make(**bound), name=canonical(make, spec, bound))


def list_profiles() -> tuple[Profile, ...]:
    """Every profile with its options at their defaults, and the variants of `trec`."""
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
