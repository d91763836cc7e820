"""Queries out of a history: what a commit says, and the lines of its parent that it changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.languages import language_of
from chunkers.source import Source
from harness.building.git.changes import changed_lines, gold_of, only_inserted
from harness.building.git.diffs import changes_of
from harness.building.git.messages import FEWEST_WORDS, is_revert, is_wordless, question_of
from harness.building.git.objects import MOST_COMMIT, objects_of
from harness.building.git.parents import Parents
from harness.building.git.repository import head_of, history_of, open_repository
from harness.building.query_set import Made, alike, folder_of
from harness.building.sampling import in_turn
from harness.building.test_files import is_test
from harness.model import Query
from harness.reading.generated import is_lock
from harness.support.word_runs import RUN, grams_of, shared_grams

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from harness.building.git.changes import Gold
    from harness.building.git.diffs import Change
    from harness.building.git.objects import Objects
    from harness.model import Corpus
    from harness.reading.reader import ReadRules
    from harness.support.word_runs import Gram

NEWEST = 10_000
"""Commits that are looked at."""
MOST_FILES = 20
"""Files that a commit may touch."""
MOST_LINES = 200
"""Lines of its parent that it may remove or change."""
_MOST_BYTES = 1 << 24  # of a file that is not indexed; a change to a larger one is no insertion

# Why a commit makes no query; the first that applies is counted.
_OLD = f"older than the newest {NEWEST} commits"
_LONG = f"over {MOST_COMMIT:,} bytes of message and signatures"
_UNDATED = "of no date that a calendar has, where one is asked for"
_EARLY = "before the date asked for"
_FIRST = "without a parent, or at the edge of a shallow clone"
_MERGE = "merges"
_REVERT = "reverts"
_WORDLESS = f"message under {FEWEST_WORDS} words"
_SHARED = "message shared by several commits"
_MASS = f"over {MOST_FILES} files or {MOST_LINES} lines changed"
_NOTHING = "no file changed"
_RENAMED = "only renames and modes changed"
_LOCKED = "only lock files changed"
_TESTED = "of indexed files only tests changed"
_ADDED = "only new files"
_UNREAD = "no indexed file changed"
_UNREADABLE = "a changed file cannot be read afterwards"
_BLANK = "only blank lines changed"
_ELSEWHERE = "only inserts, but changes lines of files that are not indexed"
_LEAKED = f"{RUN} words in a row of the message stand in the tree before it"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A commit that may make a query.

    Attributes:
        hash: Of the commit.
        parent: Hash of its parent.
        text: What it asks.
        changes: Those of content in files that are indexed by name.
        others: Those in other files that were there, lock files left out.
        stratum: In which it is sampled.
    """

    hash: str
    parent: str
    text: str
    changes: tuple[Change, ...] = ()
    others: tuple[Change, ...] = ()
    stratum: str = ""


def commit_queries(
    repository: Path,
    rules: ReadRules,
    *,
    limit: int | None = None,
    seed: int = 0,
    since: str | None = None,
) -> Made:
    """Make queries out of the history of what is checked out; the checkout itself is not read.

    A query is the message of a commit as `question_of` leaves it; its corpus is the tree of the
    commit's parent, under the parent's hash; its targets are those of `gold_of`, with the tag
    `insert-only`, which asks of all files but lock files. Lock files have no targets. Where targets
    lie in several languages or folders, the tag is `several`. The unit of resampling is the file
    with most of a query's target lines.

    Args:
        repository: Its top folder, or a bare repository.
        rules: Which files of a tree are indexed.
        limit: How many queries to make; commits are tried in the order of the sample until there
            are so many, and those that are never tried count nowhere. None tries all.
        seed: Another one samples others.
        since: A date in UTC, such as `2024-05-31`; commits made before it are left out.

    Raises:
        InputError: There is no git program or no repository, it has no commit or lacks objects,
            the date is none, or the trees are more than is kept in memory.
    """
    first = _date(since)
    opened = open_repository(repository)
    head = head_of(opened)
    left: Counter[str] = Counter()
    lines, older = history_of(opened, head, NEWEST)
    left[_OLD] = older
    with objects_of(opened) as objects:
        said = _by_message(objects, lines, first, left)
        only = {one.hash: one.parent for one in said}
        changes = changes_of(opened, objects, only, MOST_FILES)
        parents = Parents(
            opened,
            objects,
            rules,
            "lower --limit, or give one; a tree that alone is larger is not read",
        )
        candidates = _by_files(said, changes, parents, rules, left)
        turn = in_turn(candidates, seed, lambda one: one.hash, lambda one: one.stratum)
        wanted = len(turn) if limit is None else max(0, limit)
        queries: list[Query] = []
        at = 0
        while len(queries) < wanted and at < len(turn):
            tried = turn[at : at + wanted - len(queries)]
            queries += _queries(tried, parents, objects, left)
            at += len(tried)
        corpora = {query.corpus: parents.corpus(query.corpus) for query in queries}
    return Made(
        corpora=tuple(corpora[name] for name in sorted(corpora)),
        queries=tuple(sorted(queries, key=lambda query: query.id)),
        left_out={reason: count for reason, count in left.items() if count},
        information={
            "commit": head,
            "commits": str(len(lines) + older),
            "candidates": str(len(candidates)),
            "tried": str(at),
        },
    )


def _date(since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        found = datetime.fromisoformat(since)
    except ValueError:
        raise InputError(f"since={since} is no date; write one such as 2024-05-31") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _by_message(
    objects: Objects, lines: Iterable[Sequence[str]], first: datetime | None, left: Counter[str]
) -> list[_Candidate]:
    """The commits whose message asks something that no other asks, and that have one parent."""
    found = []
    listed = list(lines)
    read = objects.commits([line[0] for line in listed])
    for (name, *parents), commit in zip(listed, read, strict=True):
        if commit.message is None:
            left[_LONG] += 1
            continue
        text = question_of(commit.message)
        if first is not None and commit.time is None:
            left[_UNDATED] += 1
        elif first is not None and commit.time is not None and commit.time < first:
            left[_EARLY] += 1
        elif not parents:
            left[_FIRST] += 1
        elif len(parents) > 1:
            left[_MERGE] += 1
        elif is_revert(commit.message):
            left[_REVERT] += 1
        elif is_wordless(text):
            left[_WORDLESS] += 1
        else:
            found.append(_Candidate(name, parents[0], text))
    shared = {name for group in alike({one.hash: one.text for one in found}) for name in group}
    left[_SHARED] += len(shared)
    return [one for one in found if one.hash not in shared]


def _by_files(
    said: Iterable[_Candidate],
    changes: Mapping[str, Sequence[Change] | None],
    parents: Parents,
    rules: ReadRules,
    left: Counter[str],
) -> list[_Candidate]:
    """The commits that change indexed files, by names and modes alone."""
    found = []
    for one in said:
        mine = changes[one.hash]
        if mine is None:
            left[_MASS] += 1
            continue
        edited = [change for change in mine if change.old_hash != change.new_hash]
        unlocked = [change for change in edited if not is_lock(change.old)]
        before = [change for change in unlocked if change.status != "A"]
        indexed = [c for c in before if parents.refusal(c.old, c.old_mode) is None]
        reasons = (
            (not mine, _NOTHING),
            (not edited, _RENAMED),
            (not unlocked, _LOCKED),
            (all(is_test(change.old) for change in unlocked), _TESTED),
            (not before, _ADDED),
            (not indexed, _UNREAD),
            (all(is_test(change.old) for change in indexed), _TESTED),
        )
        reason = next((reason for applies, reason in reasons if applies), None)
        if reason is not None:
            left[reason] += 1
            continue
        paths = [change.old for change in indexed]
        stratum = f"{_one(map(folder_of, paths))}\0{_language(paths, rules)}"
        others = tuple(change for change in before if change not in indexed)
        found.append(replace(one, changes=tuple(indexed), others=others, stratum=stratum))
    return found


def _one(values: Iterable[str]) -> str:
    """The value that all have, or `several`."""
    different = set(values)
    return different.pop() if len(different) == 1 else "several"


def _language(paths: Iterable[str], rules: ReadRules) -> str:
    return _one(language_of(path, rules.languages) or "none" for path in paths)


def _queries(
    tried: Iterable[_Candidate], parents: Parents, objects: Objects, left: Counter[str]
) -> list[Query]:
    """Those of the commits that make queries."""
    found = []
    for one in tried:
        gold = _gold(one, parents, objects)
        if isinstance(gold, str):
            left[gold] += 1
        else:
            found.append((one, gold, parents.corpus(one.parent)))
    leaked = _leaked([(one.text, corpus) for one, _, corpus in found])
    left[_LEAKED] += sum(leaked)
    return [
        _query(one, gold, parents)
        for (one, gold, _), leaks in zip(found, leaked, strict=True)
        if not leaks
    ]


def _gold(one: _Candidate, parents: Parents, objects: Objects) -> Gold | str:
    """The targets of a commit, or why it has none."""
    files, others = [], [*one.others]
    for change in one.changes:
        old = parents.file(change.old, change.old_hash)
        if not isinstance(old, Source):
            others.append(change)
            continue
        text = ""
        if change.status != "D" and change.new_mode.startswith("100"):
            new = parents.file(change.old, change.new_hash)
            if not isinstance(new, Source):
                return _UNREADABLE
            text = new.text
        files.append((old, changed_lines(old.text, text)))
    if not files:
        return _UNREAD
    if sum(changed.count for _, changed in files) > MOST_LINES:
        return _MASS
    gold = gold_of(files)
    if gold.insert_only and any(_changes_lines(change, objects) for change in others):
        return _ELSEWHERE
    return gold if gold.targets else _BLANK


def _changes_lines(change: Change, objects: Objects) -> bool:
    """Whether a change removed or changed a line of what was there, and be it of a link."""
    names = [change.old_hash] if change.status == "D" else [change.old_hash, change.new_hash]
    regular = change.old_mode.startswith("100") and change.new_mode.startswith(("100", "000"))
    if not regular or max(objects.sizes(names)) > _MOST_BYTES:
        return True
    old, *new = objects.read_all(names)
    return not only_inserted(old, b"".join(new))


def _leaked(texts: Sequence[tuple[str, Corpus]]) -> list[bool]:
    """Of each text, whether a run of its words stands in its corpus; every file is read once."""
    grams = [frozenset(grams_of(text)) for text, _ in texts]
    wanted = {gram for mine in grams for gram in mine}
    there: dict[int, set[Gram]] = {}
    for _, corpus in texts:
        for source in corpus.sources:
            # Files that corpora share are one object, which they keep alive.
            if id(source) not in there:
                there[id(source)] = shared_grams(wanted, (source.text,))
    return [
        any(not there[id(source)].isdisjoint(mine) for source in corpus.sources)
        for mine, (_, corpus) in zip(grams, texts, strict=True)
    ]


def _query(one: _Candidate, gold: Gold, parents: Parents) -> Query:
    lines: Counter[str] = Counter()
    for target in gold.targets:
        lines[target.path] += (target.end_line or 0) - (target.start_line or 0) + 1
    sources = {c.old: parents.file(c.old, c.old_hash) for c in one.changes}
    languages = (
        source.language or "none"
        for path, source in sources.items()
        if path in lines and isinstance(source, Source)
    )
    return Query(
        id=one.hash,
        corpus=one.parent,
        text=one.text,
        targets=gold.targets,
        tags={
            "folder": _one(folder_of(path) for path in lines),
            "insert-only": "yes" if gold.insert_only else "no",
            "language": _one(languages),
        },
        cluster=min(lines, key=lambda path: (-lines[path], path)),
    )
