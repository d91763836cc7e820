"""A data set in memory: corpora, queries, targets. Frozen values, checked on creation."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from chunkers.source import Source


Rule = Literal["overlap", "iou", "share", "graded"]


@dataclass(frozen=True, slots=True)
class Relevance:
    """When a chunk that shares text with a target is relevant.

    Attributes:
        rule: `overlap`: always; `iou`: the line IoU reaches the threshold; `share`: the covered
            share of the target does; `graded`: always, with the grade times that share.
        threshold: For `iou` and `share`, above 0 and at most 1.
    """

    rule: Rule = "overlap"
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold} must be above 0 and at most 1")


@dataclass(frozen=True, slots=True)
class Target:
    """The place of an answer: a file, or lines of it (1-based, inclusive), with a grade above 0."""

    path: str
    start_line: int | None = None
    end_line: int | None = None
    grade: float = 1.0

    def __post_init__(self) -> None:
        if (self.start_line is None) != (self.end_line is None):
            raise InputError(f"target {self.path}: give both lines or neither")
        first, last = self.start_line, self.end_line
        if first is not None and last is not None and not 1 <= first <= last:
            raise InputError(
                f"target {self.path}: invalid lines {first}-{last}; lines are 1-based and inclusive"
            )
        if not 0 < self.grade < math.inf:
            raise InputError(f"target {self.path}: grade {self.grade} must be above 0 and finite")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file that a query's text was taken from (1-based, inclusive)."""

    path: str
    start_line: int
    end_line: int

    def __post_init__(self) -> None:
        if not 1 <= self.start_line <= self.end_line:
            raise InputError(
                f"region {self.path}: invalid lines {self.start_line}-{self.end_line}; "
                "lines are 1-based and inclusive"
            )


@dataclass(frozen=True)
class Query:
    """A question to one corpus.

    Attributes:
        id: Unique in the data set.
        corpus: Id of the corpus that it is ranked against.
        text: The text that is embedded or looked up.
        targets: The gold as places in files; empty where `qrels` holds it.
        qrels: The gold as document id -> grade, for document collections; grades may be 0.
        truncate: Which part of an over-long query the embedder sees: its `head` or its `tail`
            (completion queries end where the answer begins).
        tags: Values by which results are split, such as `name-overlap` -> `yes`.
        cluster: Unit of resampling; the target's file unless the data set says otherwise.
        region: The lines of the corpus that its text was taken from, which `--mask-query` blanks;
            None where it has another source.
    """

    id: str
    corpus: str
    text: str
    targets: tuple[Target, ...] = ()
    qrels: Mapping[str, float] | None = None
    truncate: Literal["head", "tail"] = "head"
    tags: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    region: Region | None = None

    @property
    def gold(self) -> list[tuple[str, Target | None]]:
        """Path, or document id, of all that is relevant, each with its target if that is lines."""
        if self.qrels is not None:
            return [(name, None) for name, grade in self.qrels.items() if grade > 0]
        return [(target.path, target) for target in self.targets]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True)
class Corpus:
    """A repository at one commit, or a document collection.

    Ties follow the order of `sources`, by default that of their paths. `of` is the id of the
    corpus that this one was derived from for a single query, else empty. `repository` names the
    repository that it shares with other corpora, such as other commits; empty where none does.
    """

    id: str
    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...] = ()
    of: str = ""
    repository: str = ""

    @property
    def name(self) -> str:
        """The id of the corpus in the data set."""
        return self.of or self.id

    @property
    def paths(self) -> list[str]:
        """The paths of its files, indexed or not."""
        return [*(each.path for each in self.sources), *(each.path for each in self.skipped)]


@dataclass(frozen=True, slots=True)
class Absent:
    """A corpus of the data set that is not available, with its number of queries."""

    corpus: str
    reason: str
    n_queries: int


GOLD_FOLLOWS = "gold follows"
"""Key of `Dataset.information`: what the targets are, where one family of chunkers cuts there."""

DEFINITIONS = "definitions"


@dataclass(frozen=True)
class Dataset:
    """A data set, as a loader returns it.

    Attributes:
        name: The spec in canonical form.
        gold: `span` (targets are lines of files) or `document` (qrels name documents).
        corpora: Sorted by id.
        queries: Sorted by id.
        absent: Corpora that are not on this machine.
        left_out: Counts of dropped rows or queries, by reason.
        information: Facts that a result must carry, such as the Python release.
        pooling: How a document cut into chunks scores: `max`, `first` or `sum`; None for spans.
        relevance: Which chunks that touch a target are relevant.
        mask: Whether a run blanks each query's own lines in its corpus by default; then every
            query has a region, which holds no line of its targets.
    """

    name: str
    gold: Literal["span", "document"]
    corpora: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    absent: tuple[Absent, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    information: Mapping[str, str] = field(default_factory=dict)
    pooling: Literal["max", "first", "sum"] | None = None
    relevance: Relevance = Relevance()
    mask: bool = False
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        _refuse_repeats("corpus", (corpus.id for corpus in self.corpora))
        _refuse_repeats("query", (query.id for query in self.queries))
        object.__setattr__(self, "corpora", tuple(sorted(self.corpora, key=lambda item: item.id)))
        object.__setattr__(self, "queries", tuple(sorted(self.queries, key=lambda item: item.id)))
        for corpus in self.corpora:
            _refuse_repeats(f"file in {corpus.id}", (s.path for s in corpus.sources))
        known = {corpus.id for corpus in self.corpora}
        for query in self.queries:
            if query.corpus not in known:
                raise InputError(f"query {query.id} has the unknown corpus {query.corpus}")
            for document, grade in (query.qrels or {}).items():
                if not -math.inf < grade < math.inf:
                    raise InputError(
                        f"query {query.id}: the grade of {document} is {grade}, not finite"
                    )
        object.__setattr__(self, "fingerprint", _fingerprint(self))


def _refuse_repeats(what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in ids:
        if key in seen:
            raise InputError(f"duplicate {what} id {key!r}")
        seen.add(key)


def _fingerprint(dataset: Dataset) -> str:
    """sha256 over corpora and queries: all that a ranking and its scores depend on.

    Skipped files are not in it: they change no ranking, and a run writes such files into the
    repository that it reads.
    """
    digest = hashlib.sha256()

    def add(*parts: object) -> None:
        digest.update(json.dumps(parts, ensure_ascii=True, sort_keys=True).encode() + b"\n")

    add("gold", dataset.gold, dataset.pooling)
    for corpus in dataset.corpora:
        add("corpus", corpus.id)
        for source in corpus.sources:
            add("file", source.path, source.language, source.digest)
    for query in dataset.queries:
        targets = [(t.path, t.start_line, t.end_line, t.grade) for t in query.targets]
        qrels = None if query.qrels is None else sorted(query.qrels.items())
        add("query", query.id, query.corpus, query.text, targets, qrels, query.truncate)
        add("tags", dict(query.tags), query.cluster)
        if query.region is not None:
            region = query.region
            add("region", region.path, region.start_line, region.end_line)
    return digest.hexdigest()
