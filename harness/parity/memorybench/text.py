"""How memorybench compares texts; token F1 and the longest common subsequence are our own."""

from __future__ import annotations

import re

MATCH = 0.7
"""Jaccard index from which a snippet counts as the gold one."""

_WORD = re.compile(r"[a-z0-9_]+")


def tokenize(text: str) -> list[str]:
    """Runs of ASCII letters, digits and `_` in lower case; all else only parts them.

    So a word in another script has no tokens, and `naïve` has two.
    """
    return _WORD.findall(text.lower())


def jaccard(left: str, right: str) -> float:
    """Shared ÷ all distinct tokens; 1 for two texts without any."""
    left_tokens, right_tokens = set(tokenize(left)), set(tokenize(right))
    if not left_tokens and not right_tokens:
        return 1.0
    return len(left_tokens & right_tokens) / len(left_tokens | right_tokens)


def is_jaccard_match(left: str, right: str) -> bool:
    """Whether two snippets count as the same."""
    return jaccard(left, right) >= MATCH
