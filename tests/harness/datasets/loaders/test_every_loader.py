"""What holds for every loader of files: how trees are read, how rows are, and where gold lies."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.runs.query_set import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

NAME = "a_repo"
PLAIN = b"".join(b"line_%d = %d\n" % (n, n) for n in range(1, 13))
LEVELS = ("function", "line", "api")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


@dataclass(frozen=True)
class Trees:
    """A loader of trees: its spec, where its trees lie, and how it is told line 10 of a file."""

    spec: str
    folder: str
    tell: Callable[[Path, str], None]

    def zipped(self, root: Path, files: Iterable[tuple[str, bytes]]) -> None:
        # RepoEval has one archive of all trees, SWE-bench one for each.
        one = self.folder.removesuffix(f"/{NAME}") if "repoeval" in self.folder else self.folder
        file = root / f"{one}.zip"
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in files:
                archive.writestr(f"{NAME}/{name}", data)

    def unpacked(self, root: Path, files: dict[str, bytes]) -> Path:
        for name, data in files.items():
            path = root / self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return root / self.folder


def repoeval(level: str) -> Trees:
    def tell(root: Path, path: str) -> None:
        line = "lineno" if level == "function" else "line_no"
        about = {"ground_truth": "line_10 = 10", "fpath_tuple": [NAME, *path.split("/")]}
        about |= {"context_start_lineno": 7, line: 9}
        file = root / f"repoeval/datasets/{level}_level_completion_2k_context_codex.test.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"prompt": "line_9 = 9", "metadata": about}) + "\n")

    trees = "function_level" if level == "function" else "line_and_api_level"
    spec = f"repoeval-{level}:repos={NAME},target=body"
    return Trees(spec, f"repoeval/repositories/{trees}/{NAME}", tell)


def swebench() -> Trees:
    def tell(root: Path, path: str) -> None:
        patch = f"--- a/{path}\n+++ b/{path}\n@@ -10 +10 @@\n-line_10 = 10\n+line_10 = 0\n"
        row = {"instance_id": NAME, "repo": "a/repo", "base_commit": "0" * 40, "patch": patch}
        row["problem_statement"] = "ten is wrong"
        file = root / "swebench_lite/swebench_lite_origin.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(row) + "\n")

    return Trees("swebench-lite", f"swebench_lite/worktrees/{NAME}", tell)


TREES = pytest.mark.parametrize(
    "trees", [*map(repoeval, LEVELS), swebench()], ids=lambda one: one.spec.split(":")[0]
)
ODD = {
    "good.py": PLAIN,
    "latin.py": b"def caf\xe9():\n    return 1\n",
    "mark.py": b"\xef\xbb\xbfimport os\n",
    "icon.py": b"\x89PNG\r\n\x1a\n\0\0" + bytes(range(256)),
    "minified.py": b"a=[" + b"1," * 20_000 + b"]\n",
    "pkg/__init__.py": b"",
    "pkg/blank.py": b"  \n\n\t\n",
    "pkg/windows.py": b"a = 1\r\nb = 2\r\n",
    "LICENSE": b"MIT",
}


@TREES
@pytest.mark.parametrize("zipped", [True, False])
def test_every_file_is_read_or_listed(root: Path, trees: Trees, zipped: bool) -> None:
    trees.tell(root, "good.py")
    if zipped:
        trees.zipped(root, ODD.items())
    else:
        trees.unpacked(root, ODD)
    (corpus,) = load_dataset(trees.spec).corpora
    texts = {source.path: source.text for source in corpus.sources}
    assert texts == {
        "good.py": PLAIN.decode(),
        "latin.py": "def café():\n    return 1\n",
        "mark.py": "import os\n",
        "pkg/__init__.py": "",
        "pkg/blank.py": "  \n\n\t\n",
        "pkg/windows.py": "a = 1\r\nb = 2\r\n",
    }
    assert {one.path: one.reason for one in corpus.skipped} == {
        "LICENSE": "name does not end in .py",
        "icon.py": "binary: holds NUL bytes",
        "minified.py": "a line longer than 10000 characters",
    }


@TREES
def test_links_are_listed_and_not_followed(root: Path, trees: Trees) -> None:
    trees.tell(root, "good.py")
    if trees.spec.startswith("repoeval"):
        trees.zipped(root, ODD.items())
    folder = trees.unpacked(root, {"good.py": PLAIN, "pkg/a.py": b"x = 1\n"})
    (folder / "pkg/loop").symlink_to("..")
    (folder / "pkg/out.py").symlink_to("/etc/passwd")
    (corpus,) = load_dataset(trees.spec).corpora
    assert [source.path for source in corpus.sources] == ["good.py", "pkg/a.py"]
    assert [(one.path, one.reason) for one in corpus.skipped] == [
        ("pkg/loop", "link"),
        ("pkg/out.py", "link"),
    ]


@TREES
def test_the_order_of_files_on_disk_does_not_count(root: Path, trees: Trees) -> None:
    trees.tell(root, "good.py")
    prints = set()
    for files in (ODD.items(), reversed(ODD.items())):
        trees.zipped(root, files)
        dataset = load_dataset(trees.spec)
        prints.add(dataset.fingerprint)
        paths = [source.path for source in dataset.corpora[0].sources]
        assert paths == sorted(paths)
    assert len(prints) == 1


@TREES
def test_an_archive_cannot_reach_outside(root: Path, trees: Trees) -> None:
    trees.tell(root, "good.py")
    trees.zipped(root, [("good.py", PLAIN), ("../../out.py", b"x = 1\n")])
    with pytest.raises(InputError, match=r"is refused: .* is not a path inside it"):
        load_dataset(trees.spec)


@TREES
def test_gold_is_the_tenth_line_counted_from_one(root: Path, trees: Trees) -> None:
    trees.tell(root, "good.py")
    trees.zipped(root, ODD.items())
    dataset = load_dataset(trees.spec)
    (query,), (corpus,) = dataset.queries, dataset.corpora
    (target,) = query.targets
    assert (target.start_line, target.end_line) == (10, 10)
    source = next(one for one in corpus.sources if one.path == target.path)
    start, end = source.lines.offsets_of(10, 10)
    assert source.text[start:end] == "line_10 = 10\n"


@TREES
@pytest.mark.parametrize("path", ["gone.py", "GOOD.py", "icon.py"])
def test_gold_that_is_not_indexed_is_counted(root: Path, trees: Trees, path: str) -> None:
    trees.tell(root, path)
    trees.zipped(root, ODD.items())
    dataset = load_dataset(trees.spec)
    assert len(dataset.queries) == 1
    with pytest.raises(InputError, match=f"no query has a target in the corpus.*{path} is not"):
        prepare(dataset)


def repobench(row: int) -> dict[str, Any]:
    context = [{"path": f"{n}.py", "snippet": f"def f{n}(): pass"} for n in range(3)]
    return {"repo_name": "a/b", "file_path": f"{row}.py", "context": context,
            "import_statement": "import é", "cropped_code": f"x = {row}",
            "gold_snippet_index": row}  # fmt: skip


def crosscodeeval(row: int) -> dict[str, Any]:
    chunks = [{"retrieved_chunk": f"def f{n}(): pass", "filename": f"{n}.py"} for n in range(3)]
    return {"prompt": "import é", "groundtruth": f"f{row}()",
            "metadata": {"task_id": f"t{row}", "repository": "a-b", "file": "main.py"},
            "crossfile_context": {"text": "", "list": chunks}}  # fmt: skip


def document(row: int) -> dict[str, Any]:
    return {"_id": f"d{row}", "text": f"é {row}"}


@dataclass(frozen=True)
class Lines:
    """A loader of JSON lines: its spec, one of its files, a row of it, and what else it needs."""

    spec: str
    file: str
    row: Callable[[int], dict[str, Any]]
    more: tuple[tuple[str, str], ...] = ()

    def place(self, root: Path, data: bytes) -> None:
        for name, text in self.more:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        (root / self.file).parent.mkdir(parents=True, exist_ok=True)
        (root / self.file).write_bytes(data)


ADDRESS = "https://github.com/a/b/blob/" + "0" * 40 + "/{}.py#L1"
JUDGED = "query-id\tcorpus-id\tscore\nq\td0\t1\n"
ASKED = (("cosqa/beir/queries.jsonl", '{"_id": "q", "text": "find"}\n'),
         ("cosqa/beir/qrels/test.tsv", JUDGED))  # fmt: skip
GRADED = (
    ("codesearchnet/queries.csv", "query\nfind\n"),
    ("codesearchnet/annotationStore.csv",
     f"Language,Query,GitHubUrl,Relevance,Notes\nPython,find,{ADDRESS.format(0)},3,\n"),
)  # fmt: skip
LINES = pytest.mark.parametrize(
    "lines",
    [
        Lines("repobench-r", "repobench/python_cross_file_first.jsonl", repobench),
        Lines("crosscodeeval", "crosscodeeval/python/line_completion_oracle_bm25.jsonl",
              crosscodeeval),
        Lines("cosqa", "cosqa/beir/corpus.jsonl", document, ASKED),
        Lines("codesearchnet", "codesearchnet/code/python.jsonl",
              lambda n: {"url": ADDRESS.format(n), "code": f"é = {n}"}, GRADED),
    ],
    ids=lambda one: one.spec,
)  # fmt: skip


@LINES
def test_marks_line_ends_and_blank_lines_of_a_file_do_not_count(root: Path, lines: Lines) -> None:
    rows = [json.dumps(lines.row(n), ensure_ascii=False).encode() for n in range(3)]
    prints = set()
    for data in (
        b"\n".join(rows),
        b"\n".join(rows) + b"\n",
        b"\xef\xbb\xbf" + b"\r\n".join(rows) + b"\r\n\r\n",
        b"\n\n".join(json.dumps(lines.row(n)).encode() for n in range(3)),
    ):
        lines.place(root, data)
        prints.add(load_dataset(lines.spec).fingerprint)
    assert len(prints) == 1


@LINES
def test_the_order_of_rows_does_not_count(root: Path, lines: Lines) -> None:
    rows = [json.dumps(lines.row(n)).encode() for n in range(3)]
    prints = set()
    for data in (b"\n".join(rows), b"\n".join(reversed(rows))):
        lines.place(root, data)
        prints.add(load_dataset(lines.spec).fingerprint)
    assert len(prints) == 1


@LINES
@pytest.mark.parametrize(
    "bad", [b'{"cut off', b"[1]", b"{}", b'{"a": NaN, "_id": 3}', b'{"a": "\xff"}', b"null"]
)
def test_a_malformed_row_is_named_by_file_and_line(root: Path, lines: Lines, bad: bytes) -> None:
    good = json.dumps(lines.row(0)).encode()
    lines.place(root, good + b"\n\n" + bad + b"\n")
    with pytest.raises(InputError, match=f"{lines.file}, line 3[:,] ") as error:
        load_dataset(lines.spec)
    assert "\n" not in str(error.value)


@LINES
@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_without_rows_is_an_error(root: Path, lines: Lines, data: bytes) -> None:
    lines.place(root, data)
    with pytest.raises(InputError, match=f"{lines.file} (is empty|has no rows)"):
        load_dataset(lines.spec)


@LINES
def test_a_file_that_is_missing_is_named_with_its_place(root: Path, lines: Lines) -> None:
    lines.place(root, json.dumps(lines.row(0)).encode())
    (root / lines.file).unlink()
    with pytest.raises(InputError, match=r"\n(place |run `chunkmark dataset fetch )"):
        load_dataset(lines.spec)
