"""What the tests of wrong usage share."""

import pytest
from small_folder import SOURCE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a small repository, rankings, judgements and records."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(SOURCE)
    (tmp_path / "empty").mkdir()
    (tmp_path / "own_chunker.py").write_text("def cut(source):\n    return []\n")
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 2.0 t\n")
    (tmp_path / "copy.trec").write_text("q1 Q0 d1 1 2.0 t\n")
    (tmp_path / "qrels.trec").write_text("q1 0 d1 1\n")
    (tmp_path / "run.json").write_text('{"q1": {"d1": 2.5}}')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2")
    (tmp_path / "rows.jsonl").write_text('{"query_id": "q1", "retrieved_ids": ["d1"]}\n')
    (tmp_path / "empty.trec").touch()
    (tmp_path / "twice.trec").write_text("q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t\n")
    (tmp_path / "zero.trec").write_text("q1 0 d1 0\n")
    (tmp_path / "graded.trec").write_text("q1 0 d1 0\nq1 0 d1 1\n")
    (tmp_path / "latin.py").write_bytes(b"caf\xe9 = 1\n")
    (tmp_path / "bad.json").write_text('{"q1": {"d1": 2.5')
    (tmp_path / "array.json").write_text('["d1"]')
    (tmp_path / "near.jsonl").write_text('{"text": "how many days", "Target": "a.py:6-8"}')
    (tmp_path / "far.jsonl").write_text('{"query": "how many days", "answer": "a.py:6-8"}')
    (tmp_path / "question.jsonl").write_text('{"question": "how many", "targets": "a.py:6-8"}')
    (tmp_path / "wide.trec").write_text("q1 0 d1 1\n", "utf-16")
    (tmp_path / "wide.jsonl").write_text('{"text": "how many", "targets": "a.py:6-8"}', "utf-16")
    (tmp_path / "unmarked.trec").write_text("q1 Q0 d1 1 2.0 t\n", "utf-16-be")
    (tmp_path / "near.csv").write_text("text,target\nhow many days,a.py:6-8\n")
    (tmp_path / "record.json").write_text('{"retrieved": ["d1"]}')
    (tmp_path / "worded.trec").write_text("q1 0 d1 1\nq1 0 d2 good\n")
    (tmp_path / "undocumented").mkdir()
    (tmp_path / "undocumented" / "a.py").write_text("x = 1\n")
    return tmp_path
