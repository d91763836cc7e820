"""RepoBench-R, version 1.1: unfinished code, and the snippet of another file that it needs next.

Every row is a query with a corpus of its own: the candidates that the row names. One of them is the
gold. Candidates of the same text, but for white space, are gold as well.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from chunkers.errors import InputError
from chunkers.source import Source
from harness.chunking.layout import squeezed
from harness.datasets.cards import find_file
from harness.datasets.loaders.files import blank
from harness.model import Corpus, Dataset, Query, Skipped
from harness.reading.stored_text import kept
from harness.support.data_folders import find_data
from harness.support.paths import plain_path
from harness.support.rows import Row, Text, read_rows
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from pathlib import Path

    from harness.datasets.cards import Card

_NO_GOLD = "rows that need no snippet of another file"
_NO_CODE = "rows without code"
_PINNED = ("python", "cross_file_first")


class _Snippet(Row):
    path: str
    snippet: str


class _Row(Row):
    repo_name: Text
    file_path: str
    context: list[_Snippet]
    import_statement: str
    cropped_code: str
    gold_snippet_index: Annotated[int, Meta(ge=-1)]
    level: str = "none"


def load(
    card: Card,
    data_dir: Path | None,
    *,
    language: Literal["python", "java"] = "python",
    split: Literal["cross_file_first", "cross_file_random"] = "cross_file_first",
    lines: int | None = None,
    pooling: Literal["max", "first", "sum"] = "max",
) -> Dataset:
    """Load one split of one language.

    Args:
        card: Its first file is that of `python` and `cross_file_first`; those of others lie
            beside it, named alike.
        data_dir: A folder looked into first.
        language: Of the code.
        split: Whether the gold is used for the first time in its file.
        lines: Number of last lines of the code that are the query, without the imports; by
            default it is the imports and all lines, of which an embedder sees the end.
        pooling: How a candidate cut into chunks scores.

    Raises:
        InputError: The file is missing, or a row malformed; the message names the line.
    """
    if lines is not None and lines < 1:
        raise InputError(f"data set {card.name}: lines={lines}: must be at least 1")
    file = _file(card, language, split, data_dir)
    pairs, left_out, count = _read(file, language, lines)
    corpora = tuple(corpus for corpus, _ in pairs)
    queries = tuple(query for _, query in pairs)
    if not queries:
        raise InputError(
            f"{file} has no row whose gold is one of its snippets{left_out_line(left_out)}"
        )
    return Dataset(
        name=card.name,
        gold="document",
        corpora=corpora,
        queries=queries,
        left_out=left_out,
        information={
            "rows": str(count),
            "candidates that repeat the gold": str(sum(map(_gold, queries)) - len(queries)),
            "candidates without text": str(blank(corpora)),
        },
        pooling=pooling,
    )


def _file(card: Card, language: str, split: str, data_dir: Path | None) -> Path:
    if (language, split) == _PINNED:
        return find_file(card, 0, data_dir)
    name = card.files[0].path.replace("_".join(_PINNED), f"{language}_{split}")
    return find_data(name, data_dir, advice=f"get it from {card.source}, and ")


def _read(
    file: Path, language: str, lines: int | None
) -> tuple[list[tuple[Corpus, Query]], dict[str, int], int]:
    """Corpus and query of every usable row, counts of the other rows, and the number of rows."""
    left_out = {_NO_GOLD: 0, _NO_CODE: 0}
    numbers: Counter[str] = Counter()
    pairs = []
    for where, row in read_rows(file, _Row):
        place = f"{row.repo_name}/{plain_path(row.file_path, where)}"
        numbers[place] += 1
        text = _text(row, lines)
        if row.gold_snippet_index < 0:
            left_out[_NO_GOLD] += 1
        elif not text.strip():
            left_out[_NO_CODE] += 1
        else:
            pairs.append(_pair(f"{place}#{numbers[place]}", text, row, language, where))
    return pairs, left_out, sum(numbers.values())


def _pair(name: str, text: str, row: _Row, language: str, where: str) -> tuple[Corpus, Query]:
    """The corpus and the query of a row."""
    sources, gold = _candidates(row, language, where)
    own = Skipped(plain_path(row.file_path, where), "the query's own file")
    by_path = tuple(sorted(sources, key=lambda source: source.path))
    query = Query(
        id=name,
        corpus=name,
        text=text,
        qrels={source.path: float(source.path in gold) for source in sources},
        truncate="tail",
        tags={"level": row.level},
        cluster=row.repo_name,
    )
    return Corpus(name, by_path, (own,), repository=row.repo_name), query


def _gold(query: Query) -> int:
    return sum(grade > 0 for grade in (query.qrels or {}).values())


def _text(row: _Row, lines: int | None) -> str:
    if lines is None:
        return f"{row.import_statement}\n{row.cropped_code}" if row.cropped_code.strip() else ""
    return "\n".join(row.cropped_code.rstrip().split("\n")[-lines:])


def _candidates(row: _Row, language: str, where: str) -> tuple[list[Source], frozenset[str]]:
    """The documents of a row, and the ids of those that are gold."""
    if row.gold_snippet_index >= len(row.context):
        raise InputError(
            f"{where}: gold_snippet_index: {row.gold_snippet_index} is none of the "
            f"{len(row.context)} snippets, which count from 0"
        )
    paths = [plain_path(snippet.path, where) for snippet in row.context]
    sources = [
        kept(Source(snippet.snippet, name, language))
        for snippet, name in zip(row.context, _apart(paths), strict=True)
    ]
    text = squeezed(sources[row.gold_snippet_index].text)
    if not text:
        raise InputError(f"{where}: the gold snippet has no text")
    return sources, frozenset(source.path for source in sources if squeezed(source.text) == text)


def _apart(paths: list[str]) -> list[str]:
    """An id for each: its path, with a number that makes no id of another where it repeats."""
    ids, numbers, names = set(paths), Counter[str](), []
    for path in paths:
        numbers[path] += 1
        name = path
        while numbers[path] > 1 and (name := f"{path}#{numbers[path]}") in ids:
            numbers[path] += 1
        ids.add(name)
        names.append(name)
    return names
