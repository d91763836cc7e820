"""Every file that a ranking or a score is computed by is among those whose hash is in its key."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.runs import provenance

ROOT = Path(__file__).parents[3]

NOT_IN_KEYS = {
    "harness/__init__.py": "names alone",
    "harness/model.py": "values, whose contents are in the keys",
}


def matching(*folders: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix() for one in folders for path in (ROOT / one).rglob("*.py")
    }


def modules(names: list[str]) -> Iterator[str]:
    for name in names:
        path = ROOT / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                yield file.relative_to(ROOT).as_posix()


def reached(file: str) -> set[str]:
    """Our files that a file imports when it runs, in functions too."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse((ROOT / file).read_text("utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found.update(modules([alias.name for alias in node.names]))
        elif isinstance(node, ast.ImportFrom):
            name = node.module or ""
            found.update(modules([name, *(f"{name}.{alias.name}" for alias in node.names)]))
        pending.extend(ast.iter_child_nodes(node))
    return found


def walk(roots: set[str]) -> set[str]:
    seen: set[str] = set()
    pending = sorted(roots)
    while pending:
        file = pending.pop()
        if file not in seen:
            seen.add(file)
            pending += sorted(reached(file) - seen)
    return seen


@pytest.mark.parametrize(
    ("root", "folders"),
    [
        ("harness/runs/cell.py", provenance.RANKING),
        ("harness/runs/results.py", provenance.SCORING),
    ],
)
def test_no_file_that_a_result_comes_from_is_left_out_of_its_key(root, folders):
    assert walk({root}) - matching(*folders) - set(NOT_IN_KEYS) == set()


def test_every_folder_holds_a_file():
    for folders in (provenance.RANKING, provenance.SCORING):
        assert [one for one in folders if not matching(one)] == []


def test_a_change_of_a_listed_file_changes_the_hash(tmp_path, monkeypatch):
    (tmp_path / "harness/retrieval").mkdir(parents=True)
    (tmp_path / "harness/retrieval/hops.py").write_text("x = 1\n")
    monkeypatch.setattr(provenance, "_ROOT", tmp_path)
    first = provenance.code_hash.__wrapped__("harness/retrieval")
    (tmp_path / "harness/retrieval/hops.py").write_text("x = 2\n")
    assert provenance.code_hash.__wrapped__("harness/retrieval") != first
