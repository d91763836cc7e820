"""Measures of text: what an answer or a retrieved context shares with the expected words.

They need no ids and no places, so they serve where a system gives only texts. A text is compared
by its tokens, which the caller makes once: `tokens` here, or another's tokenizer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

RELEVANT = 0.3
"""Token F1 from which a context counts as relevant where nothing else says so."""

ANSWERED = 0.1
"""Token F1 from which a context counts as the ground of a correct answer."""

_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters, digits and `_` of any script."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class TokenF1:
    """Shared distinct tokens ÷ those of the text, ÷ those expected, and the harmonic mean."""

    f1: float
    precision: float
    recall: float


def token_f1(text: Iterable[str], expected: Iterable[str]) -> TokenF1:
    """How much two texts share as sets of tokens; 1 for two empty ones, 0 for one.

    Source: van Rijsbergen 1979 over sets; the answer measure of question answering counts a
    repeated token each time instead.
    """
    mine, theirs = set(text), set(expected)
    if not mine and not theirs:
        return TokenF1(1.0, 1.0, 1.0)
    shared = len(mine & theirs)
    if not shared:
        return TokenF1(0.0, 0.0, 0.0)
    precision, recall = shared / len(mine), shared / len(theirs)
    return TokenF1(2 * precision * recall / (precision + recall), precision, recall)


def relevant_by_text(
    context: Iterable[str], expected: Collection[str], threshold: float = RELEVANT
) -> bool:
    """Whether a context counts as relevant by its words; never where none are expected."""
    return len(expected) > 0 and token_f1(context, expected).f1 >= threshold


def answer_success(
    contexts: Iterable[Iterable[str]],
    expected: Collection[str],
    *,
    correct: bool,
    threshold: float = ANSWERED,
) -> bool:
    """AnswerSuccess@k: a correct answer, and one of the first k contexts to ground it.

    Args:
        contexts: Tokens of the first k contexts.
        expected: Tokens of the expected answer.
        correct: Whether the answer was judged correct.
        threshold: Token F1 from which a context grounds the answer.
    """
    return correct and any(relevant_by_text(one, expected, threshold) for one in contexts)


def lcs_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö 2004, one bit for each token of `left`.
    """
    places: dict[str, int] = {}
    for at, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << at
    every = (1 << len(left)) - 1
    unmatched = every
    for token in right:
        here = unmatched & places.get(token, 0)
        unmatched = (unmatched + here | unmatched - here) & every
    return len(left) - unmatched.bit_count()


def rouge_l(text: Sequence[str], expected: Sequence[str]) -> float:
    """Harmonic mean of the longest common subsequence ÷ both lengths; 1 for two empty texts.

    Source: ROUGE-L of Lin 2004, beta 1.
    """
    if not text and not expected:
        return 1.0
    return 2 * lcs_length(text, expected) / (len(text) + len(expected))


def bleu_1(text: Sequence[str], expected: Sequence[str]) -> float | None:
    """Tokens that are expected, each as often as expected, ÷ tokens; None for an empty text.

    Source: modified unigram precision of Papineni et al. 2002, without the brevity penalty. A
    text without tokens stays out of the mean.
    """
    if not text:
        return None
    return (Counter(text) & Counter(expected)).total() / len(text)


def exact_match(text: str, expected: str) -> bool:
    """Whether an answer is the expected one but for case and white space."""
    return _plain(text) == _plain(expected)


def holds(text: str, expected: str) -> bool:
    """Whether a context has the expected text in it, but for case and white space."""
    return _plain(expected) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


@dataclass(frozen=True)
class ContextScore:
    """ContextR, ContextP and ContextF1 of one query, with what they were counted from."""

    recall: float
    precision: float
    f1: float
    retrieved: int
    gold: int
    correct: int


def context_score(retrieved: Iterable[str], gold: Iterable[str]) -> ContextScore:
    """Retrieved against gold documents, each counted once however many chunks it came in.

    Args:
        retrieved: Document ids, of any number and in any order.
        gold: Document ids.

    Returns:
        Correct ÷ gold, correct ÷ retrieved, their harmonic mean, 0/0 being 0; and the counts.
    """
    found, wanted = set(retrieved), set(gold)
    correct = len(found & wanted)
    either = len(found) + len(wanted)
    return ContextScore(
        recall=correct / len(wanted) if wanted else 0.0,
        precision=correct / len(found) if found else 0.0,
        f1=2 * correct / either if either else 0.0,
        retrieved=len(found),
        gold=len(wanted),
        correct=correct,
    )
