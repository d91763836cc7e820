"""A folder that `chunkmark dataset build` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.folder import read_folder
from harness.places import data_dirs

if TYPE_CHECKING:
    from harness.cards import Card
    from harness.model import Dataset


def load(card: Card, data_dir: Path | None, *, argument: str) -> Dataset:
    """Load the folder `argument`, a path or the name of a folder in a data folder.

    Raises:
        InputError: It is not there, or damaged; the message names what is.
    """
    del card
    looked = [Path(argument), *(folder / argument for folder in data_dirs(data_dir))]
    for folder in looked:
        if folder.is_dir():
            return read_folder(folder)
    raise InputError(
        f"no folder {argument} here or in the data folders {', '.join(map(str, looked[1:]))}\n"
        "name one that `chunkmark dataset build` wrote"
    )
