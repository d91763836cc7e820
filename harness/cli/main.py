"""The program `chunkmark`: commands, and how a failure ends."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from chunkers.errors import InputError
from harness.cli import (
    audit,
    cache,
    check,
    chunk,
    dataset,
    doctor,
    gate,
    listing,
    run,
    score,
    verify,
)

DONE, USAGE, FAULT, INTERRUPTED, TERMINATED = 0, 2, 70, 130, 143

app = typer.Typer(
    name="chunkmark",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Which way of cutting code into chunks retrieves best, and is the difference real?",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(importlib.metadata.version("chunkmark"))
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version
    if debug:
        os.environ["CHUNKMARK_DEBUG"] = "1"


app.command("run")(run.run)
app.command("list")(listing.list_parts)
app.command("chunk")(chunk.chunk)
app.command("check-chunker")(check.check)
app.command("cache")(cache.cache)
app.command("doctor")(doctor.doctor)
app.command("verify")(verify.verify)
app.command("score")(score.score)
app.command("gate")(gate.gate)
app.command("audit")(audit.audit)
app.add_typer(dataset.app, name="dataset")


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    sys.exit(_guarded(sys.argv[1:] if arguments is None else arguments))


def _guarded(arguments: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character shows a replacement; a result is never lost to it.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    # A module named on the command line may lie in the current folder, behind all others.
    sys.path.append(str(Path.cwd()))
    warnings.showwarning = _warn
    if threading.current_thread() is threading.main_thread():
        # An exception, so that what this program has started ends with it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        return _call(arguments)
    except InputError as error:
        return _say(str(error), USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted; the same command goes on where it stopped", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # the last resort: a fault of this program
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return _say(
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
        return _say(f"{message}\nsee {path} --help", USAGE) if message else USAGE
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # typer has made an exit code of it
    return code if isinstance(code, int) else DONE


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    text = " ".join(str(message).split())
    sys.stderr.write(f"chunkmark: warning: {''.join(map(_shown, text))}\n")


def _say(message: str, code: int) -> int:
    if os.environ.get("CHUNKMARK_DEBUG"):
        import traceback

        traceback.print_exc()
    first, *rest = message.split("\n")
    # Two lines at most, whatever names with line feeds a message quotes.
    lines = [f"chunkmark: {first}", *([" ".join(rest)] if rest else [])]
    sys.stderr.write("\n".join("".join(_shown(c) for c in line) for line in lines) + "\n")
    return code


def _shown(mark: str) -> str:
    return mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}"
