"""CodeSearchNet: short questions, and functions that people graded from 0 to 3.

The judgements name functions by address, without their code. That is read from
`code/<language>.jsonl` in the same folder, rows of CodeSearchNet's own corpus, each with `url` and
with `code` or `function`. All rows of a language are its corpus, judged or not.

Where several people judged a function for a question, its grade is the mean of theirs.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.cards import find_file, published_note
from harness.datasets.loaders.files import blank
from harness.model import Absent, Corpus, Dataset, Query
from harness.reading.stored_text import kept
from harness.support.arrays import mean
from harness.support.json_files import decode_utf8, numbered_lines
from harness.support.rows import Row, read_rows
from harness.support.wording import counted, left_out_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from harness.datasets.cards import Card

_SITE = "https://github.com/"
_ADDRESS = re.compile(
    r"https://github\.com/[^/\s]+/[^/\s]+/blob/[0-9a-f]{40}/.+#L[0-9]+(-L[0-9]+)?"
)
_GRADE = re.compile(r"([0-3])(\.0+)?")
_COLUMNS = ["Language", "Query", "GitHubUrl", "Relevance", "Notes"]
_LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")

_UNKNOWN_QUERY = "judgements of questions that are not in queries.csv"
_NO_CODE = "judged functions without code"
_NOTHING = "questions without code of a judged function"
_REPEATED = "repeated functions"
_UNSURE = "repeated functions with other code"

Language = Literal["all", "go", "java", "javascript", "php", "python", "ruby"]
_Grades = dict[str, dict[str, list[int]]]


class _Function(Row):
    url: Annotated[str, Meta(pattern=rf"^{_ADDRESS.pattern}\Z")]
    code: str | None = None
    function: str | None = None


def load(
    card: Card,
    data_dir: Path | None,
    *,
    language: Language = "all",
    pooling: Literal["max", "first", "sum"] = "max",
) -> Dataset:
    """Load the languages whose code is at hand; the others are reported as absent.

    Args:
        card: Its first file holds the judgements, its second the questions.
        data_dir: A folder looked into first.
        language: Of the code.
        pooling: How a function cut into chunks scores.

    Raises:
        InputError: A file is missing or damaged, or there is no code; the message names the line.
    """
    file = find_file(card, 0, data_dir)
    questions = _questions(find_file(card, 1, data_dir))
    judged, unknown = _judgements(file, questions)
    left_out = {_UNKNOWN_QUERY: unknown, _NO_CODE: 0, _NOTHING: 0, _REPEATED: 0, _UNSURE: 0}
    corpora, queries, absent = [], [], []
    for name in _LANGUAGES if language == "all" else (language,):
        grades = judged.get(name)
        if not grades:
            continue
        code = file.parent / "code" / f"{name}.jsonl"
        if not code.is_file():
            absent.append(Absent(name, f"no code/{code.name} beside {file.name}", len(grades)))
            continue
        functions, repeated, unsure = _functions(code, name)
        left_out[_REPEATED] += repeated
        left_out[_UNSURE] += unsure
        corpora.append(Corpus(name, tuple(functions[url] for url in sorted(functions))))
        language_queries, counts = _queries(name, questions, grades, functions)
        queries += language_queries
        for reason, count in counts.items():
            left_out[reason] += count
    if not queries:
        raise InputError(
            f"dataset {card.name}: no code of a judged function is in {file.parent / 'code'}\n"
            f"place <language>.jsonl there, from {card.source}"
            f"{left_out_line(left_out, '; left out: ')}"
        )
    return Dataset(
        name=card.name,
        gold="document",
        corpora=tuple(corpora),
        queries=tuple(queries),
        absent=tuple(absent),
        left_out=left_out,
        information={
            "judgements": published_note(card.files[0], file.read_bytes()),
            "grades": "mean of all judges",
            "functions without text": str(blank(corpora)),
        },
        pooling=pooling,
    )


def _queries(
    language: str, questions: list[str], grades: _Grades, functions: Mapping[str, Source]
) -> tuple[list[Query], Counter[str]]:
    """The questions that functions of a language were judged for, and counts of what is missing."""
    queries, left_out = [], Counter[str]()
    for question in questions:
        judged = grades.get(question, {})
        qrels = {url: mean(values) for url, values in judged.items() if url in functions}
        left_out[_NO_CODE] += len(judged) - len(qrels)
        left_out[_NOTHING] += bool(judged) and not qrels
        if qrels:
            name, tags = f"{language}/{question}", {"language": language}
            queries.append(Query(name, language, question, qrels=qrels, tags=tags, cluster=name))
    return queries, left_out


def _table(file: Path, columns: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table below its heading; a cell in quotes may have several lines."""
    lines = (decode_utf8(line, f"{file}, line {number}") for number, line in numbered_lines(file))
    reader = csv.reader(lines, strict=True)
    before = 0
    try:
        for row in reader:
            where, first = f"{file}, line {before + 1}", before == 0
            before = reader.line_num
            if first and row != columns:
                raise InputError(f"{where}: the heading must be {','.join(columns)}")
            if row and len(row) != len(columns):
                cells = counted(len(row), "cell")
                raise InputError(f"{where}: {cells}, but the heading has {len(columns)}")
            if row and not first:
                yield where, row
    except csv.Error as error:
        raise InputError(f"{file}, line {before + 1}: invalid CSV: {error}") from None
    if not before:
        raise InputError(f"{file} is empty")


def _questions(file: Path) -> list[str]:
    return sorted({question for _, (question,) in _table(file, ["query"])})


def _judgements(file: Path, questions: list[str]) -> tuple[dict[str, _Grades], int]:
    """Language -> question -> function -> grades, and how many are of unknown questions."""
    known = frozenset(questions)
    grades: dict[str, _Grades] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    unknown = 0
    for where, (language, question, url, grade, _) in _table(file, _COLUMNS):
        if language.lower() not in _LANGUAGES:
            raise InputError(f"{where}: {language!r} is not a language of CodeSearchNet")
        if not _ADDRESS.fullmatch(url):
            raise InputError(f"{where}: {url!r:.80} is not an address of lines on GitHub")
        match = _GRADE.fullmatch(grade.strip())
        if not match:
            raise InputError(f"{where}: the grade {grade!r:.40} is not 0, 1, 2 or 3")
        if question not in known:
            unknown += 1
            continue
        grades[language.lower()][question][url.removeprefix(_SITE)].append(int(match[1]))
    return grades, unknown


def _functions(file: Path, language: str) -> tuple[Mapping[str, Source], int, int]:
    """The code of functions by address, and how many repeat another with the same or other code.

    An address with several codes is left out: it is not known which of them was judged.
    """
    functions: dict[str, Source] = {}
    unsure: set[str] = set()
    repeated = 0
    for where, row in read_rows(file, _Function):
        text = row.code if row.code is not None else row.function
        if text is None:
            raise InputError(f"{where}: needs code or function")
        name = row.url.removeprefix(_SITE)
        function = Source(text, name, language)
        if name not in functions:
            functions[name] = kept(function)
        elif functions[name] == function:
            repeated += 1
        else:
            unsure.add(name)
    sure = {name: functions[name] for name in functions.keys() - unsure}
    return sure, repeated, len(unsure)
