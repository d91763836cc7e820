"""Masks: a query's own lines are blank in its corpus, its targets stay, all else is shared."""

from dataclasses import replace

import pytest
from worlds import function

from chunkers.errors import InputError
from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Region, Skipped, Target
from harness.relevance.masking import masks_of, refuse_mask
from harness.runs.query_set import prepare

LINES = "".join(f"line{n}\n" for n in range(1, 11))


def world(text, region, *targets, path="a.py", **changes):
    sources = (Source(text, "a.py"), Source("other\n", "b.py"))
    corpus = Corpus("c", sources, (Skipped("icon.py", "binary"),))
    of = region and Region(*region)
    query = Query("q", "c", "x", tuple(Target(*one) for one in targets), region=of)
    return Dataset("made", "span", (corpus,), (replace(query, **changes),))


def masked(*given, **changes):
    dataset = world(*given, **changes)
    (mask,) = masks_of({"c": dataset.corpora[0]}, dataset.queries)
    return mask


@pytest.mark.parametrize("region", [("a.py", 4, 6), ("a.py", 1, 9), ("a.py", 2, 10)])
def test_every_line_keeps_its_number(region):
    before = world(LINES, region, ("a.py", 1, 1)).corpora[0]
    mask = masked(LINES, region, ("a.py", 10, 10), ("b.py", 1, 1))
    assert mask.query.targets == (Target("a.py", 10, 10), Target("b.py", 1, 1))
    lines = mask.source.text.split("\n")
    inside = range(region[1] - 1, region[2])
    assert [not lines[n] for n in inside] == [True] * len(inside)
    others = [n for n in range(10) if n not in inside]
    whole = before.sources[0].text.split("\n")
    assert [lines[n] for n in others] == [whole[n] for n in others]


def test_a_target_that_is_a_file_stays_one():
    assert masked(LINES, ("a.py", 1, 2), ("b.py",)).query.targets == (Target("b.py"),)


@pytest.mark.parametrize(
    ("text", "region", "left"),
    [
        ("a\r\nb\r\nc\r\n", (2, 2), "a\r\n\r\nc\r\n"),
        ("a\r\nb\r\nc", (3, 3), "a\r\nb\r\n"),  # no LF at the end
        ("a\nb\nc", (1, 2), "\n\nc"),
        ("a\rb\nc\n", (1, 1), "\nc\n"),  # a lone CR ends no line
        ("a", (1, 1), ""),
    ],
)
def test_whole_lines_are_blank_and_keep_their_ends(text, region, left):
    assert masked(text, ("a.py", *region), ("b.py", 1, 1)).source.text == left


def test_all_other_sources_are_the_very_same_and_the_corpus_is_named_after_both():
    dataset = world(LINES, ("a.py", 1, 2), ("b.py", 1, 1))
    (corpus,) = dataset.corpora
    (mask,) = masks_of({"c": corpus}, dataset.queries)
    assert mask.corpus.sources[1] is corpus.sources[1]
    assert mask.corpus.skipped == corpus.skipped
    assert (mask.corpus.id, mask.corpus.of, mask.corpus.name) == ("c@q", "c", "c")
    assert mask.query.corpus == "c@q"
    assert [one.path for one in mask.file.sources] == ["a.py"]


def test_a_region_in_a_skipped_file_needs_no_mask():
    dataset = world(LINES, ("icon.py", 1, 2), ("a.py", 1, 1))
    prepared = prepare(dataset, mask=True)
    assert prepared.masks == ()
    assert prepared.corpora == prepared.files == dataset.corpora
    assert prepared.queries == dataset.queries


@pytest.mark.parametrize(
    ("region", "words"),
    [(("a.py", 9, 11), "a.py:9-11 passes the file's 10 lines"), (("z.py", 1, 1), "z.py is not")],
)
def test_a_region_that_is_not_there_is_an_error(region, words):
    with pytest.raises(InputError, match=words):
        masked(LINES, region, ("b.py", 1, 1))


@pytest.mark.parametrize("lines", [(0, 1), (3, 2)])
def test_lines_of_a_region_are_a_range(lines):
    with pytest.raises(InputError, match="invalid lines"):
        Region("a.py", *lines)


def test_two_corpora_of_one_id_are_an_error():
    one, two = Corpus("c", (Source("a\n", "a.py"),)), Corpus("c@d", (Source("a\n", "a.py"),))
    queries = (
        Query("d@q", "c", "x", region=Region("a.py", 1, 1)),
        Query("q", "c@d", "x", region=Region("a.py", 1, 1)),
    )
    with pytest.raises(InputError, match="'c@d@q' is taken"):
        masks_of({"c": one, "c@d": two}, queries)


@pytest.mark.parametrize("target", [("a.py", 3, 4), ("a.py", 6, 9), ("a.py", 5, 5), ("a.py",)])
def test_a_mask_over_the_target_is_refused_by_name(target):
    dataset = world(LINES, ("a.py", 4, 6), ("b.py", 1, 1), target)
    with pytest.raises(InputError) as refused:
        refuse_mask(dataset)
    assert str(refused.value).startswith(
        "made: --mask-query would take the target itself out of a.py; use target=body"
    )


def test_a_data_set_without_regions_or_with_documents_is_refused_by_name():
    with pytest.raises(
        InputError, match=r"made: --mask-query: 1 of 1 queries were not made .* such as q"
    ):
        refuse_mask(world(LINES, None, ("a.py", 1, 1)))
    with pytest.raises(InputError, match=r"made: its gold is documents"):
        refuse_mask(replace(world(LINES, ("a.py", 4, 6)), gold="document"))


def test_a_region_belongs_to_the_fingerprint_only_where_there_is_one():
    without = world(LINES, None, ("a.py", 1, 1))
    # As it was before there were regions, without the files that are not indexed.
    assert without.fingerprint == "95dcb7ad73a6e694a70a621c8abed671c148e30045168f7619e4b867660c6b77"
    one, two = (world(LINES, ("a.py", 4, n), ("a.py", 1, 1)) for n in (5, 6))
    assert len({without.fingerprint, one.fingerprint, two.fingerprint}) == 3


BODY = function("alpha", 8)  # ten lines of code, two blank ones


def test_a_copy_of_the_target_inside_the_region_goes_with_it_and_others_stay():
    text = BODY + function("beta") + BODY
    sources = (Source(text, "a.py"), Source("x = 1\n" + BODY, "b.py"), Source("y = 2\n", "c.py"))
    region = Region("a.py", 1, 12)
    target = Target("a.py", 21, 30)
    query = Query("q", "c", "x", (target,), region=region)
    dataset = Dataset("made", "span", (Corpus("c", sources),), (query,))
    (plain,) = prepare(dataset).places
    assert [twin[0] for twin in plain[0].twins] == ["a.py", "b.py"]
    (places,) = prepare(dataset, mask=True).places
    assert [twin[0] for twin in places[0].twins] == ["b.py"]
    by_hand = replace(sources[0], text="\n" * 12 + sources[0].text.split("\n", 12)[12])
    alone = replace(query, region=None)
    rebuilt = Dataset("made", "span", (Corpus("c", (by_hand, *sources[1:])),), (alone,))
    assert prepare(rebuilt).places == (places,)


def test_a_copy_in_the_masked_file_is_found_where_it_lies_then():
    text = function("beta") + BODY + BODY
    source = Source(text, "a.py")
    query = Query("q", "c", "x", (Target("a.py", 9, 18),), region=Region("a.py", 1, 8))
    dataset = Dataset("made", "span", (Corpus("c", (source,)),), (query,))
    ((place,),) = prepare(dataset, mask=True).places
    size = sum(len(word) for word in BODY.split())
    assert place.stretch == ("a.py", 0, size)
    assert place.twins == (("a.py", size, 2 * size),)
    assert place.twin_lines == ((10, 20),)
