"""Chunks from between whose ends text is missing: every count leaves it out."""

import json

import pytest

from chunkers import InputError, Services, Source, Span, load_chunker
from chunkers.processes.messages import pack_spans, unpack_spans
from chunkers.sizes import span_size
from chunkers.testing.faults import not_once, not_verbatim
from harness.chunking.corpus import chunk_corpus, covered_chars
from harness.model import Corpus

TEXT = "ab (cd\nef) gh\nij\n"
SPANS = [Span(0, 14, gaps=((4, 9),)), Span(14, 17)]


def gapped(source):
    return list(SPANS)


def outside(source):
    return [Span(2, 6, gaps=((1, 3),))]


def reversed_(source):
    return [Span(0, 14, gaps=((6, 8), (2, 4)))]


def test_the_chunk_has_the_slice_without_its_gaps():
    assert SPANS[0].kept(TEXT) == "ab () gh\n"
    assert SPANS[1].kept(TEXT) == "ij\n"
    assert Span(0, 2, gaps=((0, 2),)).kept(TEXT) == ""


@pytest.mark.parametrize(("unit", "size"), [("nws", 6), ("chars", 9), ("tokens", 3)])
def test_its_size_is_that_of_what_it_has(unit, size):
    services = Services(count_tokens=lambda line: len(line.split()))
    assert span_size(Source(TEXT, "f"), SPANS[0], unit, services) == size


def test_what_is_missing_is_covered_by_nothing_and_not_embedded():
    source = Source(TEXT, "f.txt")
    result = chunk_corpus(Corpus("c", (source,), ()), load_chunker(f"{__name__}:gapped"))
    assert [chunk.text for chunk in result.chunks] == ["ab () gh\n", "ij\n"]
    assert covered_chars(result) == (8, 8, 12)
    assert not_once(source, SPANS) == ("33.3% lost, first in line 1: 'cd\\nef) gh\\nij\\n'", "")


def test_what_is_embedded_must_hold_what_it_has_and_no_more():
    source = Source(TEXT, "f")
    gaps = SPANS[0].gaps
    assert not_verbatim(source, [Span(0, 14, "head\nab ()  gh", gaps=gaps)]) == ""
    assert "does not hold its own text" in not_verbatim(source, [Span(0, 14, "ab gh", gaps=gaps)])


@pytest.mark.parametrize("name", ["outside", "reversed_"])
def test_gaps_lie_inside_and_in_order(name):
    with pytest.raises(InputError, match="gaps must lie inside, in order"):
        load_chunker(f"{__name__}:{name}").chunk(Source(TEXT, "f"), Services())


def test_they_go_from_one_process_to_another():
    spans = [*SPANS, Span(15, 17, "é\ud800", "ref", ((16, 17),))]
    assert unpack_spans(json.loads(json.dumps(pack_spans(spans)))) == spans
