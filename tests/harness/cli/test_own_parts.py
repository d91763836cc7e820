"""Parts of the user's own that cannot be used, or that fail, are named with what to do."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import call, says
from small_folder import RUN


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "-c", "own_chunker:cutt"), ["has no 'cutt'; did you mean cut?"]),
        (("run", "-c", "own_chunker:none"), ["has no 'none'; choose from cut"]),
        (("run", "-d", "own_chunker.py"), ["unknown data set", "for a folder write repo:PATH"]),
        (("run", "-c", "fixd:tokens"), ["no module 'fixd'; did you mean fixed?\n"]),
        (("run", "-c", "own_chunkr:cut"), ["no module 'own_chunkr'; did you mean own_chunker?\n"]),
        (("run", "-c", "own_chunker:cut:3"), ["write own_chunker:cut,key=value"]),
        (("run", "-c", "broken:cut"), ["broken cannot be imported", "install not_there in "]),
        (("run", "-c", "raising:cut"), ["raising cannot be imported", "raising.py, line 2"]),
        (("run", "-c", "wrong:cut"), ["wrong cannot be imported", "wrong.py, line 1"]),
        (("run", "-d", "json:loads"), ["json:loads: its loader failed", "returns a Dataset"]),
        (
            ("run", "-d", "repo:src", "-r", "json:loads"),
            ["retriever json:loads needs s; give a function without arguments, or with options"],
        ),
        (
            ("run", "-d", "repo:src", "-e", "json:JSONDecoder"),
            ["embedder json:JSONDecoder: it returned JSONDecoder, which has no method"],
        ),
        (("run", "-c", "odd_parts:OneArgument"), ["write chunk(self, source, services)\n"]),
        (("run", "-c", "odd_parts:by_place"), ["size cannot be an option; remove the /"]),
        (
            ("run", "-c", "odd_parts:bare"),
            ["odd_parts:bare needs the option size; write odd_parts:bare,size=VALUE\n"],
        ),
        (
            ("run", "-c", "odd_parts:Empty"),
            ["returned Empty, which has no method", "write def chunk(source)"],
        ),
        (("chunk", "src/a.py", "-c", "own_chunker:cut,size"), ["'size' is not key=value; write s"]),
    ],
)
def test_a_part_that_does_not_fit_is_named(folder, capsys, arguments, words):
    (folder / "broken.py").write_text("import not_there.at_all\n")
    (folder / "raising.py").write_text("x = 1\nraise RuntimeError('bad day')\n")
    (folder / "wrong.py").write_text("def cut(source)\n    return []\n")
    own = "def bare(source, size): return []\n\nclass Empty: pass\n"
    own += "def by_place(source, size, /): return []\n"
    own += "class OneArgument:\n    def chunk(self, source): return []\n"
    (folder / "odd_parts.py").write_text(own)
    says(call(capsys, *arguments), 2, *words)


@pytest.mark.parametrize("body", ["source.split()", "len(source)"])
def test_a_source_that_is_taken_for_a_text_is_explained(folder, capsys, body):
    (folder / "texts.py").write_text(f"def cut(source):\n    return {body}\n")
    done = call(capsys, *RUN[:-2], "-c", "texts:cut", "-o", "out")
    assert done.code == 3
    assert "(texts.py, line 2); the text of a source is source.text" in done.err


@pytest.mark.parametrize("allowed", ["100%", "1", "9"])
def test_a_chunker_that_fails_on_every_file_is_not_scored(folder, capsys, allowed):
    (folder / "failing.py").write_text("def cut(source):\n    raise ValueError('bad luck')\n")
    run = ("run", "-d", "repo:src", "-r", "bm25", "-c", "failing:cut", "-o", "out")
    done = call(capsys, *run, "--max-failures", allowed)
    assert done.code == 3
    assert "failed on all 1 file\n" in done.out
    assert "0.000" not in done.out


def test_a_chunker_that_fails_on_every_file_gives_code_3_and_no_reassuring_finding(
    folder, capsys, monkeypatch
):
    (folder / "failing.py").write_text("def cut(source):\n    raise ValueError('bad luck')\n")
    options = ("-d", "repo:src", "-c", "failing:cut")
    done = call(capsys, "robust", *options, "-r", "bm25", "-t", "crlf")
    says(done, 3, "nothing is left to compare", "bad luck")
    done = call(capsys, "audit", *options)
    assert done.code == 3
    assert "no chunk is left to audit" in done.out
    assert "every chunk" not in done.out


SHADOWED = "def cut(source): return []\n\ndef dumps(source): return []\n"


@pytest.mark.parametrize(
    ("file", "spec"),
    [
        ("json.py", "json:cut"),
        ("json.py", "json:dumps"),
        ("json/__init__.py", "json:cut"),
        ("json/own.py", "json.own:cut"),
        ("chunkers.py", "chunkers:cut"),
        ("pytest.py", "pytest:cut"),
        ("sys.py", "sys:cut"),
    ],
)
def test_a_module_with_the_name_of_another_is_refused(folder, capsys, file, spec):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(SHADOWED)
    done = call(capsys, *RUN, "-c", spec)
    says(done, 2, f"chunker {spec}: {spec.partition('.')[0].partition(':')[0]} is ")
    assert done.err.endswith(f", not ./{file}; rename yours\n")
    (folder / file).unlink()
    assert "rename" not in call(capsys, *RUN, "-c", spec).err


FAILING = """def cut(source):
    return source.content


async def later(source):
    return []


class Later:
    async def chunk(self, source, services):
        return []


def embed(texts):
    return []


def created():
    return len(3)
"""


@pytest.mark.parametrize(
    ("flag", "spec", "words"),
    [
        ("-c", "failing:later", ["chunker failing:later: its function is async; write def\n"]),
        ("-c", "failing:Later", ["failing:Later: its method chunk is async; write def\n"]),
        ("-r", "failing:later", ["retriever failing:later: its function is async; write def\n"]),
        (
            "-r dense -e",
            "failing:embed",
            ["embedder failing:embed needs texts; give a function without"],
        ),
        ("-r", "failing:embed", ["retriever failing:embed needs texts; give a function without"]),
        ("-r", "failing:created", ["has no len(); see ", "failing.py, line 19\ngive a function"]),
        ("-c", "importing:cut", ["'chunkmark'; import chunkers, the module of chunkmark\n"]),
        (
            "-c",
            "failing:",
            ["'failing:'; write failing:cut, or another of its functions\n"],
        ),
        ("-c", "ast:", ["invalid spec 'ast:'; write ast or ast:key=value\n"]),
        ("-c", "sub/own:cut", ["unknown chunker 'sub/own'; write sub.own:cut\n"]),
        ("-c", "sub/own.py:cut", ["unknown chunker 'sub/own.py'; write sub.own:cut\n"]),
        (
            "-c",
            "failing.py",
            ["'failing.py'; write failing:cut, or another of its functions\n"],
        ),
        ("-c", "own_chunker.py", ["unknown chunker 'own_chunker.py'; write own_chunker:cut\n"]),
        ("-c", "own_chunker:", ["invalid spec 'own_chunker:'; write own_chunker:cut\n"]),
        ("-d", "repo:src queries=commits", ["by a comma: repo:src,queries=commits\n"]),
        ("-d", "near.csv", ["for questions of your own write repo:PATH,queries=near.csv\n"]),
        ("-d", "csv:near.csv", ["'csv:near.csv'; for questions of your own write repo:PATH,"]),
    ],
)
def test_a_part_of_ones_own_is_refused_with_what_to_write(folder, capsys, flag, spec, words):
    (folder / "failing.py").write_text(FAILING)
    (folder / "importing.py").write_text("import chunkmark\n\ndef cut(source): return []\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "own.py").write_text(FAILING)
    says(call(capsys, *RUN, *flag.split(), spec), 2, *words)


def test_a_fault_of_ones_own_retriever_is_not_taken_for_one_of_the_program(folder, capsys):
    lines = ["class Faulty:", " version, options, dense = '1', {}, False", " name = 'faulty'"]
    text = "\n".join([*lines, " def index(self, *_, **__): raise OSError(7)"])
    (folder / "faulty_retriever.py").write_text(text)
    done = call(capsys, *RUN[:3], "-c", "ast", "-r", "faulty_retriever:Faulty", "-o", "out")
    assert done.code == 70
    assert "OSError: 7\nsee " in done.err
    assert "faulty_retriever.py, line 4; `chunkmark --debug ...` shows the traceback" in done.err


def test_a_part_of_ones_own_without_an_attribute_is_named_with_its_class(folder, capsys):
    (folder / "lacking.py").write_text(
        "class Lacking:\n    def fingerprint(self, role): return ''\n"
    )
    done = call(capsys, *RUN[:3], "-c", "ast", "-e", "lacking:Lacking", "-o", "out")
    place = folder / "lacking.py"
    says(done, 2, f"class Lacking has no attribute 'renamed'; add it at {place}, line 1\n")


def test_the_line_of_the_users_own_code_is_named(folder, capsys):
    (folder / "failing.py").write_text(FAILING)
    why = "AttributeError: 'Source' object has no attribute 'content' (failing.py, line 2)"
    assert why in call(capsys, "chunk", "src/a.py", "-c", "failing:cut").err
    assert f"failed on a.py of repo:src: {why}" in call(capsys, *RUN, "-c", "failing:cut").err
    assert why in call(capsys, "check-chunker", "failing:cut").out


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_chunker_without_chunks_is_told_once(folder, capsys, form):
    done = call(capsys, *RUN, "-c", "own_chunker:cut", "--format", form)
    assert done.code == 3
    line = "own_chunker:cut on repo:src (bm25) returned no chunk for 1 file; it must return a"
    told = {"table": done.out, "json": done.err, "csv": done.err, "markdown": done.out}[form]
    assert f"not scored: {line}" in told.replace("`", "").replace("\\", "")
    assert done.err.count("\n") == (told == done.err)


def test_a_chunker_that_fails_is_named_and_the_code_is_3(folder, capsys):
    (folder / "failing.py").write_text("def cut(source):\n    raise ValueError('bad luck')\n")
    for other in ((), ("-c", "fixed")):
        done = call(capsys, "chunk", "src/a.py", "-c", "failing:cut", *other)
        says(done, 3, "failing:cut failed on a.py: ValueError: bad luck")
    done = call(capsys, "chunk", "src/a.py", "-c", "failing:cut", "--format", "json")
    assert (done.code, done.json["results"]) == (3, [])


@pytest.mark.parametrize("command", ["verify", "audit", "leaderboard", "compare"])
def test_a_run_without_a_scored_cell_says_why(folder, capsys, command):
    (folder / "failing.py").write_text(FAILING)
    assert call(capsys, *RUN[:5], "-c", "failing:cut", "-o", "out").code == 3
    says(call(capsys, command, "out"), 2, "out has no scored cell: failing:cut failed\n", "rerun")


def test_a_module_named_like_the_program_stops_no_worker(folder):
    (folder / "chunkers.py").write_text("x = 1\n")
    command = [Path(sys.executable).with_name("chunkmark"), "chunk", "src/a.py", "-c", "fixed"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
