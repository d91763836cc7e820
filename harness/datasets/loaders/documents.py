"""What loaders of document collections share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.model import Corpus


def blank(corpora: Iterable[Corpus]) -> int:
    """How many documents of corpora are without text."""
    return sum(not source.text.strip() for corpus in corpora for source in corpus.sources)
