"""Cards: the description of a data set, its source, what it measures, and the files it needs."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chunkers.errors import InputError
from harness.support.card_folder import cards_dir, read_toml
from harness.support.data_folders import data_dirs, shown_folders
from harness.support.rows import Sha256, Table, Text

_CARD = "dataset.toml"


class Archive(Table, kw_only=True):
    """The archive that a needed file's `instead` is unpacked from.

    It is fetched where its digest is known, or those of the trees that are unpacked from it.

    Attributes:
        url: Its address.
        sha256: Its digest as published.
        trees: Folder -> digest of its Python files (`fetching.tree_digests`). Only these
            files are then unpacked.
        max_bytes: Its size, at most.
        max_unpacked: That of all its files, at most.
    """

    url: Text
    sha256: Sha256 | None = None
    trees: dict[Text, Sha256] = msgspec.field(default_factory=dict)
    max_bytes: Annotated[int, Meta(gt=0)] = 1 << 28
    max_unpacked: Annotated[int, Meta(gt=0)] = 1 << 30


class NeededFile(Table, kw_only=True):
    """A file that must be in a data folder.

    Attributes:
        path: Its path there, parts separated by `/`.
        bytes: Its size as published; None where it is not known.
        sha256: Its digest as published, in hex; None where it is not known, or copies may differ.
        instead: A folder that serves as well.
        url: The address of these very bytes; without a `sha256` they are not fetched.
        archive: The source of `instead`.
        optional: Whether the data set works without it; if present, it is checked.
    """

    path: Text
    bytes: Annotated[int, Meta(ge=0)] | None = None
    sha256: Sha256 | None = None
    instead: Text | None = None
    url: Text | None = None
    archive: Archive | None = None
    optional: bool = False


class AnyOf(Table, kw_only=True):
    """Files or folders, at least one of which must be beside the card's first file.

    Attributes:
        what: Their kind and place, for messages.
        beside: Patterns of their paths, from the folder of the card's first file.
    """

    what: Text
    beside: Annotated[tuple[Text, ...], Meta(min_length=1)]


class Published(Table, kw_only=True):
    """A published figure: a measure's mean with whole documents, ranked by a model's vectors.

    Attributes:
        harness: The program that computed it.
        version: Of that program; None where it is not known.
        model: The model's name on the Hugging Face hub.
        model_revision: Its revision.
        data_revision: The revision of the data; None where it is not known.
        profile: The profile that has the program's conventions.
        measure: The measure, as chunkmark prints it.
        value: The mean.
        source: Where it is published.
    """

    harness: Text
    version: Text | None = None
    model: Text
    model_revision: Text
    data_revision: Text | None = None
    profile: Text
    measure: Text
    value: Annotated[float, Meta(ge=0, le=1)]
    source: Text


class Card(Table, kw_only=True):
    """One `dataset.toml`.

    Attributes:
        name: The data set's name, which is also its folder's.
        title: One line for lists.
        description: What corpora, queries and gold are.
        loader: `module:function`, called as `function(card, data_dir, **options)`.
        licence: Of the data.
        source: Where it is published.
        revision: Its version.
        measures: What a score on it measures.
        faults: Its known faults.
        files: The files that must be in a data folder.
        any_of: Kinds of files, one of each of which must be beside the first of the files.
        published: Published figures, for `chunkmark verify --published`.
        settings: Options of the loader.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*\Z")]
    title: Text
    description: Text
    loader: Annotated[str, Meta(pattern=r"^[\w.]+:[\w.]+\Z")]
    licence: Text
    source: Text
    revision: Text
    measures: Text
    faults: tuple[Text, ...] = ()
    files: tuple[NeededFile, ...] = ()
    any_of: tuple[AnyOf, ...] = ()
    published: tuple[Published, ...] = ()
    settings: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.any_of and not self.files:
            raise ValueError("any_of needs files: it is beside the first of them")


def card_names() -> tuple[str, ...]:
    """Names of all cards, sorted; none is read."""
    return tuple(sorted(card.parent.name for card in cards_dir().glob(f"*/{_CARD}")))


def load_card(name: str) -> Card:
    """Read and check one card.

    Raises:
        InputError: It is missing, invalid TOML, or has a wrong, missing or unknown field.
    """
    return read_card(cards_dir() / name / _CARD)


def read_card(file: Path) -> Card:
    """Read and check the card in `file`.

    Raises:
        InputError: As for `load_card`.
    """
    card = read_toml(file, Card)
    if card.name != file.parent.name:
        raise InputError(f"{file}: the name {card.name!r} is not its folder's")
    return card


def find_file(card: Card, number: int, data_dir: Path | None) -> Path:
    """The path of the card's `files[number]`, or else of the folder `instead` of it.

    Raises:
        InputError: It is in no data folder; the message names the folders and what to place.
    """
    needed = card.files[number]
    path = path_of(needed, data_dirs(data_dir))
    if path is not None:
        return path
    advice = "" if _is_fetchable(needed) else ", which says where to get it and where to save it"
    raise InputError(
        f"data set {card.name} is not here: {needed.path} is in none of the data folders: "
        f"{shown_folders(data_dirs(data_dir))}\nrun `chunkmark dataset fetch {card.name}`{advice}"
    )


def missing_files(card: Card, data_dir: Path | None) -> tuple[str, ...]:
    """What a card needs that is in no data folder: paths of files, and kinds without any file."""
    folders = data_dirs(data_dir)
    needed = (file for file in card.files if not file.optional)
    missing = [file.path for file in needed if path_of(file, folders) is None]
    return (*missing, *(kind.what for kind in card.any_of if not paths_of(card, kind, folders)))


def _is_fetchable(needed: NeededFile) -> bool:
    """Whether `chunkmark dataset fetch` downloads a file."""
    archive = needed.archive
    if needed.url and needed.sha256:
        return True
    return bool(archive and needed.instead and (archive.sha256 or archive.trees))


def paths_of(card: Card, kind: AnyOf, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files of a kind in order of path; none where the card's first file is missing."""
    first = path_of(card.files[0], folders) if card.files else None
    if first is None:
        return ()
    return tuple(sorted(path for each in kind.beside for path in first.parent.glob(each)))


def as_published(needed: NeededFile, data: bytes) -> bool:
    """Whether the bytes of a needed file are those that the card pins, if it pins any."""
    if needed.sha256 is None:
        return needed.bytes in (None, len(data))
    import hashlib

    return hashlib.sha256(data).hexdigest() == needed.sha256


def published_note(needed: NeededFile, data: bytes) -> str:
    """`as published` or `not as published`, for the information of a data set."""
    return "as published" if as_published(needed, data) else "not as published"


def path_of(needed: NeededFile, folders: tuple[Path, ...]) -> Path | None:
    """The path of a needed file, or of the folder instead of it; None if it is missing."""
    for folder in folders:
        if (folder / needed.path).is_file():
            return folder / needed.path
        if needed.instead is not None and (folder / needed.instead).is_dir():
            return folder / needed.instead
    return None
