"""Measures of texts: what an answer or a retrieved context shares with the expected words.

They need no ids and no places, so they serve where a system gives only texts, and only
`chunkmark score` computes them. A text is compared by its tokens: from `tokens` here, or from
another tokenizer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    _Evaluate = Callable[["TextCase", int], float | None]

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
    words, wanted = set(text), set(expected)
    shared = len(words & wanted)
    if not shared:
        value = float(words == wanted)
        return TokenF1(value, value, value)
    precision, recall = shared / len(words), shared / len(wanted)
    return TokenF1(2 * precision * recall / (precision + recall), precision, recall)


def relevant_by_text(
    context: Iterable[str], expected: Collection[str], threshold: float = RELEVANT
) -> bool:
    """Whether a context counts as relevant by its words; never where none are expected."""
    return len(expected) > 0 and token_f1(context, expected).f1 >= threshold


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


def context_score(retrieved: Collection[str], gold: Collection[str]) -> ContextScore:
    """Retrieved against gold documents, each counted once in however many chunks; 0/0 is 0."""
    n_retrieved, n_gold = len(set(retrieved)), len(set(gold))
    correct = len(set(retrieved) & set(gold))
    recall, precision = correct / max(n_gold, 1), correct / max(n_retrieved, 1)
    f1 = 2 * correct / max(n_retrieved + n_gold, 1)
    return ContextScore(recall, precision, f1, n_retrieved, n_gold, correct)


@dataclass(frozen=True)
class TextCase:
    """One query seen as texts.

    Attributes:
        expected: The expected answer, or None.
        answer: The answer that the system gave, or None.
        correct: Whether that answer was judged correct, or None.
        contexts: The retrieved texts in rank order.
        documents: The distinct retrieved documents and the gold ones; None where no gold names
            documents.
    """

    expected: str | None = None
    answer: str | None = None
    correct: bool | None = None
    contexts: tuple[str, ...] = ()
    documents: tuple[frozenset[str], frozenset[str]] | None = None

    @cached_property
    def wanted(self) -> list[str]:
        """Tokens of the expected answer."""
        return tokens(self.expected or "")

    @cached_property
    def context_words(self) -> list[list[str]]:
        """Tokens of every context."""
        return [tokens(text) for text in self.contexts]

    @cached_property
    def compared(self) -> str | None:
        """What is compared with the expected answer: the answer, else the nearest context.

        Nearest is the one with the largest token F1, the first of several. None where there is
        nothing to compare, or nothing to compare it with.
        """
        if not self.wanted:
            return None
        if self.answer is not None or not self.contexts:
            return self.answer
        f1 = [token_f1(words, self.wanted).f1 for words in self.context_words]
        return self.contexts[f1.index(max(f1))]

    @cached_property
    def words(self) -> list[str] | None:
        """Tokens of what is compared."""
        return None if self.compared is None else tokens(self.compared)

    @cached_property
    def context(self) -> ContextScore | None:
        """The documents, counted."""
        return None if self.documents is None else context_score(*self.documents)


@dataclass(frozen=True)
class TextFamily:
    """A measure of texts without its cut-off; see `harness.measures.family.Family`.

    `evaluate` gives the value for one query from the cut-off; None where it lacks the texts.
    """

    name: str
    description: str
    source: str
    evaluate: _Evaluate
    cut: Literal["rank", "none"] = "none"
    aliases: tuple[str, ...] = ()


def _success(case: TextCase, k: int) -> float | None:
    if case.correct is None or not case.wanted:
        return None
    first = case.context_words[:k]
    grounded = any(relevant_by_text(words, case.wanted, ANSWERED) for words in first)
    return float(case.correct and grounded)


def _context(part: Literal["recall", "precision", "f1"]) -> _Evaluate:
    return lambda case, _: None if case.context is None else float(getattr(case.context, part))


def _words(compare: Callable[[Sequence[str], Sequence[str]], float | None]) -> _Evaluate:
    return lambda case, _: None if case.words is None else compare(case.words, case.wanted)


def _exact(case: TextCase, _: int) -> float | None:
    if case.compared is None or case.expected is None:
        return None
    return float(exact_match(case.compared, case.expected))


_DOCUMENTS = "chunkmark: distinct documents, however many chunks each came in"

TEXT_FAMILIES = (
    TextFamily(
        name="AnswerSuccess",
        description="1 if the answer is correct and a context of the first k has token F1 ≥ 0.1",
        source="success_at_k of memorybench",
        cut="rank",
        evaluate=_success,
    ),
    TextFamily(
        name="ContextR",
        description="gold documents that were retrieved ÷ gold documents",
        source=_DOCUMENTS,
        evaluate=_context("recall"),
        aliases=("context_recall",),
    ),
    TextFamily(
        name="ContextP",
        description="gold documents that were retrieved ÷ distinct documents retrieved",
        source=_DOCUMENTS,
        evaluate=_context("precision"),
        aliases=("context_precision",),
    ),
    TextFamily(
        name="ContextF1",
        description="harmonic mean of ContextR and ContextP of each query",
        source=_DOCUMENTS,
        evaluate=_context("f1"),
    ),
    TextFamily(
        name="TokenF1",
        description="token F1 of the answer (else the best context) and the expected one",
        source="van Rijsbergen 1979 over sets of tokens",
        evaluate=_words(lambda words, wanted: token_f1(words, wanted).f1),
    ),
    TextFamily(
        name="RougeL",
        description="as TokenF1, by the longest common subsequence",
        source="ROUGE-L of Lin 2004, beta 1",
        evaluate=_words(rouge_l),
        aliases=("lcs_f1",),
    ),
    TextFamily(
        name="Bleu1",
        description="as TokenF1, by clipped unigram precision, without brevity penalty",
        source="Papineni et al. 2002",
        evaluate=_words(bleu_1),
        aliases=("unigram_precision",),
    ),
    TextFamily(
        name="ExactMatch",
        description="1 if answer and expected answer differ at most in case and white space",
        source="chunkmark",
        evaluate=_exact,
        aliases=("exact", "EM"),
    ),
)
