"""The version of a plug-in that declares none: a hash of its source files."""

from __future__ import annotations

import hashlib
import sysconfig
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

_OURS = frozenset({"chunkers", "harness"})


def code_version(file: Path) -> str:
    """A hash of a module's file and of the files of its own project that it imports.

    The project is the folder of the top-level module or package; for an installed module, which
    shares that folder with others, its top-level package. The code of chunkmark is left out: its
    hash is stored separately.

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
    files[str(file)] = name  # even if it cannot be compiled
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
        """Find a module unless it is outside of the project."""
        if path is None and name != self._top and (self._installed or name in _OURS):
            raise ImportError(name)
        return super().find_module(name, path, parent)
