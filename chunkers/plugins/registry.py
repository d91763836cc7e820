"""Finds plug-ins without importing them: built-ins by file name, others by entry point."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import pkgutil
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import (
    STOPPING,
    InputError,
    UnknownPartError,
    did_you_mean,
    reason_of,
    see,
    suggestion,
)
from chunkers.plugins.spec import Spec, part_to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_CALL = re.compile(r"(?P<name>[\w.:-]+)(?:\(|[\s;]+(?=\w+=))(?P<options>[^()]*)\)?")


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A registered part: its name, the `module:object` that makes it, and its distribution."""

    name: str
    target: str
    origin: str

    @property
    def shown(self) -> str:
        """Its name for messages, with the distribution of one that is registered."""
        own = self.origin in ("module", "built-in")
        return self.name if own else f"{self.name} ({self.origin})"


@dataclass(frozen=True)
class Registry:
    """The parts of one kind.

    Attributes:
        kind: For messages: `chunker`, `embedder`, ….
        packages: Packages whose modules are the built-ins; each module has a `make`.
        group: Entry-point group of other packages.
    """

    kind: str
    packages: tuple[str, ...]
    group: str

    @property
    def _plural(self) -> str:
        """What `chunkmark list` calls the parts of the kind."""
        return self.kind.replace(" ", "") + ("es" if self.kind.endswith("x") else "s")

    def entries(self) -> dict[str, PluginEntry]:
        """Every part, in order of name. An entry point cannot replace a built-in."""
        entries: dict[str, PluginEntry] = {}
        for package in self.packages:
            for module in _modules(package):
                name = module.replace("_", "-")
                entries[name] = PluginEntry(name, f"{package}.{module}:make", "built-in")
        for point in _entry_points(self.group, tuple(sys.path)):
            origin = (point.dist and point.dist.name) or "unknown package"
            if point.name in entries:
                warnings.warn(
                    f"{self.kind} {point.name!r} of {origin} is ignored: the name is taken",
                    stacklevel=2,
                )
                continue
            target = point.value.partition("[")[0].strip()
            entries[point.name] = PluginEntry(point.name, target, origin)
        return dict(sorted(entries.items()))

    def find(self, spec: Spec) -> tuple[PluginEntry, Spec]:
        """The entry of a spec, and the spec to bind its options from.

        An unregistered name with an identifier as its argument is `module:attr`.

        Raises:
            InputError: No such part; the message suggests similar names, or lists all.
        """
        entries = self.entries()
        if spec.name in entries:
            return entries[spec.name], spec
        attribute, _, rest = (spec.argument or "").partition(":")
        path = Path(spec.name.removesuffix(".py"))
        is_path = spec.name.endswith(".py") or bool(attribute and path.parts[1:])
        if is_path or (not attribute and _own_file(".".join(path.parts))):
            below = not path.is_absolute() and ".." not in path.parts
            module = ".".join(path.parts) if below else path.name
            where = "" if below and _own_file(module) else " in the folder of the file"
            problem = f"unknown {self.kind} {spec.name!r}"
            name = attribute or part_to_write(_own_file(module))
            raise InputError(f"{problem}; write {module}:{name}{where}")
        called = _CALL.fullmatch(f"{spec.name}:{spec.argument}" if attribute else spec.name)
        if called and (":" in called["name"] or called["name"] in entries):
            mark = "," if ":" in called["name"] else ":"
            written = called["name"] + (called["options"] and f"{mark}{called['options']}")
            advice = "drop the ()" if "(" in called[0] else "options follow a comma"
            raise InputError(f"invalid spec {str(spec)!r}; {advice}: write {written}")
        if _ATTRIBUTE.fullmatch(attribute) and not rest:
            name = f"{spec.name}:{attribute}"
            return PluginEntry(name, name, "module"), Spec(name, None, spec.options)
        if _ATTRIBUTE.fullmatch(attribute):
            option = rest if "=" in rest else "key=value"
            raise InputError(
                f"{self.kind} {spec.name}:{spec.argument}: "
                f"options follow a comma; write {spec.name}:{attribute},{option}"
            )
        listed = suggestion(spec.name, entries, f"chunkmark list {self._plural}")
        own = f"{listed}, or write module:function for your own"
        message = f"unknown {self.kind} {spec.name!r}; {did_you_mean(spec.name, entries) or own}"
        raise UnknownPartError(message, self.kind, spec.name)

    def summary(self, entry: PluginEntry) -> str:
        """The first line of the docstring of a built-in part's module, which is not imported."""
        module = entry.target.partition(":")[0]
        spec = importlib.util.find_spec(module)
        loader: Any = spec and spec.loader
        first, _, _ = loader.get_source(module).partition("\n")
        return str(first.strip('"'))

    def load(self, entry: PluginEntry) -> Any:
        """Import the object that makes a part; raises InputError with the reason if it fails."""
        module, _, attribute = entry.target.partition(":")
        place = f"{self.kind} {entry.shown}"
        if entry.origin == "module":
            _refuse_shadowed(place, module)
        try:
            target: Any = importlib.import_module(module)
            for part in attribute.split("."):
                if not hasattr(target, part):
                    raise InputError(f"{place}: {module} has no {part!r}; {_defined(target, part)}")
                target = getattr(target, part)
        except InputError:
            raise
        # A plug-in may fail in any way while it is imported, SystemExit included.
        except BaseException as error:
            if type(error) in STOPPING:
                raise
            missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
            if missing and f"{module}.".startswith(f"{missing}."):
                top = missing.partition(".")[0]
                here = [found.name for found in pkgutil.iter_modules([str(Path.cwd())])]
                advice = (
                    did_you_mean(module, here)
                    or did_you_mean(module, self.entries())
                    or f"start chunkmark in the folder that holds {top}, or install it"
                )
                raise InputError(f"{place}: no module {missing!r}; {advice}") from error
            raise InputError(
                f"{place}: {module} cannot be imported: {reason_of(error)}{_advice(error)}"
            ) from error
        refuse_async(place, "function", target)
        return target

    def make(
        self, entry: PluginEntry, make: Callable[..., Any], bound: Mapping[str, Any], method: str
    ) -> Any:
        """Call what makes a part; raises InputError, with its kind and name, if it fails.

        Args:
            entry: The part.
            make: What `load` returned.
            bound: Its keyword arguments.
            method: The method that every part of the kind has.
        """
        name = entry.name
        if required := _required(make, bound):
            raise InputError(
                f"{self.kind} {entry.shown} needs {required}; give a function without arguments, "
                f"or with options only, that returns the {self.kind}"
            )
        try:
            part = make(**bound)
        except InputError as error:
            message = str(error)
            own = message.startswith((f"{name}: ", f"{name}:"))
            place = self.kind if own else f"{self.kind} {name}:"
            raise type(error)(f"{place} {message}") from error
        # A plug-in may raise anything.
        except BaseException as error:
            if type(error) in STOPPING or entry.origin == "built-in":
                raise
            raise InputError(
                f"{self.kind} {entry.shown} cannot be created: {reason_of(error)}{see(error)}\n"
                f"give a function that returns the {self.kind}"
            ) from error
        if not callable(getattr(part, method, None)):
            raise InputError(
                f"{self.kind} {entry.shown}: it returned {type(part).__name__}, which has no "
                f"method {method}; give a function that returns the {self.kind}"
            )
        refuse_async(f"{self.kind} {entry.shown}", f"method {method}", getattr(part, method))
        return part


def refuse_async(place: str, what: str, function: object) -> None:
    """Refuse an `async def`, which returns no result when it is called."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise InputError(f"{place}: its {what} is async; write def")


def _required(make: Callable[..., Any], bound: Mapping[str, Any]) -> str:
    """The parameters of a function that options cannot give, if it cannot be called without."""
    with contextlib.suppress(ValueError, TypeError):  # what is not written in Python
        return ", ".join(
            name
            for name, parameter in inspect.signature(make).parameters.items()
            if name not in bound
            and parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        )
    return ""


def _own_file(module: str) -> Path | None:
    """The file of a module in the current folder; None if there is none."""
    path = Path(*module.split("."))
    files = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _refuse_shadowed(place: str, module: str) -> None:
    """Refuse a module of Python or of a library where the current folder has one of the name."""
    own, top = _own_file(module), module.partition(".")[0]
    found = None
    with contextlib.suppress(ValueError):  # a module that was made in this process
        found = importlib.util.find_spec(top)
    if own is None or found is None:
        return
    files = [found.origin, *(found.submodule_search_locations or ())]
    ours = {Path(name).resolve() for name in (f"{top}.py", top)}
    if ours.isdisjoint(Path(file).resolve() for file in files if file):
        other = found.origin if found.has_location else "a module of Python"
        raise InputError(f"{place}: {top} is {other}, not ./{own}; rename yours")


def _advice(error: BaseException) -> str:
    """What to do about the error of a module, with the line where it was raised."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        if top == "chunkmark":
            return "; import chunkers, the module of chunkmark"
        return f"; install {top} in {sys.prefix}, where chunkmark runs"
    if isinstance(error, SyntaxError) and error.filename:
        return f"; correct {error.filename}, line {error.lineno}"
    return see(error)


def _defined(target: object, name: str) -> str:
    """What can be named instead: what a module or class defines itself."""
    own = getattr(target, "__name__", None)
    names = [
        key
        for key, value in vars(target).items()
        if callable(value) and not key.startswith("_") and getattr(value, "__module__", own) == own
    ]
    return suggestion(name, names) if names else "it defines no function"


@functools.cache
def _modules(package: str) -> tuple[str, ...]:
    """The modules of a package that hold a part."""
    path = importlib.import_module(package).__path__
    names = (module.name for module in pkgutil.iter_modules(path))
    return tuple(name for name in names if not name.startswith("_"))


def _entry_points(group: str, path: tuple[str, ...]) -> list[importlib.metadata.EntryPoint]:
    """The entry points of a group, in order of name."""
    points = _all_entry_points(path).select(group=group)
    return sorted(points, key=lambda point: (point.name, point.value))


@functools.cache
def _all_entry_points(path: tuple[str, ...]) -> Any:
    """The entry points of all groups; cached by `sys.path`, since it takes long."""
    del path
    return importlib.metadata.entry_points()
