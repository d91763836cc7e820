import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.datasets.cards import load_card
from harness.datasets.loading import load_dataset
from harness.support.files import file_sha256

DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    folder = tmp_path / "cosqa/beir"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": "d1", "text": "def f(): pass"}, {"_id": "d2", "text": "def g(): pass"}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "call f"}) + "\n")
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td1\t1\n")
    return tmp_path


def test_the_folder_is_found_in_the_data_folder(root: Path) -> None:
    dataset = load_dataset("cosqa:pooling=first")
    assert (dataset.name, dataset.gold, dataset.pooling) == (
        "cosqa:pooling=first", "document", "first"
    )  # fmt: skip
    assert [(one.id, one.qrels) for one in dataset.queries] == [("q", {"d1": 1.0})]
    named = load_dataset(f"beir:{root / 'cosqa/beir'}")
    assert load_dataset("cosqa").fingerprint == named.fingerprint


@pytest.mark.parametrize("missing", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(root: Path, missing: str) -> None:
    (root / "cosqa/beir" / missing).unlink()
    with pytest.raises(InputError, match=f"cosqa/beir/{missing} is in none of the data folders"):
        load_dataset("cosqa")


@pytest.mark.skipif(not (DATA / "cosqa").is_dir(), reason="needs cosqa in $CHUNKMARK_DATA")
def test_the_published_data_are_whole(tmp_path: Path) -> None:
    dataset = load_dataset("cosqa", data_dir=DATA)
    assert len(dataset.corpora[0].sources) == 6267
    assert len(dataset.queries) == 500
    assert not any(dataset.left_out.values())
    shutil.copytree(DATA / "cosqa/beir", tmp_path / "copy")
    assert load_dataset(f"beir:{tmp_path / 'copy'}").fingerprint == dataset.fingerprint


@pytest.mark.skipif(
    not (DATA / "cosqa/code_idx_map.txt").is_file(), reason="needs CoCLR's files of CoSQA"
)
def test_the_script_of_the_documentation_makes_the_published_files(
    tmp_path: Path,
) -> None:
    for name in ("code_idx_map.txt", "cosqa-retrieval-test-500.json"):
        shutil.copy(DATA / "cosqa" / name, tmp_path)
    text = (Path(__file__).parents[4] / "docs/fetching.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    card = load_card("cosqa")
    made = [file_sha256(tmp_path / file.path) for file in card.files]
    assert made == [file.sha256 for file in card.files]
