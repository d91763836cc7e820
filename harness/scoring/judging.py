"""What is relevant in a record: the first rule that it has the labels for.

Explicit ids, then lines that a target shares, then a target's file, then the expected words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from chunkers.errors import InputError
from harness.measures.text_measures import exact_match, holds, relevant_by_text, tokens
from harness.support.rows import validated

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.scoring.records import QueryRecord, RetrievedItem

Strategy = Literal["qrels", "span", "file", "text"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_CHUNK = re.compile(r"(?P<document>.+)::chunk-[0-9]+", re.DOTALL)
_PREFIX = "doc-"

NO_LABEL = "no ids, no targets and no expected answer"
NO_PATH = "targets, but nothing that was retrieved has a path"
NO_TEXT = "an expected answer, but nothing that was retrieved has a text"


@dataclass(frozen=True)
class JudgedRecord:
    """A record with its gold.

    Attributes:
        record: The record.
        strategy: The rule of relevance, or None.
        why: Why there is none; empty where there is.
        items: The retrieved items in rank order, without repeats, cut at the record's k.
        names: Their ids in the ranking: documents by `qrels`, else the query and the position.
        grades: Ids -> grades. Except by `qrels`, a target that no retrieved item overlaps counts as
            one relevant item that was not retrieved.
        merged: Items left out because they repeat another, or another chunk of its document.
        relevant_texts: By `text`, relevant items.
        exact: By `text`, relevant items that equal the expected answer.
        holding: By `text`, relevant items that contain it.
    """

    record: QueryRecord
    strategy: Strategy | None
    why: str
    items: tuple[RetrievedItem, ...]
    names: tuple[str, ...]
    grades: Mapping[str, float]
    merged: int = 0
    relevant_texts: int = 0
    exact: int = 0
    holding: int = 0

    @property
    def documents(self) -> tuple[frozenset[str], frozenset[str]] | None:
        """Distinct retrieved and gold documents: ids, or files; None where no gold names any."""
        if self.strategy == "qrels":
            gold = frozenset(name for name, grade in self.grades.items() if grade > 0)
            return frozenset(self.names), gold
        if self.strategy in ("span", "file"):
            paths = frozenset(item.place.path for item in self.items if item.place is not None)
            return paths, frozenset(place.path for place, _ in self.record.targets)
        return None


def judge(
    record: QueryRecord, row: Mapping[str, float] | None, threshold: float, *, each_counts: bool
) -> JudgedRecord:
    """Judge one record; a text is relevant from a token F1 of `threshold`.

    `row` has the judgements of its query from a file, which replace the record's own ids. With
    `each_counts`, an item retrieved twice is in the ranking twice.

    Raises:
        InputError: Its gold is ids, and a retrieved item has none.
    """
    gold = row or dict.fromkeys(record.relevant, 1.0)
    if gold:
        ids = _ids(record, "--qrels" if row else "relevant_ids")
        names = _documents_of(ids, gold)
        return _ranked(record, "qrels", names, gold, each_counts=each_counts)
    strategy, why = _strategy(record)
    # Every name begins with the query's id, so that it differs from all others.
    first = {item: at for at, item in reversed(list(enumerate(record.items)))}
    names = [
        f"{record.query} {at if each_counts else first[item]}"
        for at, item in enumerate(record.items)
    ]
    judged = _ranked(record, strategy, names, {}, each_counts=each_counts, why=why)
    if strategy == "text":
        return _by_text(judged, names, threshold)
    return judged if strategy is None else _by_place(judged, names)


def judge_as_memorybench(record: QueryRecord, benchmark: str, threshold: float) -> JudgedRecord:
    """Judge an EvalResult as memorybench does, faults included.

    Args:
        record: With `raw`.
        benchmark: The benchmark of the first result of the file, which decides for all.
        threshold: Token F1 from which a text is relevant.

    Raises:
        InputError: A part that memorybench needs is missing or of another kind.
    """
    from harness.parity.memorybench import results as theirs

    result = validated(theirs.EvalResult, record.raw, record.where)
    (judgement,) = theirs.judge([msgspec.structs.replace(result, benchmark=benchmark)], threshold)
    pack: Strategy = "span" if benchmark == "repoeval" else "file"
    strategies: dict[theirs.Strategy, Strategy] = {
        "qrels": "qrels",
        "pack": "text" if benchmark == "repobench-r" else pack,
        "token-fallback": "text",
    }
    judged = JudgedRecord(
        record=record,
        strategy=strategies[judgement.strategy],
        why="",
        items=record.items,
        names=judgement.ids,
        grades=dict.fromkeys(sorted(judgement.gold), 1.0),
    )
    if judgement.strategy != "token-fallback":
        return judged
    return _counted(judged, [record.items[int(item)].text or "" for item in judgement.gold])


def _ids(record: QueryRecord, gold: str) -> list[str]:
    ids = [item.id for item in record.items if item.id is not None]
    if len(ids) < len(record.items):
        raise InputError(f"{record.where}: {gold} is given, so each retrieved item needs an id")
    return ids


def _strategy(record: QueryRecord) -> tuple[Strategy | None, str]:
    why = NO_LABEL
    if record.targets:
        if not record.items or any(item.place is not None for item in record.items):
            lines = any(place.first is not None for place, _ in record.targets)
            return ("span" if lines else "file"), ""
        why = NO_PATH
    if tokens(record.expected or ""):
        if not record.items or any(item.text is not None for item in record.items):
            return "text", ""
        why = NO_TEXT if why == NO_LABEL else why
    return None, why


def _ranked(
    record: QueryRecord,
    strategy: Strategy | None,
    names: Sequence[str],
    grades: Mapping[str, float],
    *,
    each_counts: bool,
    why: str = "",
) -> JudgedRecord:
    """The ranking without repeats, cut at k."""
    first = {name: at for at, name in reversed(list(enumerate(names)))}
    kept = [at for at, name in enumerate(names) if each_counts or first[name] == at]
    cut = kept[: record.k]
    return JudgedRecord(
        record=record,
        strategy=strategy,
        why=why,
        items=tuple(record.items[at] for at in cut),
        names=tuple(names[at] for at in cut),
        grades=grades,
        merged=len(names) - len(kept),
    )


def _by_place(judged: JudgedRecord, names: Sequence[str]) -> JudgedRecord:
    grades: dict[str, float] = {}
    for number, (target, grade) in enumerate(judged.record.targets):
        met = [
            name
            for name, item in zip(names, judged.record.items, strict=True)
            if item.place is not None and item.place.shared(target)
        ]
        for name in met or [f"{judged.record.query} target {number}"]:
            grades[name] = max(grade, grades.get(name, 0.0))
    return replace(judged, grades=grades)


def _by_text(judged: JudgedRecord, names: Sequence[str], threshold: float) -> JudgedRecord:
    wanted = tokens(judged.record.expected or "")
    relevant = {
        name: item.text
        for name, item in zip(names, judged.record.items, strict=True)
        if item.text is not None and relevant_by_text(tokens(item.text), wanted, threshold)
    }
    grades = dict.fromkeys(relevant, 1.0) or {f"{judged.record.query} nothing": 1.0}
    return _counted(replace(judged, grades=grades), relevant.values())


def _counted(judged: JudgedRecord, relevant: Collection[str]) -> JudgedRecord:
    expected = judged.record.expected or ""
    return replace(
        judged,
        relevant_texts=len(relevant),
        exact=sum(exact_match(text, expected) for text in relevant),
        holding=sum(holds(text, expected) for text in relevant),
    )


def _documents_of(ids: Sequence[str], gold: Collection[str]) -> list[str]:
    """The documents that retrieved chunks belong to, in the same order.

    `doc-<urn:uuid:1>::chunk-0` is the gold document `<urn:uuid:1>`: what follows the document is
    dropped, and `doc-` before it where the gold knows the rest. An id that the gold knows as it
    is stays so, and so does everything where the gold itself names chunks.
    """
    if any(_CHUNK.fullmatch(name) for name in gold):
        return list(ids)
    return [name if name in gold else _document(name, gold) for name in ids]


def _document(name: str, gold: Collection[str]) -> str:
    match = _CHUNK.fullmatch(name)
    document = match["document"] if match else name
    bare = document.removeprefix(_PREFIX)
    # Without a chunk after it, or a bracket, `doc-7` may well be another document than `7`.
    wrapped = match is not None or bare.startswith("<")
    return bare if wrapped and document not in gold and bare in gold else document
