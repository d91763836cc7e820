"""A folder in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/*.tsv.

Documents and queries are JSON lines with `_id` and `text`, documents with an optional `title`.
Judgements are tab-separated: query id, document id, grade, with or without a heading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.loaders.files import blank, find_folder, unique_rows
from harness.model import Corpus, Dataset, Query
from harness.reading.qrels import Qrels, read_qrels
from harness.reading.stored_text import kept, relabelled
from harness.support.json_files import numbered_lines
from harness.support.rows import Id, Row, read_rows
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from harness.datasets.cards import Card

_CORPUS = "documents"
_SHOWN = 10

_NOT_JUDGED = "queries without judgement"
_REPEATED = "judgements that repeat another"
_UNKNOWN_QUERY = "judgements of unknown queries"
_UNKNOWN_DOCUMENT = "judgements of unknown documents"


Title = Literal["join", "drop"]
"""Whether a document's title, if it has one, and a space go before its text."""

Pooling = Literal["max", "first", "sum"]
"""How a document cut into chunks scores."""


class TextRow(Row):
    """A document or a query."""

    id: Id = msgspec.field(name="_id")
    text: str


class TitledRow(TextRow):
    """A document with its title."""

    title: str | None = None


@dataclass(frozen=True)
class Collection:
    """Documents, queries (id -> text), and judgements of some of them.

    Attributes:
        documents: The documents by id, as sources without a language.
        queries: The text of each query.
        qrels: The judgements.
        source: Where the judgements are, for messages.
    """

    documents: Mapping[str, Source]
    queries: Mapping[str, str]
    qrels: Qrels
    source: str


def load(
    card: Card,
    data_dir: Path | None,
    *,
    argument: str,
    split: str | None = None,
    title: Title = "join",
    pooling: Pooling = "max",
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
    kind = TitledRow if title == "join" else TextRow
    documents = documents_of(_rows(folder / "corpus.jsonl", kind))
    queries = texts_of(_rows(folder / "queries.jsonl", TextRow))
    file = _qrels_file(folder, split)
    qrels = read_qrels(file, numbered_lines(file), "beir")
    collection = Collection(documents, queries, qrels, str(file))
    information = {"split": file.stem, "title": title}
    return make_dataset(card, {"": collection}, information, pooling)


def texts_of(rows: Iterable[tuple[str, TextRow]]) -> dict[str, str]:
    """The text of every row by its id; a title goes before it.

    Raises:
        InputError: Two rows have the same id.
    """
    return {row.id: _text(row) for _, row in unique_rows(rows, lambda row: row.id)}


def documents_of(rows: Iterable[tuple[str, TextRow]]) -> dict[str, Source]:
    """The text of every row as a source by its id, as from `texts_of`."""
    unique = unique_rows(rows, lambda row: row.id)
    return {row.id: kept(Source(_text(row), row.id)) for _, row in unique}


def _text(row: TextRow) -> str:
    title = row.title if isinstance(row, TitledRow) else None
    return " ".join(part for part in (title, row.text) if part)


def make_dataset(
    card: Card,
    collections: Mapping[str, Collection],
    information: Mapping[str, str],
    pooling: Pooling,
) -> Dataset:
    """A data set of collections.

    Args:
        card: Gives the name.
        collections: By language; by the empty text if there is only one. A language is a corpus,
            a tag of its queries, and goes before their ids.
        information: More facts that its results carry.
        pooling: How a document cut into chunks scores.

    Raises:
        InputError: No document of a collection is judged.
    """
    corpora, queries = [], []
    left_out = dict.fromkeys((_REPEATED, _UNKNOWN_QUERY, _UNKNOWN_DOCUMENT, _NOT_JUDGED), 0)
    unknown: dict[str, set[str]] = {_UNKNOWN_QUERY: set(), _UNKNOWN_DOCUMENT: set()}
    for language, each in collections.items():
        documents, corpus = each.documents, language or _CORPUS
        grades, dropped = _known_judgements(each, unknown)
        if not grades:
            reasons = left_out_line(dropped)
            raise InputError(f"{each.source} judges no document of the corpus{reasons}")
        dropped[_NOT_JUDGED] = len(each.queries) - len(grades)
        left_out = {reason: count + dropped[reason] for reason, count in left_out.items()}
        sources = (
            relabelled(documents[key], language=language) if language else documents[key]
            for key in sorted(documents)
        )
        corpora.append(Corpus(corpus, tuple(sources)))
        tags = {"language": language} if language else {}
        for key, row in grades.items():
            name = f"{language}/{key}" if language else key
            text = each.queries[key]
            queries.append(Query(name, corpus, text, qrels=row, tags=tags, cluster=name))
    return Dataset(
        name=card.name,
        gold="document",
        corpora=tuple(corpora),
        queries=tuple(queries),
        left_out=left_out,
        information={
            **information,
            "documents": str(sum(map(len, (corpus.sources for corpus in corpora)))),
            "documents without text": str(blank(corpora)),
            **_counts([each.queries for each in collections.values()]),
            **{reason: _listed(ids) for reason, ids in unknown.items() if ids},
        },
        pooling=pooling,
    )


def _rows(file: Path, model: type[TextRow]) -> Iterator[tuple[str, TextRow]]:
    if not file.exists():
        raise InputError(
            f"{file} is missing\na BEIR folder holds corpus.jsonl, queries.jsonl and qrels/*.tsv"
        )
    return read_rows(file, model)


def _counts(collections: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """How many queries there are, and how many of them are blank."""
    texts = [text for each in collections for text in each.values()]
    without = sum(not text.strip() for text in texts)
    return {"queries": str(len(texts)), "queries without text": str(without)}


def _qrels_file(folder: Path, split: str | None) -> Path:
    files = {file.stem: file for file in sorted((folder / "qrels").glob("*.tsv"))}
    if split is None:
        split = next(iter(files)) if len(files) == 1 else "test"
    if split not in files:
        there = f"there are {', '.join(files)}" if files else "there is none"
        raise InputError(f"{folder / 'qrels' / split}.tsv is missing; {there}\nname one by split=")
    return files[split]


def _known_judgements(
    collection: Collection, unknown: dict[str, set[str]]
) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Query -> document -> grade, and counts of what was dropped; adds ids to the unknown ones."""
    qrels, documents = collection.qrels, collection.documents
    dropped = {_REPEATED: qrels.repeated, _UNKNOWN_QUERY: 0, _UNKNOWN_DOCUMENT: 0}
    grades = {}
    for query, row in qrels.grades.items():
        if query not in collection.queries:
            dropped[_UNKNOWN_QUERY] += len(row)
            unknown[_UNKNOWN_QUERY].add(query)
            continue
        absent = row.keys() - documents
        dropped[_UNKNOWN_DOCUMENT] += len(absent)
        unknown[_UNKNOWN_DOCUMENT] |= absent
        if len(absent) < len(row):
            grades[query] = {key: grade for key, grade in row.items() if key not in absent}
    return grades, dropped


def _listed(ids: set[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(sorted(ids)[:_SHOWN]) + more
