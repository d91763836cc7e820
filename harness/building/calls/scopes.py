"""What a name alone means in a file, by the rules of its language: which file it is of."""

from __future__ import annotations

import functools
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from harness.building.calls.imports import python_file, script_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from chunkers.source import Source
    from harness.building.calls.call_targets import World
    from harness.building.calls.callees import Definition

_KEPT = 1024  # texts of which it is kept what they import
_DEEPEST = 5  # files that one name is followed through
_PACKAGE = re.compile(r"^[ \t]*(?:<\?php\s+)?(?:package|namespace)\s+([\w.\\]+)", re.MULTILINE)
_USING = re.compile(
    r"^[ \t]*(?:import|use|(?:global\s+)?using)\s+(?:static\s+|function\s+)?([\w.\\]+(?:\.[*_])?)"
    r"(\s+as\s)?",
    re.MULTILINE,
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)[ \t]*[\"<]([^\">\n]+)[\">]", re.MULTILINE)
_LOADED = re.compile(
    r"^[ \t]*(?:local\s+\w+\s*=\s*)?(?:require_relative|require|source|include|dofile|load|\.)"
    r"\s*\(?\s*[\"']?([^\s\"'();]+)",
    re.MULTILINE,
)
_SWIFT = re.compile(r"^[ \t]*(?:@testable\s+)?import\s+(\w+)", re.MULTILINE)


def visible(name: str, definition: Definition, source: Source, world: World) -> bool:
    """Whether a name alone, of what stands at the top of the definition's file, means that file."""
    if definition.path == source.path:
        return False
    rule = _RULES.get(source.language or "")
    return (
        _loads(definition.path, source, world)
        if rule is None
        else rule(name, definition, source, world)
    )


def _imported(name: str, definition: Definition, source: Source, world: World) -> bool:
    return definition.path in _followed(source.path, name, world, _DEEPEST)


def _in_lua(name: str, definition: Definition, source: Source, world: World) -> bool:
    if name in world.names[source.path].bindings:
        return _imported(name, definition, source, world)
    return _loads(definition.path, source, world) and not _begins("local", definition, world)


def _in_folder(name: str, definition: Definition, source: Source, world: World) -> bool:
    del name, world  # Go's packages are folders.
    return PurePosixPath(definition.path).parent == PurePosixPath(source.path).parent


def _in_c(name: str, definition: Definition, source: Source, world: World) -> bool:
    if source.language == "c" and _begins("static", definition, world):
        return False
    declared = name in world.names[source.path].declared
    return declared or _included(name, definition, source, world)


def _in_swift(name: str, definition: Definition, source: Source, world: World) -> bool:
    del name  # Its modules are folders, mostly two levels down.
    mine, other = (PurePosixPath(path).parts[:-1] for path in (source.path, definition.path))
    imported = _imported_by_swift(world.names[source.path].code)
    return mine[:2] == other[:2] or not imported.isdisjoint(other)


def _in_ruby(name: str, definition: Definition, source: Source, world: World) -> bool:
    if name[:1].isupper():  # a constant is everywhere
        return world.files[name] == 1
    return _loads(definition.path, source, world)


def _begins(word: str, definition: Definition, world: World) -> bool:
    lines = world.names[definition.path].code.split("\n")[definition.first - 1 : definition.last]
    return next((one for one in lines if one.strip()), "").lstrip().startswith(f"{word} ")


def _followed(path: str, name: str, world: World, depth: int) -> frozenset[str]:
    """The files of which a file's name is, by its imports; none where they disagree."""
    names = world.names[path]
    found = []
    for one in names.bindings.get(name, ()):
        if one.name in ("", "*"):
            found.append(frozenset[str]())
            continue
        file = _file(one.module, path, world)
        wanted = name if one.name == "default" else one.name
        found.append(origins(file, wanted, world, depth) if file else frozenset())
    if found:
        return frozenset.intersection(*found)
    stars = [_file(one.module, path, world) for one in names.bindings.get("*", ())]
    return frozenset(
        origin for file in stars if file for origin in origins(file, name, world, depth)
    )


def origins(path: str, name: str, world: World, depth: int = _DEEPEST) -> frozenset[str]:
    """Where what a module offers under a name is defined: there, or where it has it from."""
    names = world.names.get(path)
    if names is None or depth == 0:
        return frozenset()
    if any(one.name == name and not one.local and not one.owner for one in names.definitions):
        return frozenset({path})
    return _followed(path, name, world, depth - 1)


def module_of(chain: tuple[str, ...], source: Source, world: World) -> str | None:
    """The file of the module that names such as `a.b` mean in a file."""
    names, found = world.names[source.path], set()
    for at in range(1, len(chain) + 1):
        for one in names.bindings.get(".".join(chain[:at]), ()):
            rest = chain[at:]
            if source.language == "python":
                joint = "" if one.module.endswith(".") or not one.name else "."
                module = ".".join((one.module + joint + one.name, *rest))
                found.add(_file(module, source.path, world))
            elif not rest and one.name in ("", "default"):
                found.add(_file(one.module, source.path, world))
    return found.pop() if len(found) == 1 else None


def _file(module: str, path: str, world: World) -> str | None:
    """The file that a module means in a file."""
    if (path, module) not in world.modules:
        world.modules[path, module] = _looked_up(module, path, world)
    return world.modules[path, module]


def _looked_up(module: str, path: str, world: World) -> str | None:
    language = world.sources[path].language
    if language == "python":
        return python_file(module, path, world.sources, world.tops, world.python)
    if language == "lua":
        tail = module.replace(".", "/")
        found = [*_ending(f"{tail}.lua", world), *_ending(f"{tail}/init.lua", world)]
        return found[0] if len(found) == 1 else None
    return script_file(module, path, world.sources)


def _ending(tail: str, world: World) -> list[str]:
    """The files whose paths end so."""
    named = world.named.get(tail.rsplit("/", 1)[-1], ())
    return [one for one in named if f"/{one}".endswith(f"/{tail}")]


def go_folder(module: str, world: World) -> str | None:
    """The folder of the corpus that an import of Go means; None for none of it."""
    if not world.go:
        return None
    if module == world.go:
        return "."
    start = f"{world.go}/"
    return module.removeprefix(start) if module.startswith(start) else None


def _used(name: str, definition: Definition, source: Source, world: World) -> bool:
    """Whether Rust's `use` brings a name out of the definition's module."""
    names = world.names[source.path]
    bound = [one for one in names.bindings.get(name, ()) if one.name == name]
    some = bound or names.bindings.get("*", ())
    fits = [is_rust_module(one.module.split("::"), definition.path, source.path) for one in some]
    return bool(fits) and (all(fits) if bound else any(fits))


def is_rust_module(steps: Iterable[str], path: str, from_path: str) -> bool:
    """Whether a path of modules leads to a file: its end is that of the file's path."""
    listed = [one for one in steps if one]
    if listed[:1] in (["std"], ["core"], ["alloc"]):
        return False
    own = [one for one in listed if one not in ("crate", "self", "super")]
    file = PurePosixPath(path)
    parts = [*file.parent.parts] + ([] if file.stem in ("lib", "main", "mod") else [file.stem])
    parts = [one for one in parts if one != "src"]
    if not own:
        # The top of the crate, or the module above.
        return bool(listed) and file.stem in ("lib", "main", "mod")
    if (
        len(own) == 1
        and listed == own
        and file.parent.parts[:1] != PurePosixPath(from_path).parts[:1]
    ):
        return False
    return [one.replace("-", "_") for one in parts[-len(own) :]] == own


def _included(name: str, definition: Definition, source: Source, world: World) -> bool:
    """Whether a file includes, itself or through others, one whose code has a name."""
    if source.path not in world.included:
        found: set[str] = set()
        stack = [source.path]
        while stack:
            path = stack.pop()
            new = _includes(path, world) - found
            found |= new
            stack += new
        world.included[source.path] = frozenset(found)
    files = world.included[source.path]
    return definition.path in files or any(name in world.names[one].words for one in files)


def _includes(path: str, world: World) -> frozenset[str]:
    """The files that a file itself includes, of those whose paths end as it says one alone."""
    if path not in world.includes:
        tails = {
            re.sub(r"^(?:\.\.?/)+", "", one) for one in _INCLUDE.findall(world.sources[path].text)
        }
        near = [_ending(tail, world) for tail in tails]
        world.includes[path] = frozenset(some[0] for some in near if len(some) == 1)
    return world.includes[path]


@functools.lru_cache(maxsize=_KEPT)
def _package(text: str) -> str:
    """The package that a file says it is of."""
    found = _PACKAGE.search(text)
    return found[1].replace("\\", ".") if found else ""


@functools.lru_cache(maxsize=_KEPT)
def _uses(text: str) -> tuple[str, ...]:
    """The names that a file imports by their packages."""
    return tuple(one.replace("\\", ".") for one, _ in _USING.findall(text))


@functools.lru_cache(maxsize=_KEPT)
def _loaded(text: str) -> tuple[str, ...]:
    """What a file says that it loads."""
    return tuple(dict.fromkeys(_LOADED.findall(text)))


@functools.lru_cache(maxsize=_KEPT)
def _imported_by_swift(code: str) -> frozenset[str]:
    return frozenset(_SWIFT.findall(code))


def _in_package(name: str, definition: Definition, source: Source, world: World) -> bool:
    """Whether a name is that of the definition's package, by what a file imports or where it is."""
    mine, other = (world.sources[path].text for path in (source.path, definition.path))
    here, there, used = _package(mine), _package(other), _uses(mine)
    if source.language != "csharp":
        exact = [one for one in used if one.rsplit(".", 1)[-1] == name]
        if exact:
            return all(one == f"{there}.{name}".lstrip(".") for one in exact)
    stars = {re.sub(r"\.[*_]$", "", one) for one in used}
    if here == there:
        # Without a package, what is in another folder is of another program.
        folders = (PurePosixPath(path).parent for path in (source.path, definition.path))
        return bool(here) or len(set(folders)) == 1
    if source.language == "csharp":
        return not there or there in stars or here.startswith(f"{there}.")
    if source.language == "php":
        return not there and name[:1].islower()
    return bool(there) and not {f"{there}.*", f"{there}._"}.isdisjoint(used)


def _loads(path: str, source: Source, world: World) -> bool:
    """Whether a file says that it loads another one by its path, with or without its suffix."""
    file = PurePosixPath(path)
    folder = PurePosixPath(source.path).parent
    for written in _loaded(source.text):
        tail = re.sub(r"^(?:\./)+", "", written)
        if source.language == "lua":
            tail = tail.replace(".", "/") if not tail.endswith(".lua") else tail
        for one in (str(file), str(file.with_suffix(""))):
            if tail in (one, one.removeprefix(f"{folder}/")) or (
                "/" not in tail and "/" in one and f"lib/{tail}" == one
            ):
                return True
    return False


_RULES: Mapping[str, Callable[[str, Definition, Source, World], bool]] = {
    **dict.fromkeys(("c", "cpp", "objc"), _in_c),
    **dict.fromkeys(("csharp", "java", "kotlin", "php", "scala"), _in_package),
    **dict.fromkeys(("javascript", "python", "tsx", "typescript"), _imported),
    "go": _in_folder,
    "lua": _in_lua,
    "ruby": _in_ruby,
    "rust": _used,
    "swift": _in_swift,
}
