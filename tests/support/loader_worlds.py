"""Every loader of the registry over small data of our own, in the exact format that it reads.

A loader of files gets a tree, and a question whose answer is `BODY` in one of its files. A loader
of documents gets texts by their names, one of which is the answer.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.building.build import BuildOptions, build
from harness.building.folder import write_folder
from harness.datasets import cards

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pytest

NAME = "a_repo"
HEAD = "def weigh(first_thing, second_thing):\n"
BODY = (
    "    total = first_thing * 1_000 + second_thing * 2_000 + len(os.sep)\n"
    "    rest = total % 17 + total // 19\n"
    "    return total - first_thing - second_thing - rest\n"
)
SAID = "Tell how heavy both of these are together"
REPORT = "Things come out far too light whenever two are weighed at once"
GOOD = f'import os\n\n\n{HEAD}    """{SAID}."""\n{BODY}'
FIRST, LAST = 6, 8
"""Lines of `BODY` in `GOOD`."""
ASKED = "which_one is wanted"
WANTED = "def wanted_one(x):\n    return wanted_one_more(x)\n"


def put(root: Path, name: str, data: bytes | str) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def rows(*found: Mapping[str, Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)


# Files: `place(root, files, gold, patch)` writes the data and returns the spec. `gold` is how the
# data spell the path of the answer.

Files = dict[str, bytes]


def repoeval(level: str) -> Callable[[Path, Files, str, pytest.MonkeyPatch], str]:
    trees = "function_level" if level == "function" else "line_and_api_level"

    def place(root: Path, files: Files, gold: str, patch: pytest.MonkeyPatch) -> str:
        del patch
        line = "lineno" if level == "function" else "line_no"
        about = {"ground_truth": BODY, "fpath_tuple": [NAME, *gold.split("/")]}
        about |= {"context_start_lineno": FIRST - 3, line: FIRST - 1}
        task = rows({"prompt": HEAD, "metadata": about})
        put(root, f"repoeval/datasets/{level}_level_completion_2k_context_codex.test.jsonl", task)
        for name, data in files.items():
            put(root, f"repoeval/repositories/{trees}/{NAME}/{name}", data)
        with zipfile.ZipFile(root / f"repoeval/repositories/{trees}.zip", "w"):
            pass
        return f"repoeval-{level}:repos={NAME},target=body"

    return place


def swebench(root: Path, files: Files, gold: str, patch: pytest.MonkeyPatch) -> str:
    del patch
    old = "".join(f"-{line}\n" for line in BODY.splitlines())
    diff = f"--- a/{gold}\n+++ b/{gold}\n@@ -{FIRST},3 +{FIRST} @@\n{old}+    return 0\n"
    row = {"instance_id": NAME, "repo": "a/repo", "base_commit": "0" * 40, "patch": diff}
    put(root, "swebench_lite/swebench_lite_origin.jsonl", rows(row | {"problem_statement": REPORT}))
    for name, data in files.items():
        put(root, f"swebench_lite/worktrees/{NAME}/{name}", data)
    return "swebench-lite"


def stdlib(root: Path, files: Files, gold: str, patch: pytest.MonkeyPatch) -> str:
    del gold
    for name, data in files.items():
        put(root, f"library/{name}", data)
    text = (cards.cards_dir() / "stdlib/dataset.toml").read_text("utf-8")
    chosen = json.dumps([name for name in files if name.endswith(".py")])
    text = re.sub(r"modules = \[.*?\]", lambda _: f"modules = {chosen}", text, flags=re.DOTALL)
    put(root, "cards/stdlib/dataset.toml", text)
    patch.setattr(cards, "cards_dir", lambda: root / "cards")
    patch.setattr("sysconfig.get_path", lambda name: str(root / "library"))
    return "stdlib"


def tree(root: Path, files: Files) -> Path:
    for name, data in files.items():
        put(root, f"tree/{name}", data)
    return root / "tree"


def repo(root: Path, files: Files, gold: str, patch: pytest.MonkeyPatch) -> str:
    """Without a question of the user's own where the gold is as the doc comments have it."""
    del patch
    folder = tree(root, files)
    if gold == "good.py":
        return f'repo:"{folder}"'
    asked = rows({"text": ASKED, "targets": f"{gold}:{FIRST}-{LAST}"})
    return f'repo:"{folder}",queries="{put(root, "q.jsonl", asked)}"'


def built(root: Path, files: Files, gold: str, patch: pytest.MonkeyPatch) -> str:
    spec = repo(root, files, gold, patch)
    questions = str(root / "q.jsonl") if "queries=" in spec else "docstring"
    out = root / f"built {len(list(root.glob('built*')))}"
    write_folder(build(root / "tree", BuildOptions(questions)), out, {})
    return f'built:"{out}"'


TREES: dict[str, Callable[[Path, Files, str, pytest.MonkeyPatch], str]] = {
    "repoeval-function": repoeval("function"),
    "repoeval-line": repoeval("line"),
    "repoeval-api": repoeval("api"),
    "swebench-lite": swebench,
    "stdlib": stdlib,
    "repo": repo,
    "built": built,
}


# Documents: `place(root, texts, gold)` writes them in their order and returns the spec.

ADDRESS = "https://github.com/a/b/blob/" + "0" * 40 + "/{}.py#L1"


@dataclass(frozen=True)
class Documents:
    """A loader of documents: its spec, the file that holds them, and what writes all files."""

    spec: str
    file: str
    place: Callable[[Path, Mapping[str, str], str, str], None]


def beir(folder: str) -> Callable[[Path, Mapping[str, str], str, str], None]:
    def place(root: Path, texts: Mapping[str, str], gold: str, asked: str) -> None:
        found = ({"_id": name, "title": "", "text": text} for name, text in texts.items())
        put(root, f"{folder}/corpus.jsonl", rows(*found))
        put(root, f"{folder}/queries.jsonl", rows({"_id": "q", "text": asked}))
        judged = f"query-id\tcorpus-id\tscore\nq\t{gold}\t1.0\n"
        put(root, f"{folder}/qrels/test.tsv", judged)

    return place


def codesearchnet(root: Path, texts: Mapping[str, str], gold: str, asked: str) -> None:
    asked = asked.replace('"', '""')
    judged = f'Python,"{asked}",{ADDRESS.format(gold)},3.0,\n'
    put(root, "codesearchnet/queries.csv", f'query\n"{asked}"\n')
    store = f"Language,Query,GitHubUrl,Relevance,Notes\n{judged}"
    put(root, "codesearchnet/annotationStore.csv", store)
    found = ({"url": ADDRESS.format(name), "code": text} for name, text in texts.items())
    put(root, "codesearchnet/code/python.jsonl", rows(*found))


def repobench(root: Path, texts: Mapping[str, str], gold: str, asked: str) -> None:
    context = [{"path": name, "snippet": text} for name, text in texts.items()]
    number = [*texts].index(gold) if gold in texts else len(texts)
    row = {"repo_name": "a/b", "file_path": "main.py", "context": context,
           "import_statement": "", "cropped_code": asked, "gold_snippet_index": number}  # fmt: skip
    put(root, "repobench/python_cross_file_first.jsonl", rows(row))


def crosscodeeval(root: Path, texts: Mapping[str, str], gold: str, asked: str) -> None:
    chunks = [{"retrieved_chunk": text, "filename": name} for name, text in texts.items()]
    answer = "wanted_one_more(x)" if gold in texts else "nobody_has_this()"
    row = {"prompt": asked, "groundtruth": answer,
           "metadata": {"task_id": "t", "repository": "a-b", "file": "main.py"},
           "crossfile_context": {"text": "", "list": chunks}}  # fmt: skip
    put(root, "crosscodeeval/python/line_completion_oracle_bm25.jsonl", rows(row))


DOCUMENTS = {
    "beir": Documents("beir:mine", "mine/corpus.jsonl", beir("mine")),
    "cosqa": Documents("cosqa", "cosqa/beir/corpus.jsonl", beir("cosqa/beir")),
    "codesearchnet": Documents("codesearchnet", "codesearchnet/code/python.jsonl", codesearchnet),
    "repobench-r": Documents("repobench-r", "repobench/python_cross_file_first.jsonl", repobench),
    "crosscodeeval": Documents(
        "crosscodeeval", "crosscodeeval/python/line_completion_oracle_bm25.jsonl", crosscodeeval
    ),
}
