"""Files of rankings and judgements: which format each has, and what it holds.

A file is opened once. Its format shows in its first line and its suffix.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from chunkers.errors import InputError
from harness.reading.qrels import QUERY_COLUMNS, Qrels, is_comment, read_qrels
from harness.runs.folder import is_run_folder
from harness.scoring.records import RECORD_KEYS, from_array, from_lines, from_table, rows_of
from harness.scoring.trec_runs import OUR_TAG, read_run
from harness.support.json_files import finite_number, id_of, numbered_lines, parse_json
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Mapping

    from harness.scoring.records import QueryRecord

    Grades = Mapping[str, Mapping[str, float]]

Shape = Literal["run", "qrels", "judgements", "table", "json", "jsonl"]

_BY_FIELDS: dict[int, Shape] = {6: "run", 4: "qrels", 3: "judgements"}


@dataclass(frozen=True)
class InputFile:
    """An open file.

    Attributes:
        path: Where it is.
        shape: `run`: TREC, six fields a line. `qrels`: TREC, four fields. `judgements`: BEIR, three
            columns. `table`: tab-separated with a heading. `json`: one document. `jsonl`: one
            object a line.
        lines: Its lines with their numbers; they can be read once.
        own_format: Whether the first row of a run carries chunkmark's own tag.
    """

    path: Path
    shape: Shape
    lines: Iterator[tuple[int, bytes]]
    own_format: bool


def open_file(path: Path) -> InputFile:
    """Open a file and find its format.

    Raises:
        InputError: It cannot be read, is empty, or has an unknown format.
    """
    if path.is_dir():
        advice = f", or read the run by `chunkmark compare {path}`" if is_run_folder(path) else ""
        raise InputError(f"{path} is a folder; give a file{advice}")
    lines = numbered_lines(path)
    head: list[tuple[int, bytes]] = []

    def next_row() -> bytes:
        """The next line that is neither blank nor a comment; empty at the end."""
        for number, line in lines:
            head.append((number, line))
            if line.strip() and not is_comment(line):
                return line
        return b""

    first = next_row()
    if not first:
        raise InputError(f"{path} is empty; give a file of rankings, judgements or records")
    if first.lstrip()[:1] not in (b"{", b"["):
        shape = _shape_of_row(first, path)
    elif Path(path.name.lower().removesuffix(".gz")).suffix in (".jsonl", ".ndjson"):
        shape = "jsonl"
    else:
        shape = "jsonl" if next_row() and _is_object(first) else "json"
    return InputFile(path, shape, chain(head, lines), first.split()[-1] == OUR_TAG)


def _shape_of_row(first: bytes, path: Path) -> Shape:
    columns = [name.strip() for name in first.decode("utf-8", "replace").lower().split("\t")]
    words = first.split()
    row = (
        columns if len(columns) > 1 else [word.decode("utf-8", "replace").lower() for word in words]
    )
    if len(row) == 6 and row[1] == "q0":
        return "run"
    if len(row) == 4 and row[3].lstrip("+-").isdigit():
        return "qrels"
    if len(columns) > 1 and not set(QUERY_COLUMNS).isdisjoint(columns):
        ids = {"retrieved_ids", "relevant_ids"}
        return "judgements" if ids.isdisjoint(columns) else "table"
    fields = len(columns) if len(columns) > 1 else len(words)
    if fields > 6 and words[1].upper() == b"Q0":
        return "run"  # its tag has spaces
    if fields not in _BY_FIELDS:
        is_text = b"\0" not in first and "\ufffd" not in first.decode("utf-8", "replace")
        if not is_text:
            raise InputError(
                f"{path}: unknown format: not a text file\n"
                "give rankings, judgements or records as text in UTF-8, or compressed by gzip"
            )
        if any(name in first.lower().split(b",") for name in (b"query_id", b"retrieved_ids")):
            raise InputError(
                f"{path} has commas between its columns; a table of records has tabs: "
                "write query_id, retrieved_ids and relevant_ids with a tab between them"
            )
        raise InputError(
            f"{path}: unknown format: {counted(fields, 'field')} in the first line"
            f"{', which has commas; use tabs' if b',' in first and fields == 1 else ''}\na ranking "
            "has six fields a line, judgements have four, or three below a heading; see `chunkmark "
            "score --help`"
        )
    return _BY_FIELDS[fields]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True)
class Rankings:
    """Rankings of ids.

    `unjudged` counts queries of the file that are left out, for they have no judgements.
    """

    rankings: Mapping[str, Mapping[str, float] | list[str]]
    unjudged: int = 0


def load_grades(file: InputFile, ranked: InputFile) -> Qrels:
    """Read judgements of any format, for the file to score.

    Raises:
        InputError: The file is damaged, or holds no judgements.
    """
    if file.shape == "run":
        advice = "judgements have four: query, 0, document, grade"
        if ranked.shape in ("qrels", "judgements"):
            advice = f"the files are swapped; write --run {file.path} --qrels {ranked.path}"
        raise InputError(
            f"--qrels {file.path} is a ranking, not judgements: six fields a line\n{advice}"
        )
    if file.shape in ("qrels", "judgements"):
        layout: Literal["trec", "columns"] = "trec" if file.shape == "qrels" else "columns"
        qrels = read_qrels(file.path, file.lines, layout)
        if not qrels.grades:
            raise InputError(f"{file.path} holds no judgements")
        return qrels
    content = _load(file)
    if not isinstance(content, dict):
        return Qrels(
            {record.query: dict.fromkeys(record.relevant, 1.0) for record in _unique(content)}
        )
    rows = _by_query(content, str(file.path), "grade")
    return Qrels(
        {
            query: dict.fromkeys(row, 1.0) if isinstance(row, list) else row
            for query, row in rows.items()
        }
    )


def may_be_encoded(file: InputFile, grades: Grades) -> bool:
    """Whether ids of judgements may be percent-encoded: never in JSON."""
    names = (name for query, row in grades.items() for name in (query, *row))
    return file.shape in ("qrels", "judgements") and any("%" in name for name in names)


def spell_as(
    grades: Grades, rankings: Mapping[str, Collection[str]], *, own_format: bool
) -> Grades:
    """Spell the ids of judgements as rankings do.

    An id with `%` may be percent-encoded, as in chunkmark's own qrels, or not; the spelling that
    the ranking has counts. Where it has both or none, `own_format` decides.

    Args:
        grades: The judgements.
        rankings: Query -> ids.
        own_format: Whether chunkmark wrote the rankings, so that an id is decoded unless only its
            encoded spelling is ranked.

    Raises:
        InputError: Two ids of a query become one.
    """
    spelled: dict[str, dict[str, float]] = {}
    for query, row in grades.items():
        name = _spelling(query, rankings, grades, own_format=own_format)
        ids = frozenset(rankings.get(name, ()))
        new = {_spelling(doc, ids, row, own_format=own_format): grade for doc, grade in row.items()}
        if name in spelled or len(new) < len(row):
            raise InputError(
                f"the judgements of query {name} have an id in two spellings\n"
                "percent-encode all ids of the qrels of a chunkmark run, or none"
            )
        spelled[name] = new
    return spelled


def _spelling(
    name: str, ranked: Container[str], judged: Container[str], *, own_format: bool
) -> str:
    plain = unquote(name)
    if own_format:
        return name if name in ranked and plain not in ranked else plain
    return plain if plain in ranked and name not in ranked and plain not in judged else name


def load_run(
    file: InputFile,
    grades: Grades | None,
    *,
    root: str,
    unjudged: bool,
    progress: Callable[[int], None],
) -> Rankings | Iterator[QueryRecord]:
    """Read what is to be scored: rankings, which need judgements, or records.

    `root` is a folder that the paths of records are made relative to, or empty. `unjudged` says
    that queries without judgements are kept.

    Raises:
        InputError: The file is damaged, or holds rankings and there are no judgements. Damaged
            records are found when they are iterated over.
    """
    if file.shape in ("qrels", "judgements"):
        raise InputError(
            f"{file.path} looks like judgements, not like a ranking; give judgements as --qrels\n"
            "a ranking has six fields a line: query, Q0, document, rank, score, tag"
        )
    content = None if file.shape == "run" else _load(file, root)
    if content is not None and not isinstance(content, dict):
        return _unique(content)
    if grades is None:
        raise InputError(
            f"{file.path} holds rankings without judgements; write --run {file.path} --qrels FILE"
        )
    if content is not None:
        return Rankings(_by_query(content, str(file.path), "score"))
    wanted = None if unjudged else grades.keys() | {unquote(query) for query in grades}
    return Rankings(
        *read_run(file.path, file.lines, wanted, own_format=file.own_format, progress=progress)
    )


def _load(file: InputFile, root: str = "") -> dict[str, Any] | Iterator[QueryRecord]:
    """A dictionary, or records."""
    if file.shape == "table":
        return from_table(file.path, file.lines)
    if file.shape == "jsonl":
        return from_lines(file.path, file.lines, root)
    try:
        document = parse_json(b"".join(line for _, line in file.lines), str(file.path))
    except InputError as error:
        raise InputError(
            f"{error}\ngive one JSON document, or one object a line in a file that ends in .jsonl"
        ) from None
    rows = rows_of(document)
    if rows is not None:
        return from_array(rows, file.path, root)
    if not isinstance(document, dict):
        raise InputError(f"{file.path} holds neither records nor a dictionary of queries")
    return document


def _by_query(
    document: dict[str, Any], where: str, kind: str
) -> dict[str, dict[str, float] | list[str]]:
    """`{query: {document: number}}` or `{query: [document, ...]}`.

    Raises:
        InputError: It is something else, or a number is not finite.
    """
    if {"retrieved", "retrieved_ids"} & document.keys() and document.keys() <= RECORD_KEYS:
        raise InputError(
            f"{where}: its keys ({', '.join(document)}) are those of a record, not ids of queries\n"
            f'write {{"query": {{"document": {kind}}}}}, or give records with query_id by --records'
        )
    rows: dict[str, dict[str, float] | list[str]] = {}
    for query, row in document.items():
        name = f"{where}: query {query}"
        if isinstance(row, list):
            rows[query] = [id_of(value, f"{name}: a document id") for value in row]
        elif isinstance(row, dict):
            rows[query] = {
                key: finite_number(value, f"{name}: the {kind} of {key}")
                for key, value in row.items()
            }
        else:
            raise InputError(
                f"{name}: {row!r:.40} is neither an object nor a list\n"
                f'write {{"query": {{"document": {kind}}}}} or {{"query": ["document", ...]}}'
            )
    return rows


def _unique(records: Iterator[QueryRecord]) -> Iterator[QueryRecord]:
    """The records, of which no two may be of one query.

    Raises:
        InputError: Two are.
    """
    first: dict[str, str] = {}
    for record in records:
        if record.query in first:
            raise InputError(
                f"{record.where}: query {record.query} is already at {first[record.query]}\n"
                "remove one of the two"
            )
        first[record.query] = record.where
        yield record
