"""What no ranking depends on changes no data set, least of all what chunkmark itself wrote."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import call, says

from chunkers.source import Source
from harness.building.build import BuildOptions, build
from harness.building.folder import write_folder
from harness.building.tree import Reading
from harness.model import Corpus, Dataset, Query, Skipped, Target

if TYPE_CHECKING:
    from harness.building.tree import Files

CODE = '''"""Fields and words."""


def area(radius):
    """Compute how much room a round field takes."""
    return 3.14 * radius**2


def cut(text):
    """Split the words of a sentence at every blank."""
    return text.split()
'''
WHO = ["-c", "user.name=x", "-c", "user.email=x@y"]


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *WHO, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text(CODE, "utf-8")
    (root / "b.json").write_text('{"field": 1}\n', "utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    monkeypatch.chdir(root)
    return root


def indexed(root: Path, files: Files = "all") -> list[str]:
    (corpus,) = build(root, BuildOptions(reading=Reading(files))).corpora
    return [one.path for one in corpus.sources]


@pytest.mark.parametrize("spec", ["repo:.", "repo:.,files=all"])
def test_a_run_into_the_repository_is_found_again(repository: Path, capsys, spec: str) -> None:
    run = ["run", "-d", spec, "-c", "fixed", "-r", "bm25", "--format", "json"]
    done = [call(capsys, *run).json["cells"][0] for _ in range(3)]
    assert len({one["fingerprint"] for one in done}) == 1
    assert len(list(Path("chunkmark-run/cells").iterdir())) == 1
    # The run is one thing that is not indexed, and the result says so though its cell is older.
    assert [one["health"]["files_indexed"] for one in done] == [
        done[0]["health"]["files_indexed"]
    ] * 3
    assert done[1]["health"]["files_skipped"] == done[0]["health"]["files_skipped"] + 1
    assert call(capsys, *run[:3], "-c", "whole-file", "-r", "bm25").code == 0
    told = call(capsys, "dataset", "validate", spec, "--run", "chunkmark-run", "--format", "json")
    assert "no two chunkers" not in told.out + told.err


@pytest.mark.parametrize("name", ["results", "data.set", "pkg/out"])
def test_what_chunkmark_wrote_is_told_by_what_it_says_and_counted(
    repository: Path, capsys, name: str
) -> None:
    before = build(repository, BuildOptions(reading=Reading("all")))
    assert call(capsys, "dataset", "build", ".", "-o", name).code == 0
    assert call(capsys, "run", "-d", f"built:{name}", "-c", "fixed", "-r", "bm25",
                "-o", f"{name}-run").code == 0  # fmt: skip
    after = build(repository, BuildOptions(reading=Reading("all")))
    assert after.fingerprint == before.fingerprint
    ours = [one.path for one in after.corpora[0].skipped if one.reason == "written by chunkmark"]
    assert ours == sorted([f"{name}/", f"{name}-run/"])
    # In the history of a repository it is the same.
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Keep what was measured last week")
    (repository / "a.py").write_text(CODE.replace("3.14 ", "3.1416 "), "utf-8")
    git(repository, "commit", "-qam", "Return fields with a rounder radius than before")
    made = build(repository, BuildOptions(queries="commits", reading=Reading("all")))
    assert [one.path for one in made.corpora[0].sources] == ["a.py", "b.json"]
    ours = [one.path for one in made.corpora[0].skipped if one.reason == "written by chunkmark"]
    assert ours == sorted([f"{name}/", f"{name}-run/"])


def test_a_folder_of_the_same_names_that_others_wrote_is_read(repository: Path) -> None:
    for folder, text in {
        "chunkmark-run": '{"name": "an extension of a browser"}',
        "built": '{"schema": "mine/1"}',
        "cards": '{"schema": "chunkmark.dataset/1"}',  # nothing beside it
    }.items():
        (repository / folder / "cells").mkdir(parents=True)
        (repository / folder / "manifest.json").write_text(text, "utf-8")
        (repository / folder / "a.py").write_text("x = 1\n", "utf-8")
    assert {"chunkmark-run/a.py", "chunkmark-run/manifest.json", "built/a.py", "cards/a.py"} <= {
        *indexed(repository)
    }


def test_a_single_document_of_chunkmark_is_written_by_a_tool(repository: Path, capsys) -> None:
    before = indexed(repository)
    told = call(capsys, "dataset", "info", "repo:.", "--format", "json").out
    (repository / "info.json").write_text(told, "utf-8")
    assert indexed(repository) == before


def test_a_card_that_cannot_be_read_is_nobodys(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"schema": "chunkmark.manifest/1"}', "utf-8")
    for number, make in enumerate(
        (
            lambda file: file.symlink_to(tmp_path / "manifest.json"),
            lambda file: file.mkdir(),
            lambda file: file.write_bytes(b"[" * 100_000),
        )
    ):
        folder = repository / f"f{number}"
        (folder / "cells").mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n", "utf-8")
        make(folder / "manifest.json")
        assert f"f{number}/a.py" in indexed(repository, "code")


@pytest.mark.parametrize("kind", ["docstring", "calls"])
def test_a_file_that_is_not_indexed_changes_neither_key_nor_queries_nor_texts(
    repository: Path, tmp_path: Path, capsys, kind: str
) -> None:
    (repository / "tools.py").write_text("def weigh(one, two):\n    return one * 3 + two\n")
    (repository / "c.py").write_text("from tools import weigh\n\nleft = 1\nweigh(left, 2)\n")
    cards = []
    for name in ("one", "two"):
        done = call(capsys, "dataset", "build", ".", "-o", tmp_path / name, "--queries", kind,
                    "--format", "json")  # fmt: skip
        cards.append(done.json)
        (repository / "notes.txt").write_text("nothing\n", "utf-8")
        (repository / "__pycache__").mkdir(exist_ok=True)
    first, second = cards
    assert first["fingerprint"] == second["fingerprint"]
    assert first["files_skipped"] != second["files_skipped"]
    for file in ("queries.jsonl", "corpora.jsonl", "texts.jsonl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_what_a_ranking_depends_on_is_in_the_key() -> None:
    def made(path: str = "a.py", text: str = "x\n", language: str | None = "python",
             asked: str = "where", **skipped: str) -> str:  # fmt: skip
        corpus = Corpus("c", (Source(text, path, language),),
                        tuple(Skipped(*one) for one in skipped.items()))  # fmt: skip
        return Dataset(
            "d", "span", (corpus,), (Query("q", "c", asked, (Target(path),)),)
        ).fingerprint

    assert made() == made(other="link") == made(other="larger")
    others = [made(path="b.py"), made(text="y\n"), made(language=None), made(asked="what")]
    assert len({made(), *others}) == 5


def test_a_built_set_keeps_what_was_left_out(repository: Path, tmp_path: Path, capsys) -> None:
    made = build(repository, BuildOptions())
    write_folder(made, tmp_path / "out", {})
    rows = [
        json.loads(line) for line in (tmp_path / "out/skipped.jsonl").read_text().split("\n")[:-1]
    ]
    assert rows == [{"id": "repo", "skipped": [["b.json", "json is excluded"]]}]
    (tmp_path / "out/skipped.jsonl").write_text("", "utf-8")
    says(call(capsys, "dataset", "validate", f"built:{tmp_path / 'out'}"), 2, "skipped.jsonl")
