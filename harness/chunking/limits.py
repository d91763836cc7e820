"""The time that a chunker may take for a file, and the error where it fails on too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 60.0
"""Default time limit of a chunker for a file, many times what the slowest one needs."""


class TooManyFailuresError(Exception):
    """A chunker failed on more files than may fail.

    `failures` are corpus, path and reason of each; `tried` of `files` were tried.
    """

    def __init__(self, failures: Sequence[tuple[str, str, str]], tried: int, files: int) -> None:
        super().__init__(f"failed on {len(failures)} of {files} files")
        self.failures, self.tried, self.files = tuple(failures), tried, files
