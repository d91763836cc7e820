"""The commands of the page on tokenizers run, with tiny models in place of real ones."""

import json
import re
import shlex
from pathlib import Path

import pytest
import tiny_models
from commands import call
from embedding_server import serving

PAGE = Path(__file__).parents[3] / "docs/tokenizers.md"


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """The commands of the page, in a folder with the models that they name."""
    for name, kind in (("byt5", "byt5"), ("canine", "canine"), ("bpe", "roberta")):
        folder = tiny_models.KINDS[kind](tmp_path / "models" / name)
        config = json.loads((folder / "tokenizer_config.json").read_text())
        config |= {"model_max_length": 160}  # their own limits take long, and show no more
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    found = re.findall(r"^chunkmark (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return [shlex.split(line) for line in found]


def test_three_tokenizers_stand_side_by_side(commands, capsys):
    command = [*commands[0], "--limit", "6"]
    table = call(capsys, *command, "--details")
    assert table.code == 0, table.err
    shown = table.out[table.out.index("side by side, chunker ast, retriever dense") :]
    for name in ("st:models/byt5", "st:models/canine", "st:models/bpe", "@10*", "MRR*",
                 "embed", "search", "total", "unseen"):  # fmt: skip
        assert name in shown, shown
    document = call(capsys, *command, "--format", "json").json
    assert [cell["embedder"] for cell in document["cells"]] == command[4:9:2]
    for cell in document["cells"]:
        assert set(cell["metrics"]) == {"R@1", "R@5", "R@10", "MRR", "P@1"}
        for phase in ("embedding", "search", "total"):
            assert 0 < cell["latency_ms"][phase]["p50"] <= cell["latency_ms"][phase]["p95"]
        assert 0 <= cell["health"]["unseen_chunk_tokens"] < 1
        assert cell["cost"]["embedded_now"] > 0
    lost = [cell["health"]["unseen_chunk_tokens"] for cell in document["cells"]]
    assert min(lost[:2]) > lost[2]  # bytes and characters against pieces
    for form in ("csv", "markdown"):
        text = call(capsys, *command, "--format", form).out
        assert all(word in text for word in ("embed", "search", "total"))


def test_prompts_are_options(commands, capsys):
    (command,) = (one for one in commands if "query_prompt" in " ".join(one))
    more = ["--limit", "3", "-c", "function", "-m", "MRR", "--format", "json"]
    cells = call(capsys, *command, *more).json["cells"]
    assert [cell["embedder"] for cell in cells] == [command[2], command[4]]
    assert len({cell["key"] for cell in cells}) == 2


def test_a_server_is_named_on_the_command_line(commands, capsys, monkeypatch):
    (command,) = (one for one in commands if "base_url" in " ".join(one))
    monkeypatch.setenv("MY_KEY", "any")
    with serving() as api:
        named = [one.replace("http://localhost:8000/v1", api.url) for one in command]
        done = call(capsys, *named, "--limit", "3", "-c", "function", "-m", "MRR")
    assert done.code == 0, done.err
    assert api.requests[0]["headers"]["Authorization"] == "Bearer any"


def test_what_the_page_says_of_limits_is_so():
    from harness.embedding.embedders.openai import _MOST_BYTES, _MOST_TOKENS, make
    from harness.embedding.pretrained import DEFAULT_TOKENS

    text = PAGE.read_text("utf-8")
    assert f"{DEFAULT_TOKENS:,}" in text
    assert f"{_MOST_TOKENS:,}" in text
    assert f"{_MOST_BYTES:,}" in text
    assert f"batch={make.__kwdefaults__['batch']}" in text
