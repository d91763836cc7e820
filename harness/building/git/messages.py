"""The query that a commit's message makes, without what only machines read."""

from __future__ import annotations

import re

from harness.support.word_runs import count_words

FEWEST_WORDS = 5
"""Words of two letters or more that a message must have to be a query; see `count_words`."""

_MOST = 20_000
_SUBJECT = 500  # characters in which a merge, a new version or formatting is looked for
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
_END = r"\s*(?:\n|\Z)"
_MERGE = re.compile(
    r"(?:automatic |auto-?|auto )?merged? "
    r"(?:(?:remote-tracking )?(?:branch(?:es)?|tags?|commits?) ['\"]|(?:pull request|pr) #?\d"
    r"|of #\d|in \S+ \(pull request #|(?:remote-tracking )?branch \S+ (?:of|into)\b"
    rf"|(?:(?:origin|upstream)/)?(?:master|main|origin|upstream|dev(?:elop)?)(?:{_END}| (?:in)?to\b"
    r"|[ /]\S+ (?:in)?to\b)|(?:origin|upstream)/\S+"
    rf"|\S+ into (?:master|main|dev(?:elop)?){_END})",
    re.I,
)
_KIND = r"(?:\[[^\]\n]{1,40}\]\s*|[\w()/.,!*-]{1,40}:\s+|:\w+:\s*)*"
_VERSION = r"(?:v\d[\w.*-]*|\d+\.[\d*][\w.*-]*)"
_AFTER = rf"(?:{_END}|[.,)]|\s+(?:in|for|of|across)\s+\S+{_END}|\s+\()"
_BUMP = re.compile(
    r"(?:build|chore|fix|ci)\((?:dev-)?deps[^)\n]*\)!?:|\[?deps(?:-dev)?\]?:"
    rf"|{_KIND}(?:(?:bump|upgrade)[sd]?\b[^\n]*(?:{_VERSION}|with \d+ updates?){_END}"
    rf"|(?:auto-?)?(?:bump|upgrade|update|roll|pin)(?:s|d|ed|ing|ned)?\b(?:[^\n]*"
    rf"(?:\b(?:from {_VERSION} )?to (?:version )?{_VERSION}{_AFTER}|\bversions?{_END})"
    r"| (?:\S+ ){0,3}(?:dependenc(?:y|ies)|deps|requirements\.txt|lock ?files?|submodules?)"
    rf"(?:{_AFTER}| to (?:the )?(?:latest|newest)\b))"
    rf"|(?:prepare |cut |tag )?(?:for )?(?:the )?releases?\b[^\n]{{0,30}}\b{_VERSION}{_END}"
    rf"|(?:version )?{_VERSION}{_END})",
    re.I,
)
_TOOL = (
    r"`?(?:prettier|black|gofmt|gofumpt|goimports|rustfmt|cargo fmt|go fmt|clang-format"
    r"|ruff(?: format)?|isort|autopep8|yapf|rubocop|standardrb|php-cs-fixer|phpcbf|pint|ktlint"
    r"|spotless|eslint|google-java-format|scalafmt|swiftformat|pre-commit)\b"
)
_FORMAT = re.compile(
    rf"style(?:\([^)\n]*\))?!?:|{_KIND}(?:"
    r"(?:re-?)?(?:format|indent|lint)(?:s|ted|ed|ting|ing)?(?: fix(?:es)?| changes?| issues?)?"
    r"(?: (?:all |the )*(?:code(?: ?base)?|files?|sources?|tests))?"
    rf"(?:{_END}| (?:with|using) {_TOOL})"
    rf"|(?:(?:run|ran|apply|applied) )?{_TOOL}`?(?: (?:on|over|to|across)(?: (?:all|code|code ?base"
    rf"|entire|everything|files?|project|repo(?:sitory)?|sources?|tests?|the|whole))+)?{_END}"
    r"|(?:fix|remove|strip|trim|clean ?up|delete)(?:s|ed|es)? (?:up |some |the |trailing )*"
    r"(?:white ?spaces?|indent(?:ation)?|cod(?:e|ing) style|line endings?|import order|lint(?:ing)?"
    rf"|format(?:ting)?)(?: issues?| errors?| warnings?)?{_END}"
    rf"|(?:sort|reorder|organi[sz]e) imports?{_END}"
    r"|(?:pep ?8|cod(?:e|ing) style|white ?space|cosmetic)"
    rf"(?: fix(?:es)?| changes?| cleanups?)?{_END})",
    re.I,
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+\u2022]|\d{1,2}[.)])[ \t]+\S", re.M)
# A second subject: after a semicolon or the only comma of the first line, or in a sentence that
# begins with `Also`.
_FURTHER = re.compile(
    r"\A[^\n]*;\s"
    r"|\A[^\n,]*, and (?!(?:how|if|not|so|that|then|what|when|where|which|who|why)\b)[^\n,]*$"
    r"|(?:\n|[.;]\s)\s*(?:also|additionally|in addition|while (?:here|at it))\b",
    re.I | re.M,
)
# What a subject is about that the code is not: its tests, and texts for readers.
_TEXTS = r"(?:change ?log|readme(?:\.\w+)?|release notes)"
_COMMENTS = r"(?:comments?|docstrings?)"
_WRITE = r"(?:add|change|extend|fix|improve|mention|tweak|update|write)(?:s|d|ed|es|ing)?"
_ASIDE = re.compile(
    rf"(?:docs?|readme|changelog|tests?)(?:\([^)\n]*\))?!?:|{_KIND}(?:"
    r"tests?(?:ing)?\b(?! (?:against|cases?|clients?|commands?|files?|for|framework|helpers?|if"
    r"|mode|runners?|servers?|suites?|whether|with)\b)"
    rf"|{_WRITE} (?:\w+ ){{0,2}}tests?(?:\.?{_END}| (?:for|of|that|to|on|with)\b)"
    rf"|{_WRITE} (?:\w+ ){{0,3}}{_TEXTS}\b"
    rf"|[^\n]*\b(?:in|to) (?:the )?(?:{_TEXTS}|{_COMMENTS}){_END}"
    rf"|(?:add|correct|expand|improve|reword|update)(?:s|d|ed|es)? (?:\w+ )?{_COMMENTS}{_END}"
    rf"|(?:fix|correct)(?:s|ed|es)? (?:\w+ )?(?:typos?|spelling)\.?{_END})",
    re.I,
)
_UNFINISHED = re.compile(r"(?:amend|fixup|squash)! |[^\n]*\bwip\b", re.I)
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


def is_merge(message: str) -> bool:
    """Whether a commit merges another branch, by its subject; squashed ones have one parent."""
    return _MERGE.match(message.lstrip()[:_SUBJECT]) is not None


def is_bump(message: str) -> bool:
    """Whether a commit does nothing but name new versions, of dependencies or of the project."""
    return _BUMP.match(message.lstrip()[:_SUBJECT]) is not None


def is_formatting(message: str) -> bool:
    """Whether a commit changes only the format of the code, by its subject."""
    return _FORMAT.match(message.lstrip()[:_SUBJECT]) is not None


def has_several_subjects(text: str) -> bool:
    """Whether a text asks for several things: a list, a semicolon in the subject, or `Also …`."""
    return len(_ITEM.findall(text)) > 1 or _FURTHER.search(text) is not None


def is_aside(message: str) -> bool:
    """Whether a commit is about tests, the change log or the like, by its subject."""
    return _ASIDE.match(message.lstrip()[:_SUBJECT]) is not None


def is_unfinished(message: str) -> bool:
    """Whether a commit is a part of work that goes on, by its subject."""
    return _UNFINISHED.match(message.lstrip()[:_SUBJECT]) is not None


def is_wordless(text: str) -> bool:
    """Whether a text has too few words to be a query."""
    return count_words(_REFERENCE.sub("", text), letters=True) < FEWEST_WORDS
