"""What version of a plug-in's code runs, where it states none: a hash of its files."""

from __future__ import annotations

import ast
import hashlib
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


_PLAIN = (str, bytes, int, float, bool, type(None))
_OURS = frozenset({"chunkers", "harness"})


def code_version(file: Path) -> str:
    """Changes with a module's file, and with each of its own project that it imports.

    Those are modules beside it, or anywhere in its top-level package, that an import statement
    names; where it is installed beside other people's, those of its package alone. This program's
    own code counts elsewhere.

    Args:
        file: The module's file.
    """
    file = file.resolve()
    root = file.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    parts = file.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    installed = any(root == Path(path).resolve() for path in sysconfig.get_paths().values())
    own = {name.partition(".")[0]}
    files = {file: name}
    pending = [file]
    while pending:
        one = pending.pop()
        for other, path in _imported(one, files[one], root):
            top = other.partition(".")[0]
            if path not in files and top not in _OURS - own and (not installed or top in own):
                files[path] = other
                pending.append(path)
    if len(files) == 1:
        return f"file {hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    digest = hashlib.sha256()
    for path, module in sorted(files.items(), key=lambda item: item[1]):
        digest.update(f"{module} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"files {digest.hexdigest()[:12]}"


def typed_version(module: ModuleType) -> str:
    """Changes with what was typed into a module that has no file, as an interpreter or a notebook.

    That is every function and class that the module defines, and every plain value that they name.
    """
    codes = [
        (name, code)
        for name, value in sorted(vars(module).items())
        if isinstance(value, FunctionType | type) and value.__module__ == module.__name__
        for code in _codes(value)
    ]
    said = [f"{name} {_said(code)}" for name, code in codes]
    named = {name for _, code in codes for name in code.co_names}
    for name, value in sorted(vars(module).items()):
        if name in named and type(value) in _PLAIN:
            said.append(f"{name} = {value!r}")
    return f"typed {hashlib.sha256(chr(10).join(said).encode()).hexdigest()[:12]}"


def _codes(value: object) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class."""
    if isinstance(value, type):
        for one in vars(value).values():
            for part in (one, *(getattr(one, name, None) for name in ("__func__", "fget"))):
                if isinstance(part, FunctionType):
                    yield part.__code__
    elif isinstance(value, FunctionType):
        yield value.__code__


def _said(code: CodeType) -> str:
    """What a code does, without where it stands."""
    constants = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            constants.append(_said(one))
        elif isinstance(one, frozenset):  # in an order of its own in each process
            constants.append(repr(sorted(map(repr, one))))
        else:
            constants.append(repr(one))
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _imported(file: Path, name: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every module below a folder that a file imports, functions included."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for one in names:
            yield from _found(one, root)


def _found(name: str, root: Path) -> Iterator[tuple[str, Path]]:
    """The files of a module and of the packages that it lies in."""
    parts = [part for part in name.split(".") if part]
    for depth in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:depth])
        for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
            if file.is_file():
                yield ".".join(parts[:depth]), file.resolve()
