"""Breaks where neighbours are far apart."""

import numpy as np
import pytest
from vectors_by_hand import LINES, angles, first_lines, numbered, told

from chunkers import InputError, Services, Source, load_chunker
from chunkers.testing.services import cheap_services, embed

PLAIN = "semantic:unit_size=10,min_size=0"


def test_it_breaks_where_the_distance_exceeds_the_percentile():
    vectors = angles(0, 10, 20, 80, 90, 100, 105, 180)
    source = numbered()
    # The distances are those of 10, 10, 60, 10, 10, 5 and 75 degrees.
    assert first_lines(f"{PLAIN},percentile=95", source, told(vectors)) == [0, 7]
    assert first_lines(f"{PLAIN},percentile=70", source, told(vectors)) == [0, 3, 7]
    assert first_lines(f"{PLAIN},percentile=100", source, told(vectors)) == [0]
    # At 0 all but the smallest pass.
    assert first_lines(f"{PLAIN},percentile=0", source, told(vectors)) == [0, 1, 2, 3, 4, 5, 7]


def test_equal_distances_are_no_reason_to_break():
    source = numbered()
    assert first_lines(f"{PLAIN},percentile=50", source, told(angles(*range(0, 80, 10)))) != []
    assert first_lines(f"{PLAIN},percentile=50", source, told(angles(*[30] * 8))) == [0]


def test_what_exceeds_the_limit_is_packed_from_its_units():
    vectors = angles(0, 1, 2, 3, 4, 5, 90, 91)
    spec = f"{PLAIN},max_size=40"
    assert first_lines(spec, numbered(), told(vectors)) == [0, 4, 6]


def test_what_is_too_small_is_joined_with_the_nearer_neighbour():
    source = numbered(6)
    spec = "semantic:unit_size=10,percentile=50,min_size=20"
    # Line 2 stands alone between two breaks, nearer to what comes before, or behind.
    assert first_lines(spec, source, told(angles(0, 1, 40, 90, 91, 92))) == [0, 3]
    assert first_lines(spec, source, told(angles(0, 1, 50, 90, 91, 92))) == [0, 2]
    assert first_lines(f"{spec},max_size=20", source, told(angles(0, 1, 40, 90, 91, 92))) == [
        0,
        2,
        3,
        5,
    ]


def test_of_two_neighbours_as_near_the_one_before_is_taken():
    spec = "semantic:unit_size=10,percentile=50,min_size=20"
    vectors = [(1, 0), (1, 0), (0, 1), (1, 0), (1, 0), (1, 0)]
    assert first_lines(spec, numbered(6), told(vectors)) == [0, 3]


def test_each_unit_is_embedded_with_its_neighbours_and_can_be_named_beforehand():
    source = numbered(5)
    lines = source.text.split("\n")[:-1]
    for buffer in (0, 1, 2):
        seen = []

        def given(texts, seen=seen):
            seen.extend(texts)
            return embed(texts)

        chunker = load_chunker(f"semantic:unit_size=10,buffer={buffer}")
        chunker.chunk(source, Services(given))
        wanted = [lines[max(0, n - buffer) : n + buffer + 1] for n in range(5)]
        assert seen == ["".join(f"{line}\n" for line in part) for part in wanted]
        assert chunker.texts(source, Services()) == seen


@pytest.mark.parametrize("name", ["semantic", "cluster-semantic"])
def test_up_to_two_units_need_no_embedder(name):
    source = numbered(2)
    chunker = load_chunker(f"{name}:unit_size=10")
    assert chunker.texts(source, Services()) == []
    assert len(chunker.chunk(source, Services())) == 1
    assert len(load_chunker(f"{name}:unit_size=10,max_size=10").chunk(source, Services())) == 2


@pytest.mark.parametrize("name", ["semantic", "cluster-semantic"])
def test_without_an_embedder_it_says_what_is_missing(name):
    chunker = load_chunker(f"{name}:unit_size=10")
    assert chunker.embeds
    with pytest.raises(InputError, match="needs an embedder") as error:
        chunker.chunk(numbered(), Services())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["semantic", "cluster-semantic"])
@pytest.mark.parametrize("bad", [(0, 0), (np.nan, 1), (np.inf, 0)])
def test_a_unit_without_a_vector_is_far_from_nothing_and_noted(name, bad):
    options = ",min_size=0" if name == "semantic" else ""
    spec = f"{name}:unit_size=10{options}"
    vectors = [*angles(0, 1, 2, 3), bad, *angles(90, 91, 92)]
    given = told(vectors)
    # Nothing is cut for its sake: there is no break at it, and no cut on both its sides.
    cuts = first_lines(spec, numbered(), given)
    assert not {4, 5} & set(cuts) if name == "semantic" else cuts == [0, 5]
    assert given.notes == {"unit without a vector": 1}


@pytest.mark.parametrize("name", ["semantic", "cluster-semantic"])
def test_vectors_of_another_number_or_shape_are_refused(name):
    chunker = load_chunker(f"{name}:unit_size=10")
    for wrong in (np.ones((3, 2)), np.ones(LINES)):
        with pytest.raises(InputError, match="embedding 8 texts gave an array of shape"):
            chunker.chunk(numbered(), Services(lambda texts, wrong=wrong: wrong))


@pytest.mark.parametrize("name", ["semantic", "cluster-semantic"])
def test_units_are_statements_where_there_is_a_grammar(name, programs):
    text = programs["python"]
    with_tree = load_chunker(name).texts(Source(text, "a.py", "python"), Services())
    by_lines = load_chunker(name).texts(Source(text, "a.txt", None), Services())
    assert any(text.startswith("class Store") for text in with_tree) or name == "semantic"
    assert with_tree != by_lines
    given = cheap_services()
    load_chunker(name).chunk(Source(text, "a.txt", None), given)
    assert not given.notes  # lines are its units there, nothing is fallen back to


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("semantic:unit_size=0", "unit_size=0"),
        ("semantic:buffer=-1", "buffer=-1"),
        ("semantic:percentile=101", "percentile=101"),
        ("semantic:min_size=-1", "min_size=-1"),
        ("semantic:max_size=0", "max_size=0"),
        ("cluster-semantic:unit_size=0", "unit_size=0"),
        ("cluster-semantic:max_size=0", "max_size=0"),
    ],
)
def test_wrong_numbers_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        load_chunker(spec)


def test_the_percentile_is_named_as_it_was_written():
    assert load_chunker("semantic:percentile=50").name == "semantic:percentile=50"
    assert load_chunker("semantic:percentile=97.5").name == "semantic:percentile=97.5"
    assert load_chunker("semantic:percentile=95,buffer=0").name == "semantic"
