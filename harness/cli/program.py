"""Runs a command; a failure ends in one or two lines and an exit code."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from chunkers.errors import (
    FailedError,
    InputError,
    UnknownOptionError,
    UnknownPartError,
    class_without,
    did_you_mean,
    place_of,
    suggestion,
)
from harness.cli.commands import COMMANDS, app, load_command
from harness.cli.output import HELP, PARTIAL, with_option
from harness.cli.signals import STOPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        code = PARTIAL if isinstance(error, FailedError) else USAGE
        return say(_better(error, arguments) or str(error), code)
    except (KeyboardInterrupt, typer.Abort):
        return say(STOPPED[signal.SIGINT], INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has closed it; nothing may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # a bug
        if lacking := class_without(error):
            return say(f"class {lacking}", USAGE)
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        advice = "rerun with `chunkmark --debug ...` and report the traceback"
        if own := place_of(error):  # a bug in a part of the user's own
            advice = f"see {own}; `chunkmark --debug ...` shows the traceback"
        return say(f"unexpected {reason}\n{advice}", FAULT)


def _better(error: InputError, arguments: list[str]) -> str:
    """The message on a part of another kind, or on an option of the command in a spec; or empty."""
    if isinstance(error, UnknownPartError) and error.name:
        from harness.datasets.suites import of_another_kind

        has_flags = arguments[0].lstrip("-") in ("run", "robust")
        return of_another_kind(error.name, error.kind, has_flags=has_flags)
    if isinstance(error, UnknownOptionError) and error.key in HELP:
        flag, path = f"--{error.key.replace('_', '-')}", _path(arguments)
        if path in COMMANDS and any(flag in each.opts for each in load_command(path).params):
            return f"{error.part} has no option {error.key}; write {flag} {error.value}"
    return ""


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
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is printed
            return DONE
        message, needs_help = _usage_message(error, _path(arguments))
        help_line = f"\nsee `{_command_path(error, arguments)} --help`" if needs_help else ""
        return say(f"{message}{help_line}", USAGE) if message else USAGE
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # typer turns an interrupt into an exit code
    return code if isinstance(code, int) else DONE


def _command_path(error: Any, arguments: list[str]) -> str:
    """The command whose help a usage error points to; some errors do not know theirs."""
    context = getattr(error, "ctx", None)
    if context is not None and context.parent is not None:
        return str(context.command_path)
    return f"chunkmark {_path(arguments)}".rstrip()


def _path(arguments: list[str]) -> str:
    """The command that arguments begin with, such as `run` or `dataset build`; or empty."""
    words = [word for word in arguments if not word.startswith("-")]
    paths = (" ".join(words[:2]), *words[:1])
    group = "dataset" if words[:1] == ["dataset"] else ""
    return next((path for path in paths if path in COMMANDS), group)


_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((?P<words>.*)\)")
_VALUE = re.compile(r"Option (?P<option>'[^']*').*(?P<verb>requires|does not take).*")


def _usage_message(error: Any, path: str) -> tuple[str, bool]:
    """A usage error in the style of the other messages, and whether help should be read.

    `path` is the command, or empty.
    """
    message = " ".join(error.format_message().replace("Value error, ", "").split())
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    if kind == "NoSuchOption":
        return _unknown_option(error), False
    if extra := _EXTRA.fullmatch(message):
        return _surplus(error.ctx, extra["words"].split())
    if value := _VALUE.fullmatch(message):
        option = value["option"][1:-1]
        if value["verb"] == "requires" and path in COMMANDS:
            return f"{option} needs a value; write {option} {_value_name(path, option)}", False
        message = f"{option} {'needs a' if value['verb'] == 'requires' else 'takes no'} value"
    elif parameter is not None:
        name = parameter.opts[-1]
        name = name if name.startswith("-") else (parameter.metavar or name).upper()
        cause = error.__cause__ or error.__context__
        if kind == "MissingParameter":
            name += f" {parameter.metavar}" if name.startswith("-") and parameter.metavar else ""
            choices = message.partition("Choose from: ")[2]
            what = (parameter.help or "").partition(";")[0]
            what = what and f": {what[0].lower()}{what[1:].rstrip('.')}"
            message = f"{name} is missing{what}{choices and f'; choose from {choices}'}"
        elif hasattr(cause, "errors"):  # typer checks values by pydantic
            return _value_message(parameter, name, cause.errors()[0]) or message, False
    return message, True


def _value_name(path: str, option: str) -> str:
    """What the help of a command calls the value of an option, or its choices."""
    command: Any = load_command(path)
    parameters = command.get_params(command.context_class(command))
    parameter = next(each for each in parameters if option in each.opts)
    kind = getattr(parameter, "type_descriptor", None)
    choices = kind.choices if kind is not None and kind.is_choice else ()
    return "|".join(str(getattr(one, "value", one)) for one in choices) or parameter.metavar


_SURPLUS = (
    ("audit", ".*", "audit one run at a time"),
    ("cache", "info|clear", "give one action at a time"),
    ("cache", ".*", "write --model {} for one model"),
    ("chunk", ".*", "give one file at a time"),
    ("gate", ".*", "write --against {} --max-drop MEASURE=DROP to compare with a run"),
    ("show", "[0-9]+", "write --sample {} for a number of queries"),
    ("show", ".*", "write --query {} for one query"),
)
"""What to do with an argument too many: a command, a pattern of the argument, and the advice."""


def _surplus(context: Any, words: list[str]) -> tuple[str, bool]:
    """The message on arguments too many, and whether help should be read."""
    if misplaced := _value_of_flag(context, words) or _misplaced_part(context, words):
        return misplaced, False
    command, values = context.command.name, context.params
    _, *names = context.command.collect_usage_pieces(context)
    advice = _split_bound(values, words)
    for name, pattern, text in _SURPLUS:
        if not advice and name == command and re.fullmatch(pattern, words[0]):
            advice = text.format(words[0])
    if "=" in words[0] and command in ("run", "robust", "churn"):
        advice = with_option(words[0], values.get("chunkers") or values.get("chunker"))
    message = f"too many arguments: {' '.join(words)}; "
    message += f"{command} takes {' '.join(names) or 'no arguments'}"
    return message + (advice and f"; {advice}"), not advice


def _split_bound(values: Mapping[str, Any], extra: list[str]) -> str:
    """How to write a bound of `gate` that was given as several words; empty without one."""
    number = "".join(extra).lstrip("<>=")
    for option, flag, operator in (("minimum", "--min", ">"), ("max_drop", "--max-drop", "=")):
        measure = (values.get(option) or [""])[-1].rstrip("<>= ")
        if measure and not re.search("[<>=]", measure) and re.fullmatch(r"[\d.]+%?", number):
            return f"write {flag} '{measure}{operator}{number}'"
    return ""


def _value_of_flag(context: Any, extra: list[str]) -> str:
    """What to do with a value that is given to a flag, such as `--whole yes`; empty without one."""
    flags = [
        each.opts[-1]
        for each in context.command.get_params(context)
        if getattr(each, "is_flag", False) and context.params.get(each.name)
    ]
    if flags and extra[0].lower() in ("yes", "no", "on", "off", "true", "false", "1", "0"):
        return f"{' and '.join(flags)} takes no value; remove {extra[0]}"
    return ""


def _misplaced_part(context: Any, extra: list[str]) -> str:
    """What to do with the names of parts that are given as arguments; empty without one."""
    from harness.datasets.suites import part_of

    parameters = context.command.get_params(context)
    flags = {name for each in parameters for name in each.opts}
    arguments = [each.name for each in parameters if each.param_type_name == "argument"]
    values = [context.params.get(name) for name in arguments]
    given = [str(value) for value in values if isinstance(value, Path)]
    words = [name for name in given if not Path(name).exists()] + extra
    found = {word: part for word in words if (part := part_of(word)) and part.flag in flags}
    named = ", ".join(f"{word} is {part}" for word, part in found.items())
    kinds = {part.kind for part in found.values()}
    if len(found) > 1 and len(kinds) == 1:
        named = f"{', '.join(found)} are {kinds.pop()}s"
    flagged = " ".join(part.option for part in found.values())
    return named and f"{named}; write {flagged}"


_SPEC = "it is an option of chunkers; write it in a spec, as in -c fixed:{key}=VALUE"
_ENCODING = "it is an option of the data set: -d 'repo:PATH,encoding=*.py=cp1251'"
_INSTEAD = (
    ("--debug --version", "--help", "write it before the command: chunkmark {option} {command}"),
    ("-h", "--help", "write --help"),
    ("-v", "--version", "write --version"),
    ("--max-size --overlap --header --unit", "--chunker", _SPEC),
    ("--chunk-size --size", "--chunker", "write it in a spec, as in -c fixed:max_size=300"),
    ("--chunk-overlap", "--chunker", "write it in a spec, as in -c fixed:overlap=20"),
    ("--top-k --k", "--depth", "did you mean --depth?"),
    ("--output --file", "--out", "did you mean --out?"),
    ("--metric --metrics --primary", "--measure", "did you mean --measure?"),
    ("--model", "--embedder", "did you mean --embedder?"),
    ("--budget", "--measure", "a budget is part of a measure, as in -m SpanR@2500c"),
    ("-r", "churn", "churn ranks nothing; remove it"),
    ("-o --out", "robust", "robust writes no run folder; save what it prints by --format json"),
    ("-m --measure", "robust", "its measures are SpanR@10000c and Hit@10"),
    ("--suite", "run", "the suite is an argument: chunkmark run SUITE"),
    ("--encoding", "run", _ENCODING),
    ("--encoding", "robust", _ENCODING),
    ("--queries", "--dataset", "it is an option of the data set: -d repo:PATH,queries=QUERIES"),
    (
        "-c --chunker",
        "RUN...",
        "the chunkers are those of the run; choose them by `chunkmark run -c`",
    ),
)
"""Options that a command may lack, a parameter of the command or its name, and what to do there."""


def _unknown_option(error: Any) -> str:
    """The message on an unknown option: what to write instead, similar options, or all of a few."""
    command, path, option = error.ctx.command, error.ctx.command_path, error.option_name
    parameters = command.get_params(error.ctx)
    known = {name for each in parameters for name in (*each.opts, each.metavar)}
    words = {
        "option": option,
        "key": option.lstrip("-").replace("-", "_"),
        "command": path.partition(" ")[2],
    }
    for options, place, advice in _INSTEAD:
        if option.replace("_", "-") in options.split() and place in (command.name, *known):
            return f"unknown option {option}; {advice.format_map(words)}"
    # The dashes would make all options alike.
    names = [name[2:] for each in parameters for name in each.opts if name.startswith("--")]
    names.remove("help")
    bare = option.lstrip("-")
    if hint := did_you_mean(bare, names, mark="--"):
        return f"unknown option {option}; {hint}"
    hint = suggestion(bare, names, f"{path} --help", mark="--")
    if hasattr(command, "commands"):
        hint = "options come after the name of a command, as in `chunkmark run -c ast`"
    return f"unknown option {option}; {hint}"


def _value_message(parameter: Any, name: str, fault: Any) -> str:
    """A wrong value with its option and the rule; empty for a rule that is not known here."""
    value = fault["input"]
    least = parameter.min if parameter.min is not None else _least(parameter.name)
    if fault["type"] in ("int_parsing", "float_parsing"):
        kind = "a whole number" if fault["type"] == "int_parsing" else "a number"
        of = "" if least is None else f" of at least {least:g}"
        share = (
            re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", str(value)) if kind == "a number" else None
        )
        example = f"; write {float(share[1]) / 100:g}" if share else ""
        if span := re.fullmatch(r"([0-9]+) ?(s|m|min|h)", str(value)):
            seconds = int(span[1]) * {"s": 1, "h": 3600}.get(span[2], 60)
            example = f"; write {seconds} for seconds" if "timeout" in parameter.name else ""
        return f"{name} must be {kind}{of}, not {value!r}{example}"
    if fault["type"] == "greater_than_equal":
        return f"{name} must be at least {least:g}, not {value}"
    if choices := re.fullmatch(r".* is not one of (.*)\.", fault["msg"]):
        names = re.findall(r"'([^']*)'", choices[1])
        if len(names) == 1:
            return f"{name} takes only the value {names[0]}, not {value!r}"
        title = name if name.startswith("-") else name.lower()
        hint = _listed_part(value, names) if title == "kind" else ""
        return hint or f"unknown {title} {value!r}; {suggestion(value, names)}"
    return ""


def _listed_part(name: str, kinds: list[str]) -> str:
    """How `list` shows a part that is given in place of its kind; empty for another name."""
    from harness.datasets.suites import part_of

    part = part_of(name)
    if part is None:
        return ""
    (kind,) = (kind for kind in kinds if kind[:-1] == part.kind.replace(" ", ""))
    return f"{name} is {part}; write chunkmark list {kind} {name.partition(':')[0]}"


def _least(name: str) -> int | None:
    """The least value of an option of `run`, which is checked after parsing."""
    from dataclasses import fields

    from harness.runs.config import RunConfig

    option = next((field for field in fields(RunConfig) if field.name == name), None)
    # Options that must be above their bound say so themselves.
    return None if option is None or option.type == "float" else option.metadata["least"]


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
