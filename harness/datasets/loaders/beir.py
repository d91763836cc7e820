"""A folder in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/*.tsv.

Documents and queries are JSON lines with `_id` and `text`, documents with an optional `title`.
Judgements are tab-separated: query id, document id, grade, with or without a header line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from chunkers.source import Source
from harness.model import Corpus, Dataset, Query
from harness.support.data_folders import data_dirs
from harness.support.json_files import finite_number, parse_json, require_regular_file
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from harness.datasets.cards import Card

_CORPUS = "documents"
_GRADE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_HEADER_IDS = {"query-id", "query_id", "queryid", "qid", "query"}
_SHOWN = 10

_NOT_JUDGED = "queries without judgement"
_REPEATED = "judgements that repeat another"
_UNKNOWN_QUERY = "judgements of unknown queries"
_UNKNOWN_DOCUMENT = "judgements of unknown documents"


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
    folder = _folder(argument, data_dir)
    documents = {
        key: _joined(raw, where) if title == "join" else _text(raw, where)
        for key, raw, where in _rows(folder / "corpus.jsonl")
    }
    queries = {key: _text(raw, where) for key, raw, where in _rows(folder / "queries.jsonl")}
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


def _counts(what: str, texts: Mapping[str, str]) -> dict[str, str]:
    """How many texts there are, and how many of them are blank."""
    blank = sum(not text.strip() for text in texts.values())
    return {what: str(len(texts)), f"{what} without text": str(blank)}


def _folder(argument: str, data_dir: Path | None) -> Path:
    looked = [Path(argument), *(folder / argument for folder in data_dirs(data_dir))]
    for folder in looked:
        if folder.is_dir():
            return folder
    raise InputError(
        f"no folder {argument} here or in the data folders {', '.join(map(str, looked[1:]))}\n"
        "name one that holds corpus.jsonl, queries.jsonl and qrels/"
    )


def _read(file: Path) -> bytes:
    require_regular_file(file)
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}\n"
            "a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/*.tsv"
        ) from None


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, each with its place for messages."""
    for number, line in enumerate(_read(file).split(b"\n"), start=1):
        where = f"{file}, line {number}"
        try:
            # A byte order mark may stand at the start of the file.
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\r")
        except UnicodeDecodeError:
            raise InputError(f"{where}: not UTF-8") from None
        if text.strip():
            yield text, where


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The objects of a file of JSON lines: id, object, place.

    Raises:
        InputError: Also when there is none.
    """
    first: dict[str, str] = {}
    for line, where in _lines(file):
        raw = parse_json(line.encode(), where)
        if not isinstance(raw, dict):
            raise InputError(f"{where}: no JSON object")
        key = raw.get("_id")
        if type(key) not in (str, int) or key == "":
            raise InputError(f'{where}: "_id" must be a text or a whole number, not {key!r}')
        key = _characters(str(key), where)
        if key in first:
            raise InputError(f"{where}: the id {key!r} stands already at {first[key]}")
        first[key] = where
        yield key, raw, where
    if not first:
        raise InputError(f"{file} is empty")


def _text(raw: dict[str, Any], where: str, field: str = "text") -> str:
    value = raw.get(field)
    if not isinstance(value, str):
        raise InputError(f'{where}: "{field}" must be a text, not {value!r:.40}')
    return _characters(value, where)


def _characters(text: str, where: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # JSON can escape one, and neither a tokenizer nor a file can hold it.
        raise InputError(f"{where}: holds half of a surrogate pair, which is no text") from None
    return text


def _joined(raw: dict[str, Any], where: str) -> str:
    title = "" if raw.get("title") is None else _text(raw, where, "title")
    return " ".join(part for part in (title, _text(raw, where)) if part)


def _qrels_file(folder: Path, split: str | None) -> Path:
    found = {file.stem: file for file in sorted((folder / "qrels").glob("*.tsv"))}
    if split is None:
        split = next(iter(found)) if len(found) == 1 else "test"
    if split not in found:
        there = f"there are {', '.join(found)}" if found else "there is none"
        raise InputError(f"{folder / 'qrels' / split}.tsv is missing; {there}\nname one by split=")
    return found[split]


def _judgements(
    file: Path, documents: Collection[str], queries: Collection[str]
) -> tuple[dict[str, dict[str, float]], dict[str, int], dict[str, set[str]]]:
    """Query id -> document id -> grade, counts of what was dropped, and unknown ids by reason."""
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    seen: dict[tuple[str, str], tuple[float, str]] = {}
    dropped = {_REPEATED: 0, _UNKNOWN_QUERY: 0, _UNKNOWN_DOCUMENT: 0}
    unknown: dict[str, set[str]] = {_UNKNOWN_QUERY: set(), _UNKNOWN_DOCUMENT: set()}
    for number, (line, where) in enumerate(_lines(file)):
        fields = line.split("\t")
        # A query may be called like a heading; a heading has no grade.
        heading = number == 0 and fields[0].strip().lower() in _HEADER_IDS
        if heading and not _GRADE.fullmatch(fields[-1].strip()):
            continue
        query, document, grade = _judgement(fields, where)
        earlier, place = seen.setdefault((query, document), (grade, where))
        if place != where:
            if earlier != grade:
                raise InputError(
                    f"{where}: {query} and {document} have the grade {grade:g}, but {earlier:g} "
                    f"at {place}"
                )
            dropped[_REPEATED] += 1
        elif query not in queries:
            dropped[_UNKNOWN_QUERY] += 1
            unknown[_UNKNOWN_QUERY].add(query)
        elif document not in documents:
            dropped[_UNKNOWN_DOCUMENT] += 1
            unknown[_UNKNOWN_DOCUMENT].add(document)
        else:
            grades[query][document] = grade
    return dict(grades), dropped, unknown


def _judgement(fields: list[str], where: str) -> tuple[str, str, float]:
    if len(fields) != 3:
        raise InputError(
            f"{where}: {len(fields)} fields; write query id, document id and grade between tabs"
        )
    query, document, grade = fields
    if not _GRADE.fullmatch(grade.strip()):
        raise InputError(f"{where}: the grade {grade.strip()!r} is no whole number")
    return query, document, finite_number(float(grade), f"{where}: the grade")


def _listed(ids: set[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(sorted(ids)[:_SHOWN]) + more
