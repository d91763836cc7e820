"""Options without effect, values given twice, and files in the wrong place are all reported."""

import json

import pytest
from commands import call, says

from chunkers.errors import suggestion

SOURCE = '''def first(number):
    """Return the number that was given."""
    return number


def second(number):
    """Count the days of a whole year."""
    return 365 * number
'''


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
    return tmp_path


RUN = ("run", "-d", "repo:src", "-r", "bm25", "-c", "ast", "-m", "MRR", "-o", "out")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((*RUN, "--language", "*.zz=c"), "--language '*.zz'"),
        (("run", "-d", "repo:src,encoding=*.zz=cp1251", *RUN[3:]), "encoding '*.zz'"),
        (("chunk", "src/a.py", "--language", "*.zz=c"), "--language '*.zz'"),
        (("chunk", "src/a.py", "--encoding", "*.zz=cp1251"), "--encoding '*.zz'"),
        (("dataset", "build", "src", "-o", "new", "--language", "*.zz=c"), "--language '*.zz'"),
        (("dataset", "build", "src", "-o", "new", "--encoding", "*.zz=cp1251"), "encoding '*.zz'"),
        (("dataset", "info", "repo:src", "--language", "*.zz=c"), "--language '*.zz'"),
        (("dataset", "info", "stdlib", "--language", "*.zz=c"), "--language '*.zz'"),
        (("dataset", "validate", "repo:src", "--language", "*.zz=c"), "--language '*.zz'"),
    ],
)
def test_a_pattern_that_fits_no_file_is_reported(folder, capsys, arguments, name):
    done = call(capsys, *arguments)
    assert done.code == 0
    assert f"warning: {name} fits no file" in done.err
    fitting = [text.replace("*.zz=c", "*=python") for text in arguments if text != "new"]
    if "encoding" not in name:
        fitting = ["newer" if text == "-o" else text for text in fitting]
        assert "fits no file" not in call(capsys, *fitting).err


@pytest.mark.parametrize(
    "option", [("--source", "."), ("--f1-threshold", "0.9"), ("--source", ".", "--f1-threshold", 1)]
)
def test_options_for_records_are_refused_with_rankings(folder, capsys, option):
    done = call(capsys, "score", "--run", "run.trec", "--qrels", "qrels.trec", *option)
    says(done, 2, *option[::2], "for records, but run.trec holds rankings; remove")


def test_a_threshold_that_judges_no_record_is_reported(folder, capsys):
    arguments = ("score", "--records", "rows.jsonl", "--qrels", "qrels.trec", "--f1-threshold", 0.9)
    done = call(capsys, *arguments)
    says(done, 0, "warning: --f1-threshold is not used: no record is judged by its text")
    row = {"query_id": "q1", "retrieved": [{"id": "d1", "text": "a b"}], "expected": "a b"}
    (folder / "rows.jsonl").write_text(json.dumps(row))
    assert call(capsys, "score", "--records", "rows.jsonl", "--f1-threshold", 0.9).err == ""


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("run.trec", "copy.trec"), ["--qrels copy.trec is a ranking, not judgements"]),
        (("run.trec", "run.trec"), ["--qrels run.trec is the file to be scored"]),
        (("run.json", "run.json"), ["--qrels run.json is the file to be scored"]),
        (("qrels.trec", "run.trec"), ["--qrels run.trec is a ranking"]),
        (("gone.json", "qrels.trec"), ["--run gone.json does not exist"]),
        (("run.json", "gone.json"), ["--qrels gone.json does not exist"]),
        (("picture.png", "qrels.trec"), ["picture.png: unknown format: not a text file"]),
        (("rows.jsonl", "picture.png"), ["picture.png: unknown format: not a text file"]),
    ],
)
def test_files_in_the_wrong_place_are_refused(folder, capsys, files, words):
    says(call(capsys, "score", "--run", files[0], "--qrels", files[1]), 2, *words)


def test_judgements_that_look_like_scores_are_reported(folder, capsys):
    done = call(capsys, "score", "--run", "run.trec", "--qrels", "run.json")
    says(done, 0, "warning: --qrels run.json has the grade 2.5: is it a ranking with scores?")


def test_records_without_labels_are_told_what_to_add(folder, capsys):
    done = call(capsys, "score", "--records", "rows.jsonl")
    says(done, 2, "add relevant_ids, targets or expected to the records, or give --qrels FILE")
    says(call(capsys, "score", "--records", "gone"), 2, "--records gone does not exist")


def test_an_embedder_that_nothing_needs_is_reported(folder, capsys):
    unused = "warning: -e minilm is not used"
    assert unused in call(capsys, *RUN, "-e", "minilm").err
    assert unused in call(capsys, "chunk", "src/a.py", "-e", "minilm").err
    (folder / "suite.toml").write_text('embedders = ["minilm"]\n')
    for arguments in (RUN, ("run", "suite.toml", *RUN[1:]), ("chunk", "src/a.py")):
        assert "not used" not in call(capsys, *arguments).err


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((*RUN, "-c", "ast:max_size=600"), "chunker ast is"),
        ((*RUN, "-r", "bm25"), "retriever bm25 is"),
        ((*RUN, "-m", "mrr"), "measure MRR is"),
        ((*RUN, "-d", "repo:src"), "data set repo:src is"),
        (("chunk", "src/a.py", "-c", "fixed", "-c", "fixed"), "chunker fixed is"),
        (("audit", "-d", "repo:src", "-d", "repo:src"), "data set repo:src is"),
        (("audit", "-d", "repo:src", "-c", "ast", "-c", "ast"), "chunker ast is"),
        (("score", "--run", "run.trec", "--qrels", "qrels.trec", *["-m", "MRR"] * 2), "measure"),
    ],
)
def test_a_value_given_twice_is_reported(folder, capsys, arguments, name):
    done = call(capsys, *arguments)
    assert done.code == 0
    assert f"warning: {name}" in done.err
    assert "given 2 times; it counts once" in done.err


def test_a_run_is_not_compared_with_itself(folder, capsys):
    assert call(capsys, *RUN, "-c", "fixed:max_size=60").code == 0
    says(call(capsys, "compare", "out", "./out"), 2, "run folder out is given more than once")
    drop = ("--against", "src/../out", "--max-drop", "MRR=0.1")
    says(call(capsys, "gate", "out", *drop), 2, "out is compared with itself")
    twice = call(capsys, "gate", "out", *["--min", "MRR>0.1"] * 2, "--format", "json")
    assert [row["chunker"] for row in twice.json["checks"]] == ["ast", "fixed:max_size=60"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--limit", "-o", "x"), ["--limit needs a value before -o"]),
        (("run", "-o", "-c", "ast"), ["-o needs a value before -c"]),
        (("gate", "out", "--min", "--against"), ["--min needs a value before --against"]),
        (("dataset", "build", "src", "-o", "--whole"), ["-o needs a value before --whole"]),
        (("chunk", "src/a.py", "-c", "--help"), ["-c needs a value before --help"]),
        (("run", "src/a.py"), ["a.py: invalid TOML", "give a TOML file", "-d repo:PATH"]),
        (("run", "picture.png"), ["picture.png is not UTF-8 text", "give a TOML file"]),
        (("run", "--match-size", "zero"), ["--match-size takes a number", "unknown chunker"]),
        (("run", "--match-size", "0"), ["--match-size must be above 0, not 0"]),
        (("run", "-c", "own_chunker:cutt"), ["has no 'cutt'; did you mean cut?"]),
        (("run", "-c", "own_chunker:none"), ["has no 'none'; choose from cut"]),
        (("chunk", "src/a.py", "-c", "ast:overlap=999"), ["chunker ast: overlap=999: must be"]),
        (("dataset", "fetch", "repo:."), ["a name without options", "dataset fetch repo"]),
        (
            ("dataset", "fetch", "repoeval-function:target=body"),
            ["dataset fetch repoeval-function"],
        ),
        (("dataset", "build", "src", "-o", "src/a.py"), ["src/a.py is a file; choose"]),
        (("dataset", "build", "src", "-o", "src"), ["src is not empty; choose"]),
        (("dataset", "build", "src", "-o", "n", "--queries", "empty"), ["--queries empty: is a f"]),
        (("dataset", "validate", "src", "--suggest", "gone"), ["--suggest gone does not exist"]),
        (("dataset", "validate", "src", "--suggest", "empty"), ["--suggest empty is not a file"]),
        (("dataset", "build", "src", "-o", "n", "--leave-out", "no"), ["--leave-out no does not"]),
        (("dataset", "info", "repo:src,seed=-1"), ["seed=-1: must be at least 0"]),
        (("audit", "-d", "stdlib", "--seed", "-1"), ["--seed must be at least 0, not -1"]),
        (("gate", "gone", "--min", "MRR>0.1"), ["gone does not exist", "give a run folder"]),
        (("run", "-c", "ast", "fixed"), ["suite fixed does not exist", "a chunker by -c"]),
        (("run", "-d", "own_chunker.py"), ["unknown data set", "for a folder write repo:PATH"]),
        (("dataset", "show", "stdlib", "--query", "x", "--sample", 3), ["remove --query"]),
    ],
)
def test_the_message_says_what_is_wrong_and_what_to_do(folder, capsys, arguments, words):
    says(call(capsys, *arguments), 2, *words)
    assert not list(folder.glob("-*"))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("dataset", "show", "stdlib", "--query", "nope"), "dataset show stdlib --sample 155"),
        (("run", "--language", "*.h=zzz"), "list languages"),
        (("check-chunker", "ast", "--language", "zzz"), "list languages"),
        (("list", "languages", "zzz"), "list languages"),
        (("list", "measures", "zzz"), "list measures"),
        (("list", "chunkers", "zzz"), "list chunkers"),
        (("run", "-c", "zzz"), "list chunkers"),
    ],
)
def test_a_long_list_is_cut_to_the_nearest_names(folder, capsys, arguments, command):
    done = call(capsys, *arguments)
    says(done, 2, "the nearest of ", f"see `chunkmark {command}`")
    assert len(done.err) < 220


def test_names_are_listed_up_to_twelve():
    few = [f"name{number}" for number in range(12)]
    assert suggestion("zzz", few, "chunkmark list") == f"choose from {', '.join(few)}"
    assert suggestion("zzz", [*few, "zz"]) == "did you mean zz?"
    many = suggestion("qqq", [*few, "other"], "chunkmark list")
    assert many.startswith("the nearest of 13 are ")
    assert many.count(",") == 2
    assert many.endswith("; see `chunkmark list`")


@pytest.mark.parametrize("arguments", [(), ("dataset",)])
def test_a_group_alone_prints_its_help(capsys, arguments):
    done = call(capsys, *arguments)
    assert (done.code, done.err) == (0, "")
    assert "Usage: chunkmark" in done.out
