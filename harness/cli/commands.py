"""The names of all commands; the module of a command is imported when it is called."""

from __future__ import annotations

import importlib
import os
import re
from collections import Counter
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from chunkers.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

COMMANDS = {
    "run": ("harness.cli.run:run", "Compare chunkers on data sets."),
    "list": (
        "harness.cli.listing:list_parts",
        "List chunkers, data sets and other parts, or show one in full.",
    ),
    "chunk": ("harness.cli.chunk:chunk", "Show how chunkers cut a file."),
    "check-chunker": ("harness.cli.check:check", "Test a chunker on difficult sources."),
    "cache": ("harness.cli.cache:cache", "Show or remove the stored vectors."),
    "doctor": ("harness.cli.doctor:doctor", "Check the installation, the model and the data."),
    "verify": (
        "harness.cli.verify:verify",
        "Recompute every number of a run and report differences.",
    ),
    "score": ("harness.cli.score:score", "Score the results of another system."),
    "compare": (
        "harness.cli.compare:compare",
        "Test whether the differences between chunkers are real.",
    ),
    "report": ("harness.cli.report:report", "Write runs as one HTML page."),
    "churn": (
        "harness.cli.churn:churn",
        "Count the chunks that must be embedded again after each commit.",
    ),
    "robust": (
        "harness.cli.robust:robust",
        "Measure how edits that keep the meaning of code affect retrieval.",
    ),
    "leaderboard": (
        "harness.cli.leaderboard:leaderboard",
        "Rank chunkers, embedders and retrievers over data sets.",
    ),
    "gate": ("harness.cli.gate:gate", "Fail if a mean is too low, or fell since another run."),
    "audit": ("harness.cli.audit:audit", "Audit a data set or a run for leaks and losses."),
    "dataset build": ("harness.cli.dataset:build", "Build a data set from a repository."),
    "dataset info": ("harness.cli.dataset:info", "Describe a data set and its known faults."),
    "dataset show": ("harness.cli.show:show", "Show queries and the lines that answer them."),
    "dataset fetch": ("harness.cli.dataset:fetch", "Fetch and check the files of a data set."),
    "dataset validate": (
        "harness.cli.validate:validate",
        "Validate a data set and estimate its statistical power.",
    ),
}
"""Function and summary of each command; the summary is the first line of the function's help."""

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
}


class LazyGroup(TyperGroup):
    """A group whose commands are stubs with a summary until one is called."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, with names of values for the help."""
        return _prepared(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command as typer does, and import it."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            before = f"{ctx.command_path} ".partition(" ")[2]
            flags = {name for each in self.get_params(ctx) for name in each.opts}
            hint = suggestion(args[0], self.commands, f"{ctx.command_path} --help")

            if f"--{args[0]}" in flags:
                hint = f"write {ctx.command_path} --{args[0]}"
            raise InputError(f"unknown command {before + args[0]!r}; {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        path = f"{ctx.command_path} {name}".partition(" ")[2]
        return name, load_command(path) if path in COMMANDS else command, rest


class Command(TyperCommand):
    """A command that refuses an option in place of a value, `-o -c ast`, or two values for one."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, with names of values for the help."""
        return _prepared(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line, with brackets around what is optional."""
        parameters = self.get_params(ctx)
        arguments = [p for p in parameters if p.param_type_name == "argument" and not p.hidden]
        names = [p.metavar or p.name.upper() for p in arguments]
        names = [
            name if each.required else f"[{name}]"
            for name, each in zip(names, arguments, strict=True)
        ]
        return ["[OPTIONS]", *names]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, once no value is missing."""
        options = [each for each in self.get_params(ctx) if each.param_type_name == "option"]
        flags = {name for each in options for name in (*each.opts, *each.secondary_opts)}
        valued = {name for each in options if not _is_flag(each) for name in each.opts}
        rest = iter(args)
        for word in rest:
            if word == "--":
                break
            if word in valued and (value := next(rest, "")) in flags:
                raise InputError(f"{word} needs a value before {value}")
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        for each in order:
            if "" in (values[each.name], *_listed(values[each.name])):
                raise InputError(f"{_shown(each)} is empty; give a value")
        for each, count in Counter(order).items():
            takes_values = each in options and (not _is_flag(each) or each.secondary_opts)
            if takes_values and count > 1 and not each.multiple:
                raise InputError(f"{_shown(each)} is given {count} times; give it once")
        return super().parse_args(ctx, args)


def _prepared(parameters: list[Any]) -> list[Any]:
    """Name values in capitals, where typer shows a Python type such as `<list[str]>`.

    Values that need no check are converted by `_PlainValues`.
    """
    for each in parameters:
        kind = getattr(each, "type_descriptor", None)
        if kind is None:
            continue  # earlier releases of typer name values in capitals, and need no pydantic
        typers = getattr(each, "get_runtime_param", None)
        if typers is not None and not isinstance(typers, _PlainValues):
            each.get_runtime_param = _PlainValues(typers)
        is_argument = each.param_type_name == "argument"
        choices = [str(getattr(one, "value", one)) for one in kind.choices or ()]
        is_wide = len("|".join(choices)) > _WIDEST  # the help would break it inside a word
        if is_wide and each.metavar is None:
            each.help = f"{each.help} One of {', '.join(choices[:-1])} and {choices[-1]}."
        if is_argument:
            each.metavar = each.metavar or each.name.upper()
            if is_wide or not kind.is_choice:
                each.display_type_rich = lambda ctx: None
        elif each.metavar is None and (is_wide or not kind.is_choice):
            number = kind.annotation in (int, float)
            long = max(each.opts, key=len).lstrip("-")
            each.metavar = "" if _is_flag(each) else "N" if number else long.upper()
    return parameters


_WIDEST = 20
"""Characters of choices that the help shows in place of a value's name."""

_PLAIN_NUMBER = re.compile("[0-9]{1,9}")


class _PlainValues:
    """Converts values of a parameter that need no check as typer does, and leaves others to typer.

    Typer imports pydantic for any value, which takes longer than most commands.

    Args:
        typers: Gives typer's own conversion.
    """

    def __init__(self, typers: Callable[[], Any]) -> None:
        self._typers = typers

    def __call__(self) -> _PlainValues:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The converted value, or several of them."""
        several, kind = param.multiple or param.nargs == -1, param.type_descriptor
        if value is None:
            return () if several else None
        if not several:
            plain = [_plain(value, kind.annotation, kind.parameter_info)]
        elif isinstance(value, list | tuple):
            (each_kind,) = get_args(kind.annotation)
            plain = [_plain(each, each_kind, kind.parameter_info) for each in value]
        else:
            plain = [None]
        if None in plain:
            return self._typers().coerce(value, param=param, ctx=ctx)
        return plain if several else plain[0]


def _plain(value: Any, kind: Any, info: Any) -> Any:
    """A text, a whole number, a path or a choice that is plainly valid; None for anything else."""
    if kind is str:
        return value if type(value) is str else None
    if kind is int and isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value):
        within = (info.min is None or int(value) >= info.min) and info.max is None
        return int(value) if within and not info.clamp else None
    if kind is Path:
        is_plain = os.access(value, os.R_OK) or not os.access(value, os.F_OK)
        return Path(value) if is_plain else None
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if value in (member, member.value)), None)
    return None


def _shown(parameter: Any) -> str:
    """An option with its flags, or the name of an argument."""
    is_option = parameter.param_type_name == "option"
    return "/".join(parameter.opts) if is_option else parameter.metavar or parameter.name.upper()


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def _is_flag(option: Any) -> bool:
    return bool(option.is_flag or option.count)


def load_command(path: str) -> Any:
    """Import a command.

    Args:
        path: A key of `COMMANDS`.
    """
    module, _, function = COMMANDS[path][0].partition(":")
    app = typer.Typer(**_SETTINGS)
    app.command(path.rpartition(" ")[2], cls=Command)(
        getattr(importlib.import_module(module), function)
    )
    return typer.main.get_command(app)


def _group(paths: Iterable[str], help_text: str, **settings: Any) -> typer.Typer:
    app = typer.Typer(
        cls=LazyGroup,
        no_args_is_help=True,
        help=help_text,
        **_SETTINGS,
        **settings,
    )
    for path in paths:
        app.command(path.rpartition(" ")[2], help=COMMANDS[path][1])(lambda: None)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        typer.echo(importlib.metadata.version("chunkmark"))
        raise typer.Exit


def _set_options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error that ends a command.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version
    if debug:
        os.environ["CHUNKMARK_DEBUG"] = "1"


app = _group(
    (path for path in COMMANDS if " " not in path),
    "Compare ways of cutting code into chunks for retrieval. Shows which chunker retrieves best, "
    "at what cost, and whether the difference is real.\n\n"
    "Exit codes: 0 success, 1 a check failed, 2 invalid input, 3 incomplete result, "
    "130 interrupted.",
    name="chunkmark",
    callback=_set_options,
)
app.add_typer(
    _group(
        (path for path in COMMANDS if " " in path),
        "Build, fetch, validate and describe data sets.",
    ),
    name="dataset",
)
