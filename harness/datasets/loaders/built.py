"""A folder that `chunkmark dataset build` wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.building.folder import read_folder
from harness.datasets.loaders.files import find_folder

if TYPE_CHECKING:
    from pathlib import Path

    from harness.datasets.cards import Card
    from harness.model import Dataset

NEEDED = "one that `chunkmark dataset build` wrote"


def load(card: Card, data_dir: Path | None, *, argument: str) -> Dataset:
    """Load the folder `argument`, a path or the name of a folder in a data folder.

    Raises:
        InputError: It does not exist, or is damaged; the message names the damage.
    """
    del card
    return read_folder(find_folder(argument, data_dir, NEEDED))
