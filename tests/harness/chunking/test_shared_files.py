"""Equal files of several corpora are cut once, and every corpus scores as it would alone."""

from dataclasses import replace

import pytest
from worlds import function, grid

from chunkers.plugins.loading import load_chunker
from chunkers.source import Services, Source
from harness.chunking import corpus as chunking
from harness.chunking.corpus import chunk_corpora
from harness.chunking.limits import TooManyFailuresError
from harness.model import Corpus, Dataset, Query, Region, Target

A, B, C = (
    Source(function(name) * 4, f"{path}.py", "python")
    for name, path in (("aa", "one/copy"), ("bb", "bb"), ("cc", "cc"))
)
CHANGED = Source(B.text + "\n\nLAST = 1\n", "bb.py", "python")
COPY = Source(A.text, "copy.py", "python")  # equal text under another path
TREES = (Corpus("t1", (A, B)), Corpus("t2", (A, CHANGED, C)), Corpus("t3", (A, B, COPY)))


@pytest.fixture
def cut_files(monkeypatch):
    """The files that are given to a chunker."""
    paths = []
    cutter = chunking.cutter

    def watched(*arguments):
        return Watched(cutter(*arguments))

    class Watched:
        def __init__(self, context):
            self.context = context

        def __enter__(self):
            self.cutting = self.context.__enter__()
            return self

        def __exit__(self, *error):
            return self.context.__exit__(*error)

        def cut(self, tasks):
            paths.extend((task.source.path, task.source.text) for task in tasks)
            return self.cutting.cut(tasks)

    monkeypatch.setattr(chunking, "cutter", watched)
    return paths


@pytest.mark.parametrize(
    "spec", ["ast:max_size=80", "fixed", "semchunk:max_size=80", "random-cuts"]
)
def test_equal_files_are_cut_once(cut_files, spec):
    chunker = load_chunker(spec)
    together = chunk_corpora(TREES, chunker, Services())
    wanted = {(s.path, s.text) for tree in TREES for s in tree.sources}
    assert len(cut_files) == len(wanted) == 5
    assert set(cut_files) == wanted
    for tree, found in zip(TREES, together, strict=True):
        (alone,) = chunk_corpora((tree,), chunker, Services())
        assert found.corpus == tree
        assert (found.chunks, found.notes) == (alone.chunks, alone.notes)
        sizes = [[layout.size for layout in one.layouts] for one in (found, alone)]
        assert sizes[0] == sizes[1]
    assert together[0].chunks.files[0] is together[1].chunks.files[0]


def test_files_differ_by_language_and_encoding(cut_files):
    """The same text is parsed by another grammar, or has another byte order mark."""
    kinds = (A, replace(A, language=None), replace(A, encoding="utf-8-sig"))
    trees = [Corpus(f"t{n}", (kind,)) for n, kind in enumerate(kinds)]
    chunk_corpora(trees, load_chunker("ast"), Services())
    assert len(cut_files) == 3


@pytest.mark.parametrize("spec", ["code-chunk-fixed:path_prefix=/r/<corpus>", "worlds:of_corpus"])
def test_a_chunker_that_may_read_the_name_of_the_corpus_cuts_in_each(cut_files, spec):
    found = chunk_corpora(TREES[::2], load_chunker(spec), Services())
    assert len(cut_files) == 5
    assert [found[n].chunks[0].ref_id.partition("one/")[0] for n in (0, 1)] == ["/r/t1/", "/r/t3/"]


def test_a_failure_counts_in_every_corpus():
    chunker = load_chunker("worlds:failing")
    found = chunk_corpora(TREES, chunker, Services())
    assert [one.failures for one in found] == [
        (("one/copy.py", "RuntimeError: cannot parse this (worlds.py, line 79)"),)
    ] * 3
    with pytest.raises(TooManyFailuresError) as error:
        chunk_corpora(TREES, chunker, Services(), most=2)
    assert [failure[0] for failure in error.value.failures] == ["t1", "t2", "t3"]
    assert error.value.tried == error.value.files == 8


def dataset(*names):
    """A question to each tree; one of them with a mask."""
    trees = [tree for tree in TREES if tree.id in names]
    queries = [
        Query(f"q{tree.id}", tree.id, "what does aa return", (Target("one/copy.py", 1, 3),),
              region=Region("bb.py", 2, 3))
        for tree in trees
    ]  # fmt: skip
    return Dataset("+".join(names), "span", tuple(trees), tuple(queries))


def lines_of(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("retriever", ["bm25", "bow", "bm25:hops=2,expand=parent"])
def test_a_tree_scores_among_others_as_it_does_alone(tmp_path, retriever, mask):
    options = {"chunkers": ("ast:max_size=80", "fixed:max_size=60"), "retrievers": (retriever,)}
    together = grid(tmp_path, dataset=dataset("t1", "t2", "t3"), mask_query=mask, **options)
    for tree in TREES:
        alone = grid(tmp_path, tree.id, dataset=dataset(tree.id), mask_query=mask, **options)
        for one, other in zip(alone.cells, together.cells, strict=True):
            for name in ("run.trec", "scores.jsonl", "targets.jsonl", "chunks.jsonl"):
                own = lines_of(alone.out / "cells" / one.key / name)
                of_all = lines_of(together.out / "cells" / other.key / name)
                assert own == [line for line in of_all if tree.id in line]
                assert own
