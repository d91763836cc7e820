"""Makes a data set out of a repository: reads it, makes queries, draws a sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.sampling import draw
from harness.building.tree import Files, read_tree, rules_for, without_file
from harness.model import Corpus, Dataset
from harness.support.wording import counted, left_out_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.building.built_queries import BuiltQueries
    from harness.model import Query

KINDS = ("docstring", "commits", "calls")
COMMITS = 100
"""Queries from commits where no limit is given: each has a corpus of its own."""

CORPUS = "repo"
_NOT_DRAWN = "not in the sample"


@dataclass(frozen=True)
class BuildOptions:
    """What to make of a repository.

    Attributes:
        queries: `docstring`, `commits`, `calls`, or a file of questions.
        whole: Whether all of a doc comment is the query, not its first sentence.
        files: Which files are indexed.
        limit: How many queries at most; None takes all, of commits 100.
        seed: Of the sample.
        since: Only commits from this date on.
        languages: Language by pattern, as `harness.reading.reader.ReadRules.languages`.
    """

    queries: str = "docstring"
    whole: bool = False
    files: Files = "code"
    limit: int | None = None
    seed: int = 0
    since: str | None = None
    languages: Mapping[str, str] = field(default_factory=dict)


def build(root: Path, wanted: BuildOptions) -> Dataset:
    """Make a data set, called `repo`.

    Samples are drawn within each folder and language, in proportion to their queries.

    Raises:
        InputError: There is no such folder, an option does not fit the queries, or no query can
            be made.
    """
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give a repository")
    if wanted.limit is not None and wanted.limit < 1:
        raise InputError(f"limit={wanted.limit}: must be at least 1")
    if wanted.since is not None and wanted.queries != "commits":
        raise InputError("since= needs queries=commits")
    if wanted.whole and wanted.queries != "docstring":
        raise InputError("whole= is for doc comments; take it with queries=docstring")
    made = _made(root, wanted)
    queries = draw(made.queries, wanted.limit, wanted.seed, lambda one: one.id, _stratum)
    left_out = dict(made.left_out)
    if len(queries) < len(made.queries):
        left_out[_NOT_DRAWN] = len(made.queries) - len(queries)
    if not queries:
        raise InputError(f"{root}: no query can be made{_why(made, left_out)}")
    asked = {query.corpus for query in queries}
    return Dataset(
        name="repo",
        gold="span",
        corpora=tuple(one for one in made.corpora if one.id in asked),
        queries=queries,
        left_out=left_out,
        information=made.information,
        mask=wanted.queries == "calls",
    )


def _made(root: Path, wanted: BuildOptions) -> BuiltQueries:
    rules = rules_for(wanted.files, wanted.languages)
    if wanted.queries == "commits":
        from harness.building.git.commits import commit_queries

        limit = COMMITS if wanted.limit is None else wanted.limit
        return commit_queries(root, rules, limit=limit, seed=wanted.seed, since=wanted.since)
    questions = None if wanted.queries in KINDS else _questions(wanted.queries)
    tree = read_tree(root, rules)
    if questions is not None:
        tree = without_file(tree, root, questions)
    corpus = Corpus(CORPUS, tree.sources, tree.skipped)
    if questions is not None:
        from harness.building.questions import question_queries

        made = question_queries(corpus, questions, root)
    elif wanted.queries == "calls":
        from harness.building.calls.queries import call_queries

        made = call_queries(corpus)
    else:
        from harness.building.docs.queries import docstring_queries

        made = docstring_queries(corpus, whole=wanted.whole)
    from harness.building.state import state_of

    state = state_of(root, tree.sources)
    return replace(made, information={**state, **made.information})


def _questions(name: str) -> Path:
    if not Path(name).is_file():
        raise InputError(
            f"queries={name}: must be {', '.join(KINDS)} or an existing file of questions"
        )
    return Path(name)


def _stratum(query: Query) -> str:
    return f"{query.tags.get('folder', '')}\0{query.tags.get('language', '')}"


def _why(made: BuiltQueries, left_out: Mapping[str, int]) -> str:
    """The second line where no query is made: what was left out, or what there was."""
    told = left_out_line(left_out)
    if told or not made.corpora:
        return told
    files = counted(sum(len(one.sources) for one in made.corpora), "file")
    skipped = Counter(one.reason for corpus in made.corpora for one in corpus.skipped)
    return f"\nno candidate is in the {files} indexed{left_out_line(skipped, '; not indexed: ')}"
