"""The command that counts what edits cost, its formats and its refusals."""

import csv
import io

import pytest
from commands import call, says
from repositories import new_repo

import harness.churn.replay
from chunkers.plugins.loading import load_chunker
from harness.building.tree import Reading, read_commits
from harness.churn.edits import read_edits
from harness.churn.study import study

PYTHON = "".join(f"def f{n}(x):\n    y = x + {n}\n    return y * {n}\n\n\n" for n in range(40))
SCRIPT = "".join(f"function g{n}(x) {{\n  return x + {n};\n}}\n\n" for n in range(40))


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """Nine edits of two files, one of which edits both, and a commit without code."""
    repo = new_repo(tmp_path_factory.mktemp("churn") / "repo")
    texts = {"a.py": PYTHON, "web/b.js": SCRIPT, "README.md": "# x\n"}
    repo.commit("first", texts)
    for number in range(9):
        path = ("a.py", "web/b.js")[number % 2]
        mark = "#" if number % 2 == 0 else "//"
        at = texts[path].index("\n\n", 90 * number) + 1
        texts[path] = f"{texts[path][:at]}{mark} edit number {number}\n{texts[path][at:]}"
        if number == 4:
            texts["web/b.js"] = "// both\n" + texts["web/b.js"]
        repo.commit(f"edit {number}", texts)
    repo.commit("prose", {"README.md": "# y\n"})
    return repo


def churn(capsys, repo, *options):
    done = call(capsys, "churn", repo.root, *options)
    assert done.code == 0, done.err
    return done


def test_the_document_holds_every_edit_and_its_sums(capsys, repo):
    document = churn(capsys, repo, "--by", "language", "--by", "size", "--format", "json").json
    assert document["schema"] == "chunkmark.churn/1"
    assert document["commit"] == repo.git("rev-parse", "HEAD")
    assert document["commits"] == 10
    assert document["left_out"] == {"no indexed file changed": 1}
    assert document["files"] == {"median": 1, "p95": 2, "total": 10}
    whole, *groups = document["groups"]
    keys = [(group["by"], group["group"], group["edits"]) for group in groups]
    assert keys == [("language", "javascript", 5), ("language", "python", 5),
                    ("size", "1 to 100 c", 9)]  # fmt: skip
    fields = {"again_per_changed": "again_chars", "again": "again", "moved": "moved"}
    for row in whole["measures"]:
        name = row["chunker"]
        own = [edit["chunkers"][name][fields[row["measure"]]] for edit in document["edits"]]
        assert row["total"] == sum(own) > 0
        for by in ("language", "size"):
            parts = [one for group in groups if group["by"] == by for one in group["measures"]]
            same = [one for one in parts if (one["measure"], one["chunker"])
                    == (row["measure"], name)]  # fmt: skip
            assert sum(one["total"] for one in same) == row["total"]
    pairs = [(pair["measure"], pair["a"], pair["b"]) for pair in whole["pairs"]]
    assert pairs == [(measure, name, "fixed") for measure in ("again_per_changed", "again")
                     for name in ("ast", "function")]  # fmt: skip
    # Inserted lines move all cuts below them by lines, and few along the syntax.
    assert all(pair["difference"] < 0 for pair in whole["pairs"])
    assert whole["pairs"][1]["verdict"] == "better"


def test_all_formats_show_the_same(capsys, repo):
    options = ("-c", "ast", "-c", "fixed", "--by", "language")
    table = churn(capsys, repo, *options)
    shown = " ".join(table.out.split())
    assert "9 edits in the last 10 commits (left out: no indexed file changed: 1)" in shown
    assert "the history has only 10 commits after its first one" in table.err
    document = churn(capsys, repo, *options, "--format", "json").json
    value = document["groups"][0]["measures"][0]["value"]
    markdown = churn(capsys, repo, *options, "--format", "markdown").out
    assert f"| ast | fixed | {value:.1f} |" in markdown
    assert f"ast & fixed & {value:.1f} &" in churn(capsys, repo, *options, "--format", "latex").out
    rows = list(csv.DictReader(io.StringIO(churn(capsys, repo, *options, "--format", "csv").out)))
    assert len(rows) == 3 * 3 * 2
    assert float(rows[0]["value"]) == value
    assert rows[0]["against"] == "fixed"
    assert rows[0]["verdict"] in table.out


def test_a_header_is_compared_with_the_chunker_without_it(capsys, repo):
    options = ("-c", "ast", "-c", "fixed", "--header", "on", "--format", "json")
    whole = churn(capsys, repo, *options).json["groups"][0]
    pairs = {pair["a"]: pair for pair in whole["pairs"] if pair["measure"] == "again_per_changed"}
    assert {a: pair["b"] for a, pair in pairs.items()} == {
        "ast": "fixed", "ast:header=on": "ast", "fixed:header=on": "fixed",
    }  # fmt: skip
    assert pairs["ast:header=on"]["difference"] > 0
    assert pairs["ast:header=on"]["verdict"] != "better"


def test_clones_give_what_their_histories_hold(capsys, repo, tmp_path):
    url = f"file://{repo.root}"
    for name, options in (("bare", ["--bare"]), ("shallow", ["--depth", "4"])):
        repo.git("clone", "-q", *options, url, str(tmp_path / name))
    whole = churn(capsys, repo, "-c", "ast", "--format", "json").json
    bare = call(capsys, "churn", tmp_path / "bare", "-c", "ast", "--format", "json").json
    assert bare | {"repository": ""} == whole | {"repository": ""}
    shallow = call(capsys, "churn", tmp_path / "shallow", "-c", "ast", "--format", "json").json
    assert (shallow["commits"], shallow["edits"]) == (3, whole["edits"][-2:])
    assert (
        churn(capsys, repo, "--commits", "3", "-c", "ast", "--format", "json").json["edits"]
        == (whole["edits"][-2:])
    )


def test_chunkers_by_tokens_use_the_tokens_of_an_embedder(capsys, repo):
    done = churn(capsys, repo, "--commits", "3", "-c", "fixed-tokens", "-c", "fixed")
    assert "fixed-tokens" in done.out
    done = churn(capsys, repo, "--commits", "3", "-c", "fixed", "-e", "minilm")
    assert "-e minilm is not used" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--commits", "0"], ["--commits must be at least 1"]),
        (["--commits", "1"], ["the last commit changes no indexed file", "--commits"]),
        (["--exclude", "*"], ["none of the last 10 commits changes an indexed", "(excluded); "]),
        (["--margin", "0"], ["--margin must be above 0"]),
        (["--margin", "nan"], ["--margin must be above 0"]),
        (["--seed", "-1"], ["--seed must be at least 0"]),
        (["--by", "colour"], ["choose from language, size"]),
        (["--header", "maybe"], ["choose from on, off"]),
        (["--baseline", "whole-file"], ["--baseline whole-file", "ast, fixed, function"]),
        (["-c", "nosuch"], ["unknown chunker 'nosuch'"]),
        (["-c", "semantic"], ["semantic cuts by vectors", "leave it out"]),
        (["-c", "own:plain", "--header", "on"], ["--header on", "unknown option 'header'"]),
        (["-c", "own:nothing"], ["own:nothing", "no chunk"]),
        (["-c", "own:broken"], ["own:broken failed on", "of 20 file versions", "no luck"]),
        (["-e", "nosuch"], ["unknown embedder 'nosuch'"]),
        (["--language", "*.py=klingon"], ["unknown language 'klingon'"]),
        (["--encoding", "*.py=klingon"], ["unknown encoding 'klingon'"]),
    ],
)
def test_wrong_calls_are_refused(capsys, repo, own, options, words):
    code = 3 if {"own:nothing", "own:broken"}.intersection(options) else 2
    says(call(capsys, "churn", repo.root, *options), code, *words)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Chunkers in the current folder."""
    (tmp_path / "own.py").write_text(
        "from chunkers.source import Span\n\n\n"
        "def plain(source):\n    return [Span(0, len(source.text))]\n\n\n"
        "def nothing(source):\n    return []\n\n\n"
        "def broken(source):\n"
        "    if 'number 5' in source.text and 'number 6' not in source.text:\n"
        "        raise ValueError('no luck')\n    return plain(source)\n"
    )
    (tmp_path / "loud.py").write_text("from own import plain\n\nprint('loaded')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_places_without_a_history_are_refused(capsys, tmp_path):
    (tmp_path / "plain").mkdir()
    new_repo(tmp_path / "empty")
    new_repo(tmp_path / "one").commit("first", {"a.py": "x = 1\n"})
    new_repo(tmp_path / "long", "--object-format=sha256").commit("first", {"a.py": "x = 1\n"})
    for name, words in (
        ("nowhere", "does not exist; give a git repository"),
        ("plain", "is not a git repository"),
        ("empty", "has no commit"),
        ("one", "one commit, so no edit can be replayed"),
        ("long", "only sha1 repositories can be read, not sha256"),
    ):
        says(call(capsys, "churn", tmp_path / name), 2, name, words)


@pytest.mark.parametrize("option", ["--include", "--exclude", "--language", "--encoding"])
def test_a_pattern_that_fits_nothing_is_reported(capsys, repo, option):
    value = {"--language": "zz/*=c", "--encoding": "zz/*=cp1251"}.get(option, "zz/")
    done = churn(capsys, repo, "--commits", "3", "-c", "ast", option, value)
    assert f"{option[2:]} 'zz/" in done.err
    assert "fits no file" in done.err


def test_a_chunker_that_fails_is_named_and_the_others_are_compared(capsys, repo, own):
    done = call(capsys, "churn", repo.root, "-c", "own:broken", "-c", "ast", "--format", "json")
    assert done.code == 3
    (line,) = done.json["failures"]
    assert "not compared: own:broken failed on" in line
    assert line in done.err
    assert [row["chunker"] for row in done.json["chunkers"]] == ["ast"]


def test_what_a_module_prints_is_no_part_of_the_result(capsys, repo, own):
    done = churn(capsys, repo, "--commits", "2", "-c", "loud:plain", "--format", "json")
    assert done.json["chunkers"][0]["chunker"] == "loud:plain"
    assert "loaded" in done.err


def test_an_edit_on_which_a_chunker_fails_counts_for_none(repo, own, monkeypatch):
    monkeypatch.setattr(harness.churn.replay, "MAX_FAILURES", "50%")
    with read_commits(repo.root, Reading()) as rules:
        history = read_edits(repo.root, rules, 100)
    chunkers = [load_chunker(name) for name in ("own:broken", "own:plain")]
    result = study(history, chunkers, [("own:broken", "own:plain")])
    failed = [edit.commit for edit, kept in zip(history.edits, result.counted, strict=True)
              if not kept]  # fmt: skip
    titles = [repo.git("show", "-s", "--format=%s", commit) for commit in failed]
    assert titles == ["edit 5", "edit 7"]  # the file after the one, and before the other
    assert result.results["", ""].edits == 7
    assert len(result.failures) == 2
    assert all("own:broken failed on web/b.js of commit" in line for line in result.failures)
