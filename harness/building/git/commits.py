"""Queries out of a history: the message of a commit, and the lines of its parent it changed."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.built_queries import (
    REJECTED,
    BuiltQueries,
    common_value,
    folder_of,
    in_turn,
    same_words,
)
from harness.building.git.changes import changed_lines, only_inserted, touched_lines
from harness.building.git.commit_gold import (
    MOST_LINES,
    UNRELATED,
    comment_lines,
    commit_gold,
    is_prose,
    is_test,
    shares_word,
)
from harness.building.git.messages import (
    FEWEST_WORDS,
    has_several_subjects,
    is_aside,
    is_bump,
    is_formatting,
    is_merge,
    is_revert,
    is_unfinished,
    is_wordless,
    query_text,
)
from harness.building.git.repository import (
    ignored_commits,
    message_of,
    open_repository,
    time_of,
)
from harness.building.git.trees import Trees
from harness.model import Query
from harness.reading.generated import is_lock
from harness.support.progress import silent
from harness.support.word_runs import RUN, grams_of, shared_grams

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    import pygit2

    from harness.building.git.changes import ChangeGold
    from harness.building.git.repository import Change, Repository
    from harness.model import Corpus
    from harness.reading.reader import ReadRules
    from harness.support.progress import Tell
    from harness.support.word_runs import Gram

NEWEST = 10_000
"""Commits that are looked at."""
MOST_FILES = 20
"""Files that a commit may touch."""
_MOST_BYTES = 1 << 24  # of a file that is not indexed; a change to a larger one is no insertion

# Why a commit makes no query; the first that applies is counted.
_OLD = f"older than the newest {NEWEST} commits"
_UNDATED = "invalid commit date"
_EARLY = "before the date of since"
_FIRST = "without a parent, or at the edge of a shallow clone"
_MERGE = "merges"
_IGNORED = "listed in .git-blame-ignore-revs"
_REVERT = "reverts"
_BUMP = "new versions of dependencies or of the project"
_FORMAT = "formatting, by the message"
_ASIDE = "about tests or release notes, by the message"
_UNFINISHED = "unfinished, by the message"
_WORDLESS = f"message under {FEWEST_WORDS} words"
_SHARED = "message shared by several commits"
_MASS = f"over {MOST_FILES} files or {MOST_LINES} lines changed"
_SEVERAL = "message of several subjects"
_NOTHING = "no file changed"
_RENAMED = "only renames and modes changed"
_LOCKED = "only lock files changed"
_TESTED = "only tests changed among the indexed files"
_ADDED = "only new files"
_UNREAD = "no indexed file changed"
_UNINDEXED = "files that are neither indexed nor prose changed too"
_UNREADABLE = "a changed file cannot be read after it"
_LEAKED = f"{RUN} words in a row of the message occur in the tree before it"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A commit that may make a query.

    `changes` are those of content in files that are indexed by name; `others` are those in other
    files that existed, and `new` those that make a file, both without lock files.
    """

    id: pygit2.Oid
    parent: pygit2.Oid
    text: str
    changes: tuple[Change, ...] = ()
    others: tuple[Change, ...] = ()
    new: tuple[Change, ...] = ()
    stratum: str = ""


def commit_queries(
    path: Path,
    rules: ReadRules,
    *,
    limit: int | None = None,
    seed: int = 0,
    since: str | None = None,
    without: AbstractSet[str] = frozenset(),
    tell: Tell = silent,
) -> BuiltQueries:
    """Make queries out of the history of HEAD; the working tree is not read.

    A query is the message of a commit as `query_text` leaves it; its corpus is the tree of the
    commit's parent, under the parent's hash; its targets are the lines that it removed or changed.
    Where it only inserts in files other than tests, they are the innermost definitions around the
    insertions in those, and the tag `insert-only` is `yes`. Lock files have no targets. Where
    targets lie in several languages or folders, the tag is `several`. The unit of resampling is the
    file with most of a query's target lines. With a `limit`, commits are tried in the order of the
    sample until there are enough, and the rest is not counted. `since` is a date in UTC, such as
    `2024-05-31`. `without` are hashes of commits to leave out. `tell` gets a
    phase and the numbers of finished steps and of all.

    Raises:
        InputError: There is no repository, it has no commit or lacks objects, the date is
            invalid, or the trees are too large for memory.
    """
    first = _date(since)
    repository = open_repository(path)
    history, older = repository.history(NEWEST)
    left_out = Counter({_OLD: older})
    trees = Trees(
        repository, rules, "lower --limit, or give one; a tree that alone is larger is not read"
    )
    ignored = ignored_commits(repository)
    messages = _with_text(history, first, ignored, left_out)
    kept = [commit for commit in messages if str(commit.id) not in without]
    left_out[REJECTED] = len(messages) - len(kept)
    messages = kept
    candidates = _with_changes(messages, repository, trees, rules, left_out)
    order = in_turn(candidates, seed, lambda commit: str(commit.id), lambda commit: commit.stratum)
    wanted = len(order) if limit is None else max(0, limit)
    queries: list[Query] = []
    tried = 0
    while len(queries) < wanted and tried < len(order):
        batch = order[tried : tried + wanted - len(queries)]
        queries += _queries(batch, trees, repository, left_out, tell)
        tried += len(batch)
    corpora = {query.corpus: trees.corpus(query.corpus) for query in queries}
    return BuiltQueries(
        corpora=tuple(corpora[name] for name in sorted(corpora)),
        queries=tuple(sorted(queries, key=lambda query: query.id)),
        left_out={reason: count for reason, count in left_out.items() if count},
        information={
            "commit": str(history[0].id),
            "commits": str(len(history) + older),
            "candidates": str(len(candidates)),
            "tried": str(tried),
        },
    )


def _date(since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        date = datetime.fromisoformat(since)
    except ValueError:
        raise InputError(f"since={since} is not a date; write YYYY-MM-DD") from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _with_text(
    history: Iterable[pygit2.Commit],
    first: datetime | None,
    ignored: AbstractSet[str],
    left_out: Counter[str],
) -> list[_Candidate]:
    """The commits that have one parent and whose message asks what no other message asks."""
    candidates = []
    for commit in history:
        message, time = message_of(commit), time_of(commit)
        text = query_text(message)
        if first is not None and time is None:
            left_out[_UNDATED] += 1
        elif first is not None and time is not None and time < first:
            left_out[_EARLY] += 1
        elif not commit.parent_ids:
            left_out[_FIRST] += 1
        elif len(commit.parent_ids) > 1 or is_merge(message):
            left_out[_MERGE] += 1
        elif str(commit.id) in ignored:
            left_out[_IGNORED] += 1
        elif reason := _reason(message, text):
            left_out[reason] += 1
        else:
            candidates.append(_Candidate(commit.id, commit.parent_ids[0], text))
    texts = {str(candidate.id): candidate.text for candidate in candidates}
    shared = {name for group in same_words(texts) for name in group}
    left_out[_SHARED] += len(shared)
    return [candidate for candidate in candidates if str(candidate.id) not in shared]


def _reason(message: str, text: str) -> str | None:
    """Why a commit's message makes no query, whatever the others say."""
    reasons = (
        (is_revert(message), _REVERT),
        (is_bump(message), _BUMP),
        (is_formatting(message), _FORMAT),
        (is_aside(message), _ASIDE),
        (is_unfinished(message), _UNFINISHED),
        (is_wordless(text), _WORDLESS),
        (has_several_subjects(text), _SEVERAL),
    )
    return next((reason for applies, reason in reasons if applies), None)


def _with_changes(
    candidates: Iterable[_Candidate],
    repository: Repository,
    trees: Trees,
    rules: ReadRules,
    left_out: Counter[str],
) -> list[_Candidate]:
    """The commits that change indexed files, by names and modes alone."""
    kept = []
    for candidate in candidates:
        changes = repository.changes(candidate.parent, candidate.id, MOST_FILES)
        if changes is None:
            left_out[_MASS] += 1
            continue
        edited = [change for change in changes if change.old_id != change.new_id]
        unlocked = [change for change in edited if not is_lock(change.path)]
        before = [change for change in unlocked if change.old_mode]
        indexed = [c for c in before if trees.refusal(c.path, c.old_mode) is None]
        reasons = (
            (not changes, _NOTHING),
            (not edited, _RENAMED),
            (not unlocked, _LOCKED),
            (all(is_test(change.path) for change in unlocked), _TESTED),
            (not before, _ADDED),
            (not indexed, _UNREAD),
            (all(is_test(change.path) for change in indexed), _TESTED),
            (any(_is_unindexed(change, rules) for change in unlocked), _UNINDEXED),
        )
        reason = next((reason for applies, reason in reasons if applies), None)
        if reason is not None:
            left_out[reason] += 1
            continue
        paths = [change.path for change in indexed]
        languages = (rules.language_of(path) or "none" for path in paths)
        stratum = f"{common_value(map(folder_of, paths))}\0{common_value(languages)}"
        others = tuple(change for change in before if change not in indexed)
        new = tuple(change for change in unlocked if not change.old_mode)
        kept.append(
            replace(candidate, changes=tuple(indexed), others=others, new=new, stratum=stratum)
        )
    return kept


def _is_unindexed(change: Change, rules: ReadRules) -> bool:
    """Whether a change of a kind that is not indexed may be what the message asks for."""
    path = change.path
    if is_test(path) or is_prose(path) or not stat.S_ISREG(change.old_mode or change.new_mode):
        return False
    known = rules.language_of(path) not in {None, *rules.without}
    return not known and rules.refusal(path) is not None


def _queries(
    candidates: Sequence[_Candidate],
    trees: Trees,
    repository: Repository,
    left_out: Counter[str],
    tell: Tell,
) -> list[Query]:
    """The queries of those commits that make one."""
    answered = []
    for at, candidate in enumerate(candidates):
        tell("reading commits", at, len(candidates))
        gold = _gold(candidate, trees, repository)
        if isinstance(gold, str):
            left_out[gold] += 1
        else:
            answered.append((candidate, gold, trees.corpus(str(candidate.parent))))
    leaked = _leaked([(candidate.text, corpus) for candidate, _, corpus in answered])
    left_out[_LEAKED] += sum(leaked)
    return [
        _query(candidate, gold, trees)
        for (candidate, gold, _), leaks in zip(answered, leaked, strict=True)
        if not leaks
    ]


def _gold(candidate: _Candidate, trees: Trees, repository: Repository) -> ChangeGold | str:
    """The targets of a commit, or why it has none."""
    files, others = [], [*candidate.others]
    for change in candidate.changes:
        old = trees.file(change.path, change.old_id)
        if not isinstance(old, Source):
            others.append(change)
            continue
        new = Source("", change.path)
        if stat.S_ISREG(change.new_mode):
            after = trees.file(change.path, change.new_id)
            if not isinstance(after, Source):
                return _UNREADABLE
            new = after
        files.append((old, changed_lines(old.text, new.text, comment_lines(new))))
    if not files:
        return _UNREAD
    if sum(changed.count for _, changed in files) > MOST_LINES:
        return _MASS
    beside = _lines_beside((*others, *candidate.new), repository)
    gold = commit_gold(
        files, changes_more=any(_changes_lines(c, repository) for c in others), beside=beside
    )
    if isinstance(gold, str):
        return gold
    sources = [source for source, _ in files]
    return gold if shares_word(candidate.text, gold.targets, sources) else UNRELATED


def _changes_lines(change: Change, repository: Repository) -> bool:
    """Whether a change removed or changed a line of what was there, be it of a link."""
    contents = _contents(change, repository)
    return contents is None or not only_inserted(*contents)


def _lines_beside(changes: Iterable[Change], repository: Repository) -> int:
    """The lines that changes removed or added, those of tests apart.

    A change of what is no file, or of a very large one, counts as one line.
    """
    pairs = [_contents(change, repository) for change in changes if not is_test(change.path)]
    return sum(1 if contents is None else touched_lines(*contents) for contents in pairs)


def _contents(change: Change, repository: Repository) -> tuple[bytes, bytes] | None:
    """The contents before and after, empty where there is no file.

    None of what is no file, such as a link or a submodule, and of a very large file.
    """
    sides = ((change.old_mode, change.old_id), (change.new_mode, change.new_id))
    there = [(mode, blob) for mode, blob in sides if mode]
    if not all(stat.S_ISREG(mode) for mode, _ in there):
        return None
    if max(repository.size(blob) for _, blob in there) > _MOST_BYTES:
        return None
    old, new = (repository.content(blob) if mode else b"" for mode, blob in sides)
    return old, new


def _leaked(texts: Sequence[tuple[str, Corpus]]) -> list[bool]:
    """For each text, whether a run of its words is in its corpus; every file is read once."""
    sets = [frozenset(grams_of(text)) for text, _ in texts]
    wanted = {gram for grams in sets for gram in grams}
    there: dict[int, set[Gram]] = {}
    for _, corpus in texts:
        for source in corpus.sources:
            # Files that corpora share are one object, which they keep alive.
            if id(source) not in there:
                there[id(source)] = shared_grams(wanted, (source.text,))
    return [
        any(not there[id(source)].isdisjoint(grams) for source in corpus.sources)
        for grams, (_, corpus) in zip(sets, texts, strict=True)
    ]


def _query(candidate: _Candidate, gold: ChangeGold, trees: Trees) -> Query:
    lines: Counter[str] = Counter()
    for target in gold.targets:
        lines[target.path] += (target.end_line or 0) - (target.start_line or 0) + 1
    files = (trees.file(change.path, change.old_id) for change in candidate.changes)
    sources = [file for file in files if isinstance(file, Source) and file.path in lines]
    return Query(
        id=str(candidate.id),
        corpus=str(candidate.parent),
        text=candidate.text,
        targets=gold.targets,
        tags={
            "folder": common_value(map(folder_of, lines)),
            "insert-only": "yes" if gold.insert_only else "no",
            "language": common_value(source.language or "none" for source in sources),
        },
        cluster=min(lines, key=lambda path: (-lines[path], path)),
    )
