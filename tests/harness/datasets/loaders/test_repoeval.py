import hashlib
import json
import os
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.model import Absent, Dataset, Target

TASKS = "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl"
TREES = "repoeval/repositories/function_level.zip"
OMNIVORE = "facebookresearch_omnivore"
REDFRAMES = "maxhumber_redframes"
TRACR = "deepmind_tracr"


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))


def task(repo: str, first: int, body: int, truth: str, path: str = "pkg/a.py") -> dict[str, Any]:
    return {
        "prompt": f"prompt {body}",
        "metadata": {
            "task_id": "owner--repo/idx",
            "ground_truth": truth,
            "fpath_tuple": [repo, *path.split("/")],
            "context_start_lineno": first,
            "lineno": body,
        },
    }


def place(root: Path, tasks: list[dict[str, Any]], trees: dict[str, bytes]) -> Path:
    (root / TASKS).parent.mkdir(parents=True, exist_ok=True)
    (root / TREES).parent.mkdir(parents=True, exist_ok=True)
    (root / TASKS).write_text("".join(json.dumps(one) + "\n" for one in tasks), encoding="utf-8")
    with zipfile.ZipFile(root / TREES, "w") as archive:
        for name, data in trees.items():
            archive.writestr(name, data)
    return root


class TestMadeUp:
    TEXT = b"def f():\r\n    return 1\r\n\r\ndef g():\r\n    x = 1\r\n    return x\r\n"

    @pytest.fixture
    def root(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
        tasks = [
            task(TRACR, 0, 4, "    x = 1\n    return x\n"),
            task(OMNIVORE, 0, 1, "    return 1\n"),
            task(TRACR, 0, 1, "    return 1"),
            task("CarperAI_trlx", 0, 1, "    return 1\n"),
        ]
        trees = {
            f"{TRACR}/pkg/a.py": self.TEXT,
            f"{TRACR}/LICENSE": b"Apache",
            f"{TRACR}/.hidden/b.py": b"",
            "CarperAI_trlx/pkg/a.py": self.TEXT,
        }
        return place(tmp_path, tasks, trees)

    @pytest.mark.usefixtures("root")
    def test_context_is_the_prompts_lines_and_the_first_of_the_body(self) -> None:
        dataset = load_dataset("repoeval-function")
        assert [(query.id, query.text, query.targets) for query in dataset.queries] == [
            (f"{TRACR}/0000", "prompt 4", (Target("pkg/a.py", 1, 5),)),
            (f"{TRACR}/0001", "prompt 1", (Target("pkg/a.py", 1, 2),)),
        ]
        assert dataset.name == "repoeval-function"
        assert {query.truncate for query in dataset.queries} == {"tail"}
        assert {query.cluster for query in dataset.queries} == {"pkg/a.py"}

    @pytest.mark.usefixtures("root")
    def test_body_is_the_lines_of_the_ground_truth(self) -> None:
        dataset = load_dataset("repoeval-function:target=body")
        assert [query.targets for query in dataset.queries] == [
            (Target("pkg/a.py", 5, 6),),
            (Target("pkg/a.py", 2, 2),),
        ]
        assert dataset.fingerprint != load_dataset("repoeval-function").fingerprint

    @pytest.mark.usefixtures("root")
    def test_python_files_alone_are_the_corpus_with_their_line_ends(self) -> None:
        (corpus,) = load_dataset("repoeval-function").corpora
        assert [source.path for source in corpus.sources] == [".hidden/b.py", "pkg/a.py"]
        assert corpus.sources[1].text.encode() == self.TEXT
        assert [(one.path, one.reason) for one in corpus.skipped] == [
            ("LICENSE", "name does not end in .py")
        ]

    @pytest.mark.usefixtures("root")
    def test_a_tree_that_is_not_here_is_absent_with_its_queries(self) -> None:
        dataset = load_dataset("repoeval-function")
        reason = f"no tree {OMNIVORE} in function_level.zip"
        assert dataset.absent == (Absent(OMNIVORE, reason, 1),)

    @pytest.mark.usefixtures("root")
    def test_repositories_can_be_chosen(self) -> None:
        by_default, everything = (
            load_dataset(spec) for spec in ("repoeval-function", "repoeval-function:repos=all")
        )
        assert [corpus.id for corpus in by_default.corpora] == [TRACR]
        assert [corpus.id for corpus in everything.corpora] == ["CarperAI_trlx", TRACR]
        chosen = load_dataset(f'repoeval-function:repos="{TRACR}, CarperAI_trlx,{TRACR}"')
        assert chosen.fingerprint == everything.fingerprint
        assert chosen.absent == ()

    @pytest.mark.usefixtures("root")
    def test_an_unknown_repository_is_an_error(self) -> None:
        with pytest.raises(InputError, match="no tasks for 'redframes'; choose default, all, or"):
            load_dataset(f'repoeval-function:repos="redframes,{TRACR}"')

    @pytest.mark.usefixtures("root")
    def test_no_tree_at_all_is_an_error(self) -> None:
        with pytest.raises(InputError, match=f"holds none of {OMNIVORE}\nplace the trees there"):
            load_dataset(f"repoeval-function:repos={OMNIVORE}")

    def test_an_unpacked_tree_goes_before_the_archives(self, root: Path) -> None:
        folder = root / "repoeval/repositories/function_level"
        (folder / OMNIVORE / "pkg").mkdir(parents=True)
        (folder / OMNIVORE / "pkg/a.py").write_bytes(self.TEXT)
        dataset = load_dataset("repoeval-function")
        assert [corpus.id for corpus in dataset.corpora] == [TRACR, OMNIVORE]
        assert dataset.absent == ()
        (root / TREES).unlink()
        dataset = load_dataset("repoeval-function")
        assert [corpus.id for corpus in dataset.corpora] == [OMNIVORE]
        assert [(one.corpus, one.n_queries) for one in dataset.absent] == [(TRACR, 2)]

    @pytest.mark.usefixtures("root")
    def test_other_tasks_than_the_published_are_told(self) -> None:
        assert load_dataset("repoeval-function").information == {"tasks": "not as published"}

    def test_a_query_whose_file_is_not_indexed_stays(self, root: Path) -> None:
        place(root, [task(TRACR, 0, 1, "x", "gone.py")], {f"{TRACR}/a.py": b""})
        (query,) = load_dataset("repoeval-function").queries
        assert query.targets == (Target("gone.py", 1, 2),)

    @pytest.mark.parametrize("missing", [TASKS, TREES])
    def test_a_missing_file_is_one_clear_error(self, root: Path, missing: str) -> None:
        (root / missing).unlink()
        with pytest.raises(InputError, match=f"{missing} is in none of the data folders"):
            load_dataset("repoeval-function")

    @pytest.mark.parametrize(
        "line",
        [
            "{",
            "[]",
            "{}",
            '{"prompt": "p", "metadata": {}}',
            json.dumps(task(TRACR, 5, 4, "x")),
            json.dumps(task(TRACR, -1, 4, "x")),
            json.dumps(task(TRACR, 0, 1, "x")).replace('"lineno": 1', '"lineno": "1"'),
            json.dumps(task(TRACR, 0, 1, "x")).replace('"pkg"', "7"),
            json.dumps(task(TRACR, 0, 1, "x")).replace('"prompt": "prompt 1"', '"prompt": null'),
        ],
    )
    def test_a_damaged_task_is_named_by_its_line(self, root: Path, line: str) -> None:
        good = json.dumps(task(TRACR, 0, 1, "x"))
        (root / TASKS).write_text(f"{good}\n\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"line 3[:,] "):
            load_dataset("repoeval-function")

    @pytest.mark.parametrize("path", ["./pkg/a.py", "pkg//a.py", "pkg\\a.py", "pkg/../pkg/a.py"])
    def test_every_spelling_of_a_path_is_the_file(self, root: Path, path: str) -> None:
        place(root, [task(TRACR, 0, 1, "x", path)], {f"{TRACR}/pkg/a.py": self.TEXT})
        (query,) = load_dataset("repoeval-function").queries
        assert query.targets == (Target("pkg/a.py", 1, 2),)

    def test_a_path_that_leaves_its_repository_is_an_error(self, root: Path) -> None:
        tasks = [task(TRACR, 0, 1, "x"), task(TRACR, 0, 1, "x", "../pkg/a.py")]
        place(root, tasks, {f"{TRACR}/pkg/a.py": self.TEXT})
        with pytest.raises(InputError, match=r"line 2: the path '\.\./pkg/a.py' leads out"):
            load_dataset("repoeval-function")

    def test_an_empty_file_of_tasks_is_an_error(self, root: Path) -> None:
        (root / TASKS).write_text("\n", encoding="utf-8")
        with pytest.raises(InputError, match="has no rows"):
            load_dataset("repoeval-function")


class TestOtherLevels:
    """Lines and calls: made-up files, for the published ones are not at hand."""

    FILE = b"import os\n\nx = os.getcwd(\n    )\ny = 2\n"

    @pytest.fixture(autouse=True)
    def _data(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))

    def _place(self, root: Path, file: str, *tasks: tuple[int, str], repo: str = "a_repo") -> None:
        (root / "repoeval/datasets").mkdir(parents=True, exist_ok=True)
        (root / "repoeval/repositories").mkdir(parents=True, exist_ok=True)
        rows = []
        for line, truth in tasks:
            row = task(repo, 0, line, truth)
            row["metadata"]["line_no"] = row["metadata"].pop("lineno")
            rows.append(json.dumps(row) + "\n")
        (root / "repoeval/datasets" / file).write_text("".join(rows), encoding="utf-8")
        archive = root / "repoeval/repositories/line_and_api_level.zip"
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("a_repo/pkg/a.py", self.FILE)

    def test_a_line_is_the_body(self, tmp_path: Path) -> None:
        file = "line_level_completion_2k_context_codex.test.jsonl"
        self._place(tmp_path, file, (4, "y = 2"), (2, "x = os.getcwd("))
        dataset = load_dataset("repoeval-line:target=body")
        assert [one.targets for one in dataset.queries] == [
            (Target("pkg/a.py", 5, 5),),
            (Target("pkg/a.py", 3, 3),),
        ]
        assert dataset.information == {"tasks": "no published digest is known"}
        assert [one.targets for one in load_dataset("repoeval-line").queries] == [
            (Target("pkg/a.py", 1, 5),),
            (Target("pkg/a.py", 1, 3),),
        ]

    def test_a_call_may_have_several_lines(self, tmp_path: Path) -> None:
        file = "api_level_completion_2k_context_codex.test.jsonl"
        self._place(tmp_path, file, (2, "x = os.getcwd(\n    )"))
        (query,) = load_dataset("repoeval-api:target=body").queries
        assert query.targets == (Target("pkg/a.py", 3, 4),)

    @pytest.mark.parametrize("level", ["function", "line", "api"])
    @pytest.mark.parametrize(("context", "model"), [("1k", "codegen"), ("4k", "codex")])
    def test_prompts_of_other_lengths_lie_in_other_files(
        self, tmp_path: Path, level: str, context: str, model: str
    ) -> None:
        file = f"{level}_level_completion_{context}_context_{model}.test.jsonl"
        self._place(tmp_path, file, (4, "y = 2"), repo=TRACR if level == "function" else "a_repo")
        with zipfile.ZipFile(tmp_path / TREES, "w") as archive:
            archive.writestr(f"{TRACR}/pkg/a.py", self.FILE)
        dataset = load_dataset(f"repoeval-{level}:context={context},target=body")
        assert [one.targets for one in dataset.queries] == [(Target("pkg/a.py", 5, 5),)]
        with pytest.raises(InputError, match=f"{level}_level_completion_2k_context_codex"):
            load_dataset(f"repoeval-{level}")

    def test_a_length_that_is_not_here_is_named(self, tmp_path: Path) -> None:
        self._place(tmp_path, "line_level_completion_2k_context_codex.test.jsonl", (4, "y = 2"))
        says = "line_level_completion_4k_context_codex.test.jsonl is in none of the data folders"
        with pytest.raises(InputError, match=says):
            load_dataset("repoeval-line:context=4k")

    def test_a_tree_that_is_not_here_is_absent(self, tmp_path: Path) -> None:
        file = "line_level_completion_2k_context_codex.test.jsonl"
        self._place(tmp_path, file, (4, "y = 2"))
        more = json.dumps(task("gone", 0, 4, "y = 2")).replace('"lineno"', '"line_no"')
        with (tmp_path / "repoeval/datasets" / file).open("a") as opened:
            opened.write(f"{more}\n{more}\n")
        reason = "no tree gone in line_and_api_level.zip"
        assert load_dataset("repoeval-line").absent == (Absent("gone", reason, 2),)


DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("repoeval-function", data_dir=DATA)


@pytest.mark.skipif(not (DATA / TREES).is_file(), reason="needs repoeval in $CHUNKMARK_DATA")
class TestPublished:
    def test_counts(self, dataset: Dataset) -> None:
        assert len(dataset.queries) == 351
        assert len(dataset.corpora) == 5
        assert [(one.corpus, one.n_queries) for one in dataset.absent] == [(OMNIVORE, 22)]
        assert Counter(query.corpus for query in dataset.queries) == {
            "amazon-science_patchcore-inspection": 32,
            TRACR: 146,
            "google_lightweight_mmm": 64,
            "lucidrains_imagen-pytorch": 67,
            REDFRAMES: 42,
        }
        assert dataset.information == {"tasks": "as published"}
        everything = load_dataset("repoeval-function:repos=all", data_dir=DATA)
        absent = sum(one.n_queries for one in everything.absent)
        assert len(everything.queries) + absent == 455

    def test_ids_sort_in_the_order_of_tasks(self, dataset: Dataset) -> None:
        ids = [query.id for query in dataset.queries]
        assert ids == sorted(ids)
        raw = [json.loads(line) for line in (DATA / TASKS).read_bytes().splitlines()]
        for corpus in dataset.corpora:
            prompts = [o["prompt"] for o in raw if o["metadata"]["fpath_tuple"][0] == corpus.id]
            assert [q.text for q in dataset.queries if q.corpus == corpus.id] == prompts

    def test_trees_are_those_that_were_published(self, dataset: Dataset) -> None:
        published = json.loads((DATA / "repoeval/TREE_SHA256.json").read_text())["trees"]
        for corpus in dataset.corpora:
            lines = [
                f"{one.path}\t{hashlib.sha256(one.text.encode(one.encoding)).hexdigest()}\n"
                for one in corpus.sources
            ]
            digest = hashlib.sha256("".join(lines).encode()).hexdigest()
            assert published[corpus.id] == {"files": len(lines), "sha256": digest}
            assert all(one.reason == "name does not end in .py" for one in corpus.skipped)

    def test_every_ground_truth_stands_at_its_target(self) -> None:
        dataset = load_dataset("repoeval-function:target=body", data_dir=DATA)
        texts = {(c.id, s.path): s for c in dataset.corpora for s in c.sources}
        truths: dict[str, list[str]] = {}
        for line in (DATA / TASKS).read_bytes().splitlines():
            about = json.loads(line)["metadata"]
            truths.setdefault(about["fpath_tuple"][0], []).append(about["ground_truth"])
        for query in dataset.queries:
            (target,) = query.targets
            source = texts[query.corpus, target.path]
            assert target.start_line is not None
            assert target.end_line is not None
            start, end = source.lines.offsets_of(target.start_line, target.end_line)
            lines = source.text[start:end].replace("\r\n", "\n").removesuffix("\n")
            truth = truths[query.corpus][int(query.id.rsplit("/", 1)[1])]
            assert lines == truth.removesuffix("\n"), query.id

    def test_prompts_end_where_the_body_begins(self, dataset: Dataset) -> None:
        texts = {(c.id, s.path): s for c in dataset.corpora for s in c.sources}
        for query in dataset.queries:
            (target,) = query.targets
            source = texts[query.corpus, target.path]
            assert target.end_line is not None
            before = source.lines.start_of(target.end_line)
            text = source.text[:before].replace("\r\n", "\n").rstrip("\n")
            assert text.endswith(query.text.rstrip("\n")[-20:]), query.id

    def test_archive_and_unpacked_trees_are_the_same(
        self, tmp_path: Path, dataset: Dataset
    ) -> None:
        (tmp_path / TASKS).parent.mkdir(parents=True)
        shutil.copy(DATA / TASKS, tmp_path / TASKS)
        with zipfile.ZipFile(DATA / TREES) as archive:
            archive.extractall(tmp_path / TREES.removesuffix(".zip"))
        assert load_dataset("repoeval-function", data_dir=tmp_path).fingerprint == (
            dataset.fingerprint
        )
