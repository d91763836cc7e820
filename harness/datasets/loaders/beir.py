"""A folder in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/*.tsv.

Documents and queries are JSON lines with `_id` and `text`, documents with an optional `title`.
Judgements are tab-separated: query id, document id, grade, with or without a heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.loaders.files import find_folder, unique_rows
from harness.model import Corpus, Dataset, Query
from harness.reading.qrels import read_qrels
from harness.support.json_files import Id, StrictModel, numbered_lines
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from harness.datasets.cards import Card

_CORPUS = "documents"
_SHOWN = 10

_NOT_JUDGED = "queries without judgement"
_REPEATED = "judgements that repeat another"
_UNKNOWN_QUERY = "judgements of unknown queries"
_UNKNOWN_DOCUMENT = "judgements of unknown documents"


class _Row(StrictModel):
    id: Annotated[Id, Field(alias="_id")]
    text: str


class _Titled(_Row):
    title: str | None = None


def load(
    card: Card,
    data_dir: Path | None,
    *,
    argument: str,
    split: str | None = None,
    title: Literal["join", "drop"] = "join",
    pooling: Literal["max", "first", "sum"] = "max",
) -> Dataset:
    """Load the folder `argument`.

    Args:
        card: Gives the name.
        data_dir: Where the folder is looked for, as in the other data folders, if it is no path.
        argument: The folder.
        split: Which file of qrels/; by default `test`, or the only one.
        title: Whether a document's title, if it has one, and a space go before its text.
        pooling: How a document cut into chunks scores.

    Raises:
        InputError: A file is missing or damaged; the message names the line.
    """
    folder = find_folder(argument, data_dir, "one with corpus.jsonl, queries.jsonl and qrels/")
    documents = _texts(folder / "corpus.jsonl", _Titled if title == "join" else _Row)
    queries = _texts(folder / "queries.jsonl", _Row)
    qrels = _qrels_file(folder, split)
    grades, dropped, unknown = _judgements(qrels, documents, queries)
    if not grades:
        raise InputError(
            f"{qrels} judges no document of corpus.jsonl for a query of queries.jsonl"
            f"{left_out_line(dropped)}"
        )
    return Dataset(
        name=card.name,
        gold="document",
        corpora=(Corpus(_CORPUS, tuple(Source(documents[key], key) for key in sorted(documents))),),
        queries=tuple(
            Query(key, _CORPUS, queries[key], qrels=grades[key], cluster=key)
            for key in sorted(grades)
        ),
        left_out=dropped | {_NOT_JUDGED: len(queries) - len(grades)},
        information={"split": qrels.stem, "title": title}
        | _counts("documents", documents)
        | _counts("queries", queries)
        | {name: _listed(ids) for name, ids in unknown.items() if ids},
        pooling=pooling,
    )


def _texts(file: Path, model: type[_Row]) -> dict[str, str]:
    """The text of every row by its id."""
    if not file.exists():
        raise InputError(
            f"{file} is missing\na BEIR folder holds corpus.jsonl, queries.jsonl and qrels/*.tsv"
        )
    texts = {}
    for _, row in unique_rows(file, model, lambda row: row.id):
        title = row.title if isinstance(row, _Titled) else None
        texts[row.id] = " ".join(part for part in (title, row.text) if part)
    return texts


def _counts(what: str, texts: Mapping[str, str]) -> dict[str, str]:
    """How many texts there are, and how many of them are blank."""
    blank = sum(not text.strip() for text in texts.values())
    return {what: str(len(texts)), f"{what} without text": str(blank)}


def _qrels_file(folder: Path, split: str | None) -> Path:
    files = {file.stem: file for file in sorted((folder / "qrels").glob("*.tsv"))}
    if split is None:
        split = next(iter(files)) if len(files) == 1 else "test"
    if split not in files:
        there = f"there are {', '.join(files)}" if files else "there is none"
        raise InputError(f"{folder / 'qrels' / split}.tsv is missing; {there}\nname one by split=")
    return files[split]


def _judgements(
    file: Path, documents: Collection[str], queries: Collection[str]
) -> tuple[dict[str, dict[str, float]], dict[str, int], dict[str, set[str]]]:
    """Query id -> document id -> grade, counts of what was dropped, and unknown ids by reason."""
    qrels = read_qrels(file, numbered_lines(file), "beir")
    dropped = {_REPEATED: qrels.repeated, _UNKNOWN_QUERY: 0, _UNKNOWN_DOCUMENT: 0}
    unknown: dict[str, set[str]] = {_UNKNOWN_QUERY: set(), _UNKNOWN_DOCUMENT: set()}
    grades = {}
    for query, row in qrels.grades.items():
        if query not in queries:
            dropped[_UNKNOWN_QUERY] += len(row)
            unknown[_UNKNOWN_QUERY].add(query)
            continue
        absent = row.keys() - documents
        dropped[_UNKNOWN_DOCUMENT] += len(absent)
        unknown[_UNKNOWN_DOCUMENT] |= absent
        if len(absent) < len(row):
            grades[query] = {key: grade for key, grade in row.items() if key not in absent}
    return grades, dropped, unknown


def _listed(ids: set[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(sorted(ids)[:_SHOWN]) + more
