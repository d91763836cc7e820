"""A folder that `chunkmark dataset build` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.folder import read_folder
from harness.support.data_folders import data_dirs

if TYPE_CHECKING:
    from harness.datasets.cards import Card
    from harness.model import Dataset


def load(card: Card, data_dir: Path | None, *, argument: str) -> Dataset:
    """Load the folder `argument`, a path or the name of a folder in a data folder.

    Raises:
        InputError: It is not there, or damaged; the message names what is.
    """
    del card
    return read_folder(find_folder(argument, data_dir))


def find_folder(argument: str, data_dir: Path | None) -> Path:
    """The folder of this path, or of this name in a data folder.

    Raises:
        InputError: It is not there.
    """
    looked = [Path(argument), *(folder / argument for folder in data_dirs(data_dir))]
    for folder in looked:
        if folder.is_dir():
            return folder
    raise InputError(
        f"no folder {argument} here or in the data folders {', '.join(map(str, looked[1:]))}\n"
        "name one that `chunkmark dataset build` wrote"
    )
