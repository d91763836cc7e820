"""CoSQA: questions that people asked a search engine, to Python functions, in BEIR's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from harness.datasets.cards import find_file
from harness.datasets.loaders import beir

if TYPE_CHECKING:
    from pathlib import Path

    from harness.datasets.cards import Card
    from harness.model import Dataset


def load(
    card: Card, data_dir: Path | None, *, pooling: Literal["max", "first", "sum"] = "max"
) -> Dataset:
    """Load the folder that holds the card's files, the first of them at its top.

    Args:
        card: Its files are corpus.jsonl, queries.jsonl and qrels/test.tsv of one folder.
        data_dir: A folder looked into first.
        pooling: How a function cut into chunks scores.

    Raises:
        InputError: A file is missing or damaged; the message names the line.
    """
    documents, *_ = (find_file(card, number, data_dir) for number in range(len(card.files)))
    folder = str(documents.parent.resolve())
    return beir.load(card, data_dir, argument=folder, split="test", pooling=pooling)
