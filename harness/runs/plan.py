"""A checked configuration: nothing that could be refused is found out later."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from chunkers.errors import InputError, suggestion
from chunkers.languages import parse_overrides
from chunkers.plugins.loading import LoadedChunker
from harness.embedding.embedder import PassageEmbedder
from harness.measures.grammar import family_of, parse_measure, same_family
from harness.measures.profiles import load_profile
from harness.retrieval.options import refuse_profile
from harness.retrieval.vector_index import public_name
from harness.runs.engine import Local, load_engine
from harness.runs.failures import MaxFailures, parse_max_failures
from harness.runs.matching import parse_match_size
from harness.runs.pipeline import (
    load_chunkers,
    load_embedder,
    load_retriever,
    refuse_unknown_embedder,
)
from harness.support.space import MEMORY, Space, parse_space
from harness.support.wording import distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.embedding.embedder import Embedder
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.runs.config import RunConfig
    from harness.runs.engine import Engine
    from harness.runs.pipeline import LoadedRetriever

BUDGET = 40_000
"""Every ranking goes on until this many non-white-space characters are ranked, or as many as a
measure asks for."""


@dataclass(frozen=True)
class Plan:
    """What a run does; every name in it is known and every option valid.

    Attributes:
        config: What was asked for.
        measures: Distinct, in the order asked for.
        profile: The conventions.
        chunkers: Distinct, sweeps expanded, in the order asked for.
        embedders: Distinct, in the order asked for; empty where nothing needs one.
        retrievers: Names and retrievers, in the order asked for.
        max_failures: How many files a chunker may fail on.
        match: The median chunk that chunkers are given, or the chunker that has it.
        engine: What cuts and embeds.
        space: The memory that vectors may take.
    """

    config: RunConfig
    measures: tuple[Measure, ...]
    profile: Profile
    chunkers: tuple[LoadedChunker, ...]
    embedders: tuple[Embedder, ...]
    retrievers: tuple[tuple[str, LoadedRetriever], ...]
    max_failures: MaxFailures
    match: int | LoadedChunker | None = None
    engine: Engine = field(default_factory=Local)
    space: Space = MEMORY

    @property
    def cells(self) -> int:
        """Number of results for each data set, at most."""
        each = sum(len(self.embedders) if one.dense else 1 for _, one in self.retrievers)
        return len(self.chunkers) * each

    @property
    def depth(self) -> int:
        """Units in every ranking, at least: as many as the deepest cut-off looks at."""
        return max([self.config.depth, *(m.cut or 0 for m in self.measures if m.unit is None)])

    @property
    def budget(self) -> int:
        """Size up to which rankings go on, in `c`."""
        return max(
            [BUDGET, *(measure.cut or 0 for measure in self.measures if measure.unit == "c")]
        )


def needs_embedder(chunker: LoadedChunker) -> bool:
    """Whether a chunker cuts by the tokens or the vectors of an embedder."""
    return chunker.unit == "tokens" or chunker.embeds


def make_plan(config: RunConfig) -> Plan:
    """Check a configuration.

    Raises:
        InputError: An unknown name, key or value, or an embedder that is not at hand.
    """
    parse_overrides(config.languages)
    max_failures = parse_max_failures(config.max_failures)
    chunkers = load_chunkers(config.chunkers)
    profile = load_profile(config.profile)
    retrievers = [load_retriever(text, config.index) for text in config.retrievers]
    retrievers = distinct("retriever", retrievers, itemgetter(0))
    if config.index is not None and not any(retriever.dense for _, retriever in retrievers):
        raise InputError(
            f"index {public_name(config.index)} is not used: no retriever of this run has vectors; "
            "leave it out, or add -r dense"
        )
    for name, retriever in retrievers:
        refuse_profile(name, retriever.options, profile)
    match = parse_match_size(config.match_size)
    cutting = [*chunkers, match] if isinstance(match, LoadedChunker) else chunkers
    helped = any(needs_embedder(chunker) for chunker in cutting)
    for text in config.embedders:
        refuse_unknown_embedder(text)
    engine = load_engine(config.engine)
    embedders: list[Embedder] = []
    if helped or any(retriever.dense for _, retriever in retrievers):
        loaded = (engine.embedder(load_embedder(text)) for text in config.embedders)
        embedders = distinct("embedder", loaded, attrgetter("name"))
        for embedder in embedders:
            embedder.fingerprint()
    if any(retriever.dense for _, retriever in retrievers):
        _refuse_headers(chunkers, embedders)
    measures = tuple(distinct("measure", map(parse_measure, config.measures)))
    for measure in measures:
        family_of(measure)  # refuses what no cell has
    _refuse_primary(config.primary, [str(measure) for measure in measures])
    return Plan(
        config=config,
        measures=measures,
        profile=profile,
        chunkers=tuple(chunkers),
        embedders=tuple(embedders),
        retrievers=tuple(retrievers),
        max_failures=max_failures,
        match=match,
        engine=engine,
        space=parse_space(config.memory),
    )


def _refuse_headers(chunkers: Sequence[LoadedChunker], embedders: Sequence[Embedder]) -> None:
    """Refuse headers, which are not in the file, to embedders of places in it."""
    headed = [chunker.name for chunker in chunkers if chunker.headed]
    for embedder in embedders:
        if headed and isinstance(embedder, PassageEmbedder):
            raise InputError(
                f"embedder {embedder.name} pools the tokens of a chunk in its file, but the header "
                f"of {headed[0]} is not there\ntake another embedder for that chunker"
            )


def _refuse_primary(text: str | None, measures: list[str]) -> None:
    if text is None:
        return
    try:
        name = str(parse_measure(text, repeat=""))
    except InputError as error:
        raise InputError(f"primary: {error}") from None
    if name not in measures:
        near = same_family(name, measures)
        choice = f"did you mean {' or '.join(near)}?" if near else suggestion(name, measures)
        raise InputError(
            f"primary {name} is not among the measures of the run; {choice}\n"
            f"or add -m {name}, with -m for each other measure to compute"
        )
