"""memorybench's EvalResult, and which of its contexts count as relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.measures.text_measures import relevant_by_text
from harness.parity.javascript import trim
from harness.parity.memorybench.places import LineRange, file_matches, is_location_relevant
from harness.parity.memorybench.text import is_jaccard_match, tokenize
from harness.support.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Strategy = Literal["qrels", "pack", "token-fallback"]
STRATEGIES: tuple[Strategy, ...] = ("qrels", "pack", "token-fallback")


class Place(Row, rename="camel"):
    """Lines of a file: a context names it `filepath`, the ground truth `file`."""

    filepath: str | None = None
    file: str | None = None
    start_line: int | None = None
    end_line: int | None = None


class RetrievedContext(Row, rename="camel"):
    """A retrieved context."""

    id: str
    content: str
    metadata: Place | None = None

    @property
    def path(self) -> str:
        """Empty where the record does not say."""
        return (self.metadata and self.metadata.filepath) or ""

    @property
    def lines(self) -> LineRange | None:
        """None where the record does not say."""
        place = self.metadata
        if place is None or place.start_line is None or place.end_line is None:
            return None
        return LineRange(place.start_line, place.end_line)


class Metadata(Row, rename="camel"):
    """What a benchmark knows of a query; of ids, all but lists and their texts are passed over."""

    relevant_ids: object = None
    relevant_chunk_ids: object = None
    ground_truth_ids: object = None
    qrels: object = None
    ground_truth: Place | None = None
    gold_snippets: list[str] | None = None
    dependency_files: list[str] | None = None
    modified_files: list[str] | None = None
    ground_truth_files: list[str] | None = None


class EvalResult(Row, rename="camel"):
    """One query with its answer and its contexts in rank order.

    Attributes:
        benchmark: Name of the benchmark; it decides which pack judges.
        expected: The expected answer.
        correct: Whether the answer was judged correct; needed, but no rule of relevance reads it.
        retrieved_context: The retrieved contexts.
        metadata: What the benchmark knows.
    """

    benchmark: str
    expected: str
    correct: bool
    retrieved_context: list[RetrievedContext]
    metadata: Metadata = Metadata()


def target_of(result: EvalResult) -> tuple[str, LineRange] | None:
    """Path and lines of the target, None where nothing is said of it; a missing line is 1."""
    truth = result.metadata.ground_truth
    if truth is None or truth == Place():
        return None
    first, last = (1 if line is None else line for line in (truth.start_line, truth.end_line))
    return truth.file or "", LineRange(first, last)


def _by_location(result: EvalResult, context: RetrievedContext) -> bool:
    target = target_of(result)
    return (
        target is not None
        and context.path != ""
        and is_location_relevant(context.path, context.lines, *target)
    )


def _by_snippet(result: EvalResult, context: RetrievedContext) -> bool:
    snippets = result.metadata.gold_snippets or ()
    return any(is_jaccard_match(context.content, snippet) for snippet in snippets)


def _by_dependency(result: EvalResult, context: RetrievedContext) -> bool:
    return context.path != "" and file_matches(context.path, result.metadata.dependency_files or ())


def _by_change(result: EvalResult, context: RetrievedContext) -> bool:
    return context.path != "" and file_matches(context.path, result.metadata.modified_files or ())


_PACKS: dict[str, Callable[[EvalResult, RetrievedContext], bool]] = {
    "repoeval": _by_location,
    "repobench-r": _by_snippet,
    "crosscodeeval": _by_dependency,
    "swebench-lite": _by_change,
}


def pack_of(results: Sequence[EvalResult]) -> Callable[[EvalResult, RetrievedContext], bool] | None:
    """The rule of relevance of a list: that of its first benchmark, whatever the others are."""
    return _PACKS.get(results[0].benchmark)


@dataclass(frozen=True)
class Judged:
    """The contexts of one result as a ranking of ids.

    Attributes:
        strategy: What said which are relevant.
        ids: Shape (n,); by `qrels` the ids of the record, which may repeat, else the ranks.
        gold: The relevant ids; by `qrels` those that were not retrieved too.
    """

    strategy: Strategy
    ids: tuple[str, ...]
    gold: frozenset[str]

    def hits(self, k: int) -> int:
        """Relevant contexts in the first k."""
        return sum(name in self.gold for name in self.ids[:k])


def judge(results: Sequence[EvalResult], threshold: float) -> list[Judged]:
    """Judge every result by explicit ids, else by the pack, else by token F1."""
    pack = pack_of(results)
    return [_judge(result, pack, threshold) for result in results]


def _judge(
    result: EvalResult,
    pack: Callable[[EvalResult, RetrievedContext], bool] | None,
    threshold: float,
) -> Judged:
    gold = _gold_ids(result.metadata)
    if gold:
        return Judged("qrels", tuple(context.id for context in result.retrieved_context), gold)
    if pack is not None:
        relevant = [pack(result, context) for context in result.retrieved_context]
    else:
        expected = tokenize(result.expected)
        texts = [tokenize(context.content) for context in result.retrieved_context]
        relevant = [relevant_by_text(text, expected, threshold) for text in texts]
    return Judged(
        "token-fallback" if pack is None else "pack",
        tuple(str(rank) for rank in range(len(relevant))),
        frozenset(str(rank) for rank, here in enumerate(relevant) if here),
    )


def _gold_ids(known: Metadata) -> frozenset[str]:
    """The first list of ids that holds any. They are trimmed, and the retrieved ones are not."""
    for given in (
        known.relevant_ids, known.relevant_chunk_ids, known.ground_truth_ids, known.qrels
    ):  # fmt: skip
        names = given if isinstance(given, list) else ()
        ids = frozenset(trim(name) for name in names if isinstance(name, str)) - {""}
        if ids:
            return ids
    return frozenset()
