"""The health of a cell: text and tokens that were lost, as counts and shares beside its scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.embedding.text_vectors import Vectors
    from harness.model import Corpus
    from harness.runs.query_set import QuerySet

TRUNCATION_MARK = 0.1
"""Share of unseen chunk tokens above which scores say little about boundaries."""


def truncated(health: Mapping[str, Any]) -> bool:
    """Whether a model misses more than `TRUNCATION_MARK` of the chunk tokens."""
    shares = (health["unseen_chunk_tokens"], health["unseen_rerank_text_tokens"])
    return any(share is not None and share > TRUNCATION_MARK for share in shares)


def chunk_health(chunked: Sequence[ChunkedCorpus], chunker: LoadedChunker) -> dict[str, Any]:
    """Counts and shares of the files and chunks of a cell.

    Each file is chunked once. Masked files are not in the counts of files.

    Returns:
        Counts of files: `files_seen`, `files_indexed`, `files_skipped`, `files_failed`, and
        `single_chunk_files` and `fallback` (cut in another way than the chunker's own) as shares.
        Shares of non-white-space characters: `coverage` (in some chunk), `embedded` (of those in
        chunks, in what is embedded) and `repeated` (in a further chunk); `embedded_per_char`
        (embedded for each in a chunk) and `median_c` (of the chunks' sizes). Counts of chunks:
        `chunks`, `duplicates` (their text is that of another chunk), `over_size`, `unlocated`,
        `blank`. Sizes in the chunker's unit: `size_max`, `size_p95`. `notes`: files by what the
        chunker reported about them.
    """
    from harness.chunking.corpus import coverage_shares, duplicates, size_statistics

    whole = [corpus for corpus in chunked if not corpus.corpus.of]
    counts = [len(file) for corpus in whole for file in corpus.chunks.files if len(file)]
    notes = sum((corpus.notes for corpus in chunked), Counter[str]())
    return {
        **file_counts(corpus.corpus for corpus in whole),
        "files_failed": sum(len(corpus.failures) for corpus in chunked),
        "chunks": sum(len(corpus.chunks) for corpus in chunked),
        **coverage_shares(chunked),
        "fallback": fallback_share(whole),
        "single_chunk_files": _share(counts.count(1), len(counts)),
        "duplicates": sum(map(duplicates, chunked)),
        **size_statistics(chunked, chunker),
        "unlocated": sum(corpus.unlocated for corpus in chunked),
        "blank": sum(corpus.blank for corpus in chunked),
        "notes": dict(sorted(notes.items())),
    }


def fallback_share(chunked: Sequence[ChunkedCorpus]) -> float:
    """Share of the files with a note that begins with `fallback`."""
    notes = sum((corpus.notes for corpus in chunked), Counter[str]())
    files = sum(count for note, count in notes.items() if note.startswith("fallback"))
    return _share(files, sum(len(corpus.corpus.sources) for corpus in chunked))


def file_counts(corpora: Iterable[Corpus]) -> dict[str, int]:
    """Number of files in corpora, indexed and skipped; copies for masked queries do not count."""
    whole = [corpus for corpus in corpora if not corpus.of]
    skipped = sum(len(corpus.skipped) for corpus in whole)
    indexed = sum(len(corpus.sources) for corpus in whole)
    return {"files_seen": skipped + indexed, "files_indexed": indexed, "files_skipped": skipped}


def truncation(
    embedder: Embedder | None,
    documents: Vectors | None,
    queries: Vectors | None,
    again: Vectors | None,
    used: NDArray[np.int64],
) -> dict[str, float | int | None]:
    """Shares of tokens beyond the embedder's limit.

    `again` are vectors of second queries, of which an empty one has no tokens. `used` is the number
    in `documents` of each text of each chunk.

    Returns:
        `unseen_chunk_tokens`, `unseen_query_tokens`, `unseen_second_query_tokens` (shares) and
        `truncated_chunks` (texts over the limit); None if there is no embedder or no known limit.
    """
    shares: dict[str, float | int | None] = dict.fromkeys((
        "unseen_chunk_tokens", "unseen_query_tokens", "unseen_second_query_tokens",
        "truncated_chunks",
    ))  # fmt: skip
    if embedder is None or embedder.limit is None or documents is None or queries is None:
        return shares
    query_limit = embedder.query_limit or embedder.limit
    tokens = documents.tokens[used]
    shares["unseen_chunk_tokens"], shares["truncated_chunks"] = unseen_share(tokens, embedder.limit)
    shares["unseen_query_tokens"] = unseen_share(queries.tokens, query_limit)[0]
    if again is not None:
        shares["unseen_second_query_tokens"] = unseen_share(again.tokens, query_limit)[0]
    return shares


def pair_truncation(counts: Counter[str]) -> dict[str, float | int | None]:
    """Shares of tokens beyond a cross-encoder's limit, from the summed counts of the rankings.

    Returns:
        `unseen_rerank_tokens` (of the pairs' tokens), `unseen_rerank_text_tokens` (of their texts'
        tokens) and `truncated_pairs` (pairs over the limit); None without a cross-encoder.
    """
    names = ("unseen_rerank_tokens", "unseen_rerank_text_tokens", "truncated_pairs")
    if "pairs" not in counts:
        return dict.fromkeys(names)
    tokens = _share(counts["unseen_pair_tokens"], counts["pair_tokens"])
    text_tokens = _share(counts["unseen_pair_text_tokens"], counts["pair_text_tokens"])
    return dict(zip(names, (tokens, text_tokens, counts["truncated_pairs"]), strict=True))


def unseen_share(tokens: NDArray[np.int64], limit: int) -> tuple[float, int]:
    """Share of the tokens of texts beyond a limit, and the number of texts over it."""
    unseen = np.maximum(tokens - limit, 0)
    return _share(unseen.sum(), tokens.sum()), int((unseen > 0).sum())


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else 0.0


def uncovered_targets(query_set: QuerySet, chunked: Sequence[ChunkedCorpus]) -> int:
    """Number of targets, or relevant documents, of which no chunk has a character."""
    pairs = list(zip(query_set.queries, query_set.places, strict=True))
    gold = {(query.corpus, place.path) for query, places in pairs for place in places}
    gold |= {(query.corpus, name) for query, _ in pairs for name in query.qrels or ()}
    parts: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for corpus in chunked:
        for file in filter(len, corpus.chunks.files):
            if (key := (corpus.corpus.id, file.path)) in gold:
                parts[key] = [(low, high) for low, high in file.parts()[1].tolist()]
    count = 0
    for query, places in pairs:
        for place in places:
            path, low, high = place.stretch
            held = parts.get((query.corpus, path), [])
            count += not any(begin < high and low < end for begin, end in held)
        for document, grade in (query.qrels or {}).items():
            count += grade > 0 and (query.corpus, document) not in parts
    return count
