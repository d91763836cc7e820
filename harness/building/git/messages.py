"""What a commit's message asks, once all that only machines read is gone."""

from __future__ import annotations

import re

from harness.support.word_runs import count_words

FEWEST_WORDS = 4
"""Words of two letters or more that a message must have to ask anything; see `count_words`."""

_MOST = 20_000
_SOMETHING = (
    r"(?:[\"'`\u201c\u2018]|(?:the |my |our |last |previous |this |that |part of )*"
    r"(?:change(?:set|list|s)?|commits?|cl|rev(?:ision)?s?|patch(?:es)?|pr|merge|pull request"
    r"|bug|issue|#\d|r\d|[\da-f]{7,40}\b))"
)
# A subject, such as `Revert "…"`, `fix: reverts …`, `Back out changeset …`, and a line of a body.
_REVERT = re.compile(
    r"(?:\[[^\]\n]{1,40}\]\s*|[\w()/.,!*-]{1,40}:\s+|partial(?:ly)?\s+)*"
    r"(?:(?:(?:re|un)-?)?revert(?:s|ing)?\b|re-?(?:appl(?:y|ies|ying)|lands?|landing)\b"
    rf"|(?:(?:re|un)-?)?reverted\s+(?:of\s+)?{_SOMETHING}"
    r"|(?:back(?:s|ed|ing)?[ -]?out|roll(?:s|ed|ing)?[ -]?back|undo(?:es|ing)?|undid)\s+(?:of\s+)?"
    rf"{_SOMETHING})"
    r"|.*^reverts [\w.-]+/[\w.-]+#\d"
    rf"|.*^this (?:partial(?:ly)? |partly )?(?:reverts|backs out|rolls back) {_SOMETHING}",
    re.I | re.M | re.S,
)
# Lines of machines wherever they stand.
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


def question_of(message: str) -> str:
    """The subject, and behind a blank line what is left of the body.

    Left out: lines such as `Signed-off-by: …`, `Co-authored-by: …` or `Change-Id: …`; a last
    paragraph of which every line is such a `Key: value`; lines that hold nothing but numbers of
    issues and addresses, with words such as "fixes" or "see" before them; numbers of pull requests
    in brackets behind the subject; control characters; what lies behind 20,000 characters.
    """
    text = message[:_MOST].replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", text)
    paragraphs = [part.split("\n") for part in re.split(r"\n(?:[^\S\n]*\n)+", text.strip())]
    subject = _without_numbers(" ".join(" ".join(paragraphs[0]).split()))
    body = paragraphs[1:]
    if body and all(_TRAILER.fullmatch(line) or line[:1].isspace() for line in body[-1]):
        body.pop()
    kept = [[line.rstrip() for line in one if not _is_machine(line.strip())] for one in body]
    rest = ["\n".join(one) for one in kept if any(one)]
    return "\n\n".join([subject, *rest]).strip()


def _without_numbers(subject: str) -> str:
    """A subject without the numbers of pull requests in brackets behind it."""
    end = len(subject)
    while (at := subject.rfind("(", 0, end)) >= 0 and _NUMBER.fullmatch(subject, at, end):
        end = at
        while subject[end - 1 : end].isspace():
            end -= 1
    return subject[:end]


def _is_machine(line: str) -> bool:
    """Whether a line tells a reader nothing."""
    if _MACHINE.fullmatch(line):
        return True
    rest, found = _REFERENCE.subn("", line)
    return bool(found) and not re.search(r"\w", _ABOUT.sub("", rest))


def is_revert(message: str) -> bool:
    """Whether a commit takes another one back, or puts it in again."""
    return _REVERT.match(message.lstrip()) is not None


def is_wordless(question: str) -> bool:
    """Whether a text has too few words to ask anything."""
    return count_words(_REFERENCE.sub("", question), letters=True) < FEWEST_WORDS
