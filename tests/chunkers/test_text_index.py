"""The index of a long text finds strings as `str.find` does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.locate import TextIndex

TEXTS = st.text(alphabet="ab\u00e9\U0001f600\ud800", min_size=1, max_size=150)


@given(TEXTS, st.lists(st.tuples(TEXTS, st.integers(0, 160)), max_size=8))
def test_places_are_those_of_find(text: str, asked: list[tuple[str, int]]) -> None:
    index = TextIndex(text)
    for piece, low in asked:
        for wanted in {piece, piece[:2], text[low : low + len(piece)], text[low:]} - {""}:
            assert index.find(wanted, low // 2) == text.find(wanted, low // 2)


@pytest.mark.parametrize("length", [1, 3, 4, 63, 64, 65, 1_000, 40_000])
def test_long_texts_of_two_characters(length: int) -> None:
    chance = np.random.default_rng(length)
    text = "".join(chance.choice(["a", "b"], 40_000).tolist())
    index = TextIndex(text)
    for low in chance.integers(0, len(text) - length, 50, endpoint=True).tolist():
        wanted = text[low : low + length]
        assert index.find(wanted, 0) == text.find(wanted)
        assert index.find(wanted, low) == low
        assert index.find(wanted, low + 1) == text.find(wanted, low + 1)


def test_a_search_whose_halves_stand_at_very_many_places_has_an_end() -> None:
    text = ("a" * 32 + "c") * 5_000 + ("ca" + "b" * 31) * 5_000
    index = TextIndex(text)
    wanted = "a" * 32 + "b" * 31
    assert {index.find(wanted, 0) for _ in range(2_000)} == {-1}
    assert index.left <= 0
