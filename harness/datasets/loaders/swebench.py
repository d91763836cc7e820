"""SWE-bench Lite: the text of a bug report, and the lines that mended it.

Every instance is a corpus of its own, for each is another commit. The gold is made from the patch
as from a commit (`harness.building.git.changes`): lines that it removed or changed, and lines next
to what it inserted where it did nothing else. The patch of the tests is not looked at.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from chunkers.errors import InputError
from harness.building.git.changes import gold_of, parse_patch
from harness.datasets.cards import as_published, find_file, published_note
from harness.datasets.loaders.files import unique_rows
from harness.datasets.loaders.worktrees import Worktrees
from harness.model import Absent, Corpus, Dataset, Query, Target
from harness.support.rows import Row, read_rows
from harness.support.wording import left_out_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from harness.building.git.changes import PatchFile
    from harness.datasets.cards import Card

_NO_PATCH = "instances with an empty patch"
_ONLY_NEW = "instances whose patch changes no existing file"
_WORDLESS = "instances without a problem statement"
_SHOWN = 20
"""Names that a message lists."""


class _Row(Row):
    instance_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.-]*\Z")]
    repo: Annotated[str, Meta(pattern=r"^[\w.-]+/[\w.-]+\Z")]
    base_commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]
    problem_statement: str
    patch: str


@dataclass(frozen=True, slots=True)
class _Instance:
    row: _Row
    files: tuple[PatchFile, ...]


def load(
    card: Card,
    data_dir: Path | None,
    *,
    repos: str = "all",
    instances: str = "all",
    target: Literal["lines", "files"] = "lines",
    clones: str = "",
) -> Dataset:
    """Load the instances whose tree is available; the others are reported as absent.

    Args:
        card: Its first file holds the instances. The folder `worktrees` beside it has the trees:
            an archive or a folder for each instance, named by it.
        data_dir: A folder looked into first.
        repos: `all`, or names such as `pallets/flask`, separated by commas.
        instances: `all` of these repositories, or ids, separated by commas.
        target: `lines`, as above, or `files`: every file that the patch changes, as a whole.
        clones: A folder of clones, `<owner>__<name>` each, bare or not, for trees that are not in
            `worktrees`; by default `clones` beside it. Their working trees are not read.

    Raises:
        InputError: A file is missing or damaged, a name unknown, a tree is not the one that
            the patch was made for, no tree is at hand, or they hold more than is kept.
    """
    file = find_file(card, 0, data_dir)
    chosen = _chosen(_instances(file), repos, instances)
    usable, left_out = _usable(chosen)
    corpora, absent = [], []
    trees = Worktrees.beside(file, clones)
    for instance in usable:
        name, repo = instance.row.instance_id, instance.row.repo
        tree = trees.read(name, repo, instance.row.base_commit)
        if isinstance(tree, str):
            absent.append(Absent(name, tree, 1))
        else:
            corpora.append(Corpus(name, *tree, repository=repo))
    if not corpora:
        raise InputError(_no_queries(card.name, absent, left_out, trees))
    by_name = {instance.row.instance_id: instance for instance in usable}
    return Dataset(
        name=card.name,
        gold="span",
        corpora=tuple(corpora),
        queries=tuple(_query(by_name[corpus.id], corpus, target) for corpus in corpora),
        absent=tuple(absent),
        left_out=left_out,
        information={
            "instances": published_note(card.files[0], file.read_bytes()),
            "trees": f"{_pinned(card, trees, corpora)} of {len(corpora)} in archives as published",
        },
    )


def _no_queries(
    name: str, absent: list[Absent], left_out: Mapping[str, int], trees: Worktrees
) -> str:
    """Why a data set has no queries."""
    if not absent:
        return f"dataset {name}: no usable instance{left_out_line(left_out)}"
    reasons = Counter(each.reason for each in absent)
    return (
        f"dataset {name}: no tree of its {len(absent)} instances was found\n"
        f"place archives in {trees.folder}, or clones of their repositories in {trees.clones}"
        f"{left_out_line(reasons, '; absent: ')}{left_out_line(left_out, '; left out: ')}"
    )


def _pinned(card: Card, trees: Worktrees, corpora: Iterable[Corpus]) -> int:
    """How many trees were read from archives whose bytes are those that the card pins."""
    known = {each.path.rsplit("/", 1)[-1]: each for each in card.files[1:]}
    archives = (trees.archive(corpus.id) for corpus in corpora)
    return sum(
        as_published(known[file.name], file.read_bytes())
        for file in archives
        if file is not None and file.name in known
    )


def _instances(file: Path) -> dict[str, _Instance]:
    """All instances by id."""
    instances: dict[str, _Instance] = {}
    for where, row in unique_rows(read_rows(file, _Row), lambda row: row.instance_id):
        try:
            files = tuple(parse_patch(row.patch))
        except InputError as error:
            raise InputError(f"{where}: {row.instance_id}: {error}") from None
        instances[row.instance_id] = _Instance(row, files)
    return instances


def _chosen(known: Mapping[str, _Instance], repos: str, instances: str) -> list[_Instance]:
    """The chosen instances, in order of id."""
    wanted = _names("repos", repos, {instance.row.repo for instance in known.values()})
    there = {name for name, instance in known.items() if instance.row.repo in wanted}
    return [known[name] for name in sorted(_names("instances", instances, there))]


def _names(key: str, text: str, there: set[str]) -> set[str]:
    """The names that an option chooses from those in `there`."""
    if text == "all":
        return there
    names = {name.strip() for name in text.split(",")}
    unknown = sorted(names - there)
    if unknown:
        shown = ", ".join(sorted(there)[:_SHOWN]) + ", …" * (len(there) > _SHOWN)
        raise InputError(
            f"{key}={text}: no instances of {', '.join(map(repr, unknown))}; "
            f"choose all, or from {shown}"
        )
    return names


def _usable(instances: Iterable[_Instance]) -> tuple[list[_Instance], dict[str, int]]:
    """The instances that make a query, and counts of the others."""
    usable, left_out = [], {_ONLY_NEW: 0, _WORDLESS: 0, _NO_PATCH: 0}
    for instance in instances:
        if not instance.row.problem_statement.strip():
            left_out[_WORDLESS] += 1
        elif not instance.files:
            left_out[_NO_PATCH] += 1
        elif not any(_is_changed(file) for file in instance.files):
            left_out[_ONLY_NEW] += 1
        else:
            usable.append(instance)
    return usable, left_out


def _is_changed(file: PatchFile) -> bool:
    return file.old is not None and file.kind == "file"


def _changes_lines(file: PatchFile) -> bool:
    """Whether a patch removes or changes a line of an existing file or link."""
    if file.old is None:
        return False
    shown = dict(file.shown)
    lines = (at for first, last in file.changed.removed for at in range(first, last + 1))
    return file.binary or file.kind != "file" or any(shown.get(at, ".").strip() for at in lines)


def _query(instance: _Instance, corpus: Corpus, target: str) -> Query:
    sources = {source.path: source for source in corpus.sources}
    changed = {file.old: file for file in instance.files if file.old and _is_changed(file)}
    there = [(sources[path], file) for path, file in sorted(changed.items()) if path in sources]
    for source, file in there:
        if not file.fits(source.text.split("\n")):
            raise InputError(
                f"{corpus.id}: {source.path} does not fit its patch: "
                f"the tree is not that of {instance.row.base_commit}"
            )
    indexed = {source.path for source, _ in there}
    gold = gold_of(
        ((source, file.changed) for source, file in there),
        elsewhere=any(_changes_lines(file) for file in instance.files if file.old not in indexed),
    )
    paths = sorted(changed)
    # A file that is not indexed stays a target, so that it is counted as dropped.
    unread = tuple(Target(path) for path in paths if path not in sources)
    targets = tuple(map(Target, paths)) if target == "files" else (*gold.targets, *unread)
    return Query(
        id=instance.row.instance_id,
        corpus=corpus.id,
        text=instance.row.problem_statement,
        targets=targets,
        tags={
            "insert-only": "yes" if gold.insert_only else "no",
            "repository": instance.row.repo,
        },
        cluster=f"{instance.row.repo}/{paths[0]}",
    )
