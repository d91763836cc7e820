"""Any program is a chunker; whatever goes wrong with it concerns one file."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunkers import InputError, LoadedChunker, Services, Source, Span, list_chunkers, load_chunker
from chunkers.plugins.spec import Spec
from chunkers.processes.isolation import Limits, LoadTarget, Worker
from chunkers.testing import check_chunker

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests/support/answers.py"
GOOD, BAD = "x = 1\ny = 2\n", "bad\n"


def spec(mode: str, **options: object) -> Spec:
    given = {"command": f"'{sys.executable}' '{PROGRAM}' {mode}"} | options
    return Spec("process", None, tuple((key, str(value)) for key, value in given.items()))


def cut(chunker: LoadedChunker, text: str, services: Services | None = None) -> list[Span]:
    return chunker.chunk(Source(text, "folder/a.py", "python"), services or Services())


def failure(chunker: LoadedChunker, text: str = BAD) -> str:
    with pytest.raises(InputError) as raised:
        cut(chunker, text)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_offsets_lines_and_texts_are_chunks():
    text = "é = '🐍'\n\n  y = 2\r\n\nz"
    assert cut(load_chunker(spec("offsets")), text) == [Span(0, len(text))]
    lines = cut(load_chunker(spec("lines")), text)
    assert [text[one.start : one.end] for one in lines] == text.splitlines(keepends=True)
    texts = cut(load_chunker(spec("texts")), text)
    assert [text[one.start : one.end] for one in texts] == ["é = '🐍'", "y = 2", "z"]


def test_a_text_that_is_not_found_is_noted():
    services = Services()
    answer = r'{"chunks": [{"text": "bad"}, {"text": "n\u006fwhere"}]}'
    assert cut(load_chunker(spec("answer")), f"bad {answer}", services) == [Span(0, 3)]
    assert services.notes == {"unlocated": 1}


def test_the_program_is_told_path_text_and_options():
    options = json.dumps({"depth": 2, "unit": "mine"})
    chunker = load_chunker(spec("echo", max_size=80, options=options))
    assert (chunker.max_size, chunker.unit) == (80, "chars")
    said = failure(chunker)
    assert '\'{"path": "folder/a.py", "text": "bad\\\\n", "options": {"max_size": 80,' in said


def test_one_process_serves_all_sources():
    chunker = load_chunker(spec("error"))
    for _ in range(4):
        assert len(cut(chunker, GOOD)) == 1
    assert failure(chunker) == f"{sys.executable} reports 'beyond me, after 5'"
    assert failure(chunker) == f"{sys.executable} reports 'beyond me, after 6'"


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("hang", "it took over 1 s; its standard error ends with 'now it hangs'"),
        ("crash", "it died of SIGABRT; its standard error ends with 'last words'"),
        ("leave", "it left with exit code 4"),
        ("half", "it left with exit code 0 in the middle of a line"),
        ("garbage", "it sent invalid JSON, 'Traceback\\x1b[31m (most'"),
        ("flood", "its reply is longer than 4194"),
        ("twice", "it sent more than one line, '{\"chunks\": []}'"),
    ],
)
def test_what_goes_wrong_fails_that_file_and_a_fresh_process_reads_the_next(mode, says):
    chunker = load_chunker(spec(mode, timeout=1 if mode == "hang" else 20))
    for _ in range(2):
        assert len(cut(chunker, GOOD)) == 1
        assert says in failure(chunker)
    assert len(cut(chunker, GOOD)) == 1


def test_a_line_that_nobody_asked_for_is_no_answer_to_the_next_file():
    chunker = load_chunker(spec("late"))
    assert cut(chunker, BAD) == []
    time.sleep(1)
    assert "it wrote 'Bye' without a request" in failure(chunker, GOOD)
    assert len(cut(chunker, GOOD)) == 1


def test_any_amount_of_standard_error_disturbs_nothing():
    chunker = load_chunker(spec("shout"))
    for _ in range(2):
        assert cut(chunker, BAD) == [Span(0, 4)]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("[]", "it sent '[]', not {\"chunks\": [...]}"),
        ("{}", "it sent '{}', not"),
        ('{"chunks": null}', 'not {"chunks"'),
        ('{"chunks": ["a"]}', "chunk 1 is '\"a\"'; start, start_line or text is missing"),
        ('{"chunks": [{"begin": 0}]}', "chunk 1 is"),
        ('{"chunks": [{"start": 0}]}', "chunk 1 is '{\"start\": 0}'; like chunk 1 it needs"),
        ('{"chunks": [{"start": 0, "end": 1.0}]}', "integers"),
        ('{"chunks": [{"start": true, "end": 1}]}', "integers"),
        ('{"chunks": [{"start": 0, "end": 99}]}', "offsets must be within 0 to"),
        ('{"chunks": [{"start": -1, "end": 2}]}', "offsets must be within 0 to"),
        (
            '{"chunks": [{"start": 2, "end": 3}, {"start": 0, "end": 1}]}',
            "starts before the previous",
        ),
        ('{"chunks": [{"start_line": 0, "end_line": 1}]}', "of lines 0 to 1; the text has 1 to 1"),
        ('{"chunks": [{"start_line": 1, "end_line": 2}]}', "of lines 1 to 2; the text has 1 to 1"),
        ('{"chunks": [{"text": "bad"}, {"start": 0, "end": 1}]}', "chunk 2 is"),
        ('{"chunks": [{"text": 3}]}', "a string"),
    ],
)
def test_an_answer_that_is_no_list_of_chunks_is_refused(answer, says):
    assert says in failure(load_chunker(spec("answer")), f"bad {answer}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"command": "no-such-program-anywhere x"}, "there is no such program"),
        ({"command": " "}, "there is no such program"),
        ({"command": "python 'x"}, "No closing quotation"),
        ({"max_size": 0}, "max_size=0"),
        ({"timeout": 0}, "timeout=0"),
        ({"overlap": -1}, "overlap=-1"),
        ({"options": "{"}, "options='{'"),
        ({"options": "[]"}, "must be a JSON object"),
        ({"unit": "bytes"}, "nws, chars, tokens"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(options, says):
    with pytest.raises(InputError, match=says.replace("[", r"\[").replace("{", r"\{")):
        load_chunker(spec("offsets", **options))


def test_it_is_listed_and_needs_a_command(recwarn):
    (listed,) = (one for one in list_chunkers() if one.name == "process")
    assert (listed.problem, listed.version) == ("", "")
    assert [one for one in recwarn.list if one.category is UserWarning] == []
    with pytest.raises(
        InputError, match="chunker process needs the option command; write process:command=VALUE"
    ):
        load_chunker("process")


def test_the_version_follows_the_command_and_the_files_that_it_names(tmp_path):
    script = tmp_path / "chunk.py"
    script.write_text("1")
    seen = set()
    for content, more in (("1", ""), ("2", ""), ("2", " x")):
        script.write_text(content)
        command = f"python3 {script}{more}"
        seen.add(load_chunker(Spec("process", None, (("command", command),))).version)
    assert len(seen) == 3
    named = Spec("process", None, (("command", f"python3 {script}"), ("version", "2.0")))
    assert load_chunker(named).version.startswith("2.0 command ")
    # The path is of a temporary folder; the name of the chunker holds it as it was written.
    assert load_chunker(str(named)).name == str(named)


def running() -> list[str]:
    """Programs that run in mode `hang`."""
    found = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    return [line for line in found.stdout.splitlines() if f"hang {os.getpid()}" in line]


def test_no_program_outlives_its_chunker():
    chunker = load_chunker(spec(f"hang {os.getpid()}"))
    cut(chunker, GOOD)
    assert len(running()) == 1
    del chunker
    assert running() == []


def test_a_program_that_hangs_ends_with_the_process_that_asked_it():
    target = LoadTarget(str(spec(f"hang {os.getpid()}", timeout=100)))
    with Worker(target, Limits(seconds=2.0)) as worker:
        assert worker.cut(Source(BAD, "a", None)).failure.kind == "timeout"
        assert running() == []


def test_the_kit_passes_a_right_program_and_names_what_a_wrong_one_does():
    quick = {"programs": 1, "languages": ["python"]}
    check_chunker(spec("offsets"), **quick).raise_for_failures()
    report = check_chunker(spec("texts"), **quick)
    assert report.ok, str(report)


def node() -> str:
    for folder in (None, str(Path(sys.executable).parent)):
        found = shutil.which("node", path=folder)
        if found:
            return found
    pytest.skip("node is not installed")


def test_the_chunker_in_javascript_conforms_and_is_told_its_limit():
    script = ROOT / "docs/examples/javascript-chunker/serve.mjs"
    command = f"'{node()}' '{script}'"
    named = Spec("process", None, (("command", command), ("max_size", "200")))
    text = "".join(f"# é 🐍 {at}\nx = {at}\n\n" for at in range(100))
    chunker = load_chunker(named)
    spans = cut(chunker, text)
    assert "".join(text[one.start : one.end] for one in spans) == text
    assert len(spans) > 5
    assert max(one.end - one.start for one in spans) <= 200
    plain = Spec("process", None, (("command", command),))
    check_chunker(plain, programs=2, languages=["javascript", None]).raise_for_failures()


def test_the_page_shows_a_command_that_runs():
    page = (ROOT / "docs/process-chunkers.md").read_text("utf-8")
    command = page.split("```\n")[1].split("\n")[0]
    name, *rest = shlex.split(command.replace("FILE", "chunkers/plugins/spec.py"))
    assert name == "chunkmark"
    path = os.pathsep.join((str(Path(node()).parent), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *rest, "--format", "json"],
        cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["health"]["coverage"] == 1.0
    assert len(result["chunks"]) > 3
