"""Replayed edits: the counts of whole trees, recounted by other means."""

from __future__ import annotations

import functools
import itertools
import random
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from repositories import Repo, new_repo

from chunkers.plugins.loading import load_chunker
from chunkers.source import Services, Source
from harness.building.tree import Reading, read_commits
from harness.churn.edits import WHOLE, History, read_edits
from harness.churn.replay import Counts, cut_edits, replay
from harness.reading.reader import ReadRules

SUFFIXES = {".py": "python", ".go": "go", ".c": "c", ".sh": "bash"}


def history_of(root: Path, most: int = 100, **reading: str) -> History:
    with read_commits(root, Reading(**reading)) as rules:  # type: ignore[arg-type]
        return read_edits(root, rules, most)


def function(rng: random.Random, name: str) -> str:
    lines = [
        f"    value_{rng.randrange(99)} = call({rng.randrange(999)}, {name!r})"
        for _ in range(rng.randrange(2, 9))
    ]
    return "\n".join([f"def {name}(argument):", *lines, "    return argument", "", ""])


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Twenty commits that add, edit, move, rename, link, merge and delete."""
    rng = random.Random(7)  # noqa: S311
    repo = new_repo(tmp_path_factory.mktemp("churn") / "repo")
    functions = {f"m{n}.py": [function(rng, f"f{n}_{k}") for k in range(8)] for n in range(4)}

    def text(path: str) -> str:
        return "import os\n\n\n" + "\n".join(functions[path])

    repo.commit("first", {path: text(path) for path in functions} | {"README.md": "# x\n"})
    for number in range(14):
        path = f"m{number % 4}.py"
        place = rng.randrange(len(functions[path]))
        if number % 3 == 0:
            functions[path].insert(place, function(rng, f"new{number}"))
        elif number % 3 == 1:
            functions[path][place] = function(rng, f"again{number}")
        else:
            functions[f"m{(number + 1) % 4}.py"].append(functions[path].pop(place))
        repo.commit(f"edit {number}", {each: text(each) for each in functions})
    (repo.root / "m0.py").rename(repo.root / "moved.py")
    repo.commit("rename")
    repo.commit("README alone", {"README.md": "# y\n"})
    repo.git("checkout", "-q", "-b", "side", "HEAD~3")
    repo.commit("side", {"side.go": "package side\n\nfunc Side() int {\n\treturn 1\n}\n"})
    repo.commit("side more", {"side.go": "package side\n\nfunc Side() int {\n\treturn 2\n}\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    (repo.root / "m2.py").unlink()
    (repo.root / "m2.py").symlink_to("m1.py")
    repo.commit("a link", {"blob.py": b"\0\1\2", "long.py": "x = 1\n" + "y" * 20_000})
    repo.commit("last", {"m1.py": None, "vendor/v.py": "v = 1\n", "é ü.py": "def e():\n    pass\n"})
    (repo.root / "m3.py").chmod(0o755)
    repo.commit("mode")
    return repo


def recounted(repo: Repo, old: str, new: str, chunker: str) -> tuple[Counts, int]:
    """The counts of two whole trees and the size of the edit, by git and plain Python alone."""
    sides = [[*chunks_of(tree_of(repo, commit), chunker)] for commit in (old, new)]
    before, after = (Counter(text for _, text in side) for side in sides)
    gained, lost = [], []
    for text in before.keys() | after.keys():
        gained += [text] * (after[text] - before[text])
        lost += [text] * (before[text] - after[text])
    touched = set(changed_paths(repo, old, new))
    own = [item for item in sides[1] if item[0].rpartition(":")[0] in touched]
    kept = len(own) - len(gained)
    same = sum((Counter(sides[0]) & Counter(sides[1])).values())
    moved = len(sides[1]) - len(gained) - same
    chars = sum(len(re.sub(r"\s", "", text)) for text in gained)
    return Counts(len(own), len(gained), chars, kept, moved, len(lost)), changed(repo, old, new)


@functools.cache
def tree_of(repo: Repo, commit: str) -> dict[str, str]:
    """The code of a tree as git lists it."""
    texts = {}
    for line in repo.git("ls-tree", "-r", "-z", commit).split("\0"):
        names, _, path = line.partition("\t")
        mode, _, blob = names.partition(" blob ")
        if mode in {"100644", "100755"} and indexed(path):
            data = content(repo, blob)
            if b"\0" not in data and max(map(len, data.split(b"\n"))) <= 10_000:
                texts[path] = data.decode()
    return texts


@functools.cache
def content(repo: Repo, blob: str) -> bytes:
    command = ["git", "cat-file", "blob", blob]
    return subprocess.run(command, cwd=repo.root, capture_output=True, check=True).stdout


def indexed(path: str) -> bool:
    return Path(path).suffix in SUFFIXES and not path.startswith("vendor/")


def chunks_of(texts: dict[str, str], chunker: str) -> list[tuple[str, str]]:
    return [chunk for path, text in texts.items() for chunk in cut(path, text, chunker)]


@functools.cache
def cut(path: str, text: str, chunker: str) -> list[tuple[str, str]]:
    """The chunks of a file: id and embedded text."""
    chunks = []
    seen: Counter[str] = Counter()
    source = Source(text, path, SUFFIXES[Path(path).suffix])
    for span in load_chunker(chunker).chunk(source, Services()):
        content = text[span.start : span.end] if span.embed_text is None else span.embed_text
        if text[span.start : span.end].strip():
            last = text.count("\n", 0, max(span.start, span.end - 1)) + 1
            name = f"{path}:{text.count(chr(10), 0, span.start) + 1}-{last}"
            seen[name] += 1
            chunks.append((name if seen[name] == 1 else f"{name}#{seen[name]}", content))
    return chunks


@functools.cache
def changed_paths(repo: Repo, old: str, new: str) -> list[str]:
    names = repo.git("diff", "--name-only", "--no-renames", "-z", old, new).split("\0")
    return [name for name in names if name]


@functools.cache
def changed(repo: Repo, old: str, new: str) -> int:
    """The size of the edit from git's own patch: of each hunk the larger side."""
    total, sides, counts, in_hunk = 0, Counter[str](), set[str](), False
    command = ["-c", "core.quotepath=off", "diff", "-U0", "-M50%", "-a", "--no-ext-diff"]
    for line in [*repo.git(*command, old, new).split("\n"), "diff "]:
        if line.startswith(("diff ", "@@")):
            total += max(sides.values(), default=0)
            sides.clear()
            in_hunk = line.startswith("@@")
        if line.startswith("diff "):
            counts.clear()
        elif not in_hunk and line.startswith(("--- ", "+++ ")):
            path = line[4:].rstrip("\t").partition("/")[2]
            if path in tree_of(repo, old if line[0] == "-" else new):
                counts.add(line[0])
        elif in_hunk and line[:1] in counts:
            sides[line[0]] += len("".join(line[1:].split()))
    return total


@pytest.mark.parametrize("chunker", ["ast", "fixed", "function:header=on", "whole-file"])
def test_the_counts_are_those_of_whole_trees(repo: Repo, chunker: str) -> None:
    history = history_of(repo.root)
    commits = repo.git("rev-list", "--first-parent", "HEAD").split()
    assert history.commits == len(commits) - 1 == 20
    parents = dict(itertools.pairwise(commits))
    replayed = replay(history.edits, load_chunker(chunker))
    seen = {}
    for edit, counts in zip(history.edits, replayed.counts, strict=True):
        assert counts is not None
        seen[edit.commit] = (counts[WHOLE], edit.changed)
    nothing = []
    for commit, parent in parents.items():
        counts, size = recounted(repo, parent, commit, chunker)
        if commit in seen:
            assert seen[commit] == (counts, size), repo.git("show", "-s", "--format=%s", commit)
        else:
            nothing.append(repo.git("show", "-s", "--format=%s", commit))
            assert (counts.again, counts.moved, counts.gone, size) == (0, 0, 0, 0)
    assert nothing == ["mode", "README alone"]


@pytest.mark.parametrize("chunker", ["ast", "fixed:overlap=1"])
def test_the_replay_ends_in_the_chunks_of_the_last_tree(repo: Repo, chunker: str) -> None:
    first = repo.git("rev-list", "--max-parents=0", "--first-parent", "HEAD")
    index = {}
    for name, text in chunks_of(tree_of(repo, first), chunker):
        index.setdefault(name.rpartition(":")[0], []).append((name, text))
    for _, before, after in cut_edits(history_of(repo.root).edits, load_chunker(chunker)):
        for source in before.corpus.sources:
            gone = [(c.id, c.text) for c in before.chunks if c.path == source.path]
            assert sorted(index.pop(source.path)) == sorted(gone)
        for source in after.corpus.sources:
            index[source.path] = [(c.id, c.text) for c in after.chunks if c.path == source.path]
    assert sorted(itertools.chain(*index.values())) == sorted(
        chunks_of(tree_of(repo, "HEAD"), chunker)
    )


def test_commits_of_a_branch_are_one_edit(repo: Repo) -> None:
    merge = repo.git("rev-list", "--merges", "HEAD")
    (edit,) = [edit for edit in history_of(repo.root).edits if edit.commit == merge]
    assert [file.after and file.after.path for file in edit.files] == ["side.go"]
    assert [file.language for file in edit.files] == ["go"]


def test_a_rename_changes_ids_but_no_text(repo: Repo) -> None:
    edits = [edit for edit in history_of(repo.root).edits if edit.changed == 0]
    (rename,) = edits
    ((file),) = rename.files
    assert file.before is not None
    assert file.after is not None
    assert (file.before.path, file.after.path) == ("m0.py", "moved.py")
    plain, headed = (
        replay(edits, load_chunker(name)).counts[0] for name in ("ast", "ast:header=on")
    )
    assert plain is not None
    assert headed is not None
    assert plain[WHOLE] == Counts(n := plain[WHOLE].chunks, 0, 0, n, n, 0)
    # The path is in the header.
    assert (headed[WHOLE].again, headed[WHOLE].gone, headed[WHOLE].moved) == (n, n, 0)


@pytest.mark.slow
@pytest.mark.parametrize("chunker", ["ast", "fixed"])
def test_the_counts_of_this_projects_history(chunker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        pytest.skip("this checkout has no history")
    monkeypatch.setitem(globals(), "SUFFIXES", {".py": "python"})
    repo = Repo(root)
    history = read_edits(root, ReadRules(suffixes=(".py",)), 20)
    replayed = replay(history.edits, load_chunker(chunker))
    for edit, counts in zip(history.edits, replayed.counts, strict=True):
        assert counts is not None
        expected = recounted(repo, f"{edit.commit}^1", edit.commit, chunker)
        assert (counts[WHOLE], edit.changed) == expected, edit.commit
