import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import InputError, LineIndex, Services, Source


def lines_of(text: str, start: int, end: int) -> tuple[int, int]:
    return LineIndex(text).lines_of(start, end)


def test_a_chunk_that_ends_at_a_line_feed_ends_on_its_line():
    text = "def a():\n    return 1\ndef b():\n    return 2\n"
    assert len(text) == 44
    assert lines_of(text, 0, 22) == (1, 2)
    assert lines_of(text, 22, 44) == (3, 4)


def test_crlf_ends_one_line():
    text = "a = 1\r\nb = 2\r\nc = 3\r\n"
    assert lines_of(text, 7, 12) == (2, 2)
    assert lines_of(text, 7, 14) == (2, 2)
    assert LineIndex(text).offsets_of(2, 2) == (7, 14)
    assert LineIndex(text).count == 3


@pytest.mark.parametrize("mark", ["\r", "\f", "\v", "\x85", "\u2028", "\u2029", "\x1c"])
def test_only_a_line_feed_ends_a_line(mark):
    text = f"a = 1\n{mark}\ndef b():\n    return 2\n"
    assert LineIndex(text).line_of(text.index("def b")) == 3
    assert LineIndex(text).blank(2)
    assert LineIndex(f"a{mark}b").count == 1


def test_offsets_are_characters_and_not_bytes():
    text = "# é\ndef f():\n    return 1\n"
    assert (len(text), len(text.encode())) == (26, 27)
    assert LineIndex(text).start_of(2) == 4 == text.index("def f")
    assert LineIndex("🐍\nx").start_of(2) == 2


def test_an_empty_text_has_no_line():
    lines = LineIndex("")
    assert lines.count == 0
    assert lines.nws.tolist() == [0] == lines.line_nws.tolist()
    assert lines.size(0, 0) == 0


def test_text_behind_the_last_line_feed_is_a_line_and_nothing_is_not():
    assert LineIndex("a\nb").count == 2
    assert LineIndex("a\nb\n").count == 2
    assert LineIndex("\n\n").count == 2


texts = st.text(st.sampled_from("ab \t\n\r\f\v\x00\x1f\x85\xa0\u2028\u3000\ufeffé🐍\ud800"))


@given(texts)
def test_lines_are_those_between_line_feeds(text):
    lines = LineIndex(text)
    pieces = text.split("\n")
    if not pieces[-1]:
        pieces.pop()
    assert lines.count == len(pieces)
    for number, piece in enumerate(pieces, start=1):
        start, end = lines.offsets_of(number, number)
        assert text[start:end].removesuffix("\n") == piece
        assert lines.text_of(number, number) == text[start:end]
        assert lines.text_of(1, number) + text[end:] == text
        assert lines.blank(number) is (not piece.strip())
        assert all(lines.line_of(at) == number for at in range(start, end))


@given(texts)
def test_white_space_is_what_python_says(text):
    lines = LineIndex(text)
    visible = [not one.isspace() for one in text]
    assert lines.nws.tolist() == [sum(visible[:at]) for at in range(len(text) + 1)]
    ends = [*lines.starts.tolist(), len(text)]
    assert lines.line_nws.tolist() == [int(lines.nws[at]) for at in ends][: lines.count + 1]


def test_every_white_space_character_is_known():
    text = "".join(map(chr, range(0x11000)))
    assert LineIndex(text).size(0, len(text)) == sum(not one.isspace() for one in text)
    assert not any(chr(code).isspace() for code in range(0x3001, 0x110000))


def test_a_source_builds_its_line_index_once():
    source = Source("a\n", "a.py", "python")
    assert source.lines is source.lines


def test_services_say_what_is_missing():
    with pytest.raises(InputError, match="tokenizer"):
        Services().need_tokens()
    with pytest.raises(InputError, match="tokenizer"):
        Services().line_tokens()


def test_services_count_each_line_once():
    counted = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    services = Services(count_tokens=count)
    assert [services.line_tokens()(line) for line in ("ab", "abc", "ab")] == [2, 3, 2]
    assert counted == ["ab", "abc"]


def test_notes_are_counted():
    services = Services()
    services.note("fallback: fixed")
    services.note("fallback: fixed")
    assert services.notes == {"fallback: fixed": 2}
