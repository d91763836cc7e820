"""Which texts ask the same."""

from __future__ import annotations

from harness.building.query_set import alike


def test_texts_with_the_same_words_are_alike() -> None:
    texts = {"a": "One, two!", "b": "two one", "c": "one  TWO", "d": "+ -", "e": "+  -", "f": "-"}
    assert alike(texts) == [["a", "c"], ["d", "e"]]
