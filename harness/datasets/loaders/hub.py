"""A data set of the Hugging Face hub in BEIR's layout: tables of documents, queries and judgements.

The card's settings name the repository, its revision a commit. Documents and queries have `_id` (or
`id`) and `text`, documents perhaps `title`; judgements have `query-id`, `corpus-id` and `score`.
Files are downloaded by huggingface_hub into its cache, and read by the library `datasets`. Nothing
of the repository is run.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from chunkers.errors import InputError, install_command, suggestion
from harness.datasets.fetching.fetch import FileStatus
from harness.datasets.loaders.beir import (
    Collection,
    Pooling,
    TextRow,
    Title,
    TitledRow,
    documents_of,
    make_dataset,
    texts_of,
)
from harness.reading.qrels import collect_qrels
from harness.support.hub import download
from harness.support.rows import Id, Number, Row, Text, validated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from harness.datasets.cards import Card
    from harness.model import Dataset
    from harness.support.rows import AnyRow

_README = "README.md"
_FORMATS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".csv": "csv"}
_ALL = "all"


class Size(Row):
    """How many documents a corpus has, and how many of its queries are judged in the split test."""

    documents: int
    queries: int


class Settings(Row, kw_only=True):
    """The settings of a card.

    Attributes:
        repository: Its name on the hub.
        title: Whether a document's title, if it has one, and a space go before its text.
        partition: Only queries with this value in the column `partition` are read.
        sizes: By language, which goes before the names of its tables (`go-corpus`), or for `all` if
            the repository has one corpus. What is read must have these sizes.
    """

    repository: Text
    title: Title = "join"
    partition: Text | None = None
    sizes: dict[Text, Size]


class _Query(TextRow):
    partition: str | None = None


class _Judgement(Row):
    query: Id = msgspec.field(name="query-id")
    document: Id = msgspec.field(name="corpus-id")
    grade: Number = msgspec.field(name="score")


def load(
    card: Card,
    data_dir: Path | None,
    *,
    language: str = _ALL,
    split: str = "test",
    title: Title | None = None,
    pooling: Pooling = "max",
) -> Dataset:
    """Load the repository of a card, from the cache of huggingface_hub or the network.

    Args:
        card: Its `revision` is the hash of a commit, its settings are `Settings`.
        data_dir: Not used: the files are in the cache.
        language: One of the card's, each of which is a corpus, or `all`.
        split: Of each table; a table with one split has no other.
        title: As in `Settings`, whose value is the default.
        pooling: How a document cut into chunks scores.

    Raises:
        InputError: The package `datasets` is missing, the files cannot be downloaded or read, or
            they are not as the card says.
    """
    del data_dir
    settings = _settings(card)
    languages = sorted(settings.sizes)
    if language not in (*languages, _ALL):
        hint = suggestion(language, (*languages, _ALL), f"chunkmark dataset info {card.name}")
        raise InputError(f"{card.name}: unknown language {language!r}; {hint}")
    title = title or settings.title
    repository = _Repository(card.name, settings, card.revision)
    collections = {
        "" if name == _ALL else name: repository.collection(name, split, title)
        for name in (languages if language == _ALL else [language])
    }
    information = {
        "repository": settings.repository,
        "revision": card.revision,
        "split": split,
        "title": title,
    }
    return make_dataset(card, collections, information, pooling)


def is_of_hub(card: Card) -> bool:
    """Whether a data set is loaded from the hub."""
    return card.loader == f"{__name__}:{load.__name__}"


def fetch_from_hub(card: Card) -> FileStatus:
    """Bring the tables of a data set into the cache of huggingface_hub, and check their sizes.

    Raises:
        InputError: As for `load`.
    """
    from huggingface_hub.constants import HF_HUB_CACHE

    load(card, None)
    repository = _settings(card).repository
    note = f"revision {card.revision}; as many documents and queries as the card says"
    return FileStatus(repository, "fetched", HF_HUB_CACHE, None, card.source, note)


def _settings(card: Card) -> Settings:
    return validated(Settings, card.settings, f"card {card.name}: settings")


@dataclass(frozen=True)
class _Repository:
    """A repository at a commit, for the data set of this name."""

    name: str
    settings: Settings
    revision: str

    def collection(self, language: str, split: str, title: str) -> Collection:
        """The documents, queries and judgements of a language, or of `all`.

        Raises:
            InputError: A table is missing or damaged, or has another size than the card says.
        """
        before = "" if language == _ALL else f"{language}-"
        qrels_table = f"{before}qrels"
        if not before and "default" in self._tables:
            qrels_table = "default"
        kind = TitledRow if title == "join" else TextRow
        documents = documents_of(self._rows(f"{before}corpus", split, kind))
        queries = texts_of(
            (where, row)
            for where, row in self._rows(f"{before}queries", split, _Query)
            if self.settings.partition in (None, row.partition)
        )
        qrels = collect_qrels(
            (where, row.query, row.document, row.grade)
            for where, row in self._rows(qrels_table, split, _Judgement)
        )
        size = self.settings.sizes[language]
        judged = len(qrels.grades.keys() & queries.keys())
        if split == "test" and (len(documents), judged) != (size.documents, size.queries):
            raise InputError(
                f"{self}: {before}corpus has {len(documents):,} documents, {before}queries "
                f"{judged:,} that are judged; the card says {size.documents:,} and {size.queries:,}"
            )
        return Collection(documents, queries, qrels, f"{self}, {qrels_table}, {split}:")

    def __str__(self) -> str:
        return f"{self.name}: {self.settings.repository} at {self.revision[:12]}"

    def _rows(self, table: str, split: str, kind: type[AnyRow]) -> Iterator[tuple[str, AnyRow]]:
        """The rows of a table, each with its place for messages."""
        library = _library(self.name)
        where = f"{self}, {table}"
        splits = self._tables.get(table)
        if splits is None:
            there = ", ".join(sorted(self._tables)) or "none"
            raise InputError(f"{where}: there is no such table; there are {there}")
        name = next(iter(splits)) if len(splits) == 1 else split
        if name not in splits:
            raise InputError(f"{where}: no split {split!r}; there are {', '.join(splits)}")
        files = self._files(splits[name])
        suffixes = {file.suffix for file in files}
        if len(suffixes) != 1 or not suffixes <= _FORMATS.keys():
            formats = ", ".join(_FORMATS)
            raise InputError(f"{where}, {name}: no files of one format among {formats}")
        try:
            rows = library.load_dataset(
                _FORMATS[suffixes.pop()], data_files=[str(file) for file in files], split="train"
            )
        except Exception as error:  # of the library, of pyarrow, or of the system
            cause = error.__cause__ or error
            # Of the whole repository, for the snapshot has only links to its files.
            cached = next(path for path in files[0].parents if path.name == "snapshots").parent
            raise InputError(
                f"{where}, {name}: the file is damaged: {' '.join(str(cause).split())[:200]}\n"
                f"remove {cached}, and run again to download it"
            ) from error
        if "_id" not in rows.column_names and "id" in rows.column_names:
            rows = rows.rename_column("id", "_id")
        keys = kind.__struct_encode_fields__
        rows = rows.select_columns([key for key in keys if key in rows.column_names])
        for number, row in enumerate(rows, 1):
            place = f"{where}, {name}, row {number}"
            yield place, validated(kind, row, place)

    @cached_property
    def _tables(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The patterns of the files of each table and split, by the repository's README."""
        from huggingface_hub import metadata_load

        sanitize = _library(self.name).data_files.sanitize_patterns
        (readme,) = self._files([_README])
        try:
            configurations = (metadata_load(readme) or {}).get("configs") or ()
            return {
                each["config_name"]: {
                    str(split): list(patterns)
                    for split, patterns in sanitize(each["data_files"]).items()
                }
                for each in configurations
            }
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self}: {_README} names no tables: {error}") from None

    def _files(self, patterns: list[str]) -> list[Path]:
        """The files of these patterns, in order of path."""
        try:
            folder = download(self.settings.repository, "dataset", patterns, self.revision)
        except InputError as error:
            raise InputError(
                f"{self}: {error}\n"
                "connect to the network, set HF_HOME to a cache that holds it, or use a folder in "
                "BEIR's layout: `chunkmark run -d beir:FOLDER`"
            ) from error
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        names = {path: path.relative_to(folder).as_posix() for path in paths}
        return [
            path
            for path in paths
            if any(fnmatch.fnmatch(names[path], pattern) for pattern in patterns)
        ]


def _library(name: str) -> Any:
    """The library `datasets`, which a folder of that name on the path may hide.

    Raises:
        InputError: It is not installed.
    """
    import importlib

    try:
        library = importlib.import_module("datasets")
        library.load_dataset, library.data_files.sanitize_patterns  # noqa: B018
    except (ImportError, AttributeError):
        raise InputError(
            f"{name}: the library datasets is missing; {install_command('hub')}"
        ) from None
    library.disable_progress_bars()
    return library
