"""A signal at any moment ends the program in one line, with its own exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[2] / "support"
# From here on the program's own code runs; the interpreter before it knows of no program.
BEGUN = (
    "import sys; import harness.cli.main as program; program.on_signals(program.leave);"
    "print('begun', flush=True); program.main()"
)


def begun(folder, *arguments):
    """The program, when its first line has run."""
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", BEGUN, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores SIGINT, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process, number):
    """Send a signal; the exit code and the lines of standard error."""
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return process.returncode, said.splitlines()


@pytest.mark.parametrize("seconds", [0, 0.15, 0.4])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_it_starts_ends_it_in_one_line(tmp_path, seconds, number, code):
    (tmp_path / "a.py").write_text("x = 1\n")
    process = begun(tmp_path, "chunk", "a.py", "-c", "fixed")
    time.sleep(seconds)
    left, said = ended(process, number)
    if seconds and not left:
        assert said == []  # it was done before
        return
    verb = "interrupted" if code == 130 else "terminated"
    assert (left, said) == (code, [f"chunkmark: {verb}; rerun the command to resume"])


@pytest.mark.parametrize(
    "code",
    [
        # CPython leaves by the signal where an exec of a string was interrupted.
        "exec(\"import pathlib, time; pathlib.Path('here').touch(); time.sleep(60)\")",
        "class Slow:\n    def __del__(self):\n        pathlib.Path('here').touch()\n"
        "        time.sleep(60)\nSlow()\ntime.sleep(60)",
        "try:\n    pathlib.Path('here').touch(); time.sleep(60)\nexcept Exception: pass",
    ],
)
def test_an_interrupt_in_code_that_is_imported_ends_it_the_same_way(tmp_path, code):
    (tmp_path / "slow.py").write_text(f"import pathlib, time\n{code}\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    process = begun(tmp_path, "chunk", "a.py", "-c", "slow:made")
    deadline = time.monotonic() + 60
    while not (tmp_path / "here").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    left, said = ended(process, signal.SIGINT)
    assert (left, len(said)) == (130, 1)
    assert said[0].startswith("chunkmark: interrupted")


def test_a_program_that_was_told_to_ignore_interrupts_does(tmp_path):
    command = [sys.executable, "-c", BEGUN, "list", "--format", "json"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509
    )
    assert process.stdout.readline() == "begun\n"
    assert ended(process, signal.SIGINT) == (0, [])


@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        (["list"], "stdout", 0),
        (["--help"], "stdout", 0),
        (["chunk", "a.py", "--format", "json"], "stdout", 0),
        (["chunk", "a.py", "-c", "nowhere"], "stderr", 2),
    ],
)
def test_output_that_nobody_reads_is_no_failure(tmp_path, arguments, closed, code):
    (tmp_path / "a.py").write_text("x = 1\n")
    read, write = os.pipe()
    os.close(read)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: write}
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments], cwd=tmp_path, check=False, **pipes
    )
    os.close(write)
    assert done.returncode == code
    assert not done.stderr
