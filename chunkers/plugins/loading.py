"""Makes chunkers from specs, and checks what they return."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import STOPPING, InputError, MissingError, reason_of, see
from chunkers.grammars.loading import grammar_versions
from chunkers.plugins.registry import PluginEntry, Registry, refuse_async
from chunkers.plugins.spec import Spec, bind, canonical, needed, parse_spec
from chunkers.sizes import UNITS, Unit
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chunkers.source import Services, Source

CHUNKERS = Registry(
    "chunker", ("chunkers.builtin", "chunkers.reference", "chunkers.adapters"), "chunkmark.chunkers"
)


Fault = Literal["verbatim spans", "order"]
"""The checks of `chunkers.testing` that invalid spans fail."""


@dataclass(frozen=True)
class LoadedChunker:
    """A chunker ready for use.

    Attributes:
        name: Its spec in canonical form: `ast`, `fixed:max_size=1500`.
        chunk: Cuts a source; raises InputError if a plug-in returns invalid spans.
        version: Changes whenever its output may.
        max_size: Its declared limit, or None.
        unit: The unit of the limit.
        windows: `max` if its long chunks are embedded by windows, else None.
        embeds: Whether it needs an embedder.
        headed: Whether its options put a header before the text of a chunk that is embedded.
        texts: The texts of a source that it will embed, if it can tell in advance.
        languages: The languages that it reads; empty for all.
        exceptions: The checks of `chunkers.testing` that it is known to fail.
        made_by: The `module:object` that made it, so that another process can make it again; empty
            for a chunker that only cuts in this process.
    """

    name: str
    chunk: Callable[[Source, Services], list[Span]]
    version: str
    max_size: int | None
    unit: Unit
    windows: str | None
    embeds: bool = False
    headed: bool = False
    texts: Callable[[Source, Services], list[str]] | None = None
    languages: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    made_by: str = ""


class InvalidSpansError(InputError):
    """A chunker did not return an ordered list of valid spans.

    Attributes:
        check: `order` if spans are out of order, else `verbatim spans`.
    """

    def __init__(self, message: str, check: Fault = "verbatim spans") -> None:
        super().__init__(message)
        self.check: Fault = check


@dataclass(frozen=True)
class ListedChunker:
    """A registered chunker, usable or not.

    Attributes:
        name: Its name in a spec.
        origin: `built-in`, or its distribution.
        description: One line.
        options: Key -> default as in a spec; empty for None.
        family: `syntax`, `text`, `semantic`, `fixed`, `control` or `process`, or empty.
        languages: The languages that it reads, separated by blanks, or `any`; empty if unusable.
        version: Its version; empty if it needs options or is unusable.
        problem: Why it is unusable, in one line, or empty.
        absent: Whether the reason is only an extra that is not installed.
    """

    name: str
    origin: str
    description: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    languages: str = ""
    version: str = ""
    problem: str = ""
    absent: bool = False


def load_chunker(spec: Spec | str) -> LoadedChunker:
    """Make the chunker that a spec names.

    The spec names a callable `make(**options)` that returns a chunker, or a function whose first
    parameter is `source`; it may also take `services`, and its parameters with a default are
    options. Every built-in chunker also has the options of `_common`.

    Raises:
        InputError: No such chunker or option, a bad value, or it cannot be imported or made.
    """
    entry, spec = CHUNKERS.find(parse_spec(spec) if isinstance(spec, str) else spec)
    make = CHUNKERS.load(entry)
    parameters = _parameters(entry, make)
    common = _common(entry, parameters)
    bound = bind(make, spec, "chunker", common)
    name = canonical(make, spec, bound, common)
    shared = {key: bound.pop(key) for key in list(bound) if key not in parameters}
    if next(iter(parameters), None) == "source":
        _refuse_positional(entry, parameters)
        chunker, chunk = make, functools.partial(_call, make, "services" in parameters, bound)
    else:
        chunker = _make(entry, make, bound)
        if "overlap" in shared:
            try:
                chunker = replace(chunker, overlap=shared["overlap"])
            except InputError as error:
                raise InputError(f"chunker {entry.name}: {error}") from error
        chunk = chunker.chunk
    options = {key: parameter.default for key, parameter in parameters.items()} | bound
    try:
        loaded = _declared(name, chunker, chunk, options, lambda: _file_version(entry, make))
    except InputError:
        raise
    # A plug-in may also compute its attributes, and fail.
    except BaseException as error:
        if type(error) in STOPPING:
            raise
        raise InputError(
            f"chunker {name}: its attributes cannot be read: {reason_of(error)}{see(error)}"
        ) from error
    if shared.get("header"):
        version = f"{loaded.version}; headers {grammar_versions()}"
        with_header = functools.partial(_chunk, name, functools.partial(_headed, chunk))
        loaded = replace(loaded, chunk=with_header, version=version)
    # Elsewhere an option of this name may mean anything.
    headed = entry.target.startswith("chunkers.") and (options | shared).get("header") is True
    return replace(loaded, made_by=entry.target, headed=headed)


def _declared(
    name: str,
    chunker: Any,
    chunk: Callable[[Source, Services], list[Span]],
    options: Mapping[str, Any],
    file_version: Callable[[], str],
) -> LoadedChunker:
    """A chunker with the attributes that it declares."""
    version = str(getattr(chunker, "version", None) or file_version())
    limit = getattr(chunker, "max_size", options.get("max_size"))
    unit = getattr(chunker, "unit", options.get("unit", "nws"))
    if not (limit is None or (type(limit) is int and limit > 0)) or unit not in UNITS:
        raise InputError(
            f"chunker {name}: max_size={limit!r}, unit={unit!r}; "
            f"max_size must be None or an integer > 0, unit one of {', '.join(UNITS)}"
        )
    windows = getattr(chunker, "windows", None)
    if windows not in (None, "max"):
        raise InputError(f"chunker {name}: windows={windows!r}; must be max or None")
    return LoadedChunker(
        name=name,
        chunk=functools.partial(_chunk, name, chunk),
        version=version,
        max_size=limit,
        unit=unit,
        windows=windows,
        embeds=bool(getattr(chunker, "embeds", False)),
        texts=getattr(chunker, "texts", None),
        languages=_names(name, chunker, "languages"),
        exceptions=_names(name, chunker, "exceptions"),
    )


def _names(name: str, chunker: object, attribute: str) -> tuple[str, ...]:
    """The names in an attribute of a chunker, sorted."""
    names = getattr(chunker, attribute, ())
    listed = isinstance(names, list | tuple | set | frozenset)
    if not listed or not all(isinstance(item, str) for item in names):
        raise InputError(f"chunker {name}: {attribute}={names!r}; must be a tuple of names")
    return tuple(sorted(names))


def _common(
    entry: PluginEntry, parameters: Mapping[str, inspect.Parameter]
) -> Callable[..., None] | None:
    """A function that declares the options shared by all built-in chunkers; None for others."""
    if not entry.target.startswith("chunkers.builtin."):
        return None
    return _header if "max_size" not in parameters else _overlap_and_header


def _overlap_and_header(*, overlap: int = 0, header: bool = False) -> None:
    """Declares the options of chunkers with a size limit."""


def _header(*, header: bool = False) -> None:
    """Declares the options of chunkers without a size limit."""


def _headed(
    chunk: Callable[[Source, Services], list[Span]], source: Source, services: Services
) -> list[Span]:
    from chunkers.grammars.headers import with_headers

    return with_headers(source, chunk(source, services))


def list_chunkers() -> list[ListedChunker]:
    """Every registered chunker in order of name; a broken chunker causes a warning."""
    return [_listed(entry) for entry in CHUNKERS.entries().values()]


def _listed(entry: PluginEntry) -> ListedChunker:
    listed = ListedChunker(entry.name, entry.origin)
    try:
        make = CHUNKERS.load(entry)
        parameters = _parameters(entry, make)
        common = _common(entry, parameters)
        shared = inspect.signature(common).parameters if common else {}
        options = {
            key: _shown(parameter.default)
            for key, parameter in {**parameters, **shared, **parameters}.items()
            if parameter.default is not inspect.Parameter.empty and key != "services"
        }
        listed = replace(
            listed,
            description=(inspect.getdoc(make) or "").partition("\n")[0],
            options=options,
            family=getattr(sys.modules.get(getattr(make, "__module__", "")), "FAMILY", ""),
        )
        if needed(make):
            return listed
        loaded = load_chunker(Spec(entry.name))
    except MissingError as error:
        return replace(listed, problem=str(error), absent=True)
    except InputError as error:
        warnings.warn(str(error), stacklevel=3)
        return replace(listed, problem=str(error))
    return replace(listed, languages=" ".join(loaded.languages) or "any", version=loaded.version)


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "" if default is None else str(default)


def _parameters(entry: PluginEntry, make: object) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(
            f"chunker {entry.shown}: it cannot be called; give a function of source, "
            "or one that returns a chunker"
        ) from None


def _refuse_positional(entry: PluginEntry, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Refuse a function of source with a parameter that no spec can give."""
    for name, parameter in list(parameters.items())[1:]:
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            raise InputError(
                f"chunker {entry.shown}: its parameter {name} cannot be an option; "
                "remove the / from the parameters"
            )


def _make(entry: PluginEntry, make: Callable[..., Any], bound: Mapping[str, Any]) -> Any:
    where = f"chunker {entry.shown}"
    first = next(iter(_parameters(entry, make).values()), None)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    is_option = first is None or first.name in bound or first.default is not first.empty
    if first is not None and not is_option and first.kind in positional:
        raise InputError(f"{where}: its first parameter must be named source, not {first.name}")
    try:
        chunker = make(**bound)
    except InputError as error:
        raise type(error)(f"chunker {entry.name}: {error}") from error
    # A plug-in may raise anything.
    except BaseException as error:
        if type(error) in STOPPING:
            raise
        raise InputError(f"{where} cannot be created: {reason_of(error)}{see(error)}") from error
    if first is None and isinstance(chunker, list):
        name = entry.shown.rpartition(":")[2]
        raise InputError(f"{where}: it takes no source; write def {name}(source)")
    if not callable(getattr(chunker, "chunk", None)):
        raise InputError(
            f"{where}: it returned {type(chunker).__name__}, which has no method chunk; "
            "write def chunk(source), or a class with chunk(self, source, services)"
        )
    refuse_async(where, "method chunk", chunker.chunk)
    with contextlib.suppress(ValueError):  # what is not written in Python may have no signature
        try:
            inspect.signature(chunker.chunk).bind(None, None)
        except TypeError:
            raise InputError(
                f"{where}: its method chunk cannot be called; write chunk(self, source, services)"
            ) from None
    return chunker


def _call(
    function: Callable[..., list[Span]],
    with_services: bool,
    options: Mapping[str, Any],
    source: Source,
    services: Services,
) -> list[Span]:
    arguments = {"services": services} if with_services else {}
    return function(source, **arguments, **options)


def _chunk(
    name: str,
    chunk: Callable[[Source, Services], list[Span]],
    source: Source,
    services: Services,
) -> list[Span]:
    return checked(name, chunk(source, services), source)


def checked(name: str, result: object, source: Source) -> list[Span]:
    """Check the result of a chunker for a source.

    Raises:
        InvalidSpansError: It is not an ordered list of valid spans.
    """
    if not isinstance(result, list):
        raise InvalidSpansError(
            f"chunker {name} on {source.path}: it returned {type(result).__name__}, "
            "not a list of Span"
        )
    spans = list(result)  # a subclass of list may return other items the next time
    before = 0
    for number, span in enumerate(spans, start=1):
        where = f"chunker {name} on {source.path}: item {number}"
        problem = _problem(span, len(source.text))
        if problem:
            raise InvalidSpansError(f"{where} {problem}")
        if span.start < before:
            raise InvalidSpansError(
                f"{where} is {_short(span)}; it starts before the previous span, at {before}; "
                "sort the spans",
                "order",
            )
        before = span.start
    return spans


def _problem(span: object, length: int) -> str:
    """The fault of a span in a text of `length` characters; empty for a valid span."""
    if not isinstance(span, Span):
        return f"is {type(span).__name__}, not Span; return chunkers.Span(start, end) in characters"
    if type(span.start) is not int or type(span.end) is not int:
        return f"is {_short(span)}; start and end must be int"
    if not 0 <= span.start <= span.end <= length:
        reversed_ = span.end < span.start
        fault = (
            "its end is before its start" if reversed_ else f"offsets must be within 0 to {length}"
        )
        return f"is {_short(span)}; {fault}"
    for name in ("embed_text", "ref_id"):
        if not isinstance(getattr(span, name), str | None):
            return f"has {name} of type {type(getattr(span, name)).__name__}, not str"
    if not isinstance(span.gaps, tuple) or not all(map(_is_gap, span.gaps)):
        return "gaps must be a tuple of pairs of int"
    borders = [span.start, *(border for gap in span.gaps for border in gap), span.end]
    return (
        "" if borders == sorted(borders) else f"is {_short(span)}; gaps must lie inside, in order"
    )


def _short(span: Span) -> str:
    """A span without the text that is embedded in its place, which may be long."""
    gaps = f", gaps={span.gaps}" if span.gaps else ""
    return f"Span({span.start!r:.20}, {span.end!r:.20}{gaps:.80})"


def _is_gap(gap: object) -> bool:
    return isinstance(gap, tuple) and len(gap) == 2 and all(type(at) is int for at in gap)


def _file_version(entry: PluginEntry, make: object) -> str:
    """The version of code that declares none: a hash of its files, which every edit changes."""
    name = getattr(make, "__module__", None) or entry.target.partition(":")[0]
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    # Interactive code may have the file name `<stdin>`.
    if file is not None and Path(file).is_file():
        from chunkers.plugins.provenance import code_version

        return code_version(Path(file))
    # Edits of interactive code cannot be detected, so no two loads have the same version.
    return f"typed {os.urandom(6).hex()}"
