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
    """Run the program and return its exit code; an error is one or two lines."""
    for stream in (sys.stdout, sys.stderr):
        # No result is lost to a console that cannot show a character.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    # A chunker may be a module in the current folder, which shadows no other.
    sys.path.append(str(Path.cwd()))
    warnings.showwarning = _warn
    try:
        return _call(arguments)
    except InputError as error:
        return say(str(error), USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return say(STOPPED[signal.SIGINT], INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has closed it; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # a bug in this program
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return say(
            f"unexpected {reason}\nrerun with `chunkmark --debug ...` and report the traceback",
            FAULT,
        )


def _call(arguments: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="chunkmark", standalone_mode=False)
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return DONE
    except Exception as error:
        # A usage error; its class depends on the release of typer.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "chunkmark"
        message = " ".join(error.format_message().replace("Value error, ", "").split())
        return say(f"{message}\nsee `{path} --help`", USAGE) if message else USAGE
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # typer turns an interrupt into an exit code
    return code if isinstance(code, int) else DONE


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    text = " ".join(str(message).split())
    _to_stderr(f"chunkmark: warning: {''.join(map(_shown, text))}")


def say(message: str, code: int) -> int:
    """Write a message of at most two lines to standard error, and return the exit code."""
    if os.environ.get("CHUNKMARK_DEBUG"):
        import traceback

        traceback.print_exc()
    first, *rest = message.split("\n")
    # A quoted name may hold line feeds.
    lines = [f"chunkmark: {first}", *([" ".join(rest)] if rest else [])]
    _to_stderr("\n".join("".join(_shown(c) for c in line) for line in lines))
    return code


def _to_stderr(text: str) -> None:
    # The reader may have closed it.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _shown(mark: str) -> str:
    return mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}"
