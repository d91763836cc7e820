"""Queries out of this project's own history, held against what git says of it."""

from pathlib import Path

import pytest
from repositories import Repo

from harness.building.git.changes import parse_patch
from harness.building.git.commits import commit_queries
from harness.reading.reader import ReadRules


@pytest.mark.slow
def test_in_this_projects_history_targets_lie_in_the_parents_and_are_gits() -> None:
    root = Path(__file__).parents[4]
    if not (root / ".git").exists():
        pytest.skip("this checkout has no history")
    result = commit_queries(root, ReadRules(suffixes=(".py",)), limit=60, seed=1)
    if not result.queries:
        pytest.skip("this checkout's history is too short")
    for one in result.queries:
        corpus = next(corpus for corpus in result.corpora if corpus.id == one.corpus)
        sources = {source.path: source for source in corpus.sources}
        patch = Repo(root).git("diff", "-U0", "--minimal", "-M", one.corpus, one.id, "--", "*.py")
        changes = {file.old: file.changed for file in parse_patch(patch)}
        for target in one.targets:
            assert target.start_line is not None
            assert target.end_line is not None
            lines = sources[target.path].lines
            assert target.end_line <= lines.count
            changed = changes[target.path]
            removed = {n for first, last in changed.removed for n in range(first, last + 1)}
            own = range(target.start_line, target.end_line + 1)
            # A definition around an insertion is a target as a whole.
            assert {n for n in own if not lines.blank(n)} <= removed or any(
                place in own for place in changed.inserted
            )
