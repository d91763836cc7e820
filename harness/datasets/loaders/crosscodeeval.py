r"""CrossCodeEval: an unfinished line, and the snippets of other files that know how it goes on.

The published data name no gold. A snippet is gold here where it holds a name that the answer has
and the prompt has not: a run of `\w` that begins with no digit and is no keyword of the language.

A query's corpus is what the rows of its repository retrieved from other files than its own: a row
alone brings five snippets, nearly all of which would be gold.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from chunkers.errors import InputError
from chunkers.grammars.loading import parser
from chunkers.source import Source
from harness.datasets.cards import find_file
from harness.datasets.loaders.files import unique_rows
from harness.model import Corpus, Dataset, Query, Skipped
from harness.reading.stored_text import kept
from harness.support.data_folders import find_data
from harness.support.paths import plain_path
from harness.support.rows import Id, Row, Text, read_rows
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from harness.datasets.cards import Card

_NAME = re.compile(r"[^\W\d]\w*")
# Grammars have these as kinds of nodes, in spellings of their own.
_CONSTANTS = frozenset(
    ("True", "False", "None", "self", "this", "super", "true", "false", "null", "undefined")
)
_NO_PROMPT = "rows without a prompt"
_NO_NEW = "rows whose answer has no new name"
_NO_GOLD = "rows without a snippet that holds a new name of the answer"


class _Chunk(Row):
    retrieved_chunk: str
    filename: str


class _Context(Row):
    chunks: list[_Chunk] = msgspec.field(name="list")


class _About(Row):
    task_id: Id
    repository: Text
    file: str


class _Row(Row):
    prompt: str
    groundtruth: str
    metadata: _About
    crossfile_context: _Context


@dataclass(frozen=True, slots=True)
class _Task:
    id: str
    repository: str
    file: str
    prompt: str
    names: frozenset[str]

    @property
    def corpus(self) -> str:
        """Id of the corpus, which all queries of a file share."""
        # The first `:` ends the repository, whatever either of them holds.
        return f"{self.repository.replace('%', '%25').replace(':', '%3A')}:{self.file}"


def load(
    card: Card,
    data_dir: Path | None,
    *,
    language: Literal["python", "java", "typescript", "csharp"] = "python",
    pooling: Literal["max", "first", "sum"] = "max",
) -> Dataset:
    """Load one language.

    Args:
        card: Its first file is that of `python`; those of others lie in folders beside its own.
        data_dir: A folder looked into first.
        language: Of the code.
        pooling: How a snippet cut into chunks scores.

    Raises:
        InputError: The file is missing, or a row malformed; the message names the line.
    """
    file = _file(card, language, data_dir)
    tasks, pools, blank = _read(file, language)
    left_out = dict.fromkeys((_NO_PROMPT, _NO_NEW, _NO_GOLD), 0)
    corpora: dict[str, Corpus] = {}
    queries = []
    for task in tasks:
        pool = pools[task.repository]
        query = _query(task, pool)
        if isinstance(query, str):
            left_out[query] += 1
            continue
        queries.append(query)
        if task.corpus not in corpora:
            corpora[task.corpus] = _corpus(task, pool)
    if not queries:
        raise InputError(
            f"{file} has no row with a snippet that holds a new name of the answer"
            f"{left_out_line(left_out)}"
        )
    return Dataset(
        name=card.name,
        gold="document",
        corpora=tuple(corpora.values()),
        queries=tuple(queries),
        left_out=left_out,
        information={
            "rows": str(len(tasks)),
            "snippets": str(sum(map(len, pools.values()))),
            "snippets without text": str(blank),
            "gold": "snippets that hold a name that the answer has and the prompt has not",
        },
        pooling=pooling,
    )


def _file(card: Card, language: str, data_dir: Path | None) -> Path:
    if language == "python":
        return find_file(card, 0, data_dir)
    name = card.files[0].path.replace("/python/", f"/{language}/")
    return find_data(name, data_dir, advice=f"get it from {card.source}, and ")


@dataclass(frozen=True, slots=True)
class _Snippet:
    file: str
    source: Source
    names: frozenset[str]


_Pools = dict[str, dict[str, _Snippet]]


def _read(file: Path, language: str) -> tuple[list[_Task], _Pools, int]:
    """The rows, the snippets of each repository by id, and the number of blank ones left out.

    A snippet that several rows of a repository retrieved is one.
    """
    tasks: list[_Task] = []
    pools: _Pools = defaultdict(dict)
    known: set[tuple[str, str, str]] = set()
    keywords = _keywords(language)
    blank = 0
    numbers: Counter[tuple[str, str]] = Counter()
    for where, row in unique_rows(read_rows(file, _Row), lambda row: row.metadata.task_id):
        about = row.metadata
        names = _names(row.groundtruth) - _names(row.prompt) - keywords
        path = plain_path(about.file, where)
        tasks.append(_Task(about.task_id, about.repository, path, row.prompt, names))
        for chunk in row.crossfile_context.chunks:
            source = plain_path(chunk.filename, where)
            key = (about.repository, source, chunk.retrieved_chunk)
            if key in known:
                continue
            known.add(key)
            if not chunk.retrieved_chunk.strip():
                blank += 1
                continue
            numbers[key[:2]] += 1
            name = f"{source}#{numbers[key[:2]]}"
            document = kept(Source(chunk.retrieved_chunk, name, language))
            snippet = _Snippet(source, document, _names(chunk.retrieved_chunk))
            pools[about.repository][name] = snippet
    return tasks, pools, blank


def _query(task: _Task, pool: Mapping[str, _Snippet]) -> Query | str:
    """The query of a task, or why it has none."""
    gold = {
        name
        for name, snippet in pool.items()
        if snippet.file != task.file and not task.names.isdisjoint(snippet.names)
    }
    if not task.prompt.strip():
        return _NO_PROMPT
    if not task.names:
        return _NO_NEW
    if not gold:
        return _NO_GOLD
    return Query(
        id=task.id,
        corpus=task.corpus,
        text=task.prompt,
        qrels=dict.fromkeys(sorted(gold), 1.0),
        truncate="tail",
        cluster=task.corpus,
    )


def _corpus(task: _Task, pool: Mapping[str, _Snippet]) -> Corpus:
    """The snippets of a repository without those of the query's own file."""
    others = (part for _, part in sorted(pool.items()) if part.file != task.file)
    return Corpus(
        task.corpus,
        tuple(part.source for part in others),
        (Skipped(task.file, "the query's own file"),),
        repository=task.repository,
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _keywords(language: str) -> frozenset[str]:
    """The keywords in the grammar of a language."""
    grammar = parser(language).language
    if grammar is None:
        raise InputError(f"the parser of {language} has no grammar; reinstall it")
    words = {
        grammar.node_kind_for_id(kind) or ""
        for kind in range(grammar.node_kind_count)
        if grammar.node_kind_is_visible(kind) and not grammar.node_kind_is_named(kind)
    }
    return frozenset(word for word in words if _NAME.fullmatch(word)) | _CONSTANTS
