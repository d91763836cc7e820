"""Trees of SWE-bench's instances: the same wherever they lie, and no more than is kept."""

import shutil
import zipfile
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.datasets.loaders import worktrees
from harness.datasets.loading import load_dataset
from tests.support.swebench import OLD, committed, place, row, tree


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", ["archives", "folders", "clones"])
def test_all_trees_together_are_bounded_and_fewer_instances_are_within(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"one__pkg-{n}": f"{OLD}\n# {n}\n" for n in range(4)}
    made = committed(root, texts) if kind == "clones" else {}
    place(root, *(row(name, base_commit=made.get(name, "0" * 40)) for name in texts))
    for name, text in texts.items():
        if kind != "clones":
            tree(root, name, text)
        if kind == "folders":
            archive = root / f"swebench_lite/worktrees/{name}.zip"
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(archive.parent)
            archive.unlink()
    # Each tree has a file of its own and one that all share, which counts once.
    monkeypatch.setattr(worktrees, "MOST_TEXT", 2 * len(texts["one__pkg-0"]) + len("x = 1\n"))
    with pytest.raises(InputError, match=r"more than .* characters together\n.*instances=") as told:
        load_dataset("swebench-lite")
    assert str(told.value).count("\n") == 1
    some = load_dataset('swebench-lite:instances="one__pkg-3,one__pkg-1"')
    assert [query.id for query in some.queries] == ["one__pkg-1", "one__pkg-3"]
    shared = [[one for one in corpus.sources if one.path == "pkg/b.py"] for corpus in some.corpora]
    assert shared[0][0] is shared[1][0]
    with pytest.raises(InputError, match=r"instances=one__pkg-9: no instances of 'one__pkg-9'; "):
        load_dataset("swebench-lite:instances=one__pkg-9")


def test_the_same_tree_is_the_same_data_set_in_an_archive_a_folder_and_a_clone(root: Path) -> None:
    commit = committed(root, {"first": OLD})["first"]
    clone = root / "swebench_lite/clones/one__pkg"
    for name in ("README.md", "setup.cfg"):
        (clone / name).write_text("nothing\n")
    place(root, row("one__pkg-1", base_commit=commit))
    prints = {load_dataset("swebench-lite").fingerprint}
    tree(root, "one__pkg-1")  # with a LICENSE
    prints.add(load_dataset("swebench-lite").fingerprint)
    shutil.copytree(clone, root / "swebench_lite/worktrees/one__pkg-1")
    prints.add(load_dataset("swebench-lite").fingerprint)
    assert len(prints) == 1
