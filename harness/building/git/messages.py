"""The query that a commit's message makes, without what only machines read."""

from __future__ import annotations

import re

from harness.support.word_runs import count_words

FEWEST_WORDS = 4
"""Words of two letters or more that a message must have to be a query; see `count_words`."""

_MOST = 20_000
_CHANGE = (
    r"(?:[\"'`\u201c\u2018]|(?:the |my |our |last |previous |this |that |part of )*"
    r"(?:change(?:set|list|s)?|commits?|cl|rev(?:ision)?s?|patch(?:es)?|pr|merge|pull request"
    r"|bug|issue|#\d|r\d|[\da-f]{7,40}\b))"
)
# A subject, such as `Revert "…"`, `fix: reverts …`, `Back out changeset …`, and a line of a body.
_REVERT = re.compile(
    r"(?:\[[^\]\n]{1,40}\]\s*|[\w()/.,!*-]{1,40}:\s+|partial(?:ly)?\s+)*"
    r"(?:(?:(?:re|un)-?)?revert(?:s|ing)?\b|re-?(?:appl(?:y|ies|ying)|lands?|landing)\b"
    rf"|(?:(?:re|un)-?)?reverted\s+(?:of\s+)?{_CHANGE}"
    r"|(?:back(?:s|ed|ing)?[ -]?out|roll(?:s|ed|ing)?[ -]?back|undo(?:es|ing)?|undid)\s+(?:of\s+)?"
    rf"{_CHANGE})"
    r"|.*^reverts [\w.-]+/[\w.-]+#\d"
    rf"|.*^this (?:partial(?:ly)? |partly )?(?:reverts|backs out|rolls back) {_CHANGE}",
    re.I | re.M | re.S,
)
# Lines that only machines read, anywhere in a message.
_MACHINE = re.compile(
    r"(?:[\w-]+-by|cc|change-id|git-svn-id|signed-off|reviewed-on|differential revision"
    r"|pipermail|message-id|link|x-[\w-]+)\s*:.*"
    r"|\(?cherry[- ]picked from .*|\(?backported from .*|\[skip ci\]|\[ci skip\]|---+",
    re.I,
)
_TRAILER = re.compile(r"[A-Za-z][\w-]*\s*:\s\S.*")
_REFERENCE = re.compile(
    r"https?://\S+|(?:(?<![\w./-])[\w.-]+/[\w.-]+)?#\d+|\b[A-Z][A-Z\d]{1,9}-\d+", re.A
)
_ABOUT = re.compile(
    r"\b(?:(?:partly |partially )?(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)|ref(?:s|erences)?|see"
    r"|also|bug|issues?|tickets?|prs?|pull requests?|part of|relates? to|related|and|to)\b",
    re.I,
)
_NUMBER = re.compile(r"\((?:[\w.-]+/[\w.-]+)?#\d+\)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def query_text(message: str) -> str:
    """The subject and, after a blank line, what remains of the body.

    Removed are lines such as `Signed-off-by: …`, `Co-authored-by: …` or `Change-Id: …`; a last
    paragraph of which every line is such a `Key: value`; lines that hold nothing but numbers of
    issues and addresses, with words such as "fixes" or "see" before them; numbers of pull requests
    in brackets after the subject; control characters; and what follows the first 20,000 characters.
    """
    text = message[:_MOST].replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", text)
    paragraphs = [part.split("\n") for part in re.split(r"\n(?:[^\S\n]*\n)+", text.strip())]
    subject = _without_numbers(" ".join(" ".join(paragraphs[0]).split()))
    body = paragraphs[1:]
    if body and all(_TRAILER.fullmatch(line) or line[:1].isspace() for line in body[-1]):
        body.pop()
    kept = [[line.rstrip() for line in part if not _is_machine(line.strip())] for part in body]
    rest = ["\n".join(lines) for lines in kept if any(lines)]
    return "\n\n".join([subject, *rest]).strip()


def _without_numbers(subject: str) -> str:
    """A subject without the numbers of pull requests in brackets after it."""
    end = len(subject)
    while (at := subject.rfind("(", 0, end)) >= 0 and _NUMBER.fullmatch(subject, at, end):
        end = at
        while subject[end - 1 : end].isspace():
            end -= 1
    return subject[:end]


def _is_machine(line: str) -> bool:
    """Whether a line tells a human reader nothing."""
    if _MACHINE.fullmatch(line):
        return True
    rest, count = _REFERENCE.subn("", line)
    return bool(count) and not re.search(r"\w", _ABOUT.sub("", rest))


def is_revert(message: str) -> bool:
    """Whether a commit reverts or reapplies another one."""
    return _REVERT.match(message.lstrip()) is not None


def is_wordless(text: str) -> bool:
    """Whether a text has too few words to be a query."""
    return count_words(_REFERENCE.sub("", text), letters=True) < FEWEST_WORDS
