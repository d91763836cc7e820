"""What tables say beside numbers: marks, numbers of things, names that do not fit, measures that
decide nothing."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from worlds import function, grid, small

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Target
from harness.reports.document import run_document
from harness.reports.notes import notes_of
from harness.reports.tables import NAMES, as_markdown, print_table, wrapped
from harness.runs.record import read_record
from harness.support.wording import counted

LEXICAL = {"retrievers": ("bm25",), "embedders": ("minilm",)}


def printed(document, width=130):
    out = io.StringIO()
    print_table(document, Console(width=width, file=out, markup=False, highlight=False))
    return out.getvalue()


def document_of(tmp_path, **given):
    return run_document(grid(tmp_path, **{**LEXICAL, **given}))


def deciding(document):
    return [note for note in notes_of(document, document["cells"]) if "nothing here" in note]


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1_000, "1000 files")]
)
def test_one_thing_is_one(number, said):
    assert counted(number, "file") == said
    assert counted(number, "query", "queries").startswith("1 query" if number == 1 else str(number))


def test_a_measure_that_is_not_comparable_is_marked_in_every_table(tmp_path):
    document = document_of(
        tmp_path, measures=("P@5", "MRR"), chunkers=("ast:max_size=120", "fixed")
    )
    assert "P@5* by kind" in printed(document)
    assert "P@5*" in as_markdown(document).replace("\\", "")
    plain = document_of(tmp_path, measures=("SpanR@2000c",), chunkers=("fixed",))
    assert "SpanR@2000c by kind" in printed(plain)


def test_long_names_break_behind_a_mark_and_lose_nothing(tmp_path):
    names = ("ast:header=on,max_size=120,overlap=2", "fixed:header=on,max_size=1200,overlap=2")
    document = document_of(tmp_path, chunkers=names, measures=("MRR",))
    lines = [line.split(" ")[0] for line in printed(document).split("\n")]
    assert "ast:header=on,max_size=120," in lines
    assert "fixed:header=on,max_size=1200," in lines
    assert lines.count("overlap=2") == 6  # two names in three tables


@pytest.mark.parametrize(
    "name",
    ["ast", "a" * 50, "process:command=" + "x" * 40 + ",y=1", "a,b:c|d/e" * 12, ",,,,:::||", ""],
)
def test_wrapping_keeps_every_character_and_the_width_where_it_can(name):
    lines = wrapped(name).split("\n")
    assert "".join(lines) == name
    assert all(len(one) <= NAMES or not any(mark in one[:-1] for mark in ",:|/") for one in lines)


def test_measures_that_chance_does_as_well_in_are_named(tmp_path):
    measures = ("SpanR@10000c", "SpanP@10000c", "Complete@10000c", "SpanR@150c", "MRR")
    document = document_of(tmp_path, measures=measures)
    (note,) = deciding(document)
    assert note.startswith("SpanR@10000c, SpanP@10000c, Complete@10000c decide nothing here: ")
    assert note.split(":")[0] in as_markdown(document)
    assert "decide nothing here" in printed(document)


@pytest.mark.parametrize(
    ("chunkers", "units"),
    [
        (("fixed", "ast:max_size=120", "whole-file", "random-cuts"), ()),  # one unit; controls
        (("fixed:unit=chars", "fixed-chars:max_size=800"), ()),
        (("ast:max_size=120", "fixed:max_size=120,unit=chars", "whole-file"), ("nws", "chars")),
        (("ast:max_size=120", "worlds:lossy"), ("nws", "no limit")),
        (("fixed-tokens:max_size=60", "ast:max_size=120"), ("tokens", "nws")),
    ],
)
def test_sizes_are_in_one_unit_where_limits_differ_in_kind(tmp_path, chunkers, units):
    document = document_of(tmp_path, chunkers=chunkers, measures=("SpanR@100c",))
    texts = {source.path: source.text for corpus in small().corpora for source in corpus.sources}
    medians = {}
    for cell in document["cells"]:
        chunks = read_record(Path(document["out"]) / "cells" / cell["key"]).chunks
        sizes = sorted(len("".join(texts[c.path][c.start : c.end].split())) for c in chunks)
        medians[cell["chunker"]] = sizes[(len(sizes) - 1) // 2]
        assert cell["health"]["median_c"] == medians[cell["chunker"]]
    rows = as_markdown(document).split("\n")
    assert all(any(f"| {size} |" in row for row in rows) for size in medians.values())
    (*notes,) = (line for line in notes_of(document, document["cells"]) if "in kind" in line)
    parts = [
        f"{name} ({unit}) {medians[name]}" for name, unit in zip(chunkers, units, strict=False)
    ]
    assert [line.partition(", in c: ")[2] for line in notes] == [" and ".join(parts)] * bool(units)


def test_a_corpus_of_one_chunk_has_one_ranking(tmp_path):
    query = Query("q", "one", "transform name3", (Target("f.py", 1, 5),))
    source = Source(function("name3", 30), "f.py", "python")
    dataset = Dataset("tiny", "span", (Corpus("one", (source,)),), (query,))
    document = document_of(
        tmp_path, dataset=dataset, measures=("SpanR@9c",), chunkers=("whole-file",)
    )
    (note,) = deciding(document)
    assert note.endswith("here: the corpus is one chunk, so all rankings are equal; use more files")


def test_a_corpus_beyond_the_budget_decides(tmp_path):
    texts = [Source(function(f"name{n}", 30), f"f{n:02}.py", "python") for n in range(20)]
    query = Query("q", "one", "transform name3", (Target("f03.py", 1, 5),))
    dataset = Dataset("large", "span", (Corpus("one", tuple(texts)),), (query,))
    document = document_of(tmp_path, dataset=dataset, measures=("SpanR@10000c", "SpanR@99999c"))
    (note,) = deciding(document)
    assert note.startswith("SpanR@99999c decides nothing here")


def test_one_chunker_that_loses_text_does_not_hide_it(tmp_path):
    dataset = small()
    document = document_of(
        tmp_path, dataset=dataset, chunkers=("fixed", "worlds:lossy"), measures=("SpanR@10000c",)
    )
    assert document["cells"][1]["health"]["coverage"] < 1
    (note,) = deciding(document)
    assert note.startswith("SpanR@10000c decides")
