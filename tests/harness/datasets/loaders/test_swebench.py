import json
import os
from pathlib import Path

import msgspec
import pytest

from chunkers.errors import InputError
from harness.building.git import trees
from harness.datasets.cards import load_card
from harness.datasets.fetching import fetch
from harness.datasets.loading import load_dataset
from harness.model import Absent, Target
from harness.reports.notes import ABSENT_LISTED
from harness.runs.query_set import prepare
from tests.support.commands import call
from tests.support.swebench import FILE, OLD, PATCH, git, place, row, tree

INSERTING = """\
diff --git a/pkg/a.py b/pkg/a.py
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -6,4 +6,6 @@ def f(x):
     return y
+
+z = 3


 def g():
"""
NEW = """\
diff --git a/pkg/new.py b/pkg/new.py
new file mode 100644
--- /dev/null
+++ b/pkg/new.py
@@ -0,0 +1 @@
+x = 1
"""
TEXT = """\
diff --git a/CHANGES.txt b/CHANGES.txt
--- a/CHANGES.txt
+++ b/CHANGES.txt
@@ -1 +1 @@
-old
+new
"""
GROWING = """\
diff --git a/CHANGES.txt b/CHANGES.txt
--- a/CHANGES.txt
+++ b/CHANGES.txt
@@ -1,2 +1,2 @@
 old
-
+new
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


def test_lines_that_the_patch_changed_are_the_gold(root: Path) -> None:
    place(root, row("one__pkg-1"))
    tree(root, "one__pkg-1")
    dataset = load_dataset("swebench-lite")
    (query,) = dataset.queries
    assert query.text == "f is wrong in one__pkg-1"
    assert query.targets == (Target("pkg/a.py", 5, 5),)
    assert query.tags == {"insert-only": "no", "repository": "one/pkg"}
    assert query.cluster == "one/pkg/pkg/a.py"
    (corpus,) = dataset.corpora
    assert [source.path for source in corpus.sources] == ["pkg/a.py", "pkg/b.py"]
    assert [(one.path, one.reason) for one in corpus.skipped] == [
        ("LICENSE", "name does not end in .py")
    ]


def test_what_was_only_inserted_into_is_tagged_and_means_the_lines_beside(root: Path) -> None:
    place(root, row("one__pkg-1", INSERTING))
    tree(root, "one__pkg-1")
    (query,) = load_dataset("swebench-lite").queries
    assert query.targets == (Target("pkg/a.py", 6, 6), Target("pkg/a.py", 9, 9))
    assert query.tags["insert-only"] == "yes"


def test_what_also_changes_a_line_of_a_file_that_is_not_indexed_is_no_insertion(
    root: Path,
) -> None:
    place(root, row("one__pkg-1", INSERTING + TEXT), row("one__pkg-2", INSERTING + GROWING))
    for name in ("one__pkg-1", "one__pkg-2"):
        tree(root, name)
    first, second = load_dataset("swebench-lite").queries
    assert first.targets == (Target("CHANGES.txt"),)
    assert first.tags["insert-only"] == "no"
    assert second.targets == (
        Target("pkg/a.py", 6, 6),
        Target("pkg/a.py", 9, 9),
        Target("CHANGES.txt"),
    )
    assert second.tags["insert-only"] == "yes"


def test_files_can_be_the_gold(root: Path) -> None:
    place(root, row("one__pkg-1", PATCH + NEW + TEXT))
    tree(root, "one__pkg-1")
    (query,) = load_dataset("swebench-lite:target=files").queries
    assert query.targets == (Target("CHANGES.txt"), Target("pkg/a.py"))


def test_a_changed_file_that_is_not_indexed_is_counted_as_such(root: Path) -> None:
    place(root, row("one__pkg-1", PATCH + TEXT), row("one__pkg-2", TEXT))
    for name in ("one__pkg-1", "one__pkg-2"):
        tree(root, name)
    prepared = prepare(load_dataset("swebench-lite"))
    assert [query.id for query in prepared.queries] == ["one__pkg-1"]
    assert prepared.targets_dropped == 2
    assert prepared.left_out == (("one__pkg-2", "CHANGES.txt is not indexed"),)


def test_instances_that_can_have_no_gold_or_no_text_are_counted(root: Path) -> None:
    rows = [row("one__pkg-1"), row("one__pkg-2", NEW), row("one__pkg-3", problem_statement=" \n")]
    rows.append(row("one__pkg-4", ""))
    place(root, *rows)
    tree(root, "one__pkg-1")
    dataset = load_dataset("swebench-lite")
    assert [query.id for query in dataset.queries] == ["one__pkg-1"]
    assert dataset.left_out == {
        "instances whose patch changes no existing file": 1,
        "instances without a problem statement": 1,
        "instances with an empty patch": 1,
    }
    assert dataset.absent == ()


def test_instances_none_of_which_can_be_asked_are_told_by_the_reason(root: Path) -> None:
    place(root, row("one__pkg-2", NEW), row("one__pkg-3", problem_statement=" \n"))
    with pytest.raises(InputError) as raised:
        load_dataset("swebench-lite")
    assert str(raised.value).split("\n")[1] == (
        "left out: instances whose patch changes no existing file: 1; "
        "instances without a problem statement: 1"
    )
    assert "place archives" not in str(raised.value)
    place(root, row("one__pkg-1"), row("one__pkg-3", problem_statement=""))
    with pytest.raises(
        InputError, match=r"absent: neither a worktree.*: 1; left out: instances without .*: 1"
    ):
        load_dataset("swebench-lite")


def test_an_instance_without_a_tree_is_absent_with_its_query(root: Path) -> None:
    place(root, row("one__pkg-1"), row("one__pkg-2"))
    tree(root, "one__pkg-1")
    reason = "neither a worktree nor a clone was found"
    assert load_dataset("swebench-lite").absent == (Absent("one__pkg-2", reason, 1),)
    (root / "swebench_lite/worktrees/one__pkg-1.zip").unlink()
    with pytest.raises(InputError, match="no tree of its 2 instances was found\nplace archives in"):
        load_dataset("swebench-lite")


def test_a_folder_goes_before_an_archive(root: Path) -> None:
    place(root, row("one__pkg-1"))
    tree(root, "one__pkg-1")
    archived = load_dataset("swebench-lite")
    folder = root / "swebench_lite/worktrees/one__pkg-1/pkg"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(OLD)
    (folder / "b.py").write_text("x = 1\n")
    (folder.parent / "LICENSE").write_text("MIT")
    assert load_dataset("swebench-lite").fingerprint == archived.fingerprint
    (folder / "b.py").write_text("x = 2\n")
    assert load_dataset("swebench-lite").fingerprint != archived.fingerprint


@pytest.mark.parametrize("named", [False, True])
def test_a_clone_is_read_at_the_commit_and_its_working_tree_is_not(root: Path, named: bool) -> None:
    clone = root / ("elsewhere" if named else "swebench_lite/clones") / "one__pkg"
    (clone / "pkg").mkdir(parents=True)
    (clone / "pkg/a.py").write_text(OLD)
    (clone / "pkg/b.py").write_text("x = 1\n")
    (clone / "LICENSE").write_text("MIT")
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "first")
    commit = git(clone, "rev-parse", "HEAD")
    (clone / "pkg/a.py").write_text("something else\n")
    (clone / "pkg/link.py").symlink_to("a.py")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "second")
    later = git(clone, "rev-parse", "HEAD")
    place(root, row("one__pkg-1", base_commit=commit), row("one__pkg-2"))
    spec = f"swebench-lite:clones={root / 'elsewhere'}" if named else "swebench-lite"
    cloned = load_dataset(spec)
    assert cloned.absent == (Absent("one__pkg-2", "the clone one__pkg lacks its commit", 1),)
    tree(root, "one__pkg-1")
    assert load_dataset("swebench-lite").fingerprint == cloned.fingerprint
    place(root, row("one__pkg-9", TEXT, base_commit=later))
    (corpus,) = load_dataset(spec).corpora
    assert [(one.path, one.reason) for one in corpus.skipped] == [
        ("LICENSE", "name does not end in .py"),
        ("pkg/link.py", "link"),
    ]


def test_a_clone_of_few_objects_that_holds_very_many_files_ends_in_one_message(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = root / "swebench_lite/clones/one__pkg"
    clone.mkdir(parents=True)
    (clone / "a.py").write_text(OLD)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    lines = f"100644 blob {git(clone, 'hash-object', 'a.py')}\ta.py\n"
    for _ in range(9):
        tree = git(clone, "mktree", data=lines)
        lines = "".join(f"040000 tree {tree}\td{n}\n" for n in range(10))
    commit = git(clone, "commit-tree", git(clone, "mktree", data=lines), "-m", "all")
    place(root, row("one__pkg-1", base_commit=commit))
    monkeypatch.setattr(trees, "MOST_FILES", 1_000)
    with pytest.raises(InputError, match=r"one__pkg: the trees .* 1,000 .*\n.*repos=") as raised:
        load_dataset("swebench-lite")
    assert str(raised.value).count("\n") == 1


def test_the_card_pins_archives_and_takes_others(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place(root, row("pallets__flask-4045"))
    done = call(capsys, "list", "datasets", "--format", "json")
    missing = {one["name"]: one["missing"] for one in done.json["datasets"]}
    assert "swebench_lite/worktrees/<instance>.zip" in missing["swebench-lite"]
    tree(root, "pallets__flask-4045")
    done = call(capsys, "list", "datasets", "--format", "json")
    assert {one["name"]: one["missing"] for one in done.json["datasets"]}["swebench-lite"] == ""
    card = load_card("swebench-lite")
    pinned = [file for file in card.files if file.path.endswith("pallets__flask-4045.zip")]
    notes = [one.note for one in fetch.fetch(msgspec.structs.replace(card, files=pinned), root)]
    assert notes[0].startswith("not as published; it is checked against the questions")
    assert load_dataset("swebench-lite").information["trees"] == "0 of 1 in archives as published"


def test_a_tree_of_another_commit_is_refused(root: Path) -> None:
    place(root, row("one__pkg-1"))
    tree(root, "one__pkg-1", "# one more line\n" + OLD)
    with pytest.raises(InputError, match=r"one__pkg-1: pkg/a\.py does not fit its patch"):
        load_dataset("swebench-lite")


def test_an_archive_without_the_folder_is_refused(root: Path) -> None:
    place(root, row("one__pkg-1"), row("one__pkg-2"))
    tree(root, "one__pkg-2")
    trees = root / "swebench_lite/worktrees"
    (trees / "one__pkg-2.zip").rename(trees / "one__pkg-1.zip")
    with pytest.raises(InputError, match=r"one__pkg-1\.zip holds no folder one__pkg-1"):
        load_dataset("swebench-lite")


def test_repositories_can_be_chosen(root: Path) -> None:
    place(root, row("one__pkg-1"), row("two__pkg-1", repo="two/pkg"))
    tree(root, "one__pkg-1")
    tree(root, "two__pkg-1")
    dataset = load_dataset('swebench-lite:repos="two/pkg"')
    assert [query.id for query in dataset.queries] == ["two__pkg-1"]
    with pytest.raises(InputError, match="no instances of 'pkg'; choose all, or from one/pkg"):
        load_dataset("swebench-lite:repos=pkg")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "invalid JSON"),
        ("[]", "a row is an object"),
        (json.dumps({"instance_id": "a"}), "the key 'repo' is missing"),
        (json.dumps(row("../a")), "instance_id has an invalid value"),
        (json.dumps(row("a", repo="../../etc")), "repo has an invalid value"),
        (json.dumps(row("a", base_commit="HEAD")), "base_commit has an invalid value"),
        (json.dumps(row("a") | {"patch": None}), "patch must be text, not null"),
        (json.dumps(row("a", problem_statement="\ud800")), "half of a surrogate pair"),
        (json.dumps(row("a", "diff --git a/x b/x\n@@ what\n")), "a: the patch is malformed"),
        (json.dumps(row("a", PATCH.replace("pkg/a", "../a"))), "not a path inside a repository"),
        (json.dumps(row("one__pkg-1")), "'one__pkg-1' is already at .*line 1$"),
    ],
)
def test_a_malformed_row_is_named_by_its_line(root: Path, line: str, says: str) -> None:
    place(root, row("one__pkg-1"), "", line)
    tree(root, "one__pkg-1")
    with pytest.raises(InputError, match=f"{FILE}, line 3[:,] .*{says}") as error:
        load_dataset("swebench-lite")
    assert "\n" not in str(error.value)


def test_a_table_counts_what_is_absent_and_left_out(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"one__pkg-{number:02}" for number in range(ABSENT_LISTED + 2)]
    place(root, *map(row, names), row("one__pkg-new", NEW))
    tree(root, names[0])
    done = call(capsys, "run", "-d", "swebench-lite", "-c", "fixed", "-r", "bm25",
                "--format", "markdown", "-o", root / "run")  # fmt: skip
    assert done.code == 0, done.err
    said, n = done.out.replace("\\", ""), ABSENT_LISTED + 1
    assert f"absent: {n} corpora ({n} queries), for example one__pkg-01: neither" in said
    left_out = "instances whose patch changes no existing file: 1"
    assert f"left out by the data set: {left_out}\n" in said


DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


@pytest.mark.skipif(not (DATA / FILE).is_file(), reason="needs swebench_lite in $CHUNKMARK_DATA")
class TestPublished:
    def test_five_of_three_hundred_instances_are_at_hand(self) -> None:
        dataset = load_dataset("swebench-lite", data_dir=DATA)
        assert dataset.information == {
            "instances": "as published",
            "trees": "5 of 5 in archives as published",
        }
        assert len(dataset.queries) == len(dataset.corpora) == 5
        assert sum(one.n_queries for one in dataset.absent) == 295
        assert not any(dataset.left_out.values())
        gold = {query.id: query.targets for query in dataset.queries}
        assert gold["psf__requests-1963"] == (Target("requests/sessions.py", 172, 172),)
        assert gold["pallets__flask-4045"] == (Target("src/flask/blueprints.py", 363, 368),)

    def test_every_target_is_in_its_corpus(self) -> None:
        for spec in ("swebench-lite", "swebench-lite:target=files"):
            prepared = prepare(load_dataset(spec, data_dir=DATA))
            assert (len(prepared.queries), prepared.targets_dropped) == (5, 0)
