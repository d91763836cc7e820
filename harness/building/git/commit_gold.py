"""Which places of the tree before a commit its message asks for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from chunkers.grammars.model import NONE, words
from harness.building.docs.definitions import definitions_in
from harness.building.docs.nodes import Tree, docstrings_of
from harness.building.git.changes import ChangeGold, gold_of
from harness.chunking.parsing import UnparsedError
from harness.model import Target
from harness.retrieval.lexical import identifiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chunkers.source import Source
    from harness.building.git.changes import Changed

MOST_LINES = 200
"""Lines of its parent that a commit may remove or change."""
MOST_TARGETS = 5
"""Places that a query may ask for; among more, some are side edits as a rule."""
MOST_TARGET_FILES = 4
"""Files in which they may be."""

# Why a commit has no targets.
BLANK = "only white space changed, or comments were inserted"
APART = "only inserts, inside no definition"
ELSEWHERE = "only inserts, but changes lines of files that are not indexed"
TESTED = "only tests changed among the indexed files"
IMPORTS = "only imports, comments and closing lines changed"
SPREAD = f"over {MOST_TARGETS} places or {MOST_TARGET_FILES} files to find"
BESIDE = "most of its lines are new, or in files that are not indexed"
UNRELATED = "no word of the message is in a target or its path"

# Not `testing`, `fixtures`, `spec` and similar names, which also name products: helpers that a
# package offers, data, the description of a format.
_TEST_FOLDERS = frozenset({"__tests__", "e2e", "test", "testdata", "tests"})
_SPEC_FOLDER = re.compile(r"(?:^|/)spec/.*\.rb")
_TEST_NAME = re.compile(
    r"(?:test[_-].*|conftest|.*[_.-]tests?|.*Tests?|tests?)\.[^.]+"
    # Only in languages whose test tools use such names; elsewhere a spec may describe something.
    r"|.*_spec\.(?:rb|lua|moon|cr|exs?)"
    r"|.*[.-]specs?\.[cm]?[jt]sx?"
    r"|.*[a-z\d]Spec\.(?:[cm]?[jt]sx?|scala|kt|groovy|hs|swift)"
    r"|.*[a-z\d]IT\.(?:java|kt|groovy|scala)"
)


def is_test(path: str) -> bool:
    """Whether a file is a test, by its folder or by a name that test tools use."""
    *folders, name = path.split("/")
    return (
        not _TEST_FOLDERS.isdisjoint(folder.lower() for folder in folders)
        or _SPEC_FOLDER.search(path) is not None
        or _TEST_NAME.fullmatch(name) is not None
    )


_TEXTS = (
    "AUTHORS|BUGS|CHANGE-?LOG|CHANGES|CODE_OF_CONDUCT|CONTRIBUTING|CONTRIBUTORS|COPYRIGHT|CREDITS"
    "|FAQ|HACKING|HISTORY|INSTALL|MAINTAINERS|NEWS|NOTICE|PATENTS|README|RELEASE[_-]?NOTES"
    r"|SECURITY|THANKS|TODO|UNLICENSE|UPGRADING|(?:COPYING|LICEN[CS]E)(?:[._-][A-Z\d._-]+)?"
)
_PROSE = re.compile(
    r"(?:.*/)?(?:[^/]+\.(?:adoc|asciidoc|markdown|md|mdx|org|pod|rdoc|rst|tex|texi|textile)"
    # Programs have some of these names in small letters.
    rf"|(?:{_TEXTS}|ChangeLog)|(?i:{_TEXTS})\.txt|\.git(?:attributes|ignore))"
    r"|(?:.*/)?(?:docs?|man\d?)/(?:.*/)?[^/]+\.[1-9]"
)


def is_prose(path: str) -> bool:
    """Whether a file is for readers, such as `README.md` and `LICENSE`, or for git alone."""
    return _PROSE.fullmatch(path) is not None


# Words that say that something changed, not what.
_CHANGES = words(
    "add added adding adds allow bug change changed changes clean cleanup code ensure error fix"
    " fixed fixes fixing get handle implement improve improved issue make makes making merge minor"
    " new problem refactor remove removed removes rename set support update updated updates use"
    " used uses using"
)
_STEM = 5  # characters of a word that count: `parse`, `parser`, `parsing`


def shares_word(text: str, targets: Iterable[Target], sources: Iterable[Source]) -> bool:
    """Whether a message has a word in common with a target or the path of one.

    Words are the parts of identifiers, three letters or more or in another script, by their first
    five letters, without stop words and words such as `fix`.
    """
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    stopwords = _CHANGES.union(STOPWORDS_EN_PLUS)

    def stems(part: str) -> set[str]:
        tokens = {token for token in identifiers(part) if token not in stopwords}
        return {token[:_STEM] for token in tokens if len(token) > 2 or not token.isascii()}

    message_stems, by_path = stems(text), {source.path: source for source in sources}
    return any(
        message_stems & stems(f"{target.path}\n{_text_of(by_path[target.path], target)}")
        for target in targets
    )


def _text_of(source: Source, target: Target) -> str:
    return source.lines.text_of(target.start_line or 1, target.end_line or source.lines.count)


# Nodes that import something, in all grammars, and lines that do so by a call in some.
_IMPORTS = words(
    "extern_crate_declaration future_import_statement import import_declaration"
    " import_from_statement import_header import_statement namespace_use_declaration"
    " preproc_include use_declaration using_directive"
)
_BOUND = r"\s*(?:(?:const|let|var|local)\s[^=;]{1,200}=\s*)?"
_LOADS = {
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "lua"),
        re.compile(_BOUND + r"require\s*\(?\s*[\"'`]"),
    ),
    "ruby": re.compile(r"\s*(?:require(?:_relative)?|load)[\s(]\s*[\"']"),
    "php": re.compile(r"\s*(?:require|include)(?:_once)?[\s(]\s*[\"'$_\w]"),
    "bash": re.compile(r"\s*(?:source|\.)\s+[\"'$./\w]"),
}
# A line that only ends something, or goes on with it.
_CLOSES = re.compile(r"\W*(?:begin|do|done|else|end|esac|fi|finally|then|try)?\W*")


def commit_gold(
    files: Sequence[tuple[Source, Changed]], *, changes_more: bool, beside: int
) -> ChangeGold | str:
    """The targets of a commit, or why it has none.

    They are the lines that it removed or changed, without imports, comments, lines that only close
    something, and tests; and the innermost definitions around what it inserted elsewhere, since the
    message asks for these too. Of definitions that hold such lines, the lines are enough.

    Args:
        files: The old texts of the indexed files that it changes, and what happened to them.
        changes_more: Whether it removed or changed lines of files that are not indexed too.
        beside: The lines that it touched in other files than these, and in new ones.

    Raises:
        InputError: A line is not in its file.
    """
    gold = gold_of(files)
    if not gold.targets:
        return BLANK
    code = [(source, changed) for source, changed in files if not is_test(source.path)]
    inserted = sum(changed.new for _, changed in code)
    targets = [] if gold.insert_only else _speaking(gold.targets, [source for source, _ in code])
    around = [target for source, changed in code for target in _around(source, changed.inserted)]
    if targets:
        core = sum(changed.count + changed.added for _, changed in code)
        more = [place for place in around if not any(_overlap(place, t) for t in targets)]
        places = tuple(dict.fromkeys([*targets, *more]))
        return _checked(ChangeGold(places, insert_only=False), core, inserted + beside)
    if gold.insert_only and changes_more:
        return ELSEWHERE
    if around:
        return _checked(
            ChangeGold(tuple(dict.fromkeys(around)), insert_only=True), inserted, beside
        )
    if gold.insert_only:
        return APART
    return TESTED if all(is_test(target.path) for target in gold.targets) else IMPORTS


def _checked(gold: ChangeGold, core: int, beside: int) -> ChangeGold | str:
    """The targets, unless they are too many, or the lines beside them are more."""
    files = {target.path for target in gold.targets}
    if len(gold.targets) > MOST_TARGETS or len(files) > MOST_TARGET_FILES:
        return SPREAD
    return BESIDE if beside > core else gold


def _overlap(a: Target, b: Target) -> bool:
    """Whether two targets share a line."""
    lines = [(target.start_line or 0, target.end_line or 0) for target in (a, b)]
    return a.path == b.path and max(low for low, _ in lines) <= min(high for _, high in lines)


def _speaking(targets: Iterable[Target], sources: Iterable[Source]) -> list[Target]:
    """The targets in some sources, without imports and comments at their ends.

    None only closes something.
    """
    by_path = {source.path: source for source in sources}
    aside: dict[str, frozenset[int]] = {}
    kept = []
    for target in targets:
        source = by_path.get(target.path)
        if source is None or target.start_line is None or target.end_line is None:
            continue
        if source.path not in aside:
            aside[source.path] = _lines_aside(source, imports=True)
        texts = {
            line: source.lines.text_of(line, line)
            for line in range(target.start_line, target.end_line + 1)
            if not (line in aside[source.path] or source.lines.blank(line))
        }
        loads = _LOADS.get(source.language or "")
        lines = [line for line, text in texts.items() if not (loads and loads.match(text))]
        if not all(_CLOSES.fullmatch(texts[line]) for line in lines):
            kept.append(replace(target, start_line=lines[0], end_line=lines[-1]))
    return kept


def comment_lines(source: Source) -> frozenset[int]:
    """The lines of a source that hold nothing but comments and docstrings.

    There are none where no parser reads it.
    """
    return _lines_aside(source, imports=False)


def _lines_aside(source: Source, *, imports: bool) -> frozenset[int]:
    """The lines that hold nothing but comments and docstrings, or imports too."""
    try:
        tree = Tree.of(source)
    except UnparsedError:
        tree = None
    if tree is None:
        return frozenset()
    nodes = tree.nodes(tree.grammar.comments | (_IMPORTS if imports else NONE))
    spans = [(tree.at(node.start_byte), tree.at(node.end_byte)) for node in nodes]
    if source.language == "python":
        spans += [span for string in docstrings_of(tree) for span in string.strings]
    numbers: set[int] = set()
    for start, end in spans:
        # To some grammars the end of the line is part of what is on it.
        lines = source.lines.lines_of(start, end)
        low, high = source.lines.offsets_of(*lines)
        if not (source.text[low:start] + source.text[end:high]).strip(" \t\r\n\f;"):
            numbers |= set(range(lines[0], lines[1] + 1))
    return frozenset(numbers)


def _around(source: Source, places: Iterable[int]) -> list[Target]:
    """The innermost definitions of at most `MOST_LINES` around places between lines, in order."""
    try:
        definitions = definitions_in(source)
    except UnparsedError:
        return []
    targets = []
    for place in places:
        around = [d for d in definitions if d.first_line <= place < d.last_line]
        inner = min(around, key=lambda d: d.last_line - d.first_line, default=None)
        if inner and not inner.container and inner.last_line - inner.first_line < MOST_LINES:
            targets.append(Target(source.path, inner.first_line, inner.last_line))
    return sorted(set(targets), key=lambda target: target.start_line or 0)
