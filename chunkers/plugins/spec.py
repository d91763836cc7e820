"""The spec grammar, for chunkers, data sets, embedders, retrievers and profiles with options.

    spec  := name [":" item {"," item}]
    item  := key "=" value            the first item may be a bare argument instead

The argument and values may be JSON strings, for instance to contain a comma. `a|b|c` is a sweep. An
unregistered name followed by `:identifier` is a Python object, `module:attr` (see the registry).
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import json
import math
import re
import sys
import types
import typing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from chunkers.errors import InputError, UnknownOptionError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ARGUMENTS = {
    "beir": "folder", "built": "folder", "openai": "model", "repo": "path", "rerank": "model",
    "st": "model", "vectors": "folder",
}  # fmt: skip
"""What the bare argument of a part is."""

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST = 2**31 - 1  # of whole numbers, so that no sum of sizes overflows
_PLAIN = re.compile(r'[^",|]*')
_BLANK = re.compile(rf"\s+(?={_KEY.pattern}\s*=)")
_SEVERAL = re.compile(r"[\w-]+([, |]\s*[\w-]+)+")
_UNCOLONED = re.compile(rf"(?P<name>[\w-]+)[\s,;(]+(?P<options>{_KEY.pattern}=[^()]*)\)?")
_JOINED = re.compile(rf"[;\s]+(?P<key>{_KEY.pattern})=")
"""Another option in a value, after a blank or a semicolon."""

_STRING = json.JSONDecoder(strict=True)


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec, with `options` in the order written. `str()` adds quotes if needed."""

    name: str
    argument: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    def without(self, *keys: str) -> Spec:
        """The spec without some options."""
        return replace(self, options=tuple(item for item in self.options if item[0] not in keys))

    def with_option(self, key: str, value: str) -> Spec:
        """The spec with another option, at its end."""
        return replace(self, options=(*self.options, (key, value)))

    def __str__(self) -> str:
        items = [] if self.argument is None else [_quoted(self.argument)]
        items += [f"{key}={_quoted(value)}" for key, value in self.options]
        # After `module:attr` the colon is used up.
        mark = "," if ":" in self.name else ":"
        return self.name + (mark + ",".join(items) if items else "")


def parse_spec(text: str) -> Spec:
    """Parse one spec.

    Raises:
        InputError: The spec is invalid, repeats a key, or holds a sweep.
    """
    specs = expand_spec(text)
    if len(specs) > 1:
        raise InputError(f"{text!r}: give one value; a|b is allowed only with -c")
    return specs[0]


def expand_spec(text: str) -> tuple[Spec, ...]:
    """Parse a spec and expand its sweeps, the last key varying fastest."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"invalid spec {text!r}: not UTF-8") from None
    name, colon, rest = text.partition(":")
    if _SEVERAL.fullmatch(name):
        named = ", ".join(f"one for {part}" for part in re.split(r"[, |]\s*", name))
        named += "; a|b is for the values of an option" if "|" in name else ""
        raise InputError(f"{text!r} names several parts; repeat the option: {named}")
    if not name or name != name.strip() or any(mark in name for mark in ",=|"):
        form = (text.startswith("=") and text.lstrip("=")) or "name or name:key=value,key=value"
        if match := _UNCOLONED.fullmatch(text):
            form = f"{match['name']}:{match['options']}"
        raise InputError(f"invalid spec {text!r}; write {form}")
    if not colon:
        return (Spec(name),)
    if not rest and name in _ARGUMENTS:
        raise InputError(f"{name}: {_argument_missing(name)}")
    if not rest:
        own = Path(f"{name}.py")
        form = part_to_write(own) if own.is_file() else "key=value"
        alone = f"{name} or " if form == "key=value" else ""
        raise InputError(f"invalid spec {text!r}; write {alone}{name}:{form}")
    argument: str | None = None
    sweeps: list[tuple[str, list[str]]] = []
    for number, (key, values) in enumerate(_items(text, rest)):
        if key is None:
            if number > 0 or len(values) > 1:
                advice = _keyed(text, values[0], after_key=bool(sweeps))
                raise InputError(f"{text!r}: {values[0]!r} is not key=value; {advice}")
            argument = values[0]
        elif any(key == seen for seen, _ in sweeps):
            several = "" if name in _ARGUMENTS else f"; write several values of it as {key}=A|B"
            raise InputError(f"{text!r}: duplicate key {key!r}; give it once{several}")
        else:
            sweeps.append((key, values))
    keys = [key for key, _ in sweeps]
    chosen = itertools.product(*(values for _, values in sweeps))
    return tuple(Spec(name, argument, tuple(zip(keys, values, strict=True))) for values in chosen)


def _keyed(text: str, value: str, *, after_key: bool) -> str:
    """How to write a value without a key, which may be one of several of the key before it."""
    form = f"{value}=VALUE" if _KEY.fullmatch(value) else f"KEY={value}"
    if not after_key or _KEY.fullmatch(value) or text.partition(":")[0] in _ARGUMENTS:
        return f"write {form}, as in fixed:max_size=300"
    several = text.replace(f",{value}", f"|{value}", 1)
    return f"write {form}; several values of one key are written {several!r}"


def _items(text: str, rest: str) -> list[tuple[str | None, list[str]]]:
    items: list[tuple[str | None, list[str]]] = []
    at = 0
    while True:
        if _BLANK.match(rest, at):
            blank = re.compile(rf"(?<=[:,]){_BLANK.pattern}")
            raise InputError(f"{text!r}: blank before an option; write {blank.sub('', text)}")
        match = _KEY.match(rest, at)
        key = None
        if match and rest[match.end() : match.end() + 1] == "=":
            key, at = match.group(), match.end() + 1
        values = []
        while True:
            value, at = _value(text, rest, at)
            values.append(value)
            if rest[at : at + 1] != "|" or key is None:
                break
            at += 1
        items.append((key, values))
        if at == len(rest):
            return items
        if rest[at] != ",":
            raise InputError(f"invalid spec {text!r}: expected a comma before {rest[at:]!r}")
        at += 1


def _value(text: str, rest: str, at: int) -> tuple[str, int]:
    if rest[at : at + 1] == '"':
        try:
            value, end = _STRING.raw_decode(rest, at)
        except ValueError:
            raise InputError(
                f"{text!r}: invalid JSON string {rest[at:]!r}; close its quotes"
            ) from None
        return str(value), end
    match = _PLAIN.match(rest, at)
    value = match.group() if match else ""
    if not value:
        where = f" before {rest[at:]!r}" if rest[at:] else ""
        raise InputError(f"invalid spec {text!r}: value missing{where}; write key=value")
    return value, at + len(value)


def _argument_missing(name: str) -> str:
    kind = _ARGUMENTS.get(name, "argument")
    return f"needs {'an' if kind == 'argument' else 'a'} {kind}; write {name}:{kind.upper()}"


def with_argument(text: str) -> str:
    """A spec with the word for its argument, as `repo:PATH`, if it needs one and has none."""
    return f"{text}:{_ARGUMENTS[text].upper()}" if text in _ARGUMENTS else text


def part_to_write(file: Path | None) -> str:
    """What to write for a function or class of a file, which is not imported.

    The placeholder FUNCTION if there is none; of several the first, and that there are others.
    Functions of `source` and classes with a method `chunk` go before others.
    """
    defined: list[ast.stmt] = []
    with contextlib.suppress(OSError, ValueError, SyntaxError):
        defined = ast.parse(file.read_bytes()).body if file else []
    kinds = (ast.FunctionDef, ast.ClassDef)
    named = [each for each in defined if isinstance(each, kinds) and each.name[0] != "_"]
    found = [each.name for each in named if _cuts(each)] or [each.name for each in named]
    others = ", or another of its functions" if len(found) > 1 else ""
    return f"{found[0]}{others}" if found else "FUNCTION"


def _cuts(node: ast.FunctionDef | ast.ClassDef) -> bool:
    if isinstance(node, ast.ClassDef):
        return any(getattr(each, "name", "") == "chunk" for each in node.body)
    return any(each.arg == "source" for each in node.args.args[:1])


def _quoted(value: str) -> str:
    plain = _PLAIN.fullmatch(value) and value and value == value.strip()
    argument_like = plain and not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", value)
    return value if argument_like else json.dumps(value, ensure_ascii=False)


def bind(
    make: Callable[..., object],
    spec: Spec,
    what: str,
    common: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Convert a spec's options by the annotations of `make`, and check them.

    The options are the parameters of `make` with a default, annotated with `int`, `float`, `str`,
    `bool` (`on|off`), a `Literal` of strings, or a union of these and `None`. The parameter
    `argument` takes the bare argument. Keyword-only parameters without a default are required
    options. Other parameters, and `services`, are left to the caller.

    Args:
        make: The factory.
        spec: The user's spec.
        what: The kind, for messages: `chunker`, `dataset`, ….
        common: A function whose parameters are options of every part of the kind, unless `make`
            has a parameter of the same name.

    Returns:
        Keyword arguments for `make` and `common`: only the options in the spec.

    Raises:
        InputError: An unknown key, a value of the wrong kind, a missing option, a missing or
            unwanted argument.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(make).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and (name in needed(make) or parameter.default is not inspect.Parameter.empty)
        and name != "services"
    }
    written = {key for key, _ in spec.options}
    part = f"{what} {spec.name}"
    hints = _hints(make, parameters, written, part)
    if common is not None:
        shared = inspect.signature(common).parameters
        hints = _hints(common, shared, written, part) | hints
        parameters = {**shared, **parameters}
    bound: dict[str, Any] = {}
    for text in (spec.argument or "", *(value for _, value in spec.options)):
        if (joined := _JOINED.search(text)) and joined["key"] in parameters:
            form = _JOINED.sub(r",\g<key>=", str(spec))
            raise InputError(f"{part}: separate options by a comma: {form}")
    if spec.argument is not None:
        if "argument" not in parameters:
            raise InputError(
                f"{part}: {_not_an_option(make, spec.name, spec.argument, parameters)}"
            )
        bound["argument"] = spec.argument
    elif "argument" in parameters and parameters["argument"].default is inspect.Parameter.empty:
        missing = _argument_missing(spec.name)
        if value := dict(spec.options).get(_ARGUMENTS.get(spec.name, "")):
            missing = (
                f"the {_ARGUMENTS[spec.name]} is given without a key; write {spec.name}:{value}"
            )
        raise InputError(f"{part}: {missing}")
    keys = sorted(name for name in parameters if name != "argument")
    for key, value in spec.options:
        if key not in keys:
            command = f"chunkmark list {what}s {spec.name}"
            if what == "data set":
                command = f"chunkmark dataset info {spec.name}"
            hint = suggestion(key, keys, command) if keys else "it has no options"
            raise UnknownOptionError(f"{part}: unknown option {key!r}; {hint}", part, key, value)
        bound[key] = _convert(value, hints.get(key, str), f"{part}: {key}={value}")
    for key in needed(make):
        if key not in bound:
            example = Spec(spec.name, None, (*spec.options, (key, "VALUE")))
            raise InputError(f"{part} needs the option {key}; write {example}")
    return bound


def _not_an_option(
    make: Callable[..., object],
    name: str,
    text: str,
    parameters: Mapping[str, inspect.Parameter],
) -> str:
    """What is wrong with the bare argument `text` of a part that takes none, and what to write."""
    if text in parameters:
        default = parameters[text].default
        empty = default in (None, inspect.Parameter.empty)
        example = "VALUE" if empty else _printed(default)
        return f"an option is written key=value, as in {name}:{text}={example}"
    if dashed := re.match(r"([\w-]+)=", text):
        return f"unknown option {dashed[1]!r}; {suggestion(dashed[1], sorted(parameters))}"
    problem = f"{text!r} is not key=value"
    if "max_size" in parameters and text.isdigit():
        return f"{problem}; write {name}:max_size={text}"
    if len(required := needed(make)) == 1:
        return f"{problem}; write {name}:{required[0]}={text}"
    keys = ", ".join(sorted(parameters))
    return f"{problem}; {f'its options are {keys}' if keys else 'it has no options'}"


def needed(make: Callable[..., object]) -> list[str]:
    """The required options of a spec: the argument and options of `make` without a default.

    A function of `source` has only options besides it.
    """
    parameters = inspect.signature(make).parameters
    of_source = next(iter(parameters), "") == "source"
    return [
        name
        for name, parameter in parameters.items()
        if (
            name == "argument"
            or parameter.kind is parameter.KEYWORD_ONLY
            or (of_source and parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
        )
        and name not in ("source", "services")
        and parameter.default is inspect.Parameter.empty
    ]


def canonical(
    make: Callable[..., object],
    spec: Spec,
    bound: Mapping[str, Any],
    common: Callable[..., object] | None = None,
) -> str:
    """The spec with sorted keys and converted values, without defaults."""
    defaults = {
        name: parameter.default
        for function in (common, make)
        if function is not None
        for name, parameter in inspect.signature(function).parameters.items()
    }
    changed = sorted(key for key, _ in spec.options if bound[key] != defaults[key])
    options = tuple((key, _printed(bound[key])) for key in changed)
    return str(Spec(spec.name, spec.argument, options))


def _printed(value: object) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _hints(
    make: Callable[..., object],
    parameters: Mapping[str, inspect.Parameter],
    keys: set[str],
    what: str,
) -> dict[str, Any]:
    """The types of the parameters `keys`; the types of others may not exist at run time."""
    annotated = types.SimpleNamespace(
        __annotations__={
            name: parameter.annotation
            for name, parameter in parameters.items()
            if name in keys and parameter.annotation is not inspect.Parameter.empty
        }
    )
    module = sys.modules.get(getattr(make, "__module__", ""))
    try:
        return typing.get_type_hints(annotated, vars(module) if module else None)
    except NameError as error:
        raise InputError(f"{what}: the type of an option cannot be read: {error}") from error


def _convert(value: str, hint: Any, where: str) -> Any:
    origin, choices = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        *others, last = (choice for choice in choices if choice is not type(None))
        for choice in others:
            with contextlib.suppress(InputError):
                return _convert(value, choice, where)
        return _convert(value, last, where)
    if origin is Literal:
        if value not in choices:
            must = "choose from" if choices[1:] else "the only value is"
            raise InputError(f"{where}: {must} {', '.join(map(str, choices))}")
        return value
    if hint is bool:
        if value not in ("on", "off"):
            raise InputError(f"{where}: write on or off")
        return value == "on"
    if hint in (int, float):
        try:
            number = hint(value)
            if math.isfinite(number) and (hint is float or abs(number) <= _LARGEST):
                return number
        except (ValueError, OverflowError):
            pass
        kind = "a whole number" if hint is int else "a number"
        with contextlib.suppress(ValueError):
            kind += f" up to {_LARGEST}" if hint is int and int(value) > _LARGEST else ""
        commas = "; options are separated by commas" if _JOINED.search(value) else ""
        if sweep := re.fullmatch(r"(\d+)(?:\.\.+|[-:/])(\d+)", value):
            commas = f"; write {sweep[1]}|{sweep[2]} to compare both"
        raise InputError(f"{where}: must be {kind}{commas}")
    return value
