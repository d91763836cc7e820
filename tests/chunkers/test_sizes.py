import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import InputError, Services, Source, Span
from chunkers.sizes import UNITS, check_limit, measure, span_size


def words(text: str) -> int:
    return len(text.split())


SERVICES = Services(count_tokens=words)
texts = st.text(st.sampled_from("ab \t\n\r🐍"), max_size=60)


@given(texts, st.sampled_from(UNITS), st.data())
def test_a_run_of_lines_weighs_what_its_span_weighs(text, unit, data):
    source = Source(text, "a.txt")
    lines = measure(source, SERVICES, unit)
    assert lines.count == sum(bool(line.strip()) for line in text.split("\n"))
    if lines.count == 0:
        return
    first = data.draw(st.integers(0, lines.count - 1))
    last = data.draw(st.integers(first, lines.count - 1))
    (span,) = lines.spans([(first, last)])
    assert lines.size(first, last) == span_size(source, span, unit, SERVICES)


def test_the_units():
    source = Source("ab c\n\n  d 🐍\n", "a.txt")
    sizes = {unit: span_size(source, Span(0, 12), unit, SERVICES) for unit in UNITS}
    assert sizes == {"nws": 5, "chars": 12, "tokens": 4}


def test_each_line_is_tokenised_alone_and_blank_ones_are_not():
    seen = []

    def count(text: str) -> int:
        seen.append(text)
        return 1

    services = Services(count_tokens=count)
    assert measure(Source("a b\n \n  c\n", "a.txt"), services, "tokens").size(0, 1) == 2
    assert seen == ["a b", "  c"]


def test_tokens_need_a_tokenizer():
    with pytest.raises(InputError, match="tokenizer"):
        measure(Source("a", "a.txt"), Services(), "tokens")


def test_lines_are_packed_as_long_as_they_fit_and_one_at_least():
    lines = measure(Source("aa\nbb\n\ncccccc\nd\n", "a.txt"), SERVICES, "nws")
    assert lines.pack(0, 3, 4) == [(0, 1), (2, 2), (3, 3)]
    assert lines.pack(0, 3, 7) == [(0, 1), (2, 3)]
    assert lines.pack(1, 2, 100) == [(1, 2)]
    assert lines.pack(0, -1, 4) == []


def test_walls_part_what_would_fit():
    lines = measure(Source("a\nb\nc\nd\n", "a.txt"), SERVICES, "nws")
    walled = lines.walled([1, 3], 4)
    assert walled.pack(0, 3, 4) == [(0, 0), (1, 2), (3, 3)]
    assert walled.size(1, 2) == 2


def test_a_limit_below_one_is_refused():
    check_limit(1)
    with pytest.raises(InputError, match="max_size=0"):
        check_limit(0)
