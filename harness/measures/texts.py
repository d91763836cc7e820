"""Measures of texts: of answers, and of the contexts that were retrieved for them.

They need what a record of an outside system holds, not a cell, so only `chunkmark score` computes
them. What the texts share is worked out in `harness.measures.text_overlap`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from harness.measures.text_overlap import (
    ContextScore,
    answer_success,
    bleu_1,
    context_score,
    exact_match,
    rouge_l,
    token_f1,
    tokens,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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
    def found(self) -> list[list[str]]:
        """Tokens of every context."""
        return [tokens(one) for one in self.contexts]

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
        f1 = [token_f1(one, self.wanted).f1 for one in self.found]
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

    Attributes:
        name: The printed name.
        description: One line for `chunkmark list measures`.
        source: Where the definition comes from.
        cut: `rank` (needs @k) or `none`.
        evaluate: The value for one query, from the cut-off; None where the query does not have
            what it takes.
        aliases: Other names.
    """

    name: str
    description: str
    source: str
    cut: Literal["rank", "none"]
    evaluate: Callable[[TextCase, int], float | None]
    aliases: tuple[str, ...] = ()


def _success(case: TextCase, k: int) -> float | None:
    if case.correct is None or not case.wanted:
        return None
    return float(answer_success(case.found[:k], case.wanted, correct=case.correct))


def _context_recall(case: TextCase, k: int) -> float | None:
    del k
    return None if case.context is None else case.context.recall


def _context_precision(case: TextCase, k: int) -> float | None:
    del k
    return None if case.context is None else case.context.precision


def _context_f1(case: TextCase, k: int) -> float | None:
    del k
    return None if case.context is None else case.context.f1


def _token_f1(case: TextCase, k: int) -> float | None:
    del k
    return None if case.words is None else token_f1(case.words, case.wanted).f1


def _rouge_l(case: TextCase, k: int) -> float | None:
    del k
    return None if case.words is None else rouge_l(case.words, case.wanted)


def _bleu_1(case: TextCase, k: int) -> float | None:
    del k
    return None if case.words is None else bleu_1(case.words, case.wanted)


def _exact(case: TextCase, k: int) -> float | None:
    del k
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
        cut="none",
        evaluate=_context_recall,
        aliases=("context_recall",),
    ),
    TextFamily(
        name="ContextP",
        description="gold documents that were retrieved ÷ distinct documents retrieved",
        source=_DOCUMENTS,
        cut="none",
        evaluate=_context_precision,
        aliases=("context_precision",),
    ),
    TextFamily(
        name="ContextF1",
        description="harmonic mean of ContextR and ContextP of each query",
        source=_DOCUMENTS,
        cut="none",
        evaluate=_context_f1,
    ),
    TextFamily(
        name="TokenF1",
        description="token F1 of the answer, else of the nearest context, with what is expected",
        source="van Rijsbergen 1979 over sets of tokens",
        cut="none",
        evaluate=_token_f1,
    ),
    TextFamily(
        name="RougeL",
        description="the same by the longest common subsequence",
        source="ROUGE-L of Lin 2004, beta 1",
        cut="none",
        evaluate=_rouge_l,
        aliases=("lcs_f1",),
    ),
    TextFamily(
        name="Bleu1",
        description="the same by clipped unigram precision, without brevity penalty",
        source="Papineni et al. 2002",
        cut="none",
        evaluate=_bleu_1,
        aliases=("unigram_precision",),
    ),
    TextFamily(
        name="ExactMatch",
        description="1 if they are equal but for case and white space",
        source="chunkmark",
        cut="none",
        evaluate=_exact,
        aliases=("exact", "EM"),
    ),
)
