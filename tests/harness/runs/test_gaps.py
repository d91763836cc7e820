"""Chunks that lack text from between their ends: it is not delivered, charged, credited or gold."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from worlds import files, grid, small

from chunkers.plugins.loading import load_chunker
from harness.chunking.chunks import without_gaps
from harness.chunking.corpus import chunk_corpus, covered_chars
from harness.relevance.chunk_gold import ChunkTable
from harness.runs.record import read_record
from harness.runs.verify import verify

MEASURES = ("SpanR@150c", "SpanP@150c", "Complete@150c", "SpanR@400c", "SpanP@400c", "R@3", "MRR")


def characters(row):
    """The characters of its file that a chunk has, in order."""
    gone = {at for low, high in row.gaps for at in range(low, high)}
    return [(row.path, at) for at in range(*row.nws) if at not in gone]


def gold(place):
    """Every place of a target's characters, each with the character of the target."""
    path, low, high = place.stretch
    own = {(path, at): at for at in range(low, high)}
    return own | {
        (other, begin + n): low + n for other, begin, _ in place.twins for n in range(high - low)
    }


def delivered(chunks, names, budget, *, merge):
    """Characters in the order in which a ranking delivers them, up to the budget."""
    every = itertools.chain.from_iterable(characters(chunks[name]) for name in names)
    found = list(dict.fromkeys(every)) if merge else list(every)
    return found[:budget]


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("retriever", ["bm25", "bow"])
def test_spans_are_those_of_the_text_that_chunks_have(tmp_path, merge, retriever):
    profile = "default:assemble=merge" if merge else "default"
    asked = {"chunkers": ("recorded:holed",), "retrievers": (retriever,), "measures": MEASURES}
    (cell,) = grid(tmp_path, profile=profile, **asked).cells
    record = read_record(tmp_path / "run" / "cells" / cell.key)
    chunks = {row.id: row for row in record.chunks}
    assert sum(len(row.gaps) for row in record.chunks) > 10
    for budget in (150, 400):
        recall, precision = [], []
        for query, ranking in zip(record.queries, record.rankings, strict=True):
            (place,) = query.places
            held, own = delivered(chunks, ranking.ids, budget, merge=merge), gold(place)
            wanted = {own[at] for at in held if at in own}
            recall.append(len(wanted) / (place.stretch[2] - place.stretch[1]))
            precision.append(len(wanted) / len(held))
        found = cell.metrics["metrics"]
        assert found[f"SpanR@{budget}c"]["mean"] == pytest.approx(np.mean(recall), abs=1e-12)
        assert found[f"SpanP@{budget}c"]["mean"] == pytest.approx(np.mean(precision), abs=1e-12)
        assert found[f"SpanR@{budget}c"]["oracle"] >= found[f"SpanR@{budget}c"]["mean"] - 1e-12
    assert not [one for cell in verify(tmp_path / "run") for one in cell.differences]
    grid(tmp_path, "again", profile=profile, **asked)
    assert files(tmp_path / "run") == files(tmp_path / "again")


def test_a_chunk_is_relevant_by_what_it_has(tmp_path):
    (cell,) = grid(tmp_path, chunkers=("recorded:holed",), retrievers=("bm25",)).cells
    folder = tmp_path / "run" / "cells" / cell.key
    record = read_record(folder)
    chunks = {row.id: row for row in record.chunks}
    qrels = [line.split() for line in (folder / "qrels.trec").read_text().splitlines()]
    wanted = {}
    for query in record.queries:
        (place,) = query.places
        path, low, high = place.stretch
        own = {(path, at) for at in range(low, high)}
        mine = [one for one in record.chunks if one.corpus == query.corpus]
        wanted[query.id] = {row.id for row in mine if own & set(characters(row))}
    found = {}
    for query, _, unit, _ in qrels:
        found.setdefault(query.replace("%20", " "), set()).add(unit.replace("%20", " "))
    assert found == wanted
    assert all(unit in chunks for units in found.values() for unit in units)


def test_coverage_is_that_of_the_characters():
    for corpus in small().corpora:
        chunked = chunk_corpus(corpus, load_chunker("recorded:holed"))
        every = [at for row in chunked.chunks for at in characters(row)]
        assert covered_chars(chunked)[:2] == (len(set(every)), len(every))


def test_pieces_are_the_stretches_between_gaps():
    table = replace(
        ChunkTable.of([("a", (10, 50), (0, 9), (0, 9))]), gaps={0: ((15, 20), (30, 40))}
    )
    units = table.touching(("a", 0, 100))
    assert table.pieces(units, 12, 45).T.tolist() == [
        [0, 2, 3, 12], [0, 5, 10, 20], [0, 15, 5, 40]
    ]  # fmt: skip
    assert table.pieces(units, 17, 32).T.tolist() == [[0, 5, 10, 20]]
    assert table.pieces(units, 32, 45).T.tolist() == [[0, 15, 5, 40]]
    assert table.held(units, 12, 45).tolist() == [18]
    assert table.touching(("a", 31, 39)).tolist() == []
    assert table.units.size.tolist() == [25]


@pytest.mark.parametrize(
    ("whole", "gaps", "left"),
    [
        ((0, 9), [], [(0, 9)]),
        ((0, 9), [(0, 2), (4, 5), (7, 9)], [(2, 4), (5, 7)]),
        ((3, 3), [], [(3, 3)]),
        ((3, 5), [(3, 5)], [(3, 3)]),
    ],
)
def test_gaps_leave_the_rest(whole, gaps, left):
    assert without_gaps(whole, gaps) == left


def test_second_queries_are_made_of_what_chunks_have():
    from harness.runs.search import chunk_source

    source = small().corpora[0].sources[0]
    for chunk in chunk_corpus(small().corpora[0], load_chunker("recorded:holed")).chunks:
        if chunk.path == source.path:
            squeezed = "".join(source.text.split())
            assert "".join(chunk_source(source, chunk).split()) == "".join(
                squeezed[at] for _, at in characters(chunk)
            )
