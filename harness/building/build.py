"""Builds a data set from a repository: reads it, makes queries, draws a sample."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError, did_you_mean
from chunkers.languages import warn_unused
from harness.building.built_queries import REJECTED, draw, with_packages
from harness.building.tree import Reading, read_commits, read_tree, without_file
from harness.model import DEFINITIONS, GOLD_FOLLOWS, Dataset
from harness.reading.decoding import parse_encodings
from harness.support.files import unreadable
from harness.support.paths import refuse_address, split_patterns
from harness.support.progress import silent
from harness.support.wording import counted, left_out_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from harness.building.built_queries import BuiltQueries, Names
    from harness.model import Corpus
    from harness.support.progress import Tell

KINDS = ("docstring", "commits", "calls")
_LACKING = {
    "docstring": ("no function of the {files} has a doc comment", "commits"),
    "calls": ("no call in the {files} can be resolved", "docstring"),
}
"""What is lacking where there is not even a candidate for a query, and another kind to try.

Of commits each counts as left out, and questions are refused unless one of them is left.
"""
COMMITS = 100
"""Default limit of queries from commits, each of which has its own corpus."""

_NOT_DRAWN = "not in the sample"


@dataclass(frozen=True)
class BuildOptions:
    """The options of a data set made out of a repository.

    `queries` is one of `KINDS`, or a file of questions; `whole` takes all of a doc comment instead
    of its first sentence; `limit` None takes all, of commits 100; `since` is a date for commits;
    `reading` is how its files are read; `names` `stripped` takes the names of definitions out of
    their doc comments; `leave_out` is a file of ids of queries, one a line.
    """

    queries: str = "docstring"
    whole: bool = False
    limit: int | None = None
    seed: int = 0
    since: str | None = None
    reading: Reading = field(default_factory=Reading)
    names: Names = "kept"
    leave_out: Path | None = None


def build(root: Path, options: BuildOptions, tell: Tell = silent) -> Dataset:
    """Build a data set, called `repo`.

    Each folder and language has its share of the sample. `tell` gets a phase of reading commits and
    the numbers of finished steps and of all.

    Raises:
        InputError: The folder does not exist, an option does not fit the queries, or no query can
            be built.
    """
    _refuse(root, options)
    rejected = _ids(options.leave_out)
    built = with_packages(_built(root, options, rejected, tell))
    if rejected:
        built = _without(built, options, rejected)
    queries = draw(
        built.queries,
        options.limit,
        options.seed,
        lambda query: query.id,
        lambda query: f"{query.tags.get('folder', '')}\0{query.tags.get('language', '')}",
    )
    left_out = dict(built.left_out)
    if len(queries) < len(built.queries):
        left_out[_NOT_DRAWN] = len(built.queries) - len(queries)
    if not queries:
        raise InputError(
            f"{root}: no query can be made{_why(built, left_out, options.queries, root)}"
        )
    encodings = parse_encodings(split_patterns(options.reading.encoding))
    warn_unused("encoding", encodings, (path for each in built.corpora for path in each.paths))
    names = {query.corpus for query in queries}
    corpora = tuple(corpus for corpus in built.corpora if corpus.id in names)
    return Dataset(
        name="repo",
        gold="span",
        corpora=corpora,
        queries=queries,
        left_out=left_out,
        information={**built.information, **_reading_notes(corpora)},
        mask=options.queries == "calls",
    )


def _refuse(root: Path, options: BuildOptions) -> None:
    """Refuse what is not a folder, and options that are out of range or do not fit the queries."""
    if not root.is_dir():
        refuse_address(root)
        problem = "is not a folder" if root.exists() else "does not exist"
        advice = "give a repository or a folder"
        folder, _, option = str(root).rpartition(":")
        if "=" in option and Path(folder).is_dir():
            advice = f"options follow a comma; write repo:{folder},{option}"
        raise InputError(f"{root} {problem}; {advice}")
    if options.limit is not None and options.limit < 1:
        raise InputError(f"limit={options.limit}: must be at least 1")
    if options.seed < 0:
        raise InputError(f"seed={options.seed}: must be at least 0")
    if options.since is not None and options.queries != "commits":
        raise InputError("since= needs queries=commits")
    if options.whole and options.queries != "docstring":
        raise InputError("whole= needs queries=docstring")
    if options.names != "kept" and options.queries != "docstring":
        raise InputError("names= needs queries=docstring")


def _without(
    built: BuiltQueries, options: BuildOptions, rejected: AbstractSet[str]
) -> BuiltQueries:
    """The queries without the rejected ones, which `commit_queries` has left out already.

    Raises:
        InputError: There is no query, or no commit, of a rejected id.
    """
    again = "build with the options of the data set that the ids come from"
    if options.queries == "commits":
        if unknown := len(rejected) - built.left_out.get(REJECTED, 0):
            ids = counted(unknown, "id")
            raise InputError(f"{options.leave_out}: {ids} of no commit with a message\n{again}")
        return built
    if strange := sorted(rejected - {query.id for query in built.queries}):
        raise InputError(f"{options.leave_out}: no query has the id {strange[0]!r:.120}\n{again}")
    kept = tuple(query for query in built.queries if query.id not in rejected)
    return replace(built, queries=kept, left_out={**built.left_out, REJECTED: len(rejected)})


def _ids(file: Path | None) -> frozenset[str]:
    """The ids in a file, one a line; blank lines do not count."""
    if file is None:
        return frozenset()
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        reason = unreadable(file, error) if isinstance(error, OSError) else f"{file} is not UTF-8"
        raise InputError(f"leave_out={reason}; give a file of ids, one a line") from None
    ids = frozenset(line.strip() for line in lines if line.strip())
    if not ids:
        warnings.warn(f"{file} holds no ids, so no query is left out", stacklevel=2)
    return ids


def _built(
    root: Path, options: BuildOptions, rejected: AbstractSet[str], tell: Tell
) -> BuiltQueries:
    if options.queries == "commits":
        from harness.building.git.commits import commit_queries

        limit = COMMITS if options.limit is None else options.limit
        with read_commits(root, options.reading) as rules:
            return commit_queries(
                root,
                rules,
                limit=limit,
                seed=options.seed,
                since=options.since,
                without=rejected,
                tell=tell,
            )
    questions = None if options.queries in KINDS else _questions(options.queries)
    corpus = read_tree(root, options.reading)
    if questions is not None:
        corpus = without_file(corpus, root, questions)
    from harness.building.git.repository import state_of

    state = state_of(root, corpus.sources)
    if questions is not None:
        from harness.building.questions import question_queries

        built = question_queries(corpus, questions, root)
    elif options.queries == "calls":
        from harness.building.calls.queries import call_queries

        built = call_queries(corpus)
    else:
        from harness.building.docs.queries import docstring_queries

        only = [corpus]
        del corpus  # its files end one by one, as their doc comments are cut
        built = docstring_queries(only.pop(), whole=options.whole, names=options.names)
    if options.queries in ("docstring", "calls"):  # a whole definition is the target
        state |= {GOLD_FOLLOWS: DEFINITIONS}
    return replace(built, information={**state, **built.information})


def _reading_notes(corpora: Iterable[Corpus]) -> dict[str, str]:
    """What was done to read the files: other encodings than UTF-8, very long lines that were cut.

    A file that is the same in several corpora counts once.
    """
    files = {id(source): source for corpus in corpora for source in corpus.sources}.values()
    encodings = Counter(source.encoding for source in files if source.encoding[:5] != "utf-8")
    cut = [source.left_out for source in files if source.left_out]
    notes = {}
    if encodings:
        names = (f"{count} {name}" for name, count in sorted(encodings.items()))
        notes["files in other encodings"] = ", ".join(names)
    if cut:
        notes["very long lines"] = f"cut in {counted(len(cut), 'file')}, by {sum(cut)} characters"
    return notes


def _questions(name: str) -> Path:
    if not Path(name).is_file():
        problem = "is a folder" if Path(name).is_dir() else "no such file"
        advice = did_you_mean(name, KINDS) or f"give {', '.join(KINDS)} or a file of questions"
        raise InputError(f"queries={name}: {problem}; {advice}")
    return Path(name)


_COUNTED = {"calls": "call", "commits": "commit", "docstring": "doc comment"}
"""What may make a query, by the kind of queries."""


def _why(built: BuiltQueries, left_out: Mapping[str, int], queries: str, root: Path) -> str:
    """The end of the error that no query can be made: what is lacking or was left out."""
    from harness.building.git.repository import repository_of

    questions = "queries=FILE, a .jsonl, .csv or .yaml file of questions of your own"
    if line := left_out_line(left_out, noun=_COUNTED.get(queries, "")):
        earlier = "an earlier since=, " if any("since" in reason for reason in left_out) else ""
        return f"{line}; try {earlier}another queries=, or {questions}"
    lacking, other = _LACKING[queries]
    files = counted(sum(len(corpus.sources) for corpus in built.corpora), "indexed file")
    skipped = Counter(file.reason for corpus in built.corpora for file in corpus.skipped)
    reasons = ", ".join(f"{count} ({reason})" for reason, count in skipped.most_common())
    not_indexed = f"not indexed: {reasons}; " if reasons else ""
    if other == "commits" and repository_of(root) is None:
        other = ""
    advice = f"try queries={other}, or {questions}" if other else f"try {questions}"
    return f": {lacking.format(files=files)}\n{not_indexed}{advice}"
