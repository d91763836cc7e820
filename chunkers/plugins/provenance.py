"""What version of a plug-in's code runs, where it states none: a hash of its files."""

from __future__ import annotations

import hashlib
import sysconfig
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

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
    finder = _Finder(root, name.partition(".")[0])
    finder.import_hook(name)
    modules: dict[str, Any] = finder.modules
    files = {module.__file__: name for name, module in modules.items() if module.__file__}
    files[str(file)] = name  # even where it cannot be compiled
    if len(files) == 1:
        return f"file {hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    digest = hashlib.sha256()
    for path, module in sorted(files.items(), key=lambda item: item[1]):
        digest.update(f"{module} {hashlib.sha256(Path(path).read_bytes()).hexdigest()}\n".encode())
    return f"files {digest.hexdigest()[:12]}"


class _Finder(ModuleFinder):
    """Follows imports inside a folder, without running anything.

    Args:
        root: The folder.
        top: The package or module from which the imports start.
    """

    def __init__(self, root: Path, top: str) -> None:
        super().__init__(path=[str(root)])
        installed = any(root == Path(path).resolve() for path in sysconfig.get_paths().values())
        self._top, self._installed = top, installed

    def find_module(self, name: str, path: Any, parent: Any = None) -> Any:
        """Find a module unless it is other people's, or this program's own."""
        if path is None and name != self._top and (self._installed or name in _OURS):
            raise ImportError(name)
        return super().find_module(name, path, parent)
