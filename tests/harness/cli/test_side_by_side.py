"""`chunkmark chunk`: chunkers side by side, with what their boundaries do."""

import pytest
from commands import call, says

TEXT = "import os\n\n@deco\ndef alpha(x):\n    return x\n\n\n# é\ndef beta():\n\tpass\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(TEXT.replace("pass\n", "pass\r\n").encode())
    return path


def test_chunkers_stand_side_by_side(capsys, file):
    done = call(capsys, "chunk", file, "-c", "function", "-c", "whole-file")
    assert done.code == 0
    numbers, listing = done.out.split("\n   a b\n")
    assert "a: function" in numbers
    assert "b: whole-file" in numbers
    rows = {line[:26].strip(): line[26:].split() for line in numbers.splitlines()[2:]}
    assert rows["chunks"] == ["3", "1"]
    assert rows["definitions"] == ["2", "2"]
    assert rows["whole"] == ["2", "2"]
    assert rows["parse alone"] == ["100.0", "%", "100.0", "%"]
    assert listing.splitlines() == [
        " 1 1 1  import os",
        " 2   │",
        " 3 2 │  @deco",
        " 4 │ │  def alpha(x):",
        " 5 │ │      return x",
        " 6   │",
        " 7   │",
        " 8 3 │  # é",
        " 9 │ │  def beta():",
        "10 │ │      pass",
    ]


def test_several_chunks_on_a_line_and_lost_lines_are_marked(capsys, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    (file.parent / "pieces.py").write_text(
        "from chunkers import Span\n"
        "def pieces(source):\n"
        "    at = source.text.index('return')\n"
        "    return [Span(0, 3), Span(at, at + 3), Span(at + 3, at + 6), Span(at + 7, at + 8)]\n"
    )
    done = call(capsys, "chunk", file, "-c", "pieces:pieces", "-c", "fixed")
    listing = done.out.split("\n     a b\n")[1].splitlines()
    assert [line[:8] for line in listing] == [
        " 1   1 1", " 2     │", " 3   · │", " 4   · │", " 5 2-4 │", " 6     │", " 7     │",
        " 8   · │", " 9   · │", "10   · │",
    ]  # fmt: skip


def test_json_says_what_boundaries_do(capsys, file):
    done = call(capsys, "chunk", file, "-c", "fixed:max_size=30", "--format", "json")
    (result,) = done.json["results"]
    found = result["boundaries"]
    assert found["definitions"] == 2
    assert found["whole"] + found["head_cut"] + found["split"] + found["lost"] == 2
    assert found["sizes"]["max"] <= 30
    assert sum(one["chunks"] for one in found["histogram"]) == len(result["chunks"])
    assert found["per_1000_lines"] == 1000 * len(result["chunks"]) / 10


def test_one_chunker_is_shown_chunk_by_chunk(capsys, file):
    done = call(capsys, "chunk", file, "-c", "function:header=on")
    assert "── 3-5, size 24" in done.out
    assert "a.py\n@deco\n" in done.out
    assert "p95" in done.out


def test_a_chunker_that_fails_is_named_and_the_others_are_shown(capsys, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    (file.parent / "broken.py").write_text("def broken(source):\n    raise ValueError('too odd')\n")
    message = "broken:broken failed on a.py: ValueError: too odd (broken.py, line 2)"
    both = ("chunk", file, "-c", "broken:broken", "-c", "fixed")
    says(call(capsys, *both), 3, message)
    done = call(capsys, *both, "--format", "json")
    assert [one["chunker"] for one in done.json["results"]] == ["fixed"]
    assert done.json["failures"] == [message]
    says(call(capsys, *both[:4]), 3, message)


def test_an_empty_file_has_nothing_to_show(capsys, tmp_path):
    (tmp_path / "a.py").write_text("")
    for more in ([], ["-c", "fixed"]):
        done = call(capsys, "chunk", tmp_path / "a.py", "-c", "ast", *more)
        says(done, 0, "warning: ", "a.py has no text, so there is nothing to cut")
