"""Which definition a call means, as far as its own file shows.

A name that a repository defines once may still be somebody else's, such as `open` or `get`. So a
call means the definition of its name only where the calling file imports that definition, its
class or its module, by the rules of its language. In doubt it means something else.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath, splitext
from typing import TYPE_CHECKING

from harness.building.calls.syntax import PACKAGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from harness.building.calls.syntax import Call, FileNames, Import
    from harness.building.docs.definitions import Definition

_SCRIPTS = frozenset({"javascript", "tsx", "typescript"})
_BOUND = _SCRIPTS | {"python", "lua"}
"""Languages whose imports name files."""

# Languages in which a bare name may be a member of the object itself, or of its class.
_IMPLICIT = frozenset({"cpp", "csharp", "java", "kotlin", "ruby", "scala", "swift"})
_SELVES = frozenset({"Self", "base", "cls", "parent", "self", "static", "super", "this"})
_DEPTH = 5  # imports that are followed from file to file
_SCRIPT_ENDS = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
# What comes after a module's path in a file's path.
_ENDS = {
    "bash": ("",),
    "c": ("",),
    "cpp": ("",),
    "lua": ("", ".lua", "/init.lua"),
    "python": ("/__init__.py", ".py"),
    "ruby": ("", ".rb"),
    **dict.fromkeys(_SCRIPTS, ("", *_SCRIPT_ENDS, *(f"/index{end}" for end in _SCRIPT_ENDS))),
}


class Codebase:
    """The names of all files of a corpus.

    Args:
        files: The names of the files that have some.
    """

    def __init__(self, files: Iterable[FileNames]) -> None:
        self.files: Mapping[str, FileNames] = {file.path: file for file in files}
        self._defining = Counter(
            name
            for file in self.files.values()
            for name in {d.parts[-1] for d in file.definitions if not d.local}
        )
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            self._by_name[path.rpartition("/")[2]].append(path)
        self._tops = sorted({path.partition("/")[0] for path in self.files if "/" in path})
        self._modules: dict[tuple[str, str], str | None] = {}
        self._loaded: dict[str, set[str]] = {}
        self._included: dict[str, set[str]] = {}
        self._go = self._prefix("go", "/")
        self._python = self._prefix("python", ".") if "__init__.py" in self.files else ""

    def means(self, call: Call, file: FileNames, definition: Definition, home: FileNames) -> bool:
        """Whether a call in a file means a definition in another one."""
        chain, owner = call.owner, definition.owner
        if chain is None:
            free = not owner and call.name not in file.variables
            return free and self._sees(call.name, file, home)
        if not chain or (not owner and chain[0] in file.variables):
            return False
        if not owner:
            return self._qualifies(chain, file, definition, home)
        if self._defining[owner] > 1:
            return False
        if chain[-1] == owner:
            outer = chain[:-1]
            inside = not outer or outer == definition.parts[-2 - len(outer) : -2]
            return (inside and self._sees(owner, file, home)) or (
                outer != () and self._module(outer, file) == home.path
            )
        is_own = chain[-1] in _SELVES and any(
            first <= call.line <= last and base == owner for first, last, base in file.bases
        )
        return (is_own or _is_of(chain, call.line, owner, file)) and self._sees(owner, file, home)

    def may_mean(self, call: Call, file: FileNames, definition: Definition) -> bool:
        """Whether a call in a file may mean a definition in another one that `means` denies."""
        chain, owner = call.owner, definition.owner
        if chain is None and owner:
            return file.language in _IMPLICIT
        if chain is None:
            return call.name not in file.variables and self._may_see(call.name, file)
        if not owner:  # of a module; `means` knows those of other languages
            return file.language in _BOUND and self._module(chain, file) is not None
        return not chain or self._may_have_members(chain, call.line, file)

    def _may_have_members(self, chain: tuple[str, ...], line: int, file: FileNames) -> bool:
        """Whether names in a file may be a class of the corpus, or an object of one."""
        if chain[-1] in _SELVES:
            bases = {base for first, last, base in file.bases if first <= line <= last}
            return file.language == "ruby" or any(self._defining[base] for base in bases)
        classes = {class_ for _, class_ in file.variables.get(".".join(chain), set())}
        if classes and "" not in classes:  # those of the corpus may inherit the member
            return any(self._defining[class_] for class_ in classes)
        if chain[-1][:1].isupper():
            return self._defining[chain[-1]] > 0
        return bool(classes) or not self._foreign(chain[0], file)

    def _may_see(self, name: str, file: FileNames) -> bool:
        """Whether a bare name in a file may come from another one that it does not show."""
        items, language = file.imports.get(name), file.language
        if language in _BOUND:
            return "*" in file.imports if items is None else not self._foreign(name, file)
        if language in PACKAGED:
            return items is None and not file.package
        if language == "rust":
            return "*" in file.imports or any(
                item.module.startswith(("crate", "self", "super")) for item in items or ()
            )
        return language in ("bash", "ruby")

    def _foreign(self, name: str, file: FileNames) -> bool:
        """Whether a file imports a name, and not from a file of the corpus."""
        items = file.imports.get(name, set())
        if file.language == "go":
            inside = any(self._go_folder(item.module) is not None for item in items)
        elif file.language in _BOUND:
            inside = any(
                item.module.startswith(".") or self._file(item.module, file) for item in items
            )
        else:
            inside = self._defining[name] > 0
        return bool(items) and not inside

    def _sees(self, name: str, file: FileNames, home: FileNames) -> bool:
        """Whether a bare name in a file is that of a definition at the top of another one."""
        language = file.language
        if language in PACKAGED:
            visible = _in_package(name, file, home)
        elif language in _BOUND and (name in file.imports or language != "lua"):
            visible = home.path in self._origins(file, name, _DEPTH)
        elif language == "go":
            visible = dirname(home.path) == dirname(file.path)
        elif language == "rust":
            visible = _uses(name, file, home.path)
        elif language == "swift":  # a module is two folders deep
            here, there = (PurePosixPath(item.path).parts[:-1] for item in (file, home))
            visible = here[:2] == there[:2] or not file.imports.keys().isdisjoint(there)
        elif language in ("c", "cpp"):
            files = self._includes(file.path)
            declaring = [file, *(self.files[path] for path in files)]
            visible = home.path in files or any(name in item.declared for item in declaring)
        elif language == "ruby" and name[:1].isupper():  # constants are loaded by their names
            visible = self._defining[name] == 1
        else:
            visible = home.path in self._loads(file)
        return visible

    def _qualifies(
        self, chain: tuple[str, ...], file: FileNames, definition: Definition, home: FileNames
    ) -> bool:
        """Whether names before a function are its module, package or namespace."""
        if file.language in _BOUND:
            module = self._module(chain, file)
            name = definition.parts[-1]
            return module is not None and home.path in self._offers(module, name, _DEPTH)
        bound = file.imports.get(chain[0], set())
        if file.language == "go":
            folders = {self._go_folder(item.module) for item in bound}
            return len(chain) == 1 and folders == {dirname(home.path)}
        if file.language == "rust":
            paths = [(*item.module.split("::"), item.name, *chain[1:]) for item in bound] or [chain]
            return all(_is_rust_module(path, home.path, file.path) for path in paths)
        spaces = definition.parts[:-1][-len(chain) :]
        return spaces == chain and self._sees(definition.parts[0], file, home)

    def _origins(self, file: FileNames, name: str, depth: int) -> set[str]:
        """The files in which what a file imports as a name is defined."""
        origins = []
        for item in file.imports.get(name, ()):
            module = self._file(item.module, file)
            wanted = name if item.name == "default" else item.name
            origins.append(self._offers(module, wanted, depth) if module and item.name else set())
        if origins:
            return set.intersection(*origins)
        stars = (self._file(item.module, file) for item in file.imports.get("*", ()))
        return {path for star in stars if star for path in self._offers(star, name, depth)}

    def _offers(self, path: str, name: str, depth: int) -> set[str]:
        """The files that define what a module offers by a name: itself, or those it imports."""
        file = self.files[path]
        if any(d.parts[-1] == name and not (d.local or d.owner) for d in file.definitions):
            return {path}
        return self._origins(file, name, depth - 1) if depth else set()

    def _module(self, chain: tuple[str, ...], file: FileNames) -> str | None:
        """The file of the module that names such as `a.b` mean in a file."""
        files = set()
        for at in range(1, len(chain) + 1):
            for item in file.imports.get(".".join(chain[:at]), ()):
                if file.language == "python":
                    joint = "" if item.module.endswith(".") or not item.name else "."
                    module = ".".join((item.module + joint + item.name, *chain[at:]))
                    files.add(self._file(module, file))
                elif at == len(chain) and item.name in ("", "default"):
                    files.add(self._file(item.module, file))
        return files.pop() if len(files) == 1 else None

    def _file(self, module: str, file: FileNames) -> str | None:
        """The file that a module means in a file."""
        key = module, file.path
        if key not in self._modules:
            ends = _ENDS.get(file.language, ())
            bases = self._bases(module, file)
            paths = (normpath(base) + end for base in bases for end in ends)
            self._modules[key] = next((path for path in paths if path in self.files), None)
            if self._modules[key] is None and file.language in ("c", "cpp", "lua"):
                self._modules[key] = self._ending(module, file.language)
        return self._modules[key]

    def _bases(self, module: str, file: FileNames) -> Iterator[str]:
        """The paths that a module may have, without their ends, the nearest first."""
        folder = dirname(file.path)
        if file.language == "python":
            yield from self._python_bases(module, folder)
        elif file.language in _SCRIPTS:
            if module.startswith("."):
                yield join(folder, module)
                yield join(folder, re.sub(r"\.[cm]?jsx?\Z", "", module))
        else:
            for start in (folder, "", "lib"):
                yield join(start, module)
                if file.language == "lua":
                    yield join(start, module.replace(".", "/"))

    def _python_bases(self, module: str, folder: str) -> Iterator[str]:
        steps = module.lstrip(".").split(".")
        if level := len(module) - len(module.lstrip(".")):
            yield join(folder, *[".."] * (level - 1), *steps)
        elif self._python and f"{module}.".startswith(f"{self._python}."):
            yield join(".", *steps[self._python.count(".") + 1 :])
        elif steps[0] not in sys.stdlib_module_names:
            # A folder from which absolute imports begin is not a package itself.
            around = [str(path) for path in PurePosixPath(folder, "_").parents]
            tops = [top for top in self._tops if f"{top}/{steps[0]}/__init__.py" in self.files]
            for root in (*around, *tops):
                if normpath(f"{root}/__init__.py") not in self.files:
                    yield join(root, *steps)

    def _ending(self, module: str, language: str) -> str | None:
        """The only file whose path ends with a module's path."""
        tail = re.sub(r"^(?:\.\.?/)+", "", module)
        if language == "lua":
            tail = tail.removesuffix(".lua").replace(".", "/") + ".lua"
        paths = self._by_name[tail.rpartition("/")[2]]
        matches = [path for path in paths if f"/{path}".endswith(f"/{tail}")]
        return matches[0] if len(matches) == 1 else None

    def _loads(self, file: FileNames) -> set[str]:
        """The files that a file loads or includes itself."""
        if file.path not in self._loaded:
            modules = {item.module for items in file.imports.values() for item in items}
            paths = (self._file(module, file) for module in modules)
            self._loaded[file.path] = {path for path in paths if path}
        return self._loaded[file.path]

    def _includes(self, path: str) -> set[str]:
        """The files that a file includes, directly or through others."""
        if path not in self._included:
            included: set[str] = set()
            stack = [path]
            while stack:
                new = self._loads(self.files[stack.pop()]) - included
                included |= new
                stack += new
            self._included[path] = included
        return self._included[path]

    def _go_folder(self, module: str) -> str | None:
        """The folder that a package of Go has in this corpus."""
        if not self._go or not f"{module}/".startswith(f"{self._go}/"):
            return None
        return module[len(self._go) + 1 :]

    def _prefix(self, language: str, joint: str) -> str:
        """What comes before the corpus's own paths in most of its absolute imports."""
        files = [file for file in self.files.values() if file.language == language]
        paths = {dirname(file.path) for file in files}
        paths |= {splitext(file.path)[0] for file in files} if language == "python" else set()
        prefixes: Counter[str] = Counter()
        for item in (item for file in files for items in file.imports.values() for item in items):
            steps = item.module.split(joint)
            library = "." not in steps[0] if joint == "/" else steps[0] in sys.stdlib_module_names
            for at in range(1, len(steps)):
                if not library and steps[0] and "/".join(steps[at:]) in paths:
                    prefixes[joint.join(steps[:at])] += 1
        # The longest of the most frequent ones claims the fewest imports.
        return max(sorted(prefixes), key=lambda prefix: (prefixes[prefix], len(prefix)), default="")


def _is_of(chain: tuple[str, ...], line: int, owner: str, file: FileNames) -> bool:
    """Whether every place that sets a variable or field gives it a class."""
    places = file.variables.get(".".join(chain), set())
    if len(chain) == 1:  # in a function that does not hold the line it is another variable
        elsewhere = [d for d in file.definitions if not d.first_line <= line <= d.last_line]
        places = {
            (at, class_)
            for at, class_ in places
            if not any(d.first_line <= at <= d.last_line for d in elsewhere)
        }
    return {class_ for _, class_ in places} == {owner}


def _in_package(name: str, file: FileNames, home: FileNames) -> bool:
    """Whether a name is of the package of a file: the caller's own, or one that it imports."""
    package, exact = home.package, file.imports.get(name, set())
    if exact:
        return all((item.module, item.name) == (package, name) for item in exact)
    if package == file.package:
        # Without packages, another folder is another program.
        return bool(package) or dirname(home.path) == dirname(file.path)
    if file.language == "csharp" and (not package or file.package.startswith(f"{package}.")):
        return True
    if file.language == "php" and not package and name[:1].islower():
        return True
    return bool(package) and any(item.module == package for item in file.imports.get("*", ()))


def _uses(name: str, file: FileNames, path: str) -> bool:
    """Whether Rust's `use` imports a name from the module of a file."""

    def fits(item: Import) -> bool:
        return _is_rust_module(item.module.split("::"), path, file.path)

    bound = [item for item in file.imports.get(name, ()) if item.name == name]
    if bound:
        return all(map(fits, bound))
    return any(map(fits, file.imports.get("*", ())))


def _is_rust_module(steps: Iterable[str], path: str, from_path: str) -> bool:
    """Whether a module's path is the end of a file's path."""
    steps = [step for step in steps if step]
    if not steps or steps[0] in ("alloc", "core", "std"):
        return False
    names = [step for step in steps if step not in ("crate", "self", "super")]
    file = PurePosixPath(path)
    top = file.stem in ("lib", "main", "mod")
    if not names:
        return top
    if names == steps and len(names) == 1 and file.parts[:1] != PurePosixPath(from_path).parts[:1]:
        return False
    parts = [*file.parent.parts, *([] if top else [file.stem])]
    return [part.replace("-", "_") for part in parts if part != "src"][-len(names) :] == names
