"""Faults that people met in chunkers' adapters, each with the library that has it, if one does."""

import pytest
from libraries import need, nws
from worlds import grid

from chunkers import Services, Source, load_chunker
from chunkers.testing.services import cheap_services
from harness.chunking.corpus import chunk_corpus, covered_chars
from harness.model import Corpus, Dataset, Query, Target

LONG = 'x = "' + "A" * 800 + '"\ny = 1\n'
DEEP = "x = " + "[" * 3000 + "]" * 3000 + "\n"


def chunked(spec, *texts, language="python", **services):
    files = enumerate(texts)
    corpus = Corpus("c", tuple(Source(text, f"{at}.py", language) for at, text in files), ())
    return chunk_corpus(corpus, load_chunker(spec), **services)


def coverage(spec, *texts):
    distinct, _, whole = covered_chars(chunked(spec, *texts))
    return distinct / whole


@pytest.mark.parametrize(
    "spec",
    ["astchunk:max_size=20", "chonkie-code:max_size=20", "langchain-code:max_size=20",
     "llamaindex-code:max_size=20", "semchunk:max_size=20", "text-splitter-code:max_size=20"],
)  # fmt: skip
def test_byte_offsets_are_not_taken_for_characters(spec):
    need(spec)
    text = "# é\ndef f():\n    return 1\n" * 3
    chunks = chunked(spec, text).chunks
    found = [chunk.start + chunk.text.index("def f") for chunk in chunks if "def f" in chunk.text]
    assert found == [4, 30, 56]


def test_a_header_is_no_line_of_the_source():
    need("astchunk")
    body = "".join(f"def f{at}(x):\n    return x + {at}\n\n\n" for at in range(6))
    (one, *_, last) = chunked("astchunk:max_size=24,expansion=on", body).chunks
    assert one.text.startswith("'''\n0.py\n'''\ndef f0(x):")
    assert (one.start_line, one.end_line, last.start_line) == (1, 2, 21)
    assert body[one.start : one.end] == "def f0(x):\n    return x + 0"
    method = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    second = chunked("astchunk:max_size=24,expansion=on", method).chunks[-1]
    assert second.text.startswith("'''\n0.py\nclass A:\n")
    assert second.start_line >= 5


def test_repeated_text_has_places_of_its_own():
    text = "x = 1\n" * 3
    for spec in ("langchain-recursive:max_size=3", "llamaindex-code:max_size=3",
                 "astchunk:max_size=3"):  # fmt: skip
        need(spec)
        chunks = chunked(spec, text).chunks
        assert [chunk.start for chunk in chunks] == [0, 6, 12], spec
        assert [chunk.start_line for chunk in chunks] == [1, 2, 3]


def test_no_start_before_the_text_leaves_the_adapter():
    need("langchain-recursive")
    text = "".join(f"value_{at} = compute(value_{at - 1}, {at})\n" for at in range(1, 31))

    def words(text):
        return len(text.split())

    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=10, chunk_overlap=5, length_function=words, add_start_index=True
    )
    theirs = splitter.create_documents([text])
    assert -1 in [one.metadata["start_index"] for one in theirs]
    spans = load_chunker("langchain-recursive:max_size=10,overlap=5,unit=tokens").chunk(
        Source(text, "f"), Services(count_tokens=words)
    )
    assert [text[span.start : span.end] for span in spans] == [one.page_content for one in theirs]
    starts = [span.start for span in spans]
    assert starts == sorted(set(starts))
    assert min(starts) == 0
    # The text has no repetitions, so the true starts are those of the first finds.
    assert starts == [text.find(one.page_content) for one in theirs]


def test_a_dropped_literal_is_seen_in_the_coverage():
    need("astchunk")
    share = coverage("astchunk:max_size=100", LONG)
    assert share == pytest.approx((nws(LONG) - 800) / nws(LONG))
    assert share < 0.02
    (span, *_) = load_chunker("astchunk:max_size=100").chunk(
        Source(LONG, "f", "python"), Services()
    )
    assert span.gaps == ((5, 805),)
    assert "A" not in span.embed_text
    assert coverage("chonkie-code:max_size=100", LONG) == 1.0


def test_what_follows_the_last_part_of_a_node_is_lost_and_seen():
    need("llamaindex-code")
    text = 'x = """one \\n two ' + "word " * 60 + '"""\ny = 1\n'
    assert coverage("llamaindex-code:max_size=60", text) < 0.2
    assert coverage("chonkie-code:max_size=60", text) == 1


def test_chunks_over_the_limit_are_counted_and_never_cut_short():
    need("chonkie-code")
    result = chunked("chonkie-code:max_size=60,unit=chars", LONG)
    assert max(chunk.size for chunk in result.chunks) >= 800
    assert "".join(LONG[chunk.start : chunk.end] for chunk in result.chunks) == LONG


@pytest.mark.parametrize("text", ["", "   \n", "\n\n\n", "\t\r\n\f"])
def test_blank_texts_give_no_chunk_that_is_indexed(text):
    for spec in ("astchunk", "chonkie-code", "chonkie-recursive", "chonkie-token", "semchunk",
                 "chonkie-semantic", "langchain-code", "langchain-recursive:strip=off",
                 "llamaindex-code", "llamaindex-semantic", "text-splitter-code",
                 "text-splitter-text"):  # fmt: skip
        need(spec)
        result = chunked(spec, text, embed=cheap_services().embed)
        assert (result.chunks, result.failures) == ((), ()), spec


@pytest.mark.parametrize("spec", ["astchunk", "chonkie-code", "llamaindex-code"])
def test_deep_nesting_costs_that_file_alone(spec):
    need(spec)
    result = chunked(spec, "x = 1\n", DEEP, "y = 2\n")
    assert {chunk.path for chunk in result.chunks} >= {"0.py", "2.py"}
    failed = dict(result.failures)
    if "1.py" not in {chunk.path for chunk in result.chunks}:
        assert "RecursionError" in failed["1.py"]
    assert set(failed) <= {"1.py"}


def test_chunks_of_one_line_have_ids_of_their_own():
    need("chonkie-token")
    result = chunked("chonkie-token:max_size=10", "x" * 40)
    assert [chunk.id for chunk in result.chunks] == [
        "0.py:1-1", "0.py:1-1#2", "0.py:1-1#3", "0.py:1-1#4",
    ]  # fmt: skip


def test_another_language_is_named_and_has_no_chunks():
    need("astchunk")
    result = chunked("astchunk", "package main\n", language="go")
    assert result.chunks == ()
    assert result.failures == ()
    assert result.notes == {"not read: go": 1, "no chunk": 1}


def test_a_run_marks_what_is_lost_and_what_is_over_the_limit(tmp_path):
    need("astchunk")
    need("chonkie-code")
    text = LONG + "def f():\n    a = 1\n\n\n    return a\n\n\n\n\n" * 30
    corpus = Corpus("c", (Source(text, "a.py", "python"),), ())
    query = Query("q", "c", "def f", (Target("a.py", 3, 6),))
    dataset = Dataset(name="lossy", gold="span", corpora=(corpus,), queries=(query,))
    chosen = ("astchunk:max_size=100", "chonkie-code:max_size=100,unit=chars")
    result = grid(tmp_path, dataset=dataset, chunkers=chosen, retrievers=("bm25",))
    from harness.reports.document import run_document

    marks = {cell["chunker"]: cell["marks"] for cell in run_document(result)["cells"]}
    lost = 800 / nws(text)
    assert f"{lost:.2%} of the text is in no chunk" in marks["astchunk:max_size=100"]
    assert any("over the size limit" in mark for mark in marks[chosen[1]])
