"""Runs a command; a failure ends in one or two lines and an exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import typer

from chunkers.errors import InputError
from harness.cli.commands import app
from harness.cli.signals import STOPPED

DONE, USAGE, FAULT, INTERRUPTED = 0, 2, 70, 130


def guarded(arguments: list[str]) -> int:
    """Run the program; its exit code. What goes wrong is said in one or two lines."""
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character shows a replacement; a result is never lost to it.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    # A module named on the command line may lie in the current folder, behind all others.
    sys.path.append(str(Path.cwd()))
    warnings.showwarning = _warn
    try:
        return _call(arguments)
    except InputError as error:
        return say(str(error), USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return say(STOPPED[signal.SIGINT], INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # the last resort: a fault of this program
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return say(
            f"unexpected {reason}\nrun `chunkmark --debug ...` again and report the traceback",
            FAULT,
        )


def _call(arguments: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="chunkmark", standalone_mode=False)
    except SystemExit as gone:
        if not isinstance(gone.__context__, BrokenPipeError):
            raise
        return DONE  # whoever read the output has gone
    except Exception as error:
        # typer's own usage errors, under whichever name it brings them.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "chunkmark"
        message = " ".join(error.format_message().split())
        return say(f"{message}\nsee {path} --help", USAGE) if message else USAGE
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # typer has made an exit code of it
    return code if isinstance(code, int) else DONE


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    text = " ".join(str(message).split())
    _to_stderr(f"chunkmark: warning: {''.join(map(_shown, text))}")


def say(message: str, code: int) -> int:
    """Write a message of two lines at most to standard error; gives the exit code back."""
    if os.environ.get("CHUNKMARK_DEBUG"):
        import traceback

        traceback.print_exc()
    first, *rest = message.split("\n")
    # Two lines at most, whatever names with line feeds a message quotes.
    lines = [f"chunkmark: {first}", *([" ".join(rest)] if rest else [])]
    _to_stderr("\n".join("".join(_shown(c) for c in line) for line in lines))
    return code


def _to_stderr(text: str) -> None:
    # Whoever read it may have gone; that is no reason to do anything else.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _shown(mark: str) -> str:
    return mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}"
