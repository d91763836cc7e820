"""Hard negatives: files that a corpus does not have, added to be told from its own.

`same-repo`: files of other corpora of the same repository, such as another commit's; `other-repo`:
of other repositories. Both are sampled by the seed, of every repository its share. `bm25` and
`dense`: of all other corpora, the files nearest to the corpus's queries, which take turns.
Nearness is BM25 over tokens as in `harness.retrieval.retrievers.bm25`, or the cosine of the
bundled model's vectors of the query and of the file, of which that model sees the beginning.

Never added to a corpus, white space apart: a copy of one of its files, of another added file, or
of a file that is a target of any query; a file that is a target, in any corpus of its repository;
another version of one of its own files, by its path or by its lines; a file that answers or
repeats one of its queries (`harness.datasets.negatives.barred_files`); a file that the corpus
lists as skipped; a file without text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.building.built_queries import chance, draw
from harness.chunking.layout import squeezed
from harness.datasets.negatives.barred_files import (
    BarredFiles,
    queries_by_corpus,
    repository_of,
    target_files,
)
from harness.datasets.negatives.file_versions import FileVersions
from harness.reading.stored_text import relabelled
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.datasets.negatives import Kind
    from harness.embedding.embedder import Role
    from harness.model import Corpus, Dataset, Query

FOLDER = "negatives"
"""Folder of the files in a corpus: `negatives/<corpus>/<path>`, after all of its own."""


@dataclass(frozen=True)
class _File:
    """A file that may be added, with its repository and its text without white space."""

    corpus: str
    repository: str
    source: Source
    squeezed: str

    @property
    def id(self) -> str:
        return f"{self.corpus}/{self.source.path}"


def add_negatives(dataset: Dataset, kind: Kind, count: int, *, seed: int = 0) -> Dataset:
    """Add files to every corpus; queries and gold stay as they are.

    Args:
        dataset: The data set.
        kind: Where they are from, as above; `none` adds none.
        count: How many a corpus gets, or as many as there are.
        seed: Random seed of the sample, and of the order in which queries take turns.

    Returns:
        The data set; its information says how many were added of how many.

    Raises:
        InputError: `count` is under 1, or no corpus can get a file.
    """
    if kind == "none":
        return dataset
    if count < 1:
        raise InputError(f"negatives_count={count}: must be at least 1")
    queries = queries_by_corpus(dataset)
    pool = _pool(dataset, queries)
    ranked = _ranker(kind, pool, dataset.queries) if kind in ("bm25", "dense") else None
    barred = BarredFiles(dataset)
    corpora = []
    for corpus in dataset.corpora:
        allowed = _allowed(corpus, pool, barred, kind)
        if ranked is None:
            chosen = _drawn(allowed, count, seed, corpus.id)
        else:
            chosen = _nearest(allowed, count, seed, queries[corpus.id], ranked)
        corpora.append(_with(corpus, chosen))
    added = sum(len(new.sources) for new in corpora) - sum(
        len(old.sources) for old in dataset.corpora
    )
    if not added:
        raise InputError(
            f"{dataset.name}: there is no file that could be a negative of one of its corpora\n"
            "same-repo needs several corpora of a repository, the other kinds several corpora"
        )
    note = (
        f"{kind}: {counted(added, 'file')} in {counted(len(corpora), 'corpus', 'corpora')}, "
        f"{count} asked for in each"
    )
    return replace(
        dataset, corpora=tuple(corpora), information={**dataset.information, FOLDER: note}
    )


def _base(path: str) -> str:
    """The file that a snippet is from: `a.py#2` is of `a.py`."""
    return path.rsplit("#", 1)[0]


def _pool(dataset: Dataset, queries: Mapping[str, Sequence[Query]]) -> list[_File]:
    """The files of all corpora that are no query's target, in order, one of each text."""
    files: set[tuple[str, str]] = set()
    texts: set[str] = set()
    for corpus in dataset.corpora:
        targets = target_files(corpus, queries[corpus.id])
        files |= targets
        paths = {path for _, path in targets}
        texts |= {squeezed(source.text) for source in corpus.sources if source.path in paths}
    pool: dict[tuple[str, str], _File] = {}
    for corpus in dataset.corpora:
        repository = repository_of(corpus)
        for source in corpus.sources:
            tight = squeezed(source.text)
            if tight and tight not in texts and (repository, source.path) not in files:
                # Copies of a file in several repositories are several files here.
                pool.setdefault((repository, tight), _File(corpus.id, repository, source, tight))
    return list(pool.values())


def _allowed(corpus: Corpus, pool: Iterable[_File], barred: BarredFiles, kind: Kind) -> list[_File]:
    """The files that may be added to a corpus, one of each text."""
    repository = repository_of(corpus)
    held = {squeezed(source.text) for source in corpus.sources}
    own = {_base(source.path) for source in corpus.sources}
    own |= {_base(skipped.path) for skipped in corpus.skipped}
    versions = FileVersions((source.path, source.text) for source in corpus.sources)
    allowed: dict[str, _File] = {}
    for file in pool:
        same = file.repository == repository
        if file.squeezed in held or file.squeezed in allowed:
            continue
        if same and (kind == "other-repo" or _base(file.source.path) in own):
            continue
        if not same and kind == "same-repo":
            continue
        if barred.bar(corpus, file.source.text) or (same and versions.of(file.source.text)):
            continue
        allowed[file.squeezed] = file
    return list(allowed.values())


def _drawn(files: Sequence[_File], count: int, seed: int, corpus: str) -> Iterable[_File]:
    return draw(
        files, count, seed, lambda file: f"{corpus}\0{file.id}", lambda file: file.repository
    )


def _nearest(
    files: Sequence[_File],
    count: int,
    seed: int,
    queries: Sequence[Query],
    ranked: Callable[[Query], Iterator[str]],
) -> list[_File]:
    """Each query in turn takes the nearest file that is not taken."""
    free = {file.id: file for file in files}
    turns = sorted(queries, key=lambda query: chance(seed, "turn", query.id))
    waiting = [ranked(query) for query in turns]
    chosen: list[_File] = []
    while waiting and free and len(chosen) < count:
        for names in list(waiting):
            if len(chosen) == count:
                break
            name = next((name for name in names if name in free), None)
            if name is None:
                waiting.remove(names)
            else:
                chosen.append(free.pop(name))
    return chosen


def _ranker(
    kind: Kind, pool: Sequence[_File], queries: Sequence[Query]
) -> Callable[[Query], Iterator[str]]:
    """Ids of the files of a pool for a query, the nearest first, ties by id."""
    texts = [file.source.text for file in pool]
    score = _bm25(texts) if kind == "bm25" else _dense(texts, queries)
    names = np.array([file.id for file in pool], dtype=object)
    by_name = np.argsort(names, kind="stable") if len(names) else np.zeros(0, dtype=np.int64)

    def ranked(query: Query) -> Iterator[str]:
        scores = score(query)[by_name]
        return iter(names[by_name[np.argsort(-scores, kind="stable")]].tolist())

    return ranked


def _bm25(texts: Sequence[str]) -> Callable[[Query], NDArray[np.float64]]:
    """Scores of a query, shape (len(texts),)."""
    import bm25s

    from harness.retrieval.lexical import identifiers

    model = bm25s.BM25(method="lucene", backend="numpy")
    corpus = [identifiers(text) for text in texts]
    if any(corpus):
        model.index(corpus, create_empty_token=False, show_progress=False)

    def score(query: Query) -> NDArray[np.float64]:
        known = model.vocab_dict if any(corpus) else {}
        tokens = [token for token in identifiers(query.text) if token in known]
        if not tokens:
            return np.zeros(len(texts))
        return np.asarray(model.get_scores(tokens), dtype=np.float64)

    return score


def _dense(
    texts: Sequence[str], queries: Sequence[Query]
) -> Callable[[Query], NDArray[np.float64]]:
    """Scores of a query, shape (len(texts),)."""
    from harness.embedding.embedders import minilm
    from harness.embedding.text_vectors import embed_texts, unit_vectors
    from harness.embedding.vector_store import VectorStore
    from harness.support.arrays import fixed_order_dot
    from harness.support.data_folders import cache_dir

    model, store = minilm.make(), VectorStore(cache_dir() / "vectors.sqlite")
    rows: dict[str, NDArray[np.float32]] = {}
    try:
        files = unit_vectors(embed_texts(texts, model, store, "document").values)[0]
        roles: tuple[Role, ...] = ("query-head", "query-tail")
        for role in roles:
            part = [query for query in queries if role.endswith(query.truncate)]
            vectors = embed_texts([query.text for query in part], model, store, role).values
            unit = unit_vectors(vectors)[0]
            rows |= {query.id: row for query, row in zip(part, unit, strict=True)}
    finally:
        store.close()
    return lambda query: fixed_order_dot(files, rows[query.id])


def _with(corpus: Corpus, files: Iterable[_File]) -> Corpus:
    new = [relabelled(file.source, path=f"{FOLDER}/{file.id}") for file in files]
    return replace(corpus, sources=(*corpus.sources, *sorted(new, key=lambda source: source.path)))
