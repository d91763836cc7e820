"""The edits of a history: the indexed files that each commit changed, before and after."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.source import Source
from harness.building.git.changes import changed_chars
from harness.building.git.repository import open_repository
from harness.building.git.trees import Trees
from harness.model import Skipped
from harness.support.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from harness.reading.reader import ReadRules
    from harness.support.progress import Tell

    _Side = Source | Skipped | None

UNINDEXED = "no indexed file changed"


@dataclass(frozen=True)
class FileEdit:
    """What a commit did to one indexed file: None before it was added, and after it was deleted.

    The paths of a renamed file differ.
    """

    before: Source | None
    after: Source | None

    @functools.cached_property
    def changed(self) -> int:
        """The size of the edit, see `changed_chars`."""
        return changed_chars(self.before, self.after)

    @property
    def language(self) -> str:
        """The language after the edit, or of a deleted file."""
        file = self.after or self.before
        return (file and file.language) or "none"


@dataclass(frozen=True)
class Edit:
    """A commit as an edit of the tree of its first parent: at least one file."""

    commit: str
    files: tuple[FileEdit, ...]

    @property
    def changed(self) -> int:
        """Size of the edit in non-white-space characters."""
        return sum(file.changed for file in self.files)

    @property
    def before(self) -> list[Source]:
        """The files as they were, in order of the path."""
        return _in_order(file.before for file in self.files)

    @property
    def after(self) -> list[Source]:
        """The files as they are, in order of the path."""
        return _in_order(file.after for file in self.files)


def _in_order(files: Iterable[Source | None]) -> list[Source]:
    return sorted(filter(None, files), key=lambda source: source.path)


@dataclass(frozen=True)
class History:
    """The edits that led to HEAD, oldest first.

    `commits` were looked at; `left_out` counts those without an edit, by reason. `paths` are those
    of all files that changed, indexed or not; a folder that is not entered ends in `/`.
    """

    head: str
    commits: int
    edits: tuple[Edit, ...]
    left_out: Mapping[str, int]
    paths: frozenset[str]


def read_edits(path: Path, rules: ReadRules, most: int, tell: Tell = silent) -> History:
    """Read the newest commits on the main line of HEAD; of a merge its first parent counts.

    Args:
        path: The top folder of the repository, bare or not; the working tree is not read.
        rules: Which files are indexed.
        most: Number of commits; the first one of the history is no edit.
        tell: Gets the phase and the numbers of finished commits and of all.

    Raises:
        InputError: There is no repository, it lacks objects, its history has no edit of an indexed
            file, or the changed files are too large for memory.
    """
    repository = open_repository(path)
    commits = repository.mainline(most)
    if len(commits) < 2:
        raise repository.fault(
            "the history of HEAD has one commit, so no edit can be replayed\n"
            "in a shallow clone, git fetch --deepen=100 gets more"
        )
    trees = Trees(repository, rules, "lower --commits")
    edits, left_out, paths = [], Counter[str](), set[str]()
    skipped = Counter[str]()
    pairs = list(itertools.pairwise(reversed(commits)))
    for at, (old, new) in enumerate(pairs):
        tell("reading commits", at, len(pairs))
        changes = list(trees.changes(old.tree_id, new.tree_id))
        paths |= {file.path for change in changes for file in change if file}
        skipped.update(new.reason for _, new in changes if isinstance(new, Skipped))
        renames = functools.partial(repository.renames, old.tree_id, new.tree_id)
        files = _file_edits(changes, renames)
        if files:
            edits.append(Edit(str(new.id), tuple(files)))
        else:
            left_out[UNINDEXED] += 1
    if not edits:
        several = f"none of the last {len(pairs)} commits changes an indexed file"
        reasons = ", ".join(f"{count} ({reason})" for reason, count in skipped.most_common())
        raise repository.fault(
            f"{several if len(pairs) > 1 else 'the last commit changes no indexed file'}\n"
            f"{f'not indexed: {reasons}; ' if reasons else ''}"
            f"{'raise --commits, ' if len(commits) > most else ''}index more files by --files all "
            "or --include, or exclude fewer"
        )
    return History(str(commits[0].id), len(pairs), tuple(edits), dict(left_out), frozenset(paths))


def _file_edits(
    changes: Iterable[tuple[_Side, _Side]], renames: Callable[[], Mapping[str, str]]
) -> list[FileEdit]:
    """The indexed files that differ, a renamed one once; `renames` is path after -> before."""
    pairs = [(_indexed(before), _indexed(after)) for before, after in changes]
    both = [(before, after) for before, after in pairs if before and after]
    # Only its bytes differ if another encoding or a byte order mark makes the same text.
    edits = [FileEdit(before, after) for before, after in both if before.text != after.text]
    gone = {before.path: before for before, after in pairs if before and not after}
    added = [after for before, after in pairs if after and not before]
    origins = renames() if gone and added else {}
    edits += [FileEdit(gone.pop(origins.get(file.path, ""), None), file) for file in added]
    return edits + [FileEdit(file, None) for file in gone.values()]


def _indexed(file: _Side) -> Source | None:
    return file if isinstance(file, Source) else None


SIZES = ((0, "0 c"), (100, "1 to 100 c"), (1_000, "101 to 1,000 c"),
         (10_000, "1,001 to 10,000 c"))  # fmt: skip
"""Largest size of an edit, and the name of the group; larger ones are `LARGEST`."""
LARGEST = "over 10,000 c"
_ORDER = [*(name for _, name in SIZES), LARGEST]
WHOLE = ("", "")
"""The group of all edits."""


def groups_of(edit: Edit, by: Sequence[str]) -> dict[tuple[str, str], Edit]:
    """An edit as a whole, under `WHOLE`, and what of it belongs to each group.

    Args:
        edit: The edit.
        by: `language` divides its files, `size` puts it into one group as a whole.
    """
    groups = {WHOLE: edit}
    if "language" in by:
        for name in sorted({file.language for file in edit.files}):
            files = tuple(file for file in edit.files if file.language == name)
            groups["language", name] = Edit(edit.commit, files)
    if "size" in by:
        size = next((name for most, name in SIZES if edit.changed <= most), LARGEST)
        groups["size", size] = edit
    return groups


def in_order(groups: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Groups, each once: the whole, then languages by name, then sizes from the smallest."""
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    return sorted(set(groups), key=lambda key: (key[0], ranks.get(key[1], 0), key[1]))
