"""Options without effect, values given twice, and files in the wrong place are all reported."""

import json
import re
from pathlib import Path

import pytest
from commands import call, says
from small_folder import RUN, SOURCE

from chunkers.errors import install_command, suggestion
from harness.cli.commands import COMMANDS

ROOT = Path(__file__).parents[3]


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
        (
            ("qrels.trec", "run.trec"),
            ["--qrels run.trec is a ranking", "swapped; write --run run.trec --qrels qrels.trec\n"],
        ),
        (("run.trec", "wide.trec"), ["wide.trec is UTF-16; save it as UTF-8\n"]),
        (("unmarked.trec", "qrels.trec"), ["unmarked.trec is UTF-16; save it as UTF-8\n"]),
        (("wide.jsonl", "qrels.trec"), ["wide.jsonl is UTF-16; save it as UTF-8\n"]),
        (("gone.json", "qrels.trec"), ["--run gone.json does not exist; give a file of rankings"]),
        (("run.json", "gone.json"), ["--qrels gone.json does not exist; give a file of judg"]),
        (("picture.png", "qrels.trec"), ["picture.png: unknown format: not a text file"]),
        (("empty.trec", "qrels.trec"), ["empty.trec is empty; give a file of rankings"]),
        (("twice.trec", "qrels.trec"), ["twice.trec, line 2", "remove one of the two lines"]),
        (("rows.jsonl", "picture.png"), ["picture.png: unknown format: not a text file"]),
    ],
)
def test_files_in_the_wrong_place_are_refused(folder, capsys, files, words):
    says(call(capsys, "score", "--run", files[0], "--qrels", files[1]), 2, *words)


@pytest.mark.parametrize("more", [(), ("--qrels", "qrels.trec")])
def test_rankings_given_as_records_are_refused(folder, capsys, more):
    for name in ("run.trec", "run.json"):
        done = call(capsys, "score", "--records", name, *more)
        says(done, 2, f"{name} holds rankings", f"write --run {name} --qrels")


def test_judgements_given_as_a_ranking_in_json_are_reported(folder, capsys):
    (folder / "same.json").write_text('{"q1": {"d1": 1}}')
    (folder / "ranking.json").write_text('{"q1": {"d1": 2, "d2": 1}}')
    equal = "warning: --run same.json equals --qrels qrels.trec: does it hold judgements?"
    assert equal in call(capsys, "score", "--run", "same.json", "--qrels", "qrels.trec").err
    assert call(capsys, "score", "--run", "ranking.json", "--qrels", "qrels.trec").err == ""


def test_judgements_that_look_like_scores_are_reported(folder, capsys):
    done = call(capsys, "score", "--run", "run.trec", "--qrels", "run.json")
    says(done, 0, "warning: --qrels run.json has the grade 2.5: is it a ranking with scores?")


def test_records_without_labels_are_told_what_to_add(folder, capsys):
    done = call(capsys, "score", "--records", "rows.jsonl")
    says(
        done,
        2,
        "left out: 1 query (no judgements)",
        "add relevant_ids, targets or expected to the records, or give --qrels FILE",
    )
    says(call(capsys, "score", "--records", "gone"), 2, "--records gone does not exist")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("who,src/gone.py:1-3", "the file src/gone.py does not exist"),
        ("who,a.py:90-95", "lines 90-95 are not in a.py"),
        ("who,a.py::third", "third"),
        ("return the number that was given to the caller now,a.py:1", "8 words in a row remain"),
    ],
)
def test_questions_left_out_are_reported(folder, capsys, row, reason):
    text = SOURCE + "# return the number that was given to the caller now\n"
    (folder / "src" / "a.py").write_text(text)
    good = "text,targets\nhow many days,a.py:6-8\n"
    for name, arguments in (
        ("a.csv", ("run", "-d", "repo:src,queries=a.csv", *RUN[3:])),
        ("b.csv", ("dataset", "build", "src", "-o", "built", "--queries", "b.csv")),
    ):
        (folder / name).write_text(f"{good}{row}\n")
        done = call(capsys, *arguments)
        says(done, 0, f"warning: {name}: 1 of 2 questions left out, such as line 3: ", reason)
        assert f"see all, run `chunkmark dataset info repo:src,queries={name}`" in done.err
    (folder / "a.csv").write_text(good)
    assert "left out" not in call(capsys, "run", "-d", "repo:src,queries=a.csv", *RUN[3:]).err


def test_an_audit_of_another_data_set_than_the_run_is_reported(folder, capsys, monkeypatch):
    (folder / "own.csv").write_text("text,targets\nhow many days,a.py:6-8\n")
    (folder / "other").mkdir()
    (folder / "other" / "b.py").write_text(SOURCE.replace("first", "third"))
    assert call(capsys, *RUN).code == 0
    monkeypatch.setattr("harness.cli.audit._audit_datasets", lambda *_: [])
    for other in ("repo:other", "repo:src,queries=own.csv"):
        done = call(capsys, "audit", "out", "-d", "repo:src", "-d", other)
        says(done, 0, f"warning: -d {other} is not a data set of out, which has repo:src; its")
        assert done.err.count("warning") == 1
    for same in ("repo:src", "repo:./src"):
        assert call(capsys, "audit", "out", "-d", same).err == ""


@pytest.mark.parametrize(
    ("name", "text", "warning"),
    [
        ("empty.py", "", "empty.py has no text, so there is nothing to cut"),
        ("blank.py", " \n\n", "blank.py has no text"),
        ("broken.py", "x = 1\n\ndef f(:\n", "broken.py, line 3: syntax error according to the py"),
        ("broken.js", "let x = ;\n", "broken.js, line 1: syntax error"),
        ("notes.txt", "def f(:\n", ""),
    ],
)
def test_a_file_without_text_or_with_a_syntax_error_is_reported(
    folder, capsys, name, text, warning
):
    (folder / name).write_text(text)
    done = call(capsys, "chunk", name, "--format", "json")
    assert done.code == 0
    assert warning in done.err
    assert bool(warning) == bool(done.err)
    covered = done.json["results"][0]["health"]["coverage"]
    assert covered == (1.0 if text.strip() else None)


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
        (("check-chunker", "fixed", *["--language", "text"] * 2), "language text is"),
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
        (("chunk", "src/a.py", "-c", "ast:overlap=999"), ["chunker ast: overlap=999: must be"]),
        (("dataset", "fetch", "repo:."), ["takes a name without options; repo needs no fetching"]),
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
        (("run", "-c", "ast", "fixed"), ["fixed is a chunker, not a suite; write -c fixed"]),
        (("dataset", "show", "stdlib", "--query", "x", "--sample", 3), ["remove --query"]),
        (
            ("dataset", "build", "https://github.com/x/y", "-o", "n"),
            ["https://github.com/x/y is an address; clone it and give the folder"],
        ),
        (("dataset", "build", "git@host.org:x/y.git", "-o", "n"), ["y.git is an address; clone"]),
        (("run", "-d", "repo:ssh://host/x", "-o", "n"), ["ssh://host/x is an address; clone"]),
        (("dataset", "build", "gone", "-o", "n"), ["gone does not exist; give a repository"]),
        (
            ("dataset", "build", "src", "-o", "n", "--exclude", "*.py"),
            ["a.py: excluded", "remove --exclude or narrow it"],
        ),
        (
            ("dataset", "build", "undocumented", "-o", "n"),
            ["has a doc comment", "try --queries FILE, a .jsonl, .csv or .yaml file of"],
        ),
        (("dataset", "build", "src", "-o", "run.trec/x"), ["run.trec is a file; choose another"]),
        ((*RUN[:-4], "-m", "MRR,nDCG@10"), ["repeat the option: -m MRR -m nDCG@10"]),
        ((*RUN[:-4], "-m", "MRR, P@5, R@5"), ["3 measures", "-m MRR -m P@5 -m R@5"]),
        ((*RUN[:-4], "-m", "MRR P@5"), ["2 measures", "-m MRR -m P@5"]),
        ((*RUN[:-2], "-m", "MRR,"), ["unknown measure 'MRR,'"]),
        ((*RUN, "--max-failures", "1.5"), ["a whole number or a percentage", "write 3, 1% or 0.5"]),
        (
            (*RUN, "-e", "vectors:gone", "-r", "dense"),
            ["gone does not exist; give a folder with v"],
        ),
        ((*RUN, "-e", "vectors:run.trec", "-r", "dense"), ["run.trec is not a folder"]),
        ((*RUN, "--by", ""), ["--by is empty; give a value"]),
        (("run", "-d", ""), ["-d/--dataset is empty; give a value"]),
        (("chunk", ""), ["FILE is empty; give a value"]),
        (("verify", "out", ""), ["RUN... is empty; give a value"]),
        (("dataset", "build", "src", "--out="), ["-o/--out is empty; give a value"]),
        (("verify", "out", "./out"), ["run folder out is given more than once"]),
        (("churn", "gone"), ["gone does not exist; give a git repository"]),
        ((*RUN, "--price", "0.1"), ["--price 0.1 is not used: the run has no embedder; rem"]),
        ((*RUN, "--by", "language,corpus"), ["repeat the option: --by language --by corpus"]),
        (("compare", "out", "--tune", "dev"), ["--tune takes only the value dev/test, not 'dev'"]),
        (
            ("score", "run.trec", "qrels.trec"),
            ["score takes its files as options; write --run run.trec --qrels qrels.trec"],
        ),
        (("score", "rows.jsonl"), ["options; write --run FILE --qrels FILE, or --records FILE"]),
        (("list", "datasets", "repo:src"), ["name without options", "list datasets repo"]),
        (("list", "chunkers", "fixed:max_size=3"), ["chunkmark list chunkers fixed"]),
        (("run", "--datset", "x"), ["unknown option --datset; did you mean --dataset?\n"]),
        (("run", "--max-failure", "3"), ["did you mean --max-failures?\n"]),
        (
            ("run", "ast", "fixed", "-d", "repo:src"),
            ["ast, fixed are chunkers; write -c ast -c fixed\n"],
        ),
        (
            ("run", "-d", "repo:src", "fixed", "bm25"),
            ["fixed is a chunker, bm25 is a retriever; write -c fixed -r bm25\n"],
        ),
        (
            ("run", "-d", "repo:src", "-o", "ast", "x.toml", "fixed"),
            ["fixed is a chunker; write -c fixed\n"],
        ),
        (("run", "-r", "opt:chunk,3"), ["'3' is not key=value; write KEY=3, as in fixed:max_s"]),
        (("run", "-r", "opt(3)"), ["unknown retriever 'opt(3)'; choose from bm25, "]),
        (
            ("dataset", "info", "repo:src,queries=wide.jsonl"),
            ["wide.jsonl is UTF-16; save it as UTF-8\n"],
        ),
        (("run", "stdlib"), ["stdlib is a data set, not a suite; write -d stdlib"]),
        (("run", "repo:src"), ["repo:src is a data set, not a suite; write -d repo:src"]),
        (("run", "bm25"), ["bm25 is a retriever, not a suite; write -r bm25"]),
        (("run", "repo"), ["repo is a data set, not a suite; write -d repo:PATH\n"]),
        (("run", "-c", "st"), ["st is an embedder, not a chunker; write -e st:MODEL\n"]),
        (("robust", "built"), ["built is a data set; write -d built:FOLDER\n"]),
        (("audit", "beir"), ["beir is a data set, not a run; write -d beir:FOLDER\n"]),
        (("compare", "repo"), ["give the folder of a `chunkmark run -d repo:PATH`\n"]),
        (("run", "src"), ["src is a folder, not a suite; to use its code, write -d repo:src"]),
        (("run", "quik"), ["suite quik does not exist; did you mean quick?", "TOML file"]),
        (("audit", "stdlib"), ["stdlib is a data set, not a run; write -d stdlib"]),
        (
            ("verify", "stdlib"),
            ["a data set, not a run; give the folder of a `chunkmark run -d st"],
        ),
        (
            ("compare", "ast"),
            ["ast is a chunker, not a run; give the folder of a `chunkmark run -c"],
        ),
        (("gate", "stdlib", "--min", "MRR>0.1"), ["stdlib is a data set, not a run; give the fol"]),
        (("report", "repo:src"), ["repo:src is a data set, not a run; give the folder"]),
        (("dataset", "validate", "stdlib", "--run", "stdlib"), ["a data set, not a run"]),
        (("dataset", "build", "repo:src", "-o", "n"), ["a data set; give the folder alone: src"]),
        (("dataset", "build", "stdlib", "-o", "n"), ["the spec of a data set; give a repository"]),
        (
            ("dataset", "info", "/gone"),
            ["/gone does not exist; give a data set, or a folder as re"],
        ),
        (("dataset", "show", "./gone/x"), ["./gone/x does not exist; give a data set"]),
        (("run", "-c", "fixed:300"), ["'300' is not key=value; write fixed:max_size=300"]),
        (("run", "-c", "fixed:x"), ["its options are header, max_size, overlap, unit"]),
        (("run", "-r", "bow:3"), ["retriever bow: '3' is not key=value; its options are"]),
        (("run", "-c", "nothere"), ["chunkmark list chunkers`, or write module:function for your"]),
        (("run", "-e", "nope"), ["choose from minilm, openai, st, vectors, or write module:func"]),
        (
            ("run", "-c", "ast fixed"),
            ["'ast fixed' names several parts; repeat the option: one for ast, one for fixed"],
        ),
        (("run", "-c", "ast, fixed"), ["names several parts; repeat the option"]),
        (("run", "-d", "stdlib repo:src"), ["'stdlib repo:src' names several parts; repeat"]),
        ((*RUN, "--by", "folder:x"), ["write folder:N with a number from 1 to 99"]),
        ((*RUN, "--by", "folder:0"), ["write folder:N with a number from 1 to 99"]),
        ((*RUN, "--baseline", "nothere"), ["not among the chunkers; choose from ast"]),
        (
            (*RUN, "--mask-query"),
            ["2 of 2 queries were not made from lines", "remove --mask-query"],
        ),
        (("chunk", "latin.py"), ["not UTF-8", "as in --encoding '*.py=latin-1'"]),
        (("chunk", "picture.png"), ["binary: holds NUL bytes; give a text file"]),
        (("run", "--language", "*.h="), ["write PATTERN=LANGUAGE, such as '*.h=cpp'"]),
        (("chunk", "src/a.py", "--encoding", "*.h="), ["write PATTERN=ENCODING, such as"]),
        (
            ("score", "--run", "run.trec", "--qrels", "zero.trec"),
            ["no query has a relevant document; check grades and query ids"],
        ),
        (
            ("score", "--run", "run.trec", "--qrels", "graded.trec"),
            ["graded.trec, line 2", "remove one of the two lines"],
        ),
        (("list", "chunkers", "--data-dir", "gone"), ["--data-dir gone is not a folder"]),
        (("list", "measures", "--data-dir", "run.trec"), ["--data-dir run.trec is not a folder"]),
        (("gate", "gone", "--min", "MRR>=0"), ["can never fail: MRR is at least 0; give a higher"]),
        (("gate", "gone", "--min", "P@5>-1"), ["can never fail", "give a higher number"]),
        (("gate", "gone", "--min", "MRR>1"), ["can never pass", "give a lower number"]),
        (("run", "--limit", "5", "--limit=6"), ["--limit is given 2 times; give it once"]),
        (("run", "-o", "a", "--out", "b"), ["-o/--out is given 2 times; give it once"]),
        (("run", "--mask-query", "--no-mask-query"), ["--mask-query is given 2 times"]),
        (("chunk", "src/a.py", "-e", "minilm", "-e", "x"), ["-e/--embedder is given 2 times"]),
        (("gate", "out", *["--against", "out"] * 2), ["--against is given 2 times"]),
        (("check-chunker", "fixed:max_size=9|20"), ["give one value; a|b is allowed only with -c"]),
        (("run", "-c", "ast: max_size=300"), ["blank before an option; write ast:max_size=300"]),
        (
            ("run", "-c", "ast:max_size=300, overlap=9"),
            ["blank before an option; write ast:max_size=300,overlap=9"],
        ),
        (
            ("run", "-c", "ast|fixed"),
            ["repeat the option: one for ast, one for fixed; a|b is for the values"],
        ),
        (("chunk", "src/a.py", "fixed"), ["fixed is a chunker; write -c fixed\n"]),
        (("chunk", "ast", "src/a.py"), ["ast is a chunker; write -c ast\n"]),
        (
            ("chunk", "src/a.py", "b.py"),
            ["b.py; chunk takes FILE; give one file"],
        ),
        (("doctor", "x"), ["too many arguments: x; doctor takes no arguments"]),
        (("list", "ast"), ["ast is a chunker; write chunkmark list chunkers ast\n"]),
        (("list", "repo:src"), ["repo:src is a data set; write chunkmark list datasets repo\n"]),
        (("list", "chunker"), ["unknown kind 'chunker'; did you mean chunkers?"]),
        (
            (*RUN, "--primary", "MAP@10"),
            ["--primary MAP@10 is not among", "\nor add -m MAP@10, with -m"],
        ),
        ((*RUN, "--primary", "MRR,MAP"), ["--primary: 'MRR,MAP' names 2 measures; give one at a"]),
        (("run", "-m", "MRR,MAP"), ["repeat the option: -m MRR -m MAP"]),
        (("gate", "out", "--min", "MRR,MAP>0.1"), ["names 2 measures; give one at a time"]),
        (("gate", "out", "-m", "MRR"), ["unknown option -m; choose from --min, --against,"]),
        (("leaderboard", "out", "-m", "MRR,MAP"), ["names 2 measures; give one at a time"]),
        (
            ("leaderboard", "out", "--export", "mteb:run.trec"),
            ["--export mteb:run.trec is a file; name a folder"],
        ),
        (
            ("audit", "src"),
            ["src is not a run folder", "make a run of this folder by", "repo:src`"],
        ),
        (("churn", "repo:src"), ["spec of a data set; give the folder alone: src"]),
        (("churn", "https://x.org/y"), ["https://x.org/y is an address; clone it and give"]),
        (
            ("churn", "gone", "--baseline", "nope"),
            ["--baseline nope: not among the chunkers; choose fr"],
        ),
        (("dataset", "info", "repo:src,queries=near.jsonl"), ["rename 'Target' to 'targets'\n"]),
        (
            ("dataset", "info", "repo:src,queries=near.csv"),
            ["header needs text and targets, but has text, target; rename 'target' to 'targets'"],
        ),
        (
            ("score", "--run", "picture.png", "--qrels", "qrels.trec"),
            ["picture.png: unknown format: not a text file", "give rankings, judgements or rec"],
        ),
        (
            ("score", "--run", "bad.json", "--qrels", "qrels.trec"),
            ["bad.json, line 1", "invalid JSON", "give one JSON document, or one object a line"],
        ),
        (
            ("score", "--run", "array.json", "--qrels", "qrels.trec"),
            ["record must be an object, not 'd1'", 'write {"query_id": "q1", "retrieved_ids"'],
        ),
        (
            ("dataset", "build", "src", "-o", "n", "--source", "x"),
            ["unknown option --source; see `chunkmark dataset build --help`"],
        ),
        (("dataset", "show", "stdlib", "--run", "x"), ["option --run; choose from --sample, --se"]),
        (("run", "--language", "*.x=py"), ["unknown language 'py'; did you mean python?"]),
        (("check-chunker", "ast", "--language", "c++"), ["did you mean cpp?"]),
        (("version",), ["unknown command 'version'; write chunkmark --version\n"]),
        (("dataset", "help"), ["unknown command 'dataset help'; write chunkmark dataset --help\n"]),
        (("run", "-c", "fixed(max_size=300)"), ["write fixed:max_size=300\n"]),
        (("run", "-c", "fixed;max_size=300"), ["write fixed:max_size=300\n"]),
        (("run", "--max-size", "300"), ["an option of chunkers; write it in a spec, as in -c"]),
        (
            ("score", "--run", "near.csv", "--qrels", "qrels.trec"),
            [
                "1 field in the first line, which has commas",
                "use tabs\na ranking has six fields a line",
            ],
        ),
        (
            ("dataset", "info", "repo:src,queries=far.jsonl"),
            ["the key 'text' is missing; rename 'query' to 'text'\n"],
        ),
        (
            ("dataset", "info", "repo:src,queries=question.jsonl"),
            ["the key 'text' is missing; rename 'question' to 'text'\n"],
        ),
        (("-c", "ast"), ["unknown option -c; options come after the name of a command"]),
        (("dataset", "-c", "ast"), ["unknown option -c; options come after the name of a com"]),
        (("--verson",), ["unknown option --verson; did you mean --version?\n"]),
        (("run", "--debug"), ["write it before the command: chunkmark --debug run\n"]),
        (("gate", "out", "--require", "yes"), ["--require takes no value; remove yes\n"]),
        (("verify",), ["RUN... is missing: run folders written by `chunkmark run`\n"]),
        (("dataset", "build", "src"), ["--out FOLDER is missing: folder to write\n"]),
        (("cache",), ["ACTION is missing: ", "; choose from info, clear"]),
        (("compare", "out", "--format", "jsn"), ["unknown --format 'jsn'; did you mean json?\n"]),
        ((*RUN, "--margin", "2%"), ["--margin must be a number, not '2%'; write 0.02\n"]),
        ((*RUN, "--margin", "2.2.2%"), ["--margin must be a number, not '2.2.2%'\n"]),
        (("run", "-d", "stdlib,limit=5"), ["invalid spec 'stdlib,limit=5'; write stdlib:limit=5"]),
        (("run", "-c", "process:cut"), ["'cut' is not key=value; write process:command=cut"]),
        (("run", "-m", "nDCG@10,MRR"), ["repeat the option: -m nDCG@10 -m MRR"]),
        (("run", "-m", "nDCG@10 MRR"), ["repeat the option: -m nDCG@10 -m MRR"]),
        (("run", "-d", "repo:src,threshold=2"), ["must be above 0 and at most 1"]),
        (("list", "languages", "py"), ["unknown language 'py'; did you mean python?"]),
        (("chunk", "ast"), ["ast is a chunker, not a file; give a file, and write -c ast\n"]),
        (("chunk", "repo:src"), ["repo:src is a data set, not a file; give a file\n"]),
        (
            ("score", "--run", "run.trec", "--qrels", "qrels.trec", "-m", "EM"),
            ["no query has the texts that ExactMatch compares"],
        ),
    ],
)
def test_the_message_says_what_is_wrong_and_what_to_do(folder, capsys, arguments, words):
    says(call(capsys, *arguments), 2, *words)
    assert not list(folder.glob("-*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "-d", "https://github.com/x/y"), ["https://github.com/x/y is an address; clone"]),
        (("run", "-r", "bm25,dense"), ["repeat the option: one for bm25, one for dense\n"]),
        (("run", "-c", "ast:max-size=300"), ["unknown option 'max-size'; did you mean max_size?"]),
        ((*RUN, "-r", "dense", "-e", "openai:model=x"), ["given without a key; write openai:x"]),
        ((*RUN, "-r", "dense", "-e", "st:model=x"), ["given without a key; write st:x"]),
        ((*RUN, "-r", "rerank:model=x"), ["given without a key; write rerank:x"]),
        (("run", "-h"), ["unknown option -h; write --help\n"]),
        (("-h",), ["unknown option -h; write --help\n"]),
        (("-v",), ["unknown option -v; write --version\n"]),
        (("help",), ["unknown command 'help'; write chunkmark --help\n"]),
        (("score", "--records", "commas.csv"), ["commas.csv has commas", "records has tabs"]),
        (("run", "-c", "my_chunker"), ["see `chunkmark list chunkers`, or write module:function"]),
        (("run", "-m", "ast"), ["ast is a chunker, not a measure; write -c ast\n"]),
        (("run", "-e", "bm25"), ["bm25 is a retriever, not an embedder; write -r bm25\n"]),
        (("run", "-r", "minilm"), ["minilm is an embedder, not a retriever; write -e minilm\n"]),
        (("run", "-d", "ast"), ["ast is a chunker, not a data set; write -c ast\n"]),
        (("run", "-c", "stdlib"), ["stdlib is a data set, not a chunker; write -d stdlib\n"]),
        (("run", "-c", "minilm"), ["minilm is an embedder, not a chunker; write -e minilm\n"]),
        (
            ("dataset", "info", "ast"),
            ["ast is a chunker, not a data set; see `chunkmark list data"],
        ),
        (("run", "-d", "quick"), ["quick is a suite; write chunkmark run quick\n"]),
        (("robust", "-t", "indent-2,crlf"), ["repeat the option: -t indent-2 -t crlf\n"]),
        (("robust", "-t", "all"), ["unknown transformation 'all'; leave out -t for all\n"]),
        (("run", "--verbose"), ["unknown option --verbose; see `chunkmark run --help`\n"]),
        (("run", "--top-k", "5"), ["unknown option --top-k; did you mean --depth?\n"]),
        (("evaluate",), ["unknown command 'evaluate'; see `chunkmark --help`\n"]),
        (("chunk", "src/a.py", "-c", "fixed:max_size=300..600"), ["write 300|600 to compare bot"]),
        (("chunk", "src/a.py", "-c", "fixed:max_size=300:600"), ["write 300|600 to compare bot"]),
        (("churn", "src", "-r", "bm25"), ["unknown option -r; churn ranks nothing; remove it"]),
        (("run", "--suite", "s.toml"), ["the suite is an argument: chunkmark run SUITE"]),
        (("run", "--encoding", "utf16"), ["an option of the data set: -d 'repo:PATH,encoding"]),
        (
            ("dataset", "info", "repo:src,queries=name.jsonl"),
            ["not exist; write path:first-last"],
        ),
        (
            (*RUN, "-d", "stdlib:limit=5"),
            ["data set stdlib has no option limit; write --limit 5\n"],
        ),
        ((*RUN, "-c", "ast:depth=5"), ["chunker ast has no option depth; write --depth 5\n"]),
        (("dataset", "info", "stdlib:limit=5"), ["unknown option 'limit'; choose from"]),
        (
            ("run", "--budget", "9"),
            ["--budget; a budget is part of a measure, as in -m SpanR@2500c"],
        ),
        (("run", "--queries", "q"), ["an option of the data set: -d repo:PATH,queries=QUERIES"]),
        (("dataset", "build", "--debug"), ["before the command: chunkmark --debug dataset build"]),
        (("compare", "out", "-c", "ast"), ["-c; the chunkers are those of the run; choose them"]),
        (("compare", "out", "--primary", "MRR"), ["--primary; did you mean --measure?\n"]),
        (("run", "-e", "minilm:pool=all"), ["pool=all: the only value is late\n"]),
        (("list", "indexes", "hsw"), ["unknown index 'hsw'; did you mean hnsw?\n"]),
        ((*RUN, "-m", "SpanR2500"), ["unknown measure 'SpanR2500'; did you mean SpanR@2500c?\n"]),
        ((*RUN, "-m", "accuracy"), ["'accuracy' is Hit, which needs a cut-off; write Hit@10\n"]),
        (
            ("score", "--run", "record.json", "--qrels", "qrels.trec"),
            ["its keys (retrieved) are those of a record, not ids of queries\n"],
        ),
        (
            ("score", "--run", "run.trec", "--qrels", "worded.trec"),
            ["the grade 'good' is not a whole number\na line has query, 0, document and grade\n"],
        ),
        (("run", "-c=ast"), ["invalid spec '=ast'; write ast\n"]),
        (("run", "--memory", "2"), ["--memory '2': the unit is missing; write 2GB\n"]),
        (
            (*RUN, "--margin", "2"),
            ["number above 0 and below 1 (2 points are 0.02)"],
        ),
        ((*RUN, "--file-timeout", "5m"), ["must be a number", "; write 300 for seconds\n"]),
        (("run", "-c", "fixed", "x.toml", "max_size=300"), ["write -c fixed:max_size=300\n"]),
        (("cache", "clear", "minilm"), ["write --model minilm for one model\n"]),
        (("gate", "r2", "r1"), ["write --against r1 --max-drop MEASURE=DROP"]),
        (("gate", "r2", "--min", "MRR", "0.3"), ["takes RUN; write --min 'MRR>0.3'\n"]),
        (("gate", "r2", "--min", "MRR", ">", "0.3"), ["takes RUN; write --min 'MRR>0.3'\n"]),
        (("gate", "r2", "--max-drop", "MRR", "0.3"), ["write --max-drop 'MRR=0.3'\n"]),
        (("report", "r2", "a.html"), ["a.html is a page, not a run; write -o a.html\n"]),
        (("leaderboard", "r2", "a.html"), ["a.html is a page, not a run; write -o a.html\n"]),
        (("report", "r2", "--figures", "src"), ["src holds other files; name an empty or a new"]),
        (("run", "-c", "ast", "max_size=300"), ["write -c ast:max_size=300\n"]),
        (("run", "-c", "ast:unit=nws", "max_size=3"), ["write -c ast:unit=nws,max_size=3\n"]),
        (("churn", "src", "max_size=3"), ["write -c fixed:max_size=3\n"]),
        (("run", "--chunk-size", "3"), ["a spec, as in -c fixed:max_size=300\n"]),
        (("run", "--chunk_size=3"), ["a spec, as in -c fixed:max_size=300\n"]),
        (("chunk", "src/a.py", "--size", "3"), ["a spec, as in -c fixed:max_size=300\n"]),
        (("run", "--chunk-overlap", "3"), ["a spec, as in -c fixed:overlap=20\n"]),
        (("cache", "info", "clear"), ["give one action at a time\n"]),
        (("churn",), ["REPO is missing: git repository, bare or not\n"]),
        (("compare", "empty"), ["is missing\ngive the folder that `chunkmark run -o` wrote\n"]),
        (
            ("score", "--run", "run.trec", "--qrels", "empty"),
            ["empty is a folder; give a file\n"],
        ),
        (("audit", "src", "empty"), ["audit one run at a time\n"]),
        (("dataset", "show", "stdlib", "3"), ["write --sample 3 for a number of queries\n"]),
        (
            ("score", "--run", "src", "--qrels", "qrels.trec"),
            ["src is a folder; give a file\n"],
        ),
        (
            ("score", "--records", "rows.jsonl", "--source", "gone"),
            ["give the folder of the files"],
        ),
        (
            ("score", "--records", "strings.jsonl"),
            ["retrieved must be a list of objects; write a list of ids as retrieved_ids\n"],
        ),
        (
            ("score", "--run", "run.trec", "--qrels", "qrels.trec", "--profile", "beir"),
            ["unknown profile 'beir'; write trec:variant=beir\n"],
        ),
        (
            ("dataset", "fetch", "stdlib,limit=3"),
            ["takes a name without options; stdlib needs no fetching"],
        ),
    ],
)
def test_the_message_names_what_was_meant(folder, capsys, arguments, words):
    (folder / "name.jsonl").write_text('{"text": "how many days", "targets": "add"}')
    (folder / "strings.jsonl").write_text('{"query_id": "q1", "retrieved": ["a"]}')
    (folder / "commas.csv").write_text("query_id,retrieved_ids,relevant_ids\nq1,a b,a\n")
    says(call(capsys, *arguments), 2, *words)


def test_the_folder_of_a_page_is_made(folder, capsys):
    assert call(capsys, *RUN, "-m", "SpanR@10000c").code == 0
    for command, kind in (("report", "out"), ("leaderboard", "out")):
        page = folder / "new" / command / "a.html"
        assert call(capsys, command, kind, "-o", page).code == 0, command
        assert page.is_file()
    for _ in range(2):  # figures may be written again
        assert (
            call(capsys, "report", "out", "-o", page.with_name("b.html"), "--figures", "f").code
            == 0
        )


def test_an_option_that_all_chunkers_have_is_not_taken_for_another_name(folder, capsys):
    assert call(capsys, *RUN, "-c", "fixed").code == 0
    done = call(capsys, "compare", "out", "--over", "max_size")
    says(done, 2, "no chunker has two values of it; run a sweep, as in -c 'fixed:max_size=A|B'")
    done = call(capsys, "compare", "out", "--tune", "dev/test")
    says(done, 2, "write --over max_size or another option")


@pytest.mark.parametrize(
    ("pattern", "end"),
    [
        ("h", "; write a glob of a name or a path, as in '*.h' or 'src/*'"),
        ("zz*", ""),
        ("*.zz", ""),
    ],
)
def test_a_warning_on_a_pattern_shows_a_glob(folder, capsys, pattern, end):
    done = call(capsys, "chunk", "src/a.py", "--language", f"{pattern}=cpp")
    says(done, 0, f"{pattern!r} fits no file that is read{end}\n")


def test_a_limit_and_a_list_that_leave_nothing_out_are_reported(folder, capsys):
    done = call(capsys, *RUN, "--limit", "9999")
    says(done, 0, "note: --limit 9999: repo:src has 2 queries; all are used")
    assert "--limit" not in call(capsys, *RUN, "--limit", "2").err
    build = ("dataset", "build", "src")
    done = call(capsys, *build, "-o", "n1", "--leave-out", "empty.trec")
    says(done, 0, "empty.trec holds no ids, so no query is left out")
    done = call(capsys, *build, "-o", "n2", "--limit", "3")
    says(done, 0, "note: --limit 3: no more than 2 can be built")


def test_a_run_that_is_wrong_or_given_in_place_of_other_folders_is_refused(folder, capsys):
    assert call(capsys, *RUN, "-c", "fixed:max_size=60").code == 0
    says(call(capsys, "compare", "out", "--over", "x"), 2, "--over x: choose from chunker, corpus")
    says(call(capsys, "compare", "out", "--baseline", "x"), 2, "--baseline x: not compared on repo")
    says(call(capsys, "compare", "out", "--over", "embeder"), 2, "did you mean embedder?")
    for tune in ((), ("--tune", "dev/test")):
        done = call(capsys, "compare", "out", "--over", "max_size", *tune)
        says(done, 2, "no chunker has two values of it; run a sweep", "'fixed:max_size=A|B'")
    done = call(capsys, "compare", "out", "-m", "MAP")
    says(
        done,
        2,
        "MAP cannot compare chunkers: which",
        "boundaries\nrerun `chunkmark run` with -m SpanR",
    )
    says(call(capsys, "gate", "out", "--min", "MAP>0.3"), 2, "rerun `chunkmark run` with -m MAP")
    done = call(capsys, "dataset", "validate", "stdlib", "--run", "out")
    says(done, 2, "out is a run of repo:src, not of stdlib; give a run of stdlib with two")
    done = call(capsys, "score", "--run", "out", "--qrels", "qrels.trec")
    says(done, 2, "or read the run by `chunkmark compare out`")
    for inside in ("out/cells", "out/manifest.json"):
        says(call(capsys, "audit", inside), 2, f"{inside} is inside a run folder; give out\n")
    says(call(capsys, "run", "out"), 2, "out is a run folder, not a suite; to add to it, write -o")
    for command in ("info", "show", "validate"):
        done = call(capsys, "dataset", command, "out")
        says(done, 2, "out is a run folder, not a data set; give a data set of it: repo:src\n")
    says(call(capsys, "verify", "out", "--published"), 2, "none of its data sets has one", "cosqa")
    with (folder / "src" / "a.py").open("a") as file:
        file.write("# changed\n")
    done = call(capsys, "dataset", "validate", "repo:src", "--run", "out")
    says(done, 2, "its cells of repo:src are of other data, which has changed since; give a run")
    for name in ("r.pdf", "r", "src/r.py"):
        says(call(capsys, "report", "out", "-o", name), 2, f"-o {name}: a report is HTML", ".html")
    assert call(capsys, "dataset", "build", "src", "-o", "built").code == 0
    says(call(capsys, *RUN[:2], "repo:built", *RUN[3:]), 2, "a built data set (-d built:built)")
    says(call(capsys, "dataset", "build", "built", "-o", "n"), 2, "; give a repository or a")
    says(call(capsys, "dataset", "build", "out", "-o", "n"), 2, "out is a run folder; give")
    assert call(capsys, *RUN[:-1], "seeded", "--seed", "3").code == 0
    says(call(capsys, "leaderboard", "out", "seeded"), 2, "seed (0, 3)", "with the same options")
    (cell, *_) = (folder / "out" / "cells").iterdir()
    (cell / "queries.jsonl").write_text("")
    gate = call(capsys, "gate", "out", "--min", "MRR>0.1")
    says(
        gate, 2, "queries.jsonl was changed or removed; delete its folder", "repeat `chunkmark run`"
    )


def test_a_chunker_that_is_alone_on_a_data_set_is_named(folder, capsys):
    (folder / "lib").mkdir()
    (folder / "lib" / "b.py").write_text(SOURCE)
    assert call(capsys, *RUN, "-c", "fixed:max_size=60").code == 0
    assert call(capsys, "run", "-d", "repo:lib", *RUN[3:]).code == 0
    done = call(capsys, "compare", "out")
    line = "ast on repo:lib (bm25) is not compared: no other chunker was run there"
    says(done, 0, f"warning: {line} with the same options\n")
    assert call(capsys, "run", "-d", "repo:lib", *RUN[3:], "-c", "fixed:max_size=60").code == 0
    assert call(capsys, "compare", "out").err == ""


def test_a_skipped_measure_has_its_reason_in_every_form(folder, capsys):
    arguments = (
        "score",
        "--run",
        "run.trec",
        "--qrels",
        "qrels.trec",
        "-m",
        "MRR",
        "-m",
        "FileMRR",
    )
    for form in ("table", "csv", "markdown", "json", "latex"):
        done = call(capsys, *arguments, "--format", form)
        assert (done.code, "results with paths and lines are needed" in done.out) == (0, True), form


def test_a_flag_may_be_repeated(folder, capsys):
    assert call(capsys, *RUN, "--details", "--details").code == 0


def test_a_run_without_embedders_says_so_where_they_are_compared(folder, capsys):
    assert call(capsys, *RUN, "-c", "fixed:max_size=60").code == 0
    done = call(capsys, "compare", "out", "--over", "embedder")
    says(done, 2, "the run has no embedder; give a run with two or more")
    done = call(capsys, "compare", "out", "--over", "retriever")
    says(done, 2, "all cells have the retriever bm25; give a run with another")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("run", "--language", "*.h=zzz"), "list languages"),
        (("check-chunker", "ast", "--language", "zzz"), "list languages"),
        (("list", "languages", "zzz"), "list languages"),
        (("list", "measures", "zzz"), "list measures"),
        (("list", "chunkers", "zzz"), "list chunkers"),
        (("run", "-c", "zzz"), "list chunkers"),
    ],
)
def test_a_long_list_is_not_printed(folder, capsys, arguments, command):
    done = call(capsys, *arguments)
    says(done, 2, f"see `chunkmark {command}`")
    assert len(done.err) < 220


def test_names_are_listed_up_to_twelve():
    few = [f"name{number}" for number in range(12)]
    assert suggestion("zzz", few, "chunkmark list") == f"choose from {', '.join(few)}"
    assert suggestion("zzz", [*few, "zz"]) == "did you mean zz?"
    assert suggestion("qqq", [*few, "other"], "chunkmark list") == "see `chunkmark list`"
    assert suggestion("qqq", [*few, "other"]).endswith("name11, … (13 in all)")


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("crfl", ["crlf", "order"], "did you mean crlf?"),
        ("chunk_size", ["chunker", "max_size"], "did you mean max_size?"),
        ("my_chunker", ["semchunk", "ast"], "choose from semchunk, ast"),
    ],
)
def test_only_a_near_name_or_one_with_the_same_word_is_suggested(name, names, hint):
    assert suggestion(name, names) == hint


@pytest.mark.parametrize("arguments", [(), ("dataset",)])
def test_a_group_alone_prints_its_help(capsys, arguments):
    done = call(capsys, *arguments)
    assert (done.code, done.err) == (0, "")
    assert "Usage: chunkmark" in done.out


@pytest.mark.parametrize("command", [*COMMANDS, "dataset", ""])
def test_help_shows_no_python_type(capsys, command):
    text = call(capsys, *command.split(), "--help").out
    usage = next(line for line in text.split("\n") if "Usage:" in line)
    assert "{" not in usage
    assert not re.search(r"<(bool|str|int|float|path|list)\b", text, re.IGNORECASE)


def test_help_breaks_choices_at_spaces(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(call(capsys, "list", "--help").out.replace("│", " ").split())
    assert "One of chunkers, datasets, embedders, retrievers, indexes, measures, profiles" in text
    assert "FORMAT Output format. One of table, json, csv, markdown and latex." in text
    assert "<info|clear>" in call(capsys, "cache", "--help").out


def test_the_command_for_an_extra_is_that_of_the_readme():
    command = install_command("chunkers,openai").partition(": ")[2]
    assert f"`{command}`" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("file", "left_out", "advice"),
    [
        ("read.txt", "read.txt: no known language", "--language '*.txt=python'"),
        (
            "README.md",
            "README.md: markdown is excluded",
            "the option files=all",
        ),
        (
            "node_modules/a.js",
            "node_modules/: folder not entered",
            "the option include=node_modules/",
        ),
    ],
)
def test_a_folder_without_a_file_to_index_says_how_to_read_it(
    tmp_path, monkeypatch, capsys, file, left_out, advice
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / file).parent.mkdir(parents=True)
    (tmp_path / "docs" / file).write_text("x = 1\n")
    done = call(capsys, "run", "-d", "repo:docs", "-r", "bm25")
    says(done, 2, f"docs has no file to index: {left_out}\n", advice)


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("compare", "out", "--tune"), "write --tune dev/test"),
        (("run", "-m"), "write -m MEASURE"),
        (("compare", "out", "--format"), "write --format table|json|csv|markdown|latex"),
    ],
)
def test_an_option_without_a_value_shows_what_to_write(capsys, arguments, advice):
    says(call(capsys, *arguments), 2, f"{arguments[-1]} needs a value; {advice}")
