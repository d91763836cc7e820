"""Finds plug-ins without importing them: built-ins by file name, others by entry point."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import pkgutil
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import STOPPING, InputError, UnknownPartError, place_of, reason_of, suggestion
from chunkers.plugins.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


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
            path = importlib.import_module(package).__path__
            for module in pkgutil.iter_modules(path):
                if not module.name.startswith("_"):
                    name = module.name.replace("_", "-")
                    entries[name] = PluginEntry(name, f"{package}.{module.name}:make", "built-in")
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
        is_file = spec.name.endswith(".py")
        modules = (Path(f"{spec.name}.py"), Path(spec.name, "__init__.py"))
        if is_file or (not attribute and any(module.is_file() for module in modules)):
            example = f"{Path(spec.name).stem}:{attribute or 'function'}"
            problem = f"unknown {self.kind} {spec.name!r}; write {example}"
            raise InputError(f"{problem} in the folder of the file" if is_file else problem)
        if _ATTRIBUTE.fullmatch(attribute) and not rest:
            name = f"{spec.name}:{attribute}"
            return PluginEntry(name, name, "module"), Spec(name, None, spec.options)
        if _ATTRIBUTE.fullmatch(attribute):
            option = rest if "=" in rest else "key=value"
            raise InputError(
                f"{self.kind} {spec.name}:{spec.argument}: "
                f"options follow a comma; write {spec.name}:{attribute},{option}"
            )
        hint = suggestion(spec.name, entries, f"chunkmark list {self._plural}")
        own = "" if hint.startswith("did you mean") else ", or write module:function for your own"
        message = f"unknown {self.kind} {spec.name!r}; {hint}{own}"
        raise UnknownPartError(message, self.kind, spec.name)

    def load(self, entry: PluginEntry) -> Any:
        """Import the object that makes a part; raises InputError with the reason if it fails."""
        module, _, attribute = entry.target.partition(":")
        place = f"{self.kind} {entry.shown}"
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
                advice = f"start chunkmark in the folder that holds {top}, or install it"
                raise InputError(f"{place}: no module {missing!r}; {advice}") from error
            advice = _advice(error)
            raise InputError(
                f"{place}: {module} cannot be imported: {reason_of(error)}; {advice}"
            ) from error
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
                f"{self.kind} {entry.shown} cannot be created: {reason_of(error)}; see "
                f"{place_of(error)}\ngive a function that returns the {self.kind}"
            ) from error
        if not callable(getattr(part, method, None)):
            raise InputError(
                f"{self.kind} {entry.shown}: it returned {type(part).__name__}, which has no "
                f"method {method}; give a function that returns the {self.kind}"
            )
        return part


def _advice(error: BaseException) -> str:
    """What to do about the error of a module, with the line where it was raised."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install {error.name.partition('.')[0]} in {sys.prefix}, where chunkmark runs"
    if isinstance(error, SyntaxError) and error.filename:
        return f"correct {error.filename}, line {error.lineno}"
    return f"see {place_of(error)}"


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
def _entry_points(group: str, path: tuple[str, ...]) -> list[importlib.metadata.EntryPoint]:
    """The entry points of a group, in order of name; cached by `sys.path`, since it takes long."""
    del path
    points = importlib.metadata.entry_points(group=group)
    return sorted(points, key=lambda point: (point.name, point.value))
