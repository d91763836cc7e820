import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures.text_measures import (
    TEXT_FAMILIES,
    ContextScore,
    TextCase,
    TokenF1,
    bleu_1,
    context_score,
    exact_match,
    holds,
    lcs_length,
    relevant_by_text,
    rouge_l,
    token_f1,
    tokens,
)


def success(expected, *contexts, correct=True):
    family = next(family for family in TEXT_FAMILIES if family.name == "AnswerSuccess")
    return family.evaluate(TextCase(expected=expected, correct=correct, contexts=contexts), 9)


WORDS = st.lists(st.sampled_from("abcde"), max_size=12)
EXPECTED = "Paris is the capital of France."
LONGER = "Paris is the capital and most populous city of France, with an estimated population."


def test_words_are_of_any_script_and_in_lower_case():
    assert tokens("Größe, naïve_Name (x1)  漢字!") == ["größe", "naïve_name", "x1", "漢字"]
    assert tokens(" ,.- \n") == []


def test_longer_sentence_is_relevant_and_no_exact_match():
    assert token_f1(tokens(LONGER), tokens(EXPECTED)).f1 >= 0.3
    assert relevant_by_text(tokens(LONGER), tokens(EXPECTED))
    assert not exact_match(LONGER, EXPECTED)
    assert not holds(LONGER, EXPECTED)


def test_token_f1_is_of_distinct_tokens():
    got = token_f1(["a", "a", "b", "x"], ["a", "b", "c", "d"])
    assert got == TokenF1(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5), 2 / 3, 0.5)


def test_token_f1_of_nothing():
    assert token_f1([], []) == TokenF1(1.0, 1.0, 1.0)
    assert token_f1(["a"], []) == token_f1([], ["a"]) == TokenF1(0.0, 0.0, 0.0)
    assert token_f1(["a"], ["b"]) == TokenF1(0.0, 0.0, 0.0)


def test_threshold_of_relevance_is_reached_by_equality():
    # 3 of 10 and of 10 tokens: F1 0.3.
    text, expected = [*"abcdefghij"], [*"abc", *"0123456"]
    assert token_f1(text, expected).f1 == pytest.approx(0.3)
    assert relevant_by_text(text, expected, 0.29)
    assert relevant_by_text(["a", "b"], ["a", "c"], 0.5)
    assert not relevant_by_text(["a", "b"], ["a", "c"], 0.51)


def test_nothing_expected_makes_no_context_relevant():
    assert not relevant_by_text([], [])
    assert not relevant_by_text(["a"], [], 0.0)


@pytest.mark.parametrize(
    ("contexts", "correct", "want"),
    [
        ([["a", "b"]], True, True),
        ([["a", "b"]], False, False),
        ([["x"], ["a"]], True, True),
        ([["x"], ["y"]], True, False),
        ([], True, False),
    ],
)
def test_success_needs_a_correct_answer_and_a_context_that_grounds_it(contexts, correct, want):
    assert success("a c", *map(" ".join, contexts), correct=correct) == want


def test_success_asks_less_of_a_context_than_relevance():
    context, less, expected = "a b c d e f g h", "a b c d e f g h i j", "a 0 1 2 3 4 5 6 7 8 9"
    assert token_f1(context.split(), expected.split()).f1 == pytest.approx(2 / 19)
    assert success(expected, context) == 1
    assert success(expected, less) == 0
    assert not relevant_by_text(context.split(), expected.split())


def slow_lcs(left, right):
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            best = max(rows[i][j + 1], rows[i + 1][j])
            rows[i + 1][j + 1] = rows[i][j] + 1 if one == other else best
    return rows[-1][-1]


@given(WORDS, WORDS)
def test_longest_common_subsequence_equals_the_table(left, right):
    assert lcs_length(left, right) == slow_lcs(left, right)


def test_longest_common_subsequence_of_long_texts_is_fast():
    text = [str(n % 997) for n in range(20_000)]
    assert lcs_length(text, text[1:] + text[:1]) == 19_999


def test_rouge_l_is_the_harmonic_mean_over_the_subsequence():
    text, expected = [*"abcd"], [*"axc"]
    precision, recall = 2 / 4, 2 / 3
    assert rouge_l(text, expected) == pytest.approx(2 * precision * recall / (precision + recall))
    assert rouge_l([], []) == 1.0
    assert rouge_l(["a"], []) == rouge_l([], ["a"]) == 0.0


def test_bleu_1_clips_repeats_and_has_no_brevity_penalty():
    assert bleu_1(["the", "the", "the", "the"], ["the", "cat", "the", "mat"]) == 0.5
    assert bleu_1(["cat"], ["the", "cat", "on", "the", "mat"]) == 1.0
    assert bleu_1(["cat"], []) == 0.0
    assert bleu_1([], ["cat"]) is None


def test_exact_match_forgives_case_and_white_space_alone():
    assert exact_match("  Return\n x+1 ", "return x+1")
    assert not exact_match("return x-1", "return x+1")
    assert not exact_match("x return x+1", "return x+1")
    assert holds("def f(x):\n    Return  X+1\n", "return x+1")
    assert not holds("return x", "return x+1")


def test_context_counts_every_document_once():
    got = context_score(["a", "b", "a", "x", "x"], ["a", "b", "c", "a"])
    assert got == ContextScore(2 / 3, 2 / 3, 2 / 3, retrieved=3, gold=3, correct=2)
    got = context_score(["a", "x", "y", "z"], ["a"])
    assert (got.recall, got.precision, got.f1) == (1.0, 0.25, 0.4)


@pytest.mark.parametrize(("retrieved", "gold"), [([], []), ([], ["a"]), (["a"], [])])
def test_context_without_documents_is_0(retrieved, gold):
    got = context_score(retrieved, gold)
    assert (got.recall, got.precision, got.f1, got.correct) == (0.0, 0.0, 0.0, 0)
    assert (got.retrieved, got.gold) == (len(retrieved), len(gold))


@given(WORDS, WORDS)
def test_every_measure_lies_between_0_and_1(text, expected):
    f1 = token_f1(text, expected)
    values = [f1.f1, f1.precision, f1.recall, rouge_l(text, expected), bleu_1(text, expected) or 0]
    assert all(0 <= value <= 1 and math.isfinite(value) for value in values)
    assert token_f1(text, text).f1 == rouge_l(text, text) == 1
