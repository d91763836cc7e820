"""The folder that `chunkmark dataset build` writes: a complete data set.

    dataset.json    the card: source, options, counts of what was left out, fingerprint
    queries.jsonl   a query per line
    corpora.jsonl   a corpus per line: its files, each with the hash of its text
    texts.jsonl     a text per line, shared by all corpora
    skipped.jsonl   a corpus per line: its files that are not indexed, each with the reason

No file contains names or times of the machine: the same repository gives the same bytes. Files
that are not indexed do not change queries, corpora and texts.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections import Counter
from dataclasses import astuple
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chunkers.errors import InputError
from chunkers.languages import LANGUAGES
from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Region, Skipped, Target
from harness.reading.stored_text import kept, relabelled
from harness.runs.folder import MANIFEST
from harness.support.files import PARTIAL, file_sha256, unreadable
from harness.support.json_files import (
    parse_json,
    require_schema,
    schema_of,
    write_json,
    write_json_lines,
)
from harness.support.rows import Row, Sha256, Table, Text, read_rows, validated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SCHEMA = "chunkmark.dataset/2"
CARD = "dataset.json"
FILES = ("queries.jsonl", "corpora.jsonl", "texts.jsonl", "skipped.jsonl")


OWN = "written by chunkmark"
"""Why such a folder is left out."""

_HEAD = 200  # bytes, which hold the schema of a card
# A card, the beginning of its schema in any version, and a file or folder beside it.
_CARDS = (("manifest.json", MANIFEST, "cells"), (CARD, SCHEMA.rstrip("0123456789"), FILES[0]))
_PARTIAL = re.compile(re.escape(PARTIAL) + r".+-[0-9]+")


def is_own_folder(
    name: str, holds: Callable[[str], bool], head: Callable[[str, int], bytes]
) -> bool:
    """Whether a folder is a run, a built data set, or the remains of an interrupted one.

    A run and a data set are recognized by what their cards say, not by their names.
    `holds` says whether an entry is in it; `head` gives the first bytes of a file in it, empty
    where it is not a file.
    """
    return _PARTIAL.fullmatch(name) is not None or any(
        holds(card) and holds(beside) and schema_of(head(card, _HEAD)).startswith(schema)
        for card, schema, beside in _CARDS
    )


_Count = Annotated[int, Meta(ge=0)]
_Texts = dict[str, str]


class _Card(Table):
    name: Text
    options: dict[str, Any]
    fingerprint: Sha256
    information: _Texts
    queries: _Count
    corpora: _Count
    mask: bool
    files_indexed: _Count
    texts: _Count
    left_out: dict[str, _Count]
    files_skipped: dict[str, _Count]
    files: dict[str, Sha256]


class _Query(Row):
    id: Text
    corpus: str
    text: str
    targets: list[tuple[str, int | None, int | None, float]]
    tags: _Texts
    cluster: str
    truncate: Literal["head", "tail"]
    region: tuple[str, int, int] | None


class _Corpus(Row):
    id: str
    files: list[tuple[str, str | None, str, str]]
    repository: str


class _Text(Row):
    sha256: str
    text: str


class _SkippedFiles(Row):
    id: str
    skipped: list[tuple[str, str]]


def write_folder(dataset: Dataset, folder: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Write a data set whose gold is lines. The folder appears when it is complete.

    It must be empty or absent before. `options` are for the card, which is returned.

    Raises:
        InputError: The folder is not empty, or cannot be written.
    """
    refuse_folder(folder)
    folder = folder.absolute()
    partial = folder.with_name(f"{PARTIAL}{folder.name}-{os.getpid()}")
    new = [parent for parent in folder.parents if not parent.exists()]
    try:
        partial.mkdir(parents=True)
        write_json_lines(partial / FILES[0], map(_query_row, dataset.queries))
        write_json_lines(partial / FILES[1], map(_corpus_row, dataset.corpora))
        write_json_lines(partial / FILES[2], _text_rows(dataset))
        skipped = ({"id": c.id, "skipped": list(map(astuple, c.skipped))} for c in dataset.corpora)
        write_json_lines(partial / FILES[3], skipped)
        card = _card(dataset, options)
        card["files"] = {name: file_sha256(partial / name) for name in FILES}
        write_json(partial / CARD, card)
        if folder.is_dir():
            folder.rmdir()
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if not folder.exists():
            for parent in new:
                with contextlib.suppress(OSError):
                    parent.rmdir()
    return card


def refuse_folder(folder: Path) -> None:
    """Refuse to write to a folder that is not empty.

    Raises:
        InputError: It is not empty, or is not a folder.
    """
    parent = next((path for path in folder.parents if path.exists()), folder.parent)
    if parent.exists() and not parent.is_dir():
        raise InputError(f"{parent} is a file; choose another folder with -o")
    problem = "is a file" if folder.is_file() else "is a link" if folder.is_symlink() else ""
    if not problem and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = "is not empty"
    if problem:
        raise InputError(f"{folder} {problem}; choose another folder with -o")


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a folder, with its schema and types checked.

    Raises:
        InputError: The card is missing, damaged, or of another version.
    """
    file = folder / CARD
    if not file.is_file():
        raise InputError(f"{folder} has no {CARD}; give a folder that `dataset build` wrote")
    try:
        card = parse_json(file.read_bytes(), str(file))
        if not isinstance(card, dict) or "schema" not in card:
            raise InputError(f"{file} is damaged: it has no key 'schema'")
        require_schema(card, SCHEMA, file)
        validated(_Card, {key: value for key, value in card.items() if key != "schema"}, str(file))
        if set(card["files"]) != set(FILES):
            raise InputError(f"{file} is damaged: it lists other files")
    except (OSError, InputError) as error:
        reason = unreadable(file, error) if isinstance(error, OSError) else error
        raise InputError(f"{reason}; build the folder again") from None
    return dict(card)


def read_folder(folder: Path) -> Dataset:
    """The data set of a folder.

    Raises:
        InputError: A file is missing, changed or invalid; names the file, and the line if known.
    """
    card = read_card(folder)
    for name in FILES:
        file = folder / name
        if not file.is_file():
            raise InputError(f"{file} is missing; build the folder again")
        if file_sha256(file) != card["files"][name]:
            raise InputError(f"{file} was changed; build the folder again")
    corpora = {corpus.id: corpus for corpus in _corpora(folder)}
    by_path: dict[str, dict[str, Source]] = {}
    queries = tuple(
        _query(row, corpora, by_path, where) for where, row in read_rows(folder / FILES[0], _Query)
    )
    try:
        dataset = Dataset(
            name=card["name"],
            gold="span",
            corpora=tuple(corpora.values()),
            queries=queries,
            left_out=card["left_out"],
            information=card["information"],
            mask=card["mask"],
        )
    except InputError as error:
        raise InputError(f"{folder} is damaged: {error}; build it again") from None
    if dataset.fingerprint != card["fingerprint"]:
        raise InputError(
            f"the fingerprint of {folder} differs from its card\n"
            "it was changed, or written by another version of chunkmark; build it again"
        )
    expected = _card(dataset, card["options"])
    wrong = next((key for key in expected if expected[key] != card[key]), None)
    if wrong is not None:
        raise InputError(
            f"{folder / CARD} is damaged: {wrong} differs from the files; build the folder again"
        )
    return dataset


def _card(dataset: Dataset, options: Mapping[str, Any]) -> dict[str, Any]:
    skipped = Counter(file.reason for corpus in dataset.corpora for file in corpus.skipped)
    texts = {source.digest for corpus in dataset.corpora for source in corpus.sources}
    return {
        "schema": SCHEMA,
        "name": dataset.name,
        "options": dict(options),
        "fingerprint": dataset.fingerprint,
        "information": dict(dataset.information),
        "queries": len(dataset.queries),
        "corpora": len(dataset.corpora),
        "mask": dataset.mask,
        "files_indexed": sum(len(corpus.sources) for corpus in dataset.corpora),
        "texts": len(texts),
        "left_out": dict(dataset.left_out),
        "files_skipped": dict(sorted(skipped.items())),
    }


def _query_row(query: Query) -> dict[str, Any]:
    return {name: getattr(query, name) for name in _Query.__struct_fields__} | {
        "targets": list(map(astuple, query.targets)),
        "tags": dict(sorted(query.tags.items())),
        "region": query.region and astuple(query.region),
    }


def _query(
    row: _Query,
    corpora: Mapping[str, Corpus],
    by_path: dict[str, dict[str, Source]],
    where: str,
) -> Query:
    """A query. `by_path` keeps the sources, by path, of each corpus with a region."""
    corpus = corpora.get(row.corpus)
    if corpus is None:
        raise InputError(f"{where}: unknown corpus {row.corpus!r:.80}")
    try:
        targets = tuple(Target(*target) for target in row.targets)
        region = None if row.region is None else Region(*row.region)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if region is not None:
        if corpus.id not in by_path:
            by_path[corpus.id] = {source.path: source for source in corpus.sources}
        source = by_path[corpus.id].get(region.path)
        if source is None or region.end_line > source.lines.count:
            raise InputError(
                f"{where}: the region {region.path}:{region.start_line}-{region.end_line} is not "
                "in its corpus"
            )
    return Query(**msgspec.structs.asdict(row) | {"targets": targets, "region": region})


def _corpus_row(corpus: Corpus) -> dict[str, Any]:
    return {
        "id": corpus.id,
        "files": [
            [file.path, file.language, file.encoding, file.digest] for file in corpus.sources
        ],
        "repository": corpus.repository,
    }


def _corpora(folder: Path) -> Iterator[Corpus]:
    """The corpora of a folder; equal files of several corpora are one source."""
    texts: dict[str, Source] = {}
    for where, text in read_rows(folder / FILES[2], _Text):
        source = Source(text.text, "")
        if source.digest != text.sha256:
            raise InputError(f"{where}: the text does not match its sha256")
        texts[text.sha256] = kept(source)
    skipped = {row.id: row.skipped for _, row in read_rows(folder / FILES[3], _SkippedFiles)}
    known: dict[tuple[str, str | None, str, str], Source] = {}
    ids: set[str] = set()
    for where, row in read_rows(folder / FILES[1], _Corpus):
        if row.id in ids or row.id not in skipped:
            raise InputError(
                f"{where}: the corpus {row.id!r:.80} must occur once in {FILES[1]} and {FILES[3]}"
            )
        ids.add(row.id)
        for file in row.files:
            if file not in known:
                known[file] = _source(file, texts, where)
        yield Corpus(
            id=row.id,
            sources=tuple(known[file] for file in row.files),
            skipped=tuple(Skipped(*file) for file in skipped[row.id]),
            repository=row.repository,
        )


def _source(
    file: tuple[str, str | None, str, str], texts: Mapping[str, Source], where: str
) -> Source:
    path, language, encoding, digest = file
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise InputError(f"{where}: {path!r:.80} is not a path inside the corpus")
    if language is not None and language not in LANGUAGES:
        raise InputError(f"{where}: {path} has an unknown language, {language!r:.40}")
    if digest not in texts:
        raise InputError(f"{where}: the text of {path} is missing")
    return relabelled(texts[digest], path=path, language=language, encoding=encoding)


def _text_rows(dataset: Dataset) -> Iterator[dict[str, str]]:
    """The texts, in order of their hashes."""
    files = {file.digest: file for corpus in dataset.corpora for file in corpus.sources}
    for digest in sorted(files):
        yield {"sha256": digest, "text": files[digest].text}
