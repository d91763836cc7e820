"""Replays edits by a chunker, and counts the chunks that an index must change.

Counts are of multisets: a text counts as often as it occurs. What is unchanged in the rest of the
tree cancels out, so that the files of an edit give the counts of the whole tree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.source import Services
from harness.chunking.corpus import chunk_corpora, covered_chars
from harness.chunking.layout import squeezed
from harness.churn.edits import groups_of
from harness.model import Corpus
from harness.runs.config import RunConfig
from harness.runs.failures import parse_max_failures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.source import Source
    from harness.chunking.chunks import Chunk
    from harness.chunking.corpus import ChunkedCorpus
    from harness.churn.edits import Edit

MAX_FAILURES = RunConfig.max_failures
"""How many file versions a chunker may fail on, as in a run by default."""

_BATCH = 1 << 24  # characters that are cut together; what a batch shares is cut once


@dataclass(frozen=True)
class Counts:
    """What an edit does to an index.

    Attributes:
        chunks: Chunks of the edited files after the edit.
        again: Those whose embedded text was not there before: they must be embedded again.
        again_chars: Non-white-space characters of these texts, headers included.
        kept: The other chunks.
        moved: Those of them that have another id `path:start-end`.
        gone: Chunks before the edit whose text is not there after it.
    """

    chunks: int
    again: int
    again_chars: int
    kept: int
    moved: int
    gone: int


def count_changes(before: Sequence[Chunk], after: Sequence[Chunk]) -> Counts:
    """Compare the chunks of the same files, or of whole trees, before and after an edit."""
    old, new = (Counter(chunk.text for chunk in chunks) for chunks in (before, after))
    again = new - old
    kept = len(after) - again.total()
    ids = [Counter((chunk.id, chunk.text) for chunk in chunks) for chunks in (before, after)]
    return Counts(
        chunks=len(after),
        again=again.total(),
        again_chars=sum(len(squeezed(text)) * count for text, count in again.items()),
        kept=kept,
        moved=kept - (ids[0] & ids[1]).total(),
        gone=(old - new).total(),
    )


@dataclass(frozen=True)
class Replay:
    """The counts of a chunker for each edit, by group; None where it failed on a file.

    `failures` are commit, path and reason of each. `coverage` is the share of the edited files that
    is in some chunk after the edits, `chunk_chars` the mean size of a chunk; both in
    non-white-space characters, and 0 without any.
    """

    counts: tuple[dict[tuple[str, str], Counts] | None, ...]
    failures: tuple[tuple[str, str, str], ...]
    coverage: float
    chunk_chars: float


def replay(
    edits: Sequence[Edit],
    chunker: LoadedChunker,
    by: Sequence[str] = (),
    count_tokens: Callable[[str], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Cut every edited file before and after each edit, and count what changed.

    Args:
        edits: The edits.
        chunker: The chunker.
        by: Groups, see `groups_of`.
        count_tokens: Counts the tokens of a text, for chunkers that need it.
        progress: Gets the numbers of finished files and of all, batch by batch.

    Raises:
        TooManyFailuresError: It fails on over 1 % of the file versions, or cuts none.
        InputError: Another process cannot load it.
    """
    counts: list[dict[tuple[str, str], Counts] | None] = []
    failures: list[tuple[str, str, str]] = []
    covered = in_chunks = characters = chunks = 0
    for edit, before, after in cut_edits(edits, chunker, count_tokens, progress):
        failed = dict.fromkeys([*before.failures, *after.failures])
        failures += [(edit.commit, *failure) for failure in failed]
        counts.append(None if failed else _by_group(edit, by, before, after))
        distinct, total, whole = covered_chars(after)
        covered, in_chunks, characters = covered + distinct, in_chunks + total, characters + whole
        chunks += len(after.chunks)
    return Replay(
        tuple(counts),
        tuple(failures),
        covered / characters if characters else 0.0,
        in_chunks / chunks if chunks else 0.0,
    )


def cut_edits(
    edits: Sequence[Edit],
    chunker: LoadedChunker,
    count_tokens: Callable[[str], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[Edit, ChunkedCorpus, ChunkedCorpus]]:
    """Each edit with the chunks of its files before and after it; see `replay`."""
    for batch in _batches(edits):
        sides = [(f"{edit.commit}^", edit.before) for edit in batch]
        sides += [(edit.commit, edit.after) for edit in batch]
        corpora = [Corpus(name, tuple(files), of="repo") for name, files in sides]
        versions = sum(len(corpus.sources) for corpus in corpora)
        most = parse_max_failures(MAX_FAILURES).of(versions)
        services = Services(count_tokens=count_tokens)
        cut = chunk_corpora(corpora, chunker, services, progress, most=most)
        yield from zip(batch, cut, cut[len(batch) :], strict=False)


def _batches(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    batch: list[Edit] = []
    size = 0
    for edit in edits:
        batch.append(edit)
        size += sum(len(file.text) for file in (*edit.before, *edit.after))
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _by_group(
    edit: Edit, by: Sequence[str], before: ChunkedCorpus, after: ChunkedCorpus
) -> dict[tuple[str, str], Counts]:
    return {
        key: count_changes(_of(before, part.before), _of(after, part.after))
        for key, part in groups_of(edit, by).items()
    }


def _of(chunked: ChunkedCorpus, sources: Iterable[Source]) -> list[Chunk]:
    """The chunks of some of the files."""
    paths = {source.path for source in sources}
    return [chunk for file in chunked.chunks.files if file.path in paths for chunk in file]
