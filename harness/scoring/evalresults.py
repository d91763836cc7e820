"""memorybench's EvalResults as records, taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from chunkers.errors import InputError
from harness.scoring.values import Item, Place, Record
from harness.support.json_files import AnyId, Id, StrictModel, validated
from harness.support.paths import plain_path

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Camel(StrictModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _Span(_Camel):
    filepath: str | None = None
    file: str | None = None
    start_line: int | None = None
    end_line: int | None = None


class _Context(_Camel):
    id: AnyId | None = None
    content: str | None = None
    metadata: _Span | None = None


class _Metadata(_Camel):
    relevant_ids: list[AnyId] | None = None
    relevant_chunk_ids: list[AnyId] | None = None
    ground_truth_ids: list[AnyId] | None = None
    qrels: list[AnyId] | None = None
    ground_truth: _Span | None = None
    modified_files: list[str] | None = None
    dependency_files: list[str] | None = None
    ground_truth_files: list[str] | None = None


class _EvalResult(_Camel):
    item_id: Id
    expected: str | None = None
    actual: str | None = None
    correct: bool | None = None
    retrieved_context: list[_Context]
    metadata: _Metadata = _Metadata()


def from_eval_result(row: dict[str, Any], where: str, root: str) -> Record:
    """One EvalResult as a record.

    Its gold is the first that it names: ids, the lines of `groundTruth`, or files. Lines are
    compared as given, whether they count from 0 or from 1; a range that ends before it begins
    meets nothing.

    Raises:
        InputError: A part is of another kind than it is there.
    """
    found = validated(_EvalResult, row, where)
    known = found.metadata
    ids: Sequence[Sequence[str] | None] = (
        known.relevant_ids,
        known.relevant_chunk_ids,
        known.ground_truth_ids,
        known.qrels,
    )
    files = known.modified_files or known.dependency_files or known.ground_truth_files or []
    targets = [(Place(_path(one, where, root)), 1.0) for one in files]
    if known.ground_truth is not None and known.ground_truth.file:
        targets = [(_span(known.ground_truth.file, known.ground_truth, where, root), 1.0)]
    return Record(
        query=found.item_id,
        where=where,
        items=tuple(_context(one, where, root) for one in found.retrieved_context),
        relevant=next((named for one in ids if (named := _named(one or ()))), frozenset()),
        targets=tuple(targets),
        expected=found.expected,
        answer=found.actual,
        correct=found.correct,
        raw=row,
    )


def _named(ids: Sequence[str]) -> frozenset[str]:
    """The ids that are not blank."""
    return frozenset(one for one in ids if one.strip())


def _context(found: _Context, where: str, root: str) -> Item:
    at = found.metadata
    place = _span(at.filepath, at, where, root) if at is not None and at.filepath else None
    return Item(found.id, found.content, place)


def _span(path: str, found: _Span, where: str, root: str) -> Place:
    first, last = found.start_line, found.end_line
    if first is None or last is None:
        return Place(_path(path, where, root))
    return Place(_path(path, where, root), first, last)


def _path(text: str, where: str, root: str) -> str:
    try:
        return plain_path(text, where, root)
    except InputError:
        return text  # it names no file of a corpus, and so meets none
