"""What is on the board: packages, tasks, and the runs of each task in the order of their cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cuts import fetch
from benchmarks.questions import histories
from chunkers.plugins.loading import load_chunker
from harness.datasets.cards import load_card, missing_files
from harness.datasets.suites import load_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = "chunkers"
DOCSTRING, CALLS, COMMITS = "docstring", "calls", "commits"


@dataclass(frozen=True)
class Package:
    """A package of a registry, of which a folder is taken for a repository.

    Attributes:
        language: The language of its files.
        registry: `pypi`, `npm` or `debian`.
        name: The package with its version, as the registry's client takes it.
        sha256: The hash of its archive.
        folder: The folder in the archive.
        exclude: Patterns of files that are not indexed.
        licence: Its licence.
    """

    language: str
    registry: str
    name: str
    sha256: str
    folder: str
    exclude: str = ""
    licence: str = "MIT"


PACKAGES = {
    "flask": Package(
        "Python", "pypi", "Flask==3.0.3",
        "ceb27b0af3823ea2737928a4d99d125a06175b8512c445cbd9a9ce200ef76842",
        "flask-3.0.3/src/flask", licence="BSD-3-Clause",
    ),
    "mocha": Package(
        "JavaScript", "npm", "mocha@10.7.3",
        "6ae75159720a11d18883f87f1400e7e3e923a6b5437f5c75131790378d3e9338",
        "package/lib", "reporters/ browser/",
    ),
    "rxjs": Package(
        "TypeScript", "npm", "rxjs@7.8.1",
        "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149",
        "package/src/internal/operators", licence="Apache-2.0",
    ),
    "react-native": Package(
        "Java", "npm", "react-native@0.73.6",
        "af83c8b48d8c7ad0e0c55e82db528691f1a5d13fa0dc6fccda9a72650b61480a",
        "package/ReactAndroid/src/main/java/com/facebook/react/bridge", "Java*.java *Module*.java",
    ),
    "cobra": Package(
        "Go", "debian", "golang-github-spf13-cobra-dev=1.6.1-1",
        "4f5d20855133319beef3c5b49d3c21a0406f270bf94fb4b6f4d406b691283cb2",
        "usr/share/gocode/src/github.com/spf13/cobra", "*_test.go", "Apache-2.0",
    ),
    "itertools": Package(
        "Rust", "debian", "librust-itertools-dev=0.10.3-1",
        "3e13fc328508275c2c84270133f41a300ffb58b9b77001b89373ba7f7ab57fde",
        "usr/share/cargo/registry/itertools-0.10.3/src", licence="MIT or Apache-2.0",
    ),
}  # fmt: skip
"""Small enough that all chunkers are embedded in an hour; with doc comments in many files."""

HISTORY = "go-git"
"""The project of which the package `FIXTURES` has the history."""


@dataclass(frozen=True)
class Task:
    """A data set of the board: a column of the tables of its section.

    Attributes:
        name: The heading of the column.
        section: Tasks of one section have one source of questions, and share tables.
        spec: The data set; `FOLDER` stands for the folder of the packages.
        options: Further options of `chunkmark run`.
        dense: Whether it is run by `dense` as well as by `bm25`.
        semantic: Whether it is run by the chunkers that embed to cut.
        matched: Whether it is also run with chunks of equal size.
    """

    name: str
    section: str
    spec: str
    options: tuple[str, ...] = ()
    dense: bool = False
    semantic: bool = False
    matched: bool = False

    @property
    def documents(self) -> bool:
        """Whether whole documents are the answers, so that nDCG@10 compares chunkers."""
        return "nDCG@10" in self.options

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of its tables, the primary one first."""
        return ("nDCG@10",) if self.documents else load_suite(Path(SUITE)).measures


def _of_package(name: str, queries: str) -> str:
    package = PACKAGES[name]
    # As in a spec: JSON strings, for a folder's name may have a comma.
    exclude = f",exclude={json.dumps(package.exclude)}" if package.exclude else ""
    return f"repo:{json.dumps(f'FOLDER/{home(package)}')},queries={queries}{exclude}"


def home(package: Package) -> str:
    """The folder of a package's files below the folder of all packages."""
    return f"{package_folder(package.name)}/unpacked/{package.folder}"


def package_folder(name: str) -> str:
    """As `benchmarks.cuts.fetch` names it."""
    return name.replace("/", "_").replace("@", "_")


_DOCUMENTS = ("--profile", "trec", "-m", "nDCG@10", "--primary", "nDCG@10")

TASKS = (
    Task("stdlib", DOCSTRING, "stdlib", dense=True, semantic=True, matched=True),
    *(
        Task(name, DOCSTRING, _of_package(name, DOCSTRING), dense=True, semantic=True, matched=True)
        for name in PACKAGES
    ),
    *(Task(f"{name} calls", CALLS, _of_package(name, CALLS)) for name in PACKAGES),
    Task("RepoEval", "repoeval", "repoeval-function:target=body", ("--mask-query",)),
    Task("SWE-bench Lite", "swebench", "swebench-lite"),
    Task(f"{HISTORY} commits", COMMITS, f'repo:"FOLDER/{HISTORY}.git",queries=commits,limit=40'),
    Task("CoSQA", "cosqa", "cosqa", _DOCUMENTS, dense=True),
)


@dataclass(frozen=True)
class Step:
    """One `chunkmark run`, with a run folder of its own, so that its manifest is kept.

    Attributes:
        task: What is run.
        part: `bm25`, `matched`, `dense` or `semantic`, the name of the folder.
        chunkers: Their specs.
        retrievers: `bm25`, `dense` or both.
    """

    task: Task
    part: str
    chunkers: tuple[str, ...]
    retrievers: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The run folder below that of all runs."""
        return f"{self.task.name.replace(' ', '-')}-{self.part}".lower()

    def arguments(self, folder: str) -> list[str]:
        """What `chunkmark` is called with; packages and runs lie in `folder`."""
        spec = self.task.spec.replace("FOLDER", folder)
        return [
            "run", SUITE, "-d", spec,
            *(word for chunker in self.chunkers for word in ("-c", chunker)),
            *(word for retriever in self.retrievers for word in ("-r", retriever)),
            *(("--match-size", "fixed") if self.part == "matched" else ()),
            *self.task.options, "-o", f"{folder}/runs/{self.folder}",
        ]  # fmt: skip


@cache
def suite_chunkers() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The suite's chunkers that do not embed, those that embed to cut, and those with a size."""
    loaded = [load_chunker(spec) for spec in load_suite(Path(SUITE)).chunkers]
    plain = tuple(each.name for each in loaded if not each.embeds)
    embedding = tuple(each.name for each in loaded if each.embeds)
    sized = tuple(each.name for each in loaded if not each.embeds and each.max_size)
    return plain, embedding, sized


def steps() -> Iterator[Step]:
    """All runs, the cheap ones first: if the time ends, whole tables are there."""
    plain, embedding, sized = suite_chunkers()
    for task in TASKS:
        yield Step(task, "bm25", plain, ("bm25",))
    for task in (task for task in TASKS if task.matched):
        # `--match-size` refuses a chunker that makes no chunk.
        yield Step(task, "matched", tuple(c for c in sized if _reads(c, task)), ("bm25",))
    for task in (task for task in TASKS if task.dense):
        yield Step(task, "dense", plain, ("dense",))
        if task.semantic:
            yield Step(task, "semantic", embedding, ("bm25", "dense"))


def _reads(chunker: str, task: Task) -> bool:
    """Whether a chunker reads the language of a task."""
    languages = load_chunker(chunker).languages
    own = PACKAGES[task.name].language if task.name in PACKAGES else "Python"
    return not languages or own.lower() in languages


def prepare(folder: Path) -> dict[str, str]:
    """Download the packages that are not there, and look for the data of the other tasks.

    Returns:
        Why a task cannot be run, by its name.
    """
    absent: dict[str, str] = {}
    for task in TASKS:
        reason = _absent(task, folder)
        if reason:
            absent[task.name] = reason
    return absent


def _absent(task: Task, folder: Path) -> str:
    """Why a task cannot be run; empty if it can."""
    if not task.spec.startswith("repo:"):
        name = task.spec.partition(":")[0]
        if missing_files(load_card(name), None):
            return f"its files are missing: `chunkmark dataset fetch {name}`"
        return ""
    try:
        if task.section == COMMITS:
            histories(folder)
        else:
            package = PACKAGES[task.name.split()[0]]
            fetch(folder, package.registry, package.name, package.sha256)
    except OSError as error:
        return f"its package could not be downloaded: {error.strerror or error}"
    return ""
