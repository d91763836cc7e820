"""Hard negatives: files that a corpus does not have, put into it to be told from its own.

`same-repo`: files of other corpora of the same repository, such as another commit's; `other-repo`:
of other repositories; both by seeded chance, of every repository its share. `bm25` and `dense`: of
all other corpora, those that are nearest to the corpus's queries, which take turns. Nearness is
BM25 over tokens as `harness.retrieval.retrievers.bm25` has them, or the cosine of the bundled
model's vectors of the query and of the file, of which that model sees the beginning.

What is never taken for a corpus, white space apart: a copy of one of its files, of another file
taken, or of a file that is anybody's target; a file that is a target, in any corpus of its
repository; another version of one of its own files, by its path or by its lines; what answers or
repeats one of its queries (`harness.datasets.negatives.answers`); what the corpus says it leaves
out; a file without text.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chunkers.errors import InputError
from harness.building.sampling import chance, draw
from harness.chunking.layout import squeezed
from harness.datasets.negatives.answers import Answers, repository_of
from harness.datasets.negatives.versions import Versions
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.embedding.embed import Role
    from harness.model import Corpus, Dataset, Query

Kind = Literal["none", "same-repo", "other-repo", "bm25", "dense"]
FOLDER = "negatives"
"""Where the files stand in a corpus: `negatives/<corpus>/<path>`, behind all of its own."""


@dataclass(frozen=True)
class _File:
    """A file that may be taken, by its repository and its text without white space."""

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
        seed: Of chance, and of the order in which queries take turns.

    Returns:
        The data set; its information says how many were added of how many.

    Raises:
        InputError: `count` is under 1, or no corpus can get a file.
    """
    if kind == "none":
        return dataset
    if count < 1:
        raise InputError(f"negatives_count={count}: it must be at least 1")
    pool = _pool(dataset, _golden(dataset))
    ranked = _ranker(kind, pool, dataset.queries) if kind in ("bm25", "dense") else None
    answers = Answers(dataset)
    asked: dict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        asked[query.corpus].append(query)
    corpora = []
    for corpus in dataset.corpora:
        mine = _allowed(corpus, pool, answers, kind)
        if ranked is None:
            chosen = _drawn(mine, count, seed, corpus.id)
        else:
            chosen = _nearest(mine, count, seed, asked[corpus.id], ranked)
        corpora.append(_with(corpus, chosen))
    added = sum(len(new.sources) for new in corpora) - sum(
        len(old.sources) for old in dataset.corpora
    )
    if not added:
        raise InputError(
            f"{dataset.name}: there is no file that could be a negative of one of its corpora\n"
            "same-repo needs several corpora of a repository, the other kinds several corpora"
        )
    told = (
        f"{kind}: {counted(added, 'file')} in {counted(len(corpora), 'corpus', 'corpora')}, "
        f"{count} asked for in each"
    )
    return replace(
        dataset, corpora=tuple(corpora), information={**dataset.information, FOLDER: told}
    )


def _base(path: str) -> str:
    """The file that a snippet is from: `a.py#2` is of `a.py`."""
    return path.rsplit("#", 1)[0]


@dataclass(frozen=True)
class _Golden:
    """What is anybody's target: repository and file, and texts of whole files."""

    files: frozenset[tuple[str, str]]
    texts: frozenset[str]


def _golden(dataset: Dataset) -> _Golden:
    of = {corpus.id: corpus for corpus in dataset.corpora}
    paths: dict[str, set[str]] = defaultdict(set)
    for query in dataset.queries:
        named = {target.path for target in query.targets}
        named |= {name for name, grade in (query.qrels or {}).items() if grade > 0}
        paths[query.corpus] |= named
    files, texts = set(), set()
    for name, wanted in paths.items():
        repository = repository_of(of[name])
        files |= {(repository, path) for path in wanted}
        texts |= {squeezed(one.text) for one in of[name].sources if one.path in wanted}
    return _Golden(frozenset(files), frozenset(texts))


def _pool(dataset: Dataset, golden: _Golden) -> list[_File]:
    """The files of all corpora that are nobody's target, in order, one of each text."""
    found: dict[tuple[str, str], _File] = {}
    for corpus in dataset.corpora:
        repository = repository_of(corpus)
        for source in corpus.sources:
            tight = squeezed(source.text)
            gold = (repository, source.path) in golden.files or tight in golden.texts
            if tight and not gold:
                # Repositories keep copies of each other's files, which are apart here.
                found.setdefault((repository, tight), _File(corpus.id, repository, source, tight))
    return list(found.values())


def _allowed(corpus: Corpus, pool: Iterable[_File], answers: Answers, kind: Kind) -> list[_File]:
    """What may be put into a corpus, one of each text."""
    repository = repository_of(corpus)
    held = {squeezed(source.text) for source in corpus.sources}
    own = {_base(source.path) for source in corpus.sources}
    own |= {_base(skipped.path) for skipped in corpus.skipped}
    versions = Versions((source.path, source.text) for source in corpus.sources)
    found: dict[str, _File] = {}
    for file in pool:
        same = file.repository == repository
        if file.squeezed in held or file.squeezed in found:
            continue
        if same and (kind == "other-repo" or _base(file.source.path) in own):
            continue
        if not same and kind == "same-repo":
            continue
        if answers.bar(corpus, file.source.text) or (same and versions.of(file.source.text)):
            continue
        found[file.squeezed] = file
    return list(found.values())


def _drawn(files: Sequence[_File], count: int, seed: int, corpus: str) -> Iterable[_File]:
    return draw(files, count, seed, lambda one: f"{corpus}\0{one.id}", lambda one: one.repository)


def _nearest(
    files: Sequence[_File],
    count: int,
    seed: int,
    queries: Sequence[Query],
    ranked: Callable[[Query], Iterator[str]],
) -> list[_File]:
    """Each query in turn takes the nearest file that none has taken."""
    free = {file.id: file for file in files}
    turns = sorted(queries, key=lambda one: chance(seed, "turn", one.id))
    waiting = [ranked(query) for query in turns]
    chosen: list[_File] = []
    while waiting and free and len(chosen) < count:
        for names in list(waiting):
            if len(chosen) == count:
                break
            name = next((one for one in names if one in free), None)
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
        asked = [token for token in identifiers(query.text) if token in known]
        if not asked:
            return np.zeros(len(texts))
        return np.asarray(model.get_scores(asked), dtype=np.float64)

    return score


def _dense(
    texts: Sequence[str], queries: Sequence[Query]
) -> Callable[[Query], NDArray[np.float64]]:
    """Scores of a query, shape (len(texts),)."""
    from harness.embedding.embed import embed, unit_vectors
    from harness.embedding.embedders import minilm
    from harness.embedding.store import VectorStore
    from harness.support.arrays import fixed_order_dot
    from harness.support.data_folders import cache_dir

    model, store = minilm.make(), VectorStore(cache_dir() / "vectors.sqlite")
    asked: dict[str, NDArray[np.float32]] = {}
    try:
        files = unit_vectors(embed(texts, model, store, "document").values)[0]
        roles: tuple[Role, ...] = ("query-head", "query-tail")
        for role in roles:
            mine = [one for one in queries if role.endswith(one.truncate)]
            vectors = embed([one.text for one in mine], model, store, role).values
            unit = unit_vectors(vectors)[0]
            asked |= {one.id: row for one, row in zip(mine, unit, strict=True)}
    finally:
        store.close()
    return lambda query: fixed_order_dot(files, asked[query.id])


def _with(corpus: Corpus, files: Iterable[_File]) -> Corpus:
    new = [replace(file.source, path=f"{FOLDER}/{file.id}") for file in files]
    return replace(corpus, sources=(*corpus.sources, *sorted(new, key=lambda source: source.path)))
