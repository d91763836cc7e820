"""What the layout promises: heavy imports where they are used, no Python among the data."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted([*(ROOT / "chunkers").rglob("*.py"), *(ROOT / "harness").rglob("*.py")])
HEAVY = {"bm25s", "faiss", "scipy", "sentence_transformers", "torch", "transformers"}


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imported(file: Path, *, at_import_time: bool = False) -> Iterator[str]:
    """Full names of the modules that a file imports; those for typing alone only if asked."""
    pending: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(file)} imports relatively"
            yield node.module or ""
        elif at_import_time and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            continue
        pending.extend(ast.iter_child_nodes(node))


def top(name: str) -> str:
    return name.partition(".")[0]


def test_there_are_packages_to_look_at() -> None:
    assert len(PACKAGES) > 20


def test_datasets_holds_data_alone() -> None:
    assert [relative(file) for file in (ROOT / "datasets").rglob("*.py*")] == []


def test_every_folder_of_data_has_its_card() -> None:
    folders = {folder for folder in (ROOT / "datasets").iterdir() if folder.name != "suites"}
    assert {folder.name for folder in folders if not (folder / "dataset.toml").is_file()} == set()


@pytest.mark.parametrize("file", PACKAGES, ids=relative)
def test_heavy_packages_are_imported_where_they_are_used(file: Path) -> None:
    assert HEAVY.isdisjoint(map(top, imported(file, at_import_time=True)))


def test_the_architecture_page_lists_every_package() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `((?:harness|chunkers)/[a-z]+)/` \|", page, re.MULTILINE))
    folders = {
        relative(init.parent)
        for top in ("harness", "chunkers")
        for init in (ROOT / top).glob("*/__init__.py")
    }
    assert listed == folders
