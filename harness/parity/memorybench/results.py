"""memorybench's EvalResult, and which of its contexts count as relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from harness.measures.text_measures import relevant_by_text
from harness.parity.javascript import trim
from harness.parity.memorybench.places import LineRange, file_matches, is_location_relevant
from harness.parity.memorybench.text import is_jaccard_match, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Strategy = Literal["qrels", "pack", "token-fallback"]
STRATEGIES: tuple[Strategy, ...] = ("qrels", "pack", "token-fallback")

_GOLD_IDS = ("relevantIds", "relevantChunkIds", "groundTruthIds", "qrels")
_LISTS = ("goldSnippets", "dependencyFiles", "modifiedFiles", "groundTruthFiles")
_KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "an object",
}


@dataclass(frozen=True)
class RetrievedContext:
    """A retrieved context; `path` is empty and `lines` None where the record does not say."""

    id: str
    text: str
    path: str
    lines: LineRange | None


@dataclass(frozen=True)
class EvalResult:
    """One query with its answer and its contexts in rank order.

    Attributes:
        benchmark: Name of the benchmark; it decides which pack judges.
        expected: The expected answer.
        correct: Whether the answer was judged correct.
        contexts: The retrieved contexts.
        metadata: What the benchmark knows, such as `relevantIds` or `groundTruth`.
    """

    benchmark: str
    expected: str
    correct: bool
    contexts: tuple[RetrievedContext, ...]
    metadata: Mapping[str, Any]


def read_result(record: Mapping[str, Any]) -> EvalResult:
    """An EvalResult from its JSON form.

    Raises:
        InputError: A part is missing or is of another kind.
    """
    name = record.get("itemId", "without itemId")
    metadata = _part(record, "metadata", dict, name) if "metadata" in record else {}
    truth = _optional(metadata, "groundTruth", dict, name) or {}
    _lines(truth, name)
    _optional(truth, "file", str, name)
    for key in _LISTS:
        for item in _optional(metadata, key, list, name) or ():
            if not isinstance(item, str):
                raise InputError(f"record {name}: {key} holds {item!r:.40}; texts are needed")
    contexts = _part(record, "retrievedContext", list, name)
    return EvalResult(
        benchmark=_part(record, "benchmark", str, name),
        expected=_part(record, "expected", str, name),
        correct=_part(record, "correct", bool, name),
        contexts=tuple(_context(context, name) for context in contexts),
        metadata=metadata,
    )


def _part(record: Mapping[str, Any], key: str, kind: type, name: object) -> Any:
    value = record.get(key)
    if not isinstance(value, kind):
        raise InputError(f"record {name}: {key} is {value!r:.40}; {_KINDS[kind]} is needed")
    return value


def _optional(record: Mapping[str, Any], key: str, kind: type, name: object) -> Any:
    return None if record.get(key) is None else _part(record, key, kind, name)


def _context(value: object, name: object) -> RetrievedContext:
    if not isinstance(value, dict):
        raise InputError(f"record {name}: a retrieved context is {value!r:.40}, not an object")
    place = _optional(value, "metadata", dict, name) or {}
    return RetrievedContext(
        id=_part(value, "id", str, name),
        text=_part(value, "content", str, name),
        path=_optional(place, "filepath", str, name) or "",
        lines=_lines(place, name),
    )


def _lines(place: Mapping[str, Any], name: object) -> LineRange | None:
    start, end = (_optional(place, key, int, name) for key in ("startLine", "endLine"))
    return None if start is None or end is None else LineRange(start, end)


def target_of(result: EvalResult) -> tuple[str, LineRange] | None:
    """Path and lines of the target; a line that is missing is 1."""
    truth = result.metadata.get("groundTruth")
    if not truth:
        return None
    start, end = (truth.get(key) for key in ("startLine", "endLine"))
    lines = LineRange(1 if start is None else start, 1 if end is None else end)
    return truth.get("file") or "", lines


def _by_location(result: EvalResult, context: RetrievedContext) -> bool:
    target = target_of(result)
    return (
        target is not None
        and context.path != ""
        and is_location_relevant(context.path, context.lines, *target)
    )


def _by_snippet(result: EvalResult, context: RetrievedContext) -> bool:
    return any(
        is_jaccard_match(context.text, snippet) for snippet in listed(result, "goldSnippets")
    )


def _by_dependency(result: EvalResult, context: RetrievedContext) -> bool:
    return context.path != "" and file_matches(context.path, listed(result, "dependencyFiles"))


def _by_change(result: EvalResult, context: RetrievedContext) -> bool:
    return context.path != "" and file_matches(context.path, listed(result, "modifiedFiles"))


_PACKS: dict[str, Callable[[EvalResult, RetrievedContext], bool]] = {
    "repoeval": _by_location,
    "repobench-r": _by_snippet,
    "crosscodeeval": _by_dependency,
    "swebench-lite": _by_change,
}


def listed(result: EvalResult, key: str) -> Sequence[str]:
    """A list of the metadata; empty where it is missing."""
    return result.metadata.get(key) or ()


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
    gold = _gold_ids(result)
    if gold:
        return Judged("qrels", tuple(context.id for context in result.contexts), gold)
    if pack is not None:
        relevant = [pack(result, context) for context in result.contexts]
    else:
        expected = tokenize(result.expected)
        texts = [tokenize(context.text) for context in result.contexts]
        relevant = [relevant_by_text(text, expected, threshold) for text in texts]
    return Judged(
        "token-fallback" if pack is None else "pack",
        tuple(str(rank) for rank in range(len(relevant))),
        frozenset(str(rank) for rank, here in enumerate(relevant) if here),
    )


def _gold_ids(result: EvalResult) -> frozenset[str]:
    """The first list of ids that holds any. They are trimmed, and the retrieved ones are not."""
    for key in _GOLD_IDS:
        value = result.metadata.get(key)
        if isinstance(value, list):
            ids = frozenset(trim(name) for name in value if isinstance(name, str)) - {""}
            if ids:
                return ids
    return frozenset()
