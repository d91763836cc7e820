import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import InputError, Services, Source, load_chunker


def cut(spec, text):
    source = Source(text, "a.py", "python")
    return [text[span.start : span.end] for span in load_chunker(spec).chunk(source, Services())]


def test_a_chunk_ends_after_so_many_characters_wherever_that_is():
    assert cut("fixed-chars:max_size=4", "ab\ncdé🐍 f") == ["ab\nc", "dé🐍 ", "f"]
    assert cut("fixed-chars:max_size=100", "ab\ncd\n") == ["ab\ncd\n"]


def test_the_overlap_is_in_characters():
    assert cut("fixed-chars:max_size=4,overlap=1", "abcdefgh") == ["abcd", "defg", "gh"]
    assert cut("fixed-chars:max_size=4,overlap=3", "abcdef") == ["abcd", "bcde", "cdef"]


def test_no_chunk_adds_nothing_but_white_space():
    assert cut("fixed-chars:max_size=4", "abcd" + " " * 9 + "e\n\n\n\n\n") == ["abcd", " e\n\n"]
    assert cut("fixed-chars:max_size=4,overlap=2", "abcd\n \n") == ["abcd"]


@given(st.text(st.sampled_from("ab \n\r🐍"), max_size=80), st.integers(1, 9), st.data())
def test_every_visible_character_is_in_one_chunk_apart_from_the_overlap(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    source = Source(text, "a", None)
    spec = f"fixed-chars:max_size={size},overlap={overlap}"
    end = 0
    for span in load_chunker(spec).chunk(source, Services()):
        assert span.end - span.start <= size
        assert span.start >= end - overlap
        assert source.lines.size(end, max(end, span.start)) == 0
        assert source.lines.size(max(end, span.start), span.end) > 0
        end = span.end
    assert source.lines.size(end, len(text)) == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("max_size=0", "max_size=0"),
        ("overlap=-1", "overlap=-1"),
        ("max_size=10,overlap=10", "overlap=10: must be .* below max_size=10"),
        ("unit=chars", "unknown option 'unit'; choose from header, max_size, overlap"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        load_chunker(f"fixed-chars:{options}")


def test_what_it_declares():
    loaded = load_chunker("fixed-chars:overlap=100")
    assert (loaded.name, loaded.max_size, loaded.unit) == ("fixed-chars:overlap=100", 1500, "chars")
    assert load_chunker("fixed-chars:overlap=0").name == "fixed-chars"
