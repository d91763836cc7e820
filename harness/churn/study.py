"""Compares chunkers on the edits of a history: their counts, summaries and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import FailedError, InputError
from harness.chunking.limits import TooManyFailuresError
from harness.churn.edits import WHOLE, groups_of, in_order
from harness.churn.replay import MAX_FAILURES, replay
from harness.churn.summary import summarise
from harness.runs.failures import own_reason
from harness.stats import MARGIN
from harness.support.progress import silent
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from harness.churn.edits import History
    from harness.churn.replay import Counts, Replay
    from harness.churn.summary import Result
    from harness.support.progress import Tell


@dataclass(frozen=True)
class Study:
    """Chunkers compared on the edits of a history.

    Attributes:
        history: The edits.
        replays: By chunker.
        refused: Chunkers that failed on too many files, each with the reason.
        counted: Which edits count: those on whose files no chunker failed.
        results: By group; all edits are the group `WHOLE`.
    """

    history: History
    replays: Mapping[str, Replay]
    refused: Mapping[str, str]
    counted: tuple[bool, ...]
    results: Mapping[tuple[str, str], Result]

    @property
    def failures(self) -> list[str]:
        """A line for each chunker that was refused, and for each file that one failed on."""
        lines = [f"not compared: {name} {reason}" for name, reason in self.refused.items()]
        for name, replayed in self.replays.items():
            for commit, path, reason in replayed.failures:
                why = own_reason(reason, name, path)
                lines.append(f"{name} failed on {path} of commit {commit[:12]}: {why}")
        return lines


def study(
    history: History,
    chunkers: Sequence[LoadedChunker],
    pairs: Sequence[tuple[str, str]] = (),
    by: Sequence[str] = (),
    *,
    count_tokens: Callable[[str], int] | None = None,
    margin: float = MARGIN,
    seed: int = 0,
    tell: Tell = silent,
) -> Study:
    """Replay the edits by every chunker.

    Args:
        history: The edits.
        chunkers: The chunkers, none of which cuts by vectors.
        pairs: Names of a chunker and of the one that it is compared with.
        by: `language`, `size`, both or none.
        count_tokens: Counts the tokens of a text, for chunkers that need it.
        margin: See `harness.churn.summary.summarise`.
        seed: Likewise.
        tell: Gets the phase and the numbers of finished steps and of all.

    Raises:
        InputError: No edit remains.
        FailedError: No chunker remains.
    """
    replays: dict[str, Replay] = {}
    refused: dict[str, str] = {}
    for chunker in chunkers:

        def progress(done: int, total: int, name: str = chunker.name) -> None:
            tell(f"cutting by {name}", done, total)

        try:
            replays[chunker.name] = replay(history.edits, chunker, by, count_tokens, progress)
        except TooManyFailuresError as error:
            _, path, reason = error.failures[0]
            refused[chunker.name] = (
                f"failed on {len(error.failures)} of {counted(error.files, 'file version')}, over "
                f"{MAX_FAILURES}; {path}: {own_reason(reason, chunker.name, path)}"
            )
    rows = zip(*(replayed.counts for replayed in replays.values()), strict=True)
    kept = tuple(None not in row for row in rows)
    if not any(kept):
        reasons = [f"{name} {reason}" for name, reason in refused.items()]
        if reasons:
            raise FailedError(f"no edit is left to compare: {reasons[0]}")
        raise InputError("no edit is left to compare")
    compared = [pair for pair in pairs if set(pair) <= replays.keys()]
    results = {}
    parts = [groups_of(edit, by) for edit in history.edits]
    for key in in_order(key for part in parts for key in part):
        chosen = [at for at, part in enumerate(parts) if kept[at] and key in part]
        if chosen:
            results[key] = summarise(
                {
                    name: [_at(replayed, at, key) for at in chosen]
                    for name, replayed in replays.items()
                },
                [parts[at][key].changed for at in chosen],
                [len(parts[at][key].files) for at in chosen],
                compared,
                margin=margin,
                exploratory=key != WHOLE,
                seed=seed,
            )
    return Study(history, replays, refused, kept, results)


def _at(replayed: Replay, edit: int, key: tuple[str, str]) -> Counts:
    groups = replayed.counts[edit]
    if groups is None:
        raise ValueError("an edit with a failure does not count")
    return groups[key]
