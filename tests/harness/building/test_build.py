"""Data sets made of repositories: in memory, and as folders that say what they are."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from commands import call, says

from chunkers.errors import InputError
from harness.building.build import BuildOptions, build
from harness.building.folder import write_folder
from harness.datasets.loading import load_dataset
from harness.runs.query_set import prepare

DOCSTRINGS = '''def area(radius):
    """Compute how much room a round field takes."""
    return 3.14 * radius**2


def {name}(text):
    """Split the words of a sentence at every blank."""
    return text.split("{name}")
'''
GO = """package main

// Sum adds all the numbers which it is given.
func Sum(a []int) int {
\ts := 0
\tfor _, x := range a {
\t\ts += x
\t}
\treturn s
}
"""


def git(root: Path, *arguments: str, data: str = "") -> str:
    who = {
        f"GIT_{one}_{what}": "x@y" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    rest = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        env={**os.environ, **who, **rest}, capture_output=True, check=True, input=data.encode(),
    )  # fmt: skip
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "mein Körbchen"
    (root / "sub dir").mkdir(parents=True)
    (root / "a.py").write_text(DOCSTRINGS.replace("{name}", "cut"), "utf-8")
    (root / "sub dir/é.go").write_text(GO, "utf-8")
    (root / "README.md").write_text("nothing\n", "utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    return root


def change(root: Path, message: str = "Return fields with a rounder radius than before") -> None:
    text = (root / "a.py").read_text("utf-8").replace("3.14", "3.1416")
    (root / "a.py").write_text(text, "utf-8")
    git(root, "commit", "-qam", message)


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


class TestBuild:
    @pytest.mark.parametrize(
        ("kind", "dot", "reason", "other"),
        [
            ("calls", "", "no call in the 1 indexed file can be resolved", "docstring"),
            ("docstring", "", "no function of the 1 indexed file has a doc comment", ""),
            ("docstring", ".git", "no function of the 1 indexed file has a doc comment", "commits"),
            (
                "docstring",
                "../.git",
                "no function of the 1 indexed file has a doc comment",
                "commits",
            ),
        ],
    )
    def test_a_repository_without_a_candidate_says_what_there_is(
        self, tmp_path: Path, kind: str, dot: str, reason: str, other: str
    ):
        tmp_path /= "sub"
        tmp_path.mkdir()
        (tmp_path / dot).mkdir(exist_ok=True)
        (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
        (tmp_path / "notes.md").write_text("nothing\n", "utf-8")
        with pytest.raises(InputError) as raised:
            build(tmp_path, BuildOptions(queries=kind))
        first, second = str(raised.value).split("\n")
        assert first.endswith(f"no query can be made: {reason}")
        assert second == (
            "not indexed: 1 (markdown is excluded); try "
            f"{other and f'queries={other}, or '}queries=FILE, "
            "a .jsonl, .csv or .yaml file of questions of your own"
        )

    def test_docstrings_of_all_languages_ask_for_what_they_stood_at(self, repository: Path):
        made = build(repository, BuildOptions())
        assert [query.id for query in made.queries] == [
            "a.py::area",
            "a.py::cut",
            "sub dir/é.go::Sum",
        ]
        assert not any(
            query.text in one.text for query in made.queries for one in made.corpora[0].sources
        )
        assert prepare(made).left_out == ()
        assert made.information["commit"] == git(repository, "rev-parse", "HEAD")
        assert made.information["files not as committed"] == "0"

    def test_a_dirty_tree_is_read_as_it_stands_and_said_to_be_dirty(self, repository: Path):
        (repository / "a.py").write_text(DOCSTRINGS.replace("{name}", "split"), "utf-8")
        (repository / "b.py").write_text("x = 1\n", "utf-8")
        before = git(repository, "status", "--porcelain")
        made = build(repository, BuildOptions())
        assert "a.py::split" in [query.id for query in made.queries]
        assert made.information["files not as committed"] == "2"
        assert git(repository, "status", "--porcelain") == before

    def test_a_part_of_a_repository_is_compared_with_the_commit_of_the_whole(
        self, repository: Path
    ):
        made = build(repository / "sub dir", BuildOptions())
        assert made.information["files not as committed"] == "0"

    def test_a_file_is_told_from_a_folder_of_its_path_in_the_commit(self, repository: Path):
        (repository / "sub dir/é.go").unlink()
        (repository / "sub dir").rmdir()
        (repository / "sub dir").mkdir()
        (repository / "sub dir/é.go").mkdir()
        (repository / "sub dir/é.go/b.go").write_text(GO, "utf-8")
        (repository / "deep/er").mkdir(parents=True)
        (repository / "deep/er/c.go").write_text("package c\n", "utf-8")
        assert build(repository, BuildOptions()).information["files not as committed"] == "2"

    def test_a_tree_of_few_objects_and_very_many_files_is_not_listed(self, repository: Path):
        name = git(repository, "rev-parse", "HEAD:a.py")
        tree = git(repository, "rev-parse", "HEAD")
        lines = "".join(f"100644 blob {name}\tf{n}.py\n" for n in range(10))
        for _ in range(8):
            tree = git(repository, "mktree", data=lines)
            lines = "".join(f"040000 tree {tree}\td{n}\n" for n in range(10))
        lines = f"100644 blob {name}\ta.py\n" + lines
        commit = git(repository, "commit-tree", git(repository, "mktree", data=lines), "-m", "x")
        git(repository, "update-ref", "HEAD", commit)
        started = time.perf_counter()
        made = build(repository, BuildOptions())
        assert time.perf_counter() - started < 20  # all the files would take minutes
        assert made.information["files not as committed"] == "1"

    def test_without_git_there_is_no_commit(self, tmp_path: Path):
        (tmp_path / "a.py").write_text(DOCSTRINGS.replace("{name}", "cut"), "utf-8")
        assert build(tmp_path, BuildOptions()).information["commit"] == "none"

    def test_a_repository_without_a_commit_is_read(self, tmp_path: Path):
        (tmp_path / "a.py").write_text(DOCSTRINGS.replace("{name}", "cut"), "utf-8")
        git(tmp_path, "init", "-q")
        assert build(tmp_path, BuildOptions()).information["commit"] == "unknown"

    def test_a_sample_says_what_it_leaves_out(self, repository: Path):
        made = build(repository, BuildOptions(limit=2, seed=1))
        assert len(made.queries) == 2
        assert made.left_out["not in the sample"] == 1

    def test_commits_of_a_bare_and_of_a_shallow_clone(self, repository: Path, tmp_path: Path):
        change(repository)
        change_again = (repository / "a.py").read_text("utf-8").replace("text.split", "text.rsplit")
        (repository / "a.py").write_text(change_again, "utf-8")
        git(repository, "commit", "-qam", "Cut the words of sentences from the other end")
        for name, options in {"bare": ["--bare"], "shallow": ["--depth", "2"]}.items():
            git(tmp_path, "clone", "-q", *options, f"file://{repository}", name)
        assert len(build(tmp_path / "bare", BuildOptions(queries="commits")).queries) == 2
        assert len(build(tmp_path / "shallow", BuildOptions(queries="commits")).queries) == 1
        with pytest.raises(InputError, match="bare repository"):
            build(tmp_path / "bare", BuildOptions())
        assert len(build(tmp_path / "shallow", BuildOptions()).queries) == 3

    @pytest.mark.parametrize(
        ("kind", "counted"), [("calls", ": 1 call;"), ("docstring", ": 2 doc comments;")]
    )
    def test_what_is_left_out_is_counted_by_its_noun(self, tmp_path: Path, kind: str, counted: str):
        text = 'def f():\n    """Give it."""\n    return 1\n\n\n'
        text += 'def g():\n    """Take it."""\n    return f()\n'
        (tmp_path / "a.py").write_text(text, "utf-8")
        with pytest.raises(InputError, match=f"\nleft out: .*{counted}"):
            build(tmp_path, BuildOptions(queries=kind))

    def test_one_commit_changes_nothing(self, repository: Path):
        with pytest.raises(InputError, match=r"\nleft out: without a parent, or .*: 1 commit;"):
            build(repository, BuildOptions(queries="commits"))

    @pytest.mark.parametrize(
        ("wanted", "words"),
        [
            (BuildOptions(queries="none.jsonl"), "queries=none.jsonl"),
            (BuildOptions(limit=0), "limit=0"),
            (BuildOptions(since="2024-01-01"), "queries=commits"),
            (BuildOptions(queries="calls", whole=True), "queries=docstring"),
        ],
    )
    def test_options_that_do_not_fit_are_refused(
        self, repository: Path, wanted: BuildOptions, words: str
    ):
        with pytest.raises(InputError, match=words):
            build(repository, wanted)


class TestFolder:
    @pytest.fixture
    def folder(self, repository: Path, tmp_path: Path) -> Path:
        write_folder(build(repository, BuildOptions()), tmp_path / "out", {"seed": 0})
        return tmp_path / "out"

    def test_it_is_the_data_set_that_was_written(self, repository: Path, folder: Path):
        made, read = build(repository, BuildOptions()), load_dataset(f"built:{folder}")
        assert read.fingerprint == made.fingerprint
        assert (read.queries, read.corpora) == (made.queries, made.corpora)
        assert (read.left_out, read.information) == (made.left_out, made.information)

    def test_commits_share_their_texts(self, repository: Path, tmp_path: Path):
        change(repository)
        made = build(repository, BuildOptions(queries="commits"))
        card = write_folder(made, tmp_path / "out", {})
        assert card["texts"] <= card["files_indexed"]
        assert load_dataset(f"built:{tmp_path / 'out'}").fingerprint == made.fingerprint

    def test_the_same_repository_gives_the_same_bytes(
        self, repository: Path, folder: Path, tmp_path: Path
    ):
        moved = tmp_path / "moved"
        git(tmp_path, "clone", "-q", str(repository), "moved")
        write_folder(build(moved, BuildOptions()), tmp_path / "again", {"seed": 0})
        assert folder_bytes(folder) == folder_bytes(tmp_path / "again")
        assert not any(str(tmp_path).encode() in data for data in folder_bytes(folder).values())

    @pytest.mark.parametrize("name", ["queries.jsonl", "corpora.jsonl", "texts.jsonl"])
    def test_a_damaged_file_is_named(self, folder: Path, name: str):
        (folder / name).write_bytes((folder / name).read_bytes()[:-2])
        with pytest.raises(InputError, match=f"{name} was changed"):
            load_dataset(f"built:{folder}")
        (folder / name).unlink()
        with pytest.raises(InputError, match=f"{name} is missing"):
            load_dataset(f"built:{folder}")

    @pytest.mark.parametrize(
        ("card", "words"),
        [
            ("", "line 1, column 1: invalid JSON; it ends too early; build"),
            ("[]", "is damaged"),
            (
                '{"schema": "chunkmark.dataset/2", "fingerprint": 1, "files": {}}',
                "is missing; its keys are fingerprint, files; build",
            ),
            ('{"schema": "chunkmark.dataset/1", "fingerprint": 1}', "another version wrote it"),
            (
                '{"schema": "chunkmark.dataset/9", "fingerprint": "", "files": {}}',
                "reads chunkmark",
            ),
        ],
    )
    def test_a_damaged_card_is_named(self, folder: Path, card: str, words: str):
        (folder / "dataset.json").write_text(card, "utf-8")
        with pytest.raises(InputError, match=words) as raised:
            load_dataset(f"built:{folder}")
        assert "dataset.json" in str(raised.value)

    def test_another_fingerprint_is_refused(self, folder: Path):
        card = json.loads((folder / "dataset.json").read_text("utf-8"))
        card["fingerprint"] = "0" * 64
        (folder / "dataset.json").write_text(json.dumps(card), "utf-8")
        with pytest.raises(InputError, match="differs from its card"):
            load_dataset(f"built:{folder}")

    def test_a_folder_that_holds_something_is_left_alone(self, repository: Path, tmp_path: Path):
        (tmp_path / "full").mkdir()
        (tmp_path / "full/mine").write_text("x", "utf-8")
        with pytest.raises(InputError, match="not empty"):
            write_folder(build(repository, BuildOptions()), tmp_path / "full", {})
        assert os.listdir(tmp_path / "full") == ["mine"]  # noqa: PTH208


class TestCommand:
    def test_build_info_and_run(self, repository: Path, tmp_path: Path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = call(capsys, "dataset", "build", repository, "-o", "out", "--format", "json")
        assert done.json["queries"] == 3
        told = call(capsys, "dataset", "info", "out").out
        assert "files_skipped: markdown is excluded" in told
        runs = {}
        for spec in ("built:out", f'repo:"{repository}"'):
            ran = call(
                capsys,
                "run",
                "-d",
                spec,
                "-r",
                "bm25",
                "-c",
                "ast",
                "-o",
                "run",
                "--format",
                "json",
            )
            (cell,) = ran.json["cells"]
            runs[spec] = (cell["fingerprint"], cell["metrics"])
            assert set(cell["by"]) == {"folder", "language", "name-overlap", "name-whole"}
        assert len({json.dumps(one, sort_keys=True) for one in runs.values()}) == 1

    @pytest.mark.parametrize("kind", ["docstring", "commits"])
    def test_the_same_repository_gives_the_same_bytes_wherever_it_lies(
        self, repository: Path, tmp_path: Path, capsys, monkeypatch, kind
    ):
        change(repository)
        git(tmp_path, "clone", "-q", str(repository), "moved")
        call(capsys, "dataset", "build", repository, "-o", tmp_path / "one", "--queries", kind)
        monkeypatch.chdir(tmp_path / "moved")
        call(capsys, "dataset", "build", ".", "-o", "../again", "--queries", kind)
        one, again = (folder_bytes(tmp_path / name) for name in ("one", "again"))
        assert one == again
        for name in (tmp_path.name, "Körbchen", "moved", "/tmp/"):  # noqa: S108 - looked for
            assert not any(name.encode() in data for data in one.values())

    def test_calls_are_masked_unless_told_otherwise(self, tmp_path: Path, capsys):
        root = tmp_path / "repo"
        root.mkdir()
        (root / "tools.py").write_text("def weigh(one, two):\n    return one * 3 + two\n")
        others = "".join(f"    {name} = {name}_of(first)\n" for name in ("left", "right", "upper"))
        (root / "a.py").write_text(
            f"from tools import weigh\n\n\ndef run(first, second):\n{others}"
            "    return weigh(first, second) + upper + left\n"
        )
        write_folder(build(root, BuildOptions(queries="calls")), tmp_path / "built", {})
        start = ["run", "-r", "bm25", "-c", "fixed", "-o", tmp_path / "run", "-d"]
        seen = {}
        for spec in (f"repo:{root},queries=calls", f"built:{tmp_path / 'built'}"):
            for option in (None, "--mask-query", "--no-mask-query"):
                more = ["--format", "json", *filter(None, [option])]
                ran = call(capsys, *start, spec, *more)
                (cell,) = ran.json["cells"]
                seen[option] = cell["mask_query"], cell["metrics"]["MRR"]["mean"]
            assert seen == {None: (True, 1.0), "--mask-query": (True, 1.0),
                            "--no-mask-query": (False, 0.5)}  # fmt: skip
        shown = call(capsys, *start, spec, "--details")
        assert "masked: each query's own lines are blank in its corpus" in shown.out

    def test_info_of_a_card_names_the_faults(self, capsys):
        assert "self-retrieval" in call(capsys, "dataset", "info", "repoeval-function").out
        says(call(capsys, "dataset", "info", "repoeval"), 2, "did you mean", "repoeval-")

    def test_info_of_a_spec_tells_what_is_in_it_by_its_options(self, repository: Path, capsys):
        spec = f'repo:"{repository}"'
        told = call(capsys, "dataset", "info", spec, "--format", "json").json
        loaded = load_dataset(spec)
        assert told["name"] == "repo"
        assert told["faults"]
        assert told["fingerprint"] == loaded.fingerprint
        assert (told["queries"], told["files indexed"]) == (3, 2)
        assert told["files not indexed"] == {"markdown is excluded": 1}
        assert told["information"]["commit"] == git(repository, "rev-parse", "HEAD")
        both = call(capsys, "dataset", "info", f"{spec},files=all", "--format", "json").json
        assert both["files indexed"] == 3
        shown = call(capsys, "dataset", "info", spec)
        assert "files not indexed: markdown" in shown.out
        says(call(capsys, "dataset", "info", f"{spec},filse=all"), 2, "filse", "files")

    def test_info_finds_what_was_built_in_a_data_folder(self, repository: Path, tmp_path, capsys):
        write_folder(build(repository, BuildOptions()), tmp_path / "data/mine", {})
        told = call(capsys, "dataset", "info", "built:mine", "--data-dir", tmp_path / "data",
                    "--format", "json").json  # fmt: skip
        assert (told["folder"], told["queries"]) == (str(tmp_path / "data/mine"), 3)
        says(call(capsys, "dataset", "info", "built:none"), 2, "no folder none here")

    @pytest.mark.parametrize("command", ["run", "info", "validate"])
    def test_a_folder_in_place_of_a_spec_is_told_its_spec(
        self, repository: Path, tmp_path, capsys, monkeypatch, command
    ):
        monkeypatch.chdir(repository)
        start = ["run", "-o", tmp_path / "out", "-d"] if command == "run" else ["dataset", command]
        says(call(capsys, *start, "."), 2, "name it as repo:.")
        comma = tmp_path / "a, b"
        comma.mkdir()
        says(call(capsys, *start, comma), 2, f'name it as repo:"{comma}"')
        (comma / "corpus.jsonl").write_text("")
        says(call(capsys, *start, comma), 2, f'name it as beir:"{comma}"')
        if command != "info":
            built = tmp_path / "built"
            write_folder(build(repository, BuildOptions()), built, {})
            says(call(capsys, *start, built), 2, f"name it as built:{built}")

    def test_mistakes_end_in_one_line(self, tmp_path: Path, repository: Path, capsys):
        says(
            call(capsys, "dataset", "build", tmp_path / "none", "-o", tmp_path / "o"),
            2,
            "none does not exist; give a repository",
        )
        says(call(capsys, "dataset", "build", repository, "-o", repository), 2, "not empty")
        says(call(capsys, "run", "-d", f"built:{repository}"), 2, "has no dataset.json")
        says(call(capsys, "run", "-d", "built:none"), 2, "no folder none here")
        says(call(capsys, "run", "-d", "repo"), 2, "needs a path")
