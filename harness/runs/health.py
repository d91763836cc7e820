"""What a cell lost or cut short: the counts and shares that stand beside its scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.chunking.corpus import duplicates
from harness.chunking.coverage import coverage_shares, size_statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.embedding.text_vectors import Vectors
    from harness.model import Corpus
    from harness.runs.query_set import QuerySet

TRUNCATION_MARK = 0.1
"""Share of unseen chunk tokens above which a cell says little about boundaries."""


def truncated(health: Mapping[str, Any]) -> bool:
    """Whether the health of a cell earns it the truncation mark, from embedder or cross-encoder."""
    shares = (health["unseen_chunk_tokens"], health.get("unseen_rerank_text_tokens"))
    return any(unseen is not None and unseen > TRUNCATION_MARK for unseen in shares)


def chunk_health(
    prepared: QuerySet, chunked: Sequence[ChunkedCorpus], chunker: LoadedChunker, gold_uncut: int
) -> dict[str, Any]:
    """Counts and shares of the files and chunks of a cell.

    Args:
        prepared: Corpora and queries.
        chunked: What was cut, each file once: with masks the corpora as they are, which the
            counts of files speak of, and every masked file.
        chunker: By what.
        gold_uncut: Targets that no chunk covers.

    Returns:
        `files_seen`, `files_indexed`, `files_skipped`, `files_failed` (counts); `coverage`,
        `repeated` (shares of the non-white-space characters of the corpus that are in some chunk,
        and in a further one); `single_chunk_files` (share of the files with chunks that have just
        one); `gold_uncut` (targets that no chunk covers); `chunks`,
        `duplicates` (chunks whose text another chunk of the corpus has too); `size_max`,
        `size_p95` (in the chunker's unit); `over_size`, `unlocated`, `blank` (counts of chunks);
        `notes` (what the chunker reported, in files).
    """
    whole = [one for one in chunked if not one.corpus.of]
    notes: Counter[str] = Counter()
    for one in chunked:
        notes.update(one.notes)
    return {
        **file_counts(one.corpus for one in whole),
        "files_failed": sum(len(one.failures) for one in chunked),
        "chunks": sum(len(one.chunks) for one in chunked),
        **coverage_shares(chunked),
        "single_chunk_files": _single(whole),
        "gold_uncut": gold_uncut,
        "duplicates": sum(duplicates(one) for one in chunked),
        **size_statistics(chunked, chunker),
        "unlocated": sum(one.unlocated for one in chunked),
        "blank": sum(one.blank for one in chunked),
        "notes": dict(sorted(notes.items())),
    }


def file_counts(corpora: Iterable[Corpus]) -> dict[str, int]:
    """How many files corpora have, indexed and not; copies for masked queries do not count."""
    own = [one for one in corpora if not one.of]
    skipped = sum(len(one.skipped) for one in own)
    indexed = sum(len(one.sources) for one in own)
    return {
        "files_seen": skipped + indexed,
        "files_indexed": indexed,
        "files_skipped": skipped,
    }


def truncation(
    embedder: Embedder | None,
    documents: Vectors | None,
    queries: Vectors | None,
    again: Vectors | None,
    of_chunk: Sequence[Sequence[Sequence[int]]],
) -> dict[str, float | int | None]:
    """Shares of tokens that the embedder never saw.

    Args:
        embedder: The embedder.
        documents: Vectors of the distinct texts.
        queries: Vectors of the queries.
        again: Vectors of second queries, of which an empty one has no tokens.
        of_chunk: The numbers of the texts of each chunk, by corpus.

    Returns:
        `unseen_chunk_tokens`, `unseen_query_tokens`, `unseen_second_query_tokens` (shares),
        `truncated_chunks` (texts over the limit); None where nothing was embedded, or the limit
        is unknown.
    """
    shares = ("unseen_chunk_tokens", "unseen_query_tokens", "unseen_second_query_tokens")
    limit = None if embedder is None else embedder.limit
    if embedder is None or limit is None or documents is None or queries is None:
        return dict.fromkeys((*shares, "truncated_chunks"))
    asked = embedder.query_limit or limit
    used = [text for corpus in of_chunk for texts in corpus for text in texts]
    share, truncated = unseen_share(documents.tokens[np.array(used, dtype=np.int64)], limit)
    return {
        "unseen_chunk_tokens": share,
        "unseen_query_tokens": unseen_share(queries.tokens, asked)[0],
        "unseen_second_query_tokens": None
        if again is None
        else unseen_share(again.tokens, asked)[0],
        "truncated_chunks": truncated,
    }


def pair_truncation(counts: Mapping[str, int]) -> dict[str, float | int | None]:
    """What a cross-encoder never saw of its pairs.

    Args:
        counts: What was counted while ranking.

    Returns:
        `unseen_rerank_tokens` (share of the tokens of all pairs), `unseen_rerank_text_tokens`
        (of those of their texts), `truncated_pairs` (pairs over the model's limit); None without a
        cross-encoder.
    """
    if "pairs" not in counts:
        shares = ("unseen_rerank_tokens", "unseen_rerank_text_tokens")
        return dict.fromkeys((*shares, "truncated_pairs"))
    return {
        "unseen_rerank_tokens": _share(
            counts.get("unseen_pair_tokens", 0), counts.get("pair_tokens", 0)
        ),
        "unseen_rerank_text_tokens": _share(
            counts.get("unseen_pair_text_tokens", 0), counts.get("pair_text_tokens", 0)
        ),
        "truncated_pairs": counts.get("truncated_pairs", 0),
    }


def unseen_share(tokens: np.typing.NDArray[np.int64], limit: int) -> tuple[float, int]:
    """Share of the tokens that lies beyond the limit, and the number of texts that pass it."""
    lost = np.maximum(tokens - limit, 0)
    return _share(lost.sum(), tokens.sum()), int((lost > 0).sum())


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else 0.0


def _single(chunked: Sequence[ChunkedCorpus]) -> float:
    counts = [Counter(chunk.path for chunk in one.chunks) for one in chunked]
    files = [count for one in counts for count in one.values()]
    return _share(files.count(1), len(files))


def uncovered_targets(prepared: QuerySet, chunked: Sequence[ChunkedCorpus]) -> int:
    """Targets of which no character lies in a chunk; indexed documents without a chunk."""
    by_corpus = {one.corpus.id: one for one in chunked}
    pieces: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one in chunked:
        for chunk in one.chunks:
            pieces.setdefault((one.corpus.id, chunk.path), []).extend(chunk.parts)
    uncut = 0
    for query, places in zip(prepared.queries, prepared.places, strict=True):
        for place in places:
            path, low, high = place.stretch
            chunks = pieces.get((query.corpus, path), [])
            uncut += not any(begin < high and low < end for begin, end in chunks)
        relevant = [name for name, grade in (query.qrels or {}).items() if grade > 0]
        uncut += sum((by_corpus[query.corpus].corpus.id, name) not in pieces for name in relevant)
    return uncut
