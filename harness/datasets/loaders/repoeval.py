"""RepoEval: prompts that end where a function's body, a line or a call of an API begins.

A task's line numbers are 0-based. Prompts are about 1,000, 2,000 or 4,000 tokens long and end where
the answer begins, so an embedder that cannot read a whole one sees its last tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from chunkers.errors import InputError
from harness.datasets.cards import find_file, published_note
from harness.model import DEFINITIONS, GOLD_FOLLOWS, Absent, Corpus, Dataset, Query, Region, Target
from harness.reading.reader import ReadRules, read_folder, read_zip, zip_folders
from harness.support.data_folders import data_dirs, find_data
from harness.support.json_files import parse_json, require_regular_file
from harness.support.paths import plain_path
from harness.support.rows import Row, read_rows, validated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from harness.datasets.cards import Card

_RULES = ReadRules(suffixes=(".py",), closed=frozenset(), guess="cp1252")
_PINNED = "2k"
# Prompts were cut by the tokenizer of one of two models; a length exists for one of them.
_MODELS = ("codex", "codegen")


_Line = Annotated[int, Meta(ge=0)]


class _About(Row):
    fpath_tuple: Annotated[tuple[str, ...], Meta(min_length=1)]
    ground_truth: str
    context_start_lineno: _Line
    # Tasks of functions call it `lineno`, those of lines and calls `line_no`.
    lineno: _Line | UnsetType = UNSET
    line_no: _Line | UnsetType = UNSET

    @property
    def body(self) -> int:
        body = self.line_no if self.lineno is UNSET else self.lineno
        if body is UNSET:
            raise ValueError("the key 'lineno' is missing")
        return body

    def __post_init__(self) -> None:
        self.body  # noqa: B018


class _Row(Row):
    prompt: str
    metadata: _About


@dataclass(frozen=True, slots=True)
class _Task:
    """One task; `first` and `body` are 1-based lines, of the prompt and of the ground truth."""

    repo: str
    path: str
    prompt: str
    first: int
    body: int
    body_lines: int


def load(
    card: Card,
    data_dir: Path | None,
    *,
    repos: str = "default",
    target: Literal["context", "body"] = "context",
    context: Literal["1k", "2k", "4k"] = "2k",
    order: str = "",
) -> Dataset:
    """Load tasks and the trees that are available.

    Args:
        card: Its first file holds the tasks with prompts of 2k tokens, its second is the archive
            of trees; a tree in a folder beside it, named like it without `.zip`, goes before the
            archive's. `settings.default_repos` names the default's; without it they are all.
        data_dir: A folder looked into first.
        repos: `default`, `all`, or names separated by commas.
        target: `context`, the lines of the prompt and the first line of the answer, or `body`,
            the lines of the answer.
        context: How many tokens a prompt has.
        order: A JSON file, repository -> paths: the order of its files, which decides ties; by
            path where it names none.

    Raises:
        InputError: A file is missing or damaged, a repository unknown, or no tree is available.
    """
    file = _tasks_file(card, context, data_dir)
    tasks = _tasks(file)
    names = _chosen(card, repos, tasks)
    trees = find_file(card, 1, data_dir)
    at_hand = _at_hand(trees)
    orders = _orders(Path(order).expanduser()) if order else {}
    corpora = [_corpus(trees, name) for name in names if name in at_hand]
    corpora = [
        _ordered(corpus, orders[corpus.id], order) if corpus.id in orders else corpus
        for corpus in corpora
    ]
    if not corpora:
        raise InputError(
            f"dataset {card.name}: {trees} holds none of {', '.join(names)}\n"
            f"place the trees there, from {card.source}"
        )
    functions = card.name == "repoeval-function"
    return Dataset(
        name=card.name,
        gold="span",
        corpora=tuple(corpora),
        queries=tuple(query for corpus in corpora for query in _queries(corpus, tasks, target)),
        absent=tuple(
            Absent(name, f"no tree {name} in {trees.name}", len(tasks[name]))
            for name in names
            if name not in at_hand
        ),
        information={
            "tasks": _published(card, context, file),
            **({GOLD_FOLLOWS: DEFINITIONS} if functions and target == "body" else {}),
        },
    )


def _tasks_file(card: Card, context: str, data_dir: Path | None) -> Path:
    if context == _PINNED:
        return find_file(card, 0, data_dir)
    pinned = f"_{_PINNED}_context_{_MODELS[0]}."
    names = [
        card.files[0].path.replace(pinned, f"_{context}_context_{model}.") for model in _MODELS
    ]
    files = (folder / name for folder in data_dirs(data_dir) for name in names)
    present = next((file for file in files if file.is_file()), None)
    return present or find_data(names[0], data_dir, advice=f"get it from {card.source}, and ")


def _published(card: Card, context: str, file: Path) -> str:
    if context != _PINNED or card.files[0].sha256 is None:
        return "no published digest is known"
    return published_note(card.files[0], file.read_bytes())


def _orders(file: Path) -> dict[str, list[str]]:
    require_regular_file(file)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise InputError(f"order={file} cannot be read: {error.strerror}") from error
    return validated(dict[str, list[str]], parse_json(raw, f"order={file}"), f"order={file}")


def _ordered(corpus: Corpus, paths: list[str], file: str) -> Corpus:
    sources = {source.path: source for source in corpus.sources}
    wrong = sorted(sources.keys() ^ set(paths)) or sorted({p for p in paths if paths.count(p) > 1})
    if wrong:
        raise InputError(
            f"order={file}: {corpus.id} must name each file of the tree once; see {wrong[0]}"
        )
    return replace(corpus, sources=tuple(sources[path] for path in paths))


def _tasks(file: Path) -> dict[str, list[_Task]]:
    """The tasks of every repository, in the file's order."""
    tasks: dict[str, list[_Task]] = defaultdict(list)
    for where, row in read_rows(file, _Row):
        about = row.metadata
        repo, *parts = about.fpath_tuple
        first, body = about.context_start_lineno, about.body
        if first > body:
            raise InputError(
                f"{where}: context_start_lineno {first} must not be after lineno {body}"
            )
        # As many lines as its text begins; a last LF begins none.
        lines = about.ground_truth.removesuffix("\n").count("\n") + 1
        path = plain_path("/".join(parts), where)
        tasks[repo].append(_Task(repo, path, row.prompt, first + 1, body + 1, lines))
    return tasks


def _chosen(card: Card, repos: str, tasks: Collection[str]) -> list[str]:
    """Names of repositories, sorted."""
    if repos == "all":
        return sorted(tasks)
    default: list[str] = card.settings.get("default_repos", sorted(tasks))
    names = default if repos == "default" else [name.strip() for name in repos.split(",")]
    unknown = sorted(set(names) - set(tasks)) if repos != "default" else []
    if unknown:
        raise InputError(
            f"dataset {card.name}: repos={repos}: no tasks for {', '.join(map(repr, unknown))}; "
            f"choose default, all, or from {', '.join(sorted(tasks))}"
        )
    return sorted(set(names) & set(tasks))


def _at_hand(trees: Path) -> frozenset[str]:
    """Names of the trees in the archive and in the folder beside it."""
    archived = zip_folders(trees) if trees.is_file() else frozenset()
    folder = trees.with_suffix("")
    unpacked = (tree.name for tree in folder.iterdir() if tree.is_dir()) if folder.is_dir() else ()
    return archived.union(unpacked)


def _corpus(trees: Path, name: str) -> Corpus:
    folder = trees.with_suffix("") / name
    if folder.is_dir():
        return Corpus(name, *read_folder(folder, _RULES))
    return Corpus(name, *read_zip(trees, name, _RULES))


def _queries(corpus: Corpus, tasks: Mapping[str, list[_Task]], target: str) -> Iterator[Query]:
    """The queries to a corpus."""
    for number, task in enumerate(tasks[corpus.id]):
        # From 0, as in published results; zeros keep the order of tasks in the order of ids.
        yield _query(f"{corpus.id}/{number:04}", task, target)


def _query(query_id: str, task: _Task, target: str) -> Query:
    if target == "body":
        gold = Target(task.path, task.body, task.body + task.body_lines - 1)
    else:
        gold = Target(task.path, task.first, task.body)
    return Query(
        id=query_id,
        corpus=task.repo,
        text=task.prompt,
        targets=(gold,),
        truncate="tail",
        cluster=task.path,
        # A prompt may begin in the middle of its first line, which is the region's all the same.
        region=Region(task.path, task.first, task.body - 1) if task.first < task.body else None,
    )
