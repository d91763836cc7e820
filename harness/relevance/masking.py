"""Takes the text of a query out of the corpus that it is ranked against.

A query that was cut out of a file finds that place before anything else. With a mask, the lines
of its own region are blank in that file, for that query alone: it gets a corpus of its own, which
shares the sources of all other files with the original.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from chunkers.errors import InputError
from harness.chunking.chunks import Chunks
from harness.relevance.filler import mask_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.chunking.corpus import ChunkedCorpus
    from harness.model import Corpus, Dataset, Query, Region, Target
    from harness.relevance.filler import Parse

T = TypeVar("T")


@dataclass(frozen=True)
class Mask:
    """The corpus that one query is ranked against instead of the original.

    The corpus is its own, called `<corpus>@<query>`; `number` is that of the masked file in it.
    """

    query: Query
    region: Region
    corpus: Corpus
    number: int
    parse: Parse

    @property
    def of(self) -> str:
        """The id of the original corpus."""
        return self.corpus.of

    @property
    def source(self) -> Source:
        """The masked file."""
        return self.corpus.sources[self.number]

    @property
    def file(self) -> Corpus:
        """The masked file alone, under the id of the query's corpus."""
        return replace(self.corpus, sources=(self.source,), skipped=())


def refuse_mask(dataset: Dataset) -> None:
    """Refuse to mask a data set.

    Raises:
        InputError: The gold is documents, a query has no region, or a region holds lines of one
            of the query's targets.
    """
    if dataset.gold == "document":
        raise InputError(
            f"{dataset.name}: its gold is documents; remove --mask-query, which is for lines"
        )
    bare = [query.id for query in dataset.queries if query.region is None]
    if bare:
        raise InputError(
            f"{dataset.name}: --mask-query: {len(bare)} of {len(dataset.queries)} queries were not "
            f"made from lines of the corpus, such as {bare[0]}; remove --mask-query"
        )
    for query in dataset.queries:
        for target in query.targets:
            if query.region is not None and _overlap(query.region, target):
                raise InputError(
                    f"{dataset.name}: --mask-query would take the target itself out of "
                    f"{target.path}; use target=body, or targets outside the query's own lines"
                )


def _overlap(region: Region, target: Target) -> bool:
    if region.path != target.path:
        return False
    if target.start_line is None or target.end_line is None:
        return True
    return target.start_line <= region.end_line and region.start_line <= target.end_line


def masks_of(corpora: Mapping[str, Corpus], queries: Iterable[Query]) -> tuple[Mask, ...]:
    """The masks of queries, in their order.

    A query has none if the corpus skipped the file of its region, which is then not indexed.

    Raises:
        InputError: A region is not in its corpus.
    """
    places = []
    ids = set(corpora)
    numbers = {
        name: {source.path: n for n, source in enumerate(corpus.sources)}
        for name, corpus in corpora.items()
    }
    for query in queries:
        corpus, region = corpora[query.corpus], query.region
        if region is None or any(region.path == skipped.path for skipped in corpus.skipped):
            continue
        number = numbers[corpus.id].get(region.path)
        if number is None:
            raise InputError(f"query {query.id}: its region's file {region.path} is not there")
        name = f"{corpus.id}@{query.id}"
        if name in ids:
            raise InputError(f"query {query.id}: the corpus id {name!r} is taken")
        ids.add(name)
        places.append((query, region, corpus, number))
    sources = mask_sources(
        [(corpus.sources[number], region, query.id) for query, region, corpus, number in places]
    )
    return tuple(
        Mask(
            query=replace(query, corpus=f"{corpus.id}@{query.id}"),
            region=region,
            corpus=_with_file(corpus, f"{corpus.id}@{query.id}", number, masked.source),
            number=number,
            parse=masked.parse,
        )
        for (query, region, corpus, number), masked in zip(places, sources, strict=True)
    )


def _with_file(corpus: Corpus, name: str, number: int, source: Source) -> Corpus:
    """A corpus derived from another one, with another source in place of one of its sources."""
    sources = (*corpus.sources[:number], source, *corpus.sources[number + 1 :])
    return replace(corpus, id=name, sources=sources, of=corpus.id)


def spliced(
    corpora: Sequence[Corpus], masks: Sequence[Mask], chunked: Sequence[ChunkedCorpus]
) -> list[ChunkedCorpus]:
    """The corpora that queries are ranked against, from files that were cut once each.

    `chunked` are every corpus of the data set, and the masked file of every mask. The result is in
    the order of `corpora`; they share chunks.
    """
    by_id = {cut.corpus.id: cut for cut in chunked}
    of = {mask.corpus.id: mask for mask in masks}
    return [
        _spliced(by_id[corpus.of], by_id[corpus.id], of[corpus.id])
        if corpus.of
        else by_id[corpus.id]
        for corpus in corpora
    ]


def _spliced(base: ChunkedCorpus, own: ChunkedCorpus, mask: Mask) -> ChunkedCorpus:
    def with_own(files: Sequence[T], masked: Sequence[T]) -> tuple[T, ...]:
        return (*files[: mask.number], *masked, *files[mask.number + 1 :])

    return replace(
        base,
        corpus=mask.corpus,
        layouts=with_own(base.layouts, own.layouts),
        chunks=Chunks(with_own(base.chunks.files, own.chunks.files)),
    )
