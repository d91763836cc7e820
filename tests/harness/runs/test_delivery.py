"""What a budget delivers of a run's chunks: each text once, or what was embedded of it."""

import json
import shutil

import pytest
from worlds import files, grid, small

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.source import Source
from harness.chunking.corpus import chunk_corpus
from harness.model import Corpus, Dataset, Query, Target
from harness.runs.record import read_record


def test_merging_is_a_question_to_a_stored_cell(tmp_path):
    """Chunks of twenty lines that share ten: another profile, the same cell, other spans."""
    asked = {"chunkers": ("recorded:overlapping",), "retrievers": ("bm25",)}
    asked |= {"measures": ("SpanR@1200c", "SpanP@1200c", "nDCG@10", "pnDCG@10")}
    plain = grid(tmp_path, **asked).cells[0]
    merged = grid(tmp_path, profile="default:assemble=merge", **asked).cells[0]
    assert plain.key == merged.key
    one, other = (cell.metrics["metrics"] for cell in (plain, merged))
    assert other["SpanR@1200c"]["mean"] > one["SpanR@1200c"]["mean"]
    assert other["SpanR@1200c"]["oracle"] >= other["SpanR@1200c"]["mean"]
    for name in ("nDCG@10", "pnDCG@10"):
        assert one[name] == other[name]
    shutil.rmtree(tmp_path / "run")
    again = grid(tmp_path, profile="default:assemble=merge", **asked).cells[0]
    assert again.metrics == merged.metrics
    assert again.metrics["asked"]["profile"]["assemble"] == "merge"


def test_a_ranking_goes_on_until_merged_text_spends_the_budget(tmp_path):
    """Every line stands in two chunks: what the first ten weigh is half of it new."""
    body = "".join(f"value_{n} = transform(source_{n}, {n})\n" for n in range(4000))
    query = Query("q", "one", "transform source 7", (Target("one/a.py", 1, 9),))
    dataset = Dataset("long", "span", (Corpus("one", (Source(body, "one/a.py"),)),), (query,))
    asked = {"chunkers": ("recorded:overlapping",), "retrievers": ("bm25",), "depth": 1}
    asked |= {"measures": ("SpanP@40000c",)}
    (cell,) = grid(tmp_path, dataset=dataset, profile="default:assemble=merge", **asked).cells
    record = read_record(tmp_path / "run" / "cells" / cell.key)
    spans = {row.id: row.nws for row in record.chunks}
    held = set().union(*(range(*spans[name]) for name in record.rankings[0].ids))
    assert 40_000 <= len(held) < sum(high - low for low, high in spans.values()) / 2


HEADERS = "ast:max_size=60,header=on"


def by_hand(record, query, budget):
    """SpanR and SpanP of the embedded texts, laid out one after the other."""
    chunker = load_chunker(HEADERS)
    chunks = {
        row.id: row for corpus in small().corpora for row in chunk_corpus(corpus, chunker).chunks
    }
    (place,) = query.places
    _, low, high = place.stretch
    delivered = []
    for name in record.rankings[record.queries.index(query)].ids:
        row = chunks[name]
        squeezed = "".join(row.text.split())
        header = len(squeezed) - (row.nws[1] - row.nws[0])
        assert header > 0
        inside = range(row.nws[0], row.nws[1]) if row.path == place.path else range(-1, -1)
        delivered += [None] * header
        delivered += list(inside) or [None] * (row.nws[1] - row.nws[0])
    first = delivered[:budget]
    credited = len({one for one in first if one is not None and low <= one < high})
    return credited / (high - low), credited / len(first)


def test_headers_are_charged_and_delivered_where_the_profile_says_so(tmp_path):
    asked = {"chunkers": (HEADERS,), "retrievers": ("bm25",)}
    asked |= {"measures": ("SpanR@400c", "SpanP@400c", "pnDCG@10")}
    off = "default:twins=false"
    plain = grid(tmp_path, profile=off, **asked).cells[0]
    paid = grid(tmp_path, profile=f"{off},deliver=embed", **asked).cells[0]
    assert plain.key == paid.key
    folder = tmp_path / "run" / "cells" / paid.key
    record = read_record(folder)
    lines = [json.loads(line) for line in (folder / "per_query.jsonl").read_text().splitlines()]
    for query, row in zip(record.queries, lines, strict=True):
        got = (row["metrics"]["SpanR@400c"], row["metrics"]["SpanP@400c"])
        assert got == pytest.approx(by_hand(record, query, 400), abs=1e-12)
    one, other = (cell.metrics["metrics"] for cell in (plain, paid))
    assert other["SpanR@400c"]["mean"] < one["SpanR@400c"]["mean"]
    assert other["SpanR@400c"]["oracle"] < one["SpanR@400c"]["oracle"]
    assert one["pnDCG@10"] == other["pnDCG@10"]


def test_without_headers_both_ways_to_deliver_are_one(tmp_path):
    asked = {"chunkers": ("ast:max_size=60",), "retrievers": ("bm25",)}
    found = [
        grid(tmp_path, name, profile=name, **asked).cells[0].metrics["metrics"]
        for name in ("default", "default:deliver=embed")
    ]
    assert found[0] == found[1]
    chunks = [data for name, data in files(tmp_path / "default").items() if "chunks" in name]
    assert b"around" not in chunks[0]


def test_embedded_text_that_is_not_the_chunks_cannot_be_credited(tmp_path):
    asked = {"chunkers": ("worlds:renaming",), "retrievers": ("bm25",)}
    assert grid(tmp_path, "plain", **asked).cells
    with pytest.raises(InputError, match="does not contain the chunk's text"):
        grid(tmp_path, "paid", profile="default:deliver=embed", **asked)
