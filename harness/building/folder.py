"""The folder that `chunkmark dataset build` writes: a data set that needs nothing beside itself.

    dataset.json    where it is from, by which options, what was left out, the fingerprint
    queries.jsonl   one query a line
    corpora.jsonl   one corpus a line: its files, each by the hash of its text
    texts.jsonl     one text a line, which corpora share
    skipped.jsonl   one corpus a line: its files that are not indexed, each with the reason

Names and times of this machine are in none of them: the same repository gives the same bytes. A
file that is not indexed changes no byte of the first three.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.source import Source
from harness.files import DAMAGED, PARTIAL, file_sha256, write_json, write_jsonl
from harness.model import Corpus, Dataset, Query, Region, Skipped, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCHEMA = "chunkmark.dataset/1"
CARD = "dataset.json"
FILES = ("queries.jsonl", "corpora.jsonl", "texts.jsonl", "skipped.jsonl")


def write_folder(dataset: Dataset, folder: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Write a data set whose gold is lines; the folder appears when it is whole.

    Args:
        dataset: What to write.
        folder: It must be empty, or not there.
        options: By which it was made, for the card.

    Returns:
        The card.

    Raises:
        InputError: The folder holds something, or cannot be written.
    """
    refuse_folder(folder)
    folder = folder.absolute()
    partial = folder.with_name(f"{PARTIAL}{folder.name}-{os.getpid()}")
    try:
        partial.mkdir(parents=True)
        write_jsonl(partial / FILES[0], map(_query_row, dataset.queries))
        write_jsonl(partial / FILES[1], map(_corpus_row, dataset.corpora))
        write_jsonl(partial / FILES[2], _text_rows(dataset))
        write_jsonl(partial / FILES[3], map(_skipped_row, dataset.corpora))
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
    return card


def refuse_folder(folder: Path) -> None:
    """Stop where a folder to be written holds something.

    Raises:
        InputError: It does, or is no folder.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputError(f"{folder} is there and not empty; remove it, or name another by -o")


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a folder, its schema checked.

    Raises:
        InputError: There is none, it is damaged, or of another release.
    """
    file = folder / CARD
    if not file.is_file():
        raise InputError(f"{folder} holds no {CARD}; name a folder that `dataset build` wrote")
    try:
        card = json.loads(file.read_bytes())
        schema, fingerprint = card["schema"], card["fingerprint"]
        damaged = not isinstance(fingerprint, str) or set(card["files"]) != set(FILES)
    except DAMAGED as error:
        raise InputError(f"{file} is damaged ({error}); build the folder again") from None
    if schema != SCHEMA:
        raise InputError(f"{file} has the schema {schema!r:.60}; this release reads {SCHEMA}")
    if damaged:
        raise InputError(f"{file} is damaged; build the folder again")
    return dict(card)


def read_folder(folder: Path) -> Dataset:
    """The data set of a folder.

    Raises:
        InputError: A file is missing or is not as it was written; the message names it.
    """
    card = read_card(folder)
    for name in FILES:
        file = folder / name
        if not file.is_file():
            raise InputError(f"{file} is missing; build the folder again")
        if file_sha256(file) != card["files"][name]:
            raise InputError(f"{file} is not as it was written; build the folder again")
    try:
        texts = {row["sha256"]: row["text"] for row in _rows(folder / FILES[2])}
        known: dict[tuple[Any, ...], Source] = {}
        skipped = {row["id"]: row["skipped"] for row in _rows(folder / FILES[3])}
        dataset = Dataset(
            name=card["name"],
            gold="span",
            corpora=tuple(_corpus(row, skipped, texts, known) for row in _rows(folder / FILES[1])),
            queries=tuple(map(_query, _rows(folder / FILES[0]))),
            left_out=card["left_out"],
            information=card["information"],
            mask=bool(card.get("mask", False)),
        )
    except DAMAGED as error:
        raise InputError(f"{folder} is damaged ({error!r}); build it again") from None
    if dataset.fingerprint != card["fingerprint"]:
        raise InputError(f"{folder} is damaged: its fingerprint is another; build it again")
    return dataset


def _card(dataset: Dataset, options: Mapping[str, Any]) -> dict[str, Any]:
    skipped = Counter(one.reason for corpus in dataset.corpora for one in corpus.skipped)
    texts = {_digest(source.text) for corpus in dataset.corpora for source in corpus.sources}
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
    region = query.region
    return {
        "id": query.id,
        "corpus": query.corpus,
        "text": query.text,
        "targets": [[one.path, one.start_line, one.end_line, one.grade] for one in query.targets],
        "tags": dict(sorted(query.tags.items())),
        "cluster": query.cluster,
        "truncate": query.truncate,
        "region": None if region is None else [region.path, region.start_line, region.end_line],
    }


def _query(row: dict[str, Any]) -> Query:
    return Query(
        id=row["id"],
        corpus=row["corpus"],
        text=row["text"],
        targets=tuple(Target(*one) for one in row["targets"]),
        truncate=row["truncate"],
        tags=row["tags"],
        cluster=row["cluster"],
        region=None if row["region"] is None else Region(*row["region"]),
    )


def _corpus_row(corpus: Corpus) -> dict[str, Any]:
    return {
        "id": corpus.id,
        "files": [
            [one.path, one.language, one.encoding, _digest(one.text)] for one in corpus.sources
        ],
        "repository": corpus.repository,
    }


def _skipped_row(corpus: Corpus) -> dict[str, Any]:
    return {"id": corpus.id, "skipped": [[one.path, one.reason] for one in corpus.skipped]}


def _corpus(
    row: dict[str, Any],
    skipped: Mapping[str, Any],
    texts: Mapping[str, str],
    known: dict[tuple[Any, ...], Source],
) -> Corpus:
    """A corpus; `known` holds the files that corpora share."""
    files = [tuple(one) for one in row["files"]]
    for file in files:
        path, language, encoding, digest = file
        if file not in known:
            known[file] = Source(texts[digest], path, language, encoding)
    return Corpus(
        id=row["id"],
        sources=tuple(known[file] for file in files),
        skipped=tuple(Skipped(*one) for one in skipped[row["id"]]),
        repository=row["repository"],
    )


def _text_rows(dataset: Dataset) -> Iterator[dict[str, str]]:
    """Every text once, in order of its hash."""
    texts = {_digest(one.text): one.text for corpus in dataset.corpora for one in corpus.sources}
    for digest in sorted(texts):
        yield {"sha256": digest, "text": texts[digest]}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as lines:
        for line in lines:
            yield json.loads(line)
