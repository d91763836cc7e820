"""Chunkers of the program that runs, the module `__main__`: how another process finds them.

It imports the program's file under another name, as `multiprocessing` does, so that what stands
under `if __name__ == "__main__":` does not run there. Only a program that has such a part says that
it may be imported; any other would run once more.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import sys
import types
from pathlib import Path

from chunkers.errors import InputError

GUARD = 'if __name__ == "__main__":'

LOADING = "CHUNKMARK_LOADING"
"""Stands in the environment of a process while it imports a chunker."""

_IMPORTED = "__mp_main__"


def program_file() -> str:
    """The file of the program that runs, where another process may import it.

    Raises:
        InputError: There is none, or it may not; the message says why.
    """
    program = sys.modules["__main__"]
    file = getattr(program, "__file__", None)
    spec = getattr(program, "__spec__", None)
    if not isinstance(file, str) or not Path(file).is_file():
        raise InputError("it was typed in, and has no file that another process could import")
    if spec is not None:
        raise InputError("python -m runs it; put the chunker into a module of its own")
    if not _is_guarded(Path(file)):
        raise InputError(f"to import {file} would run it; put what it runs under `{GUARD}`")
    return file


def import_program(file: str) -> None:
    """Import the file of a program as the module `__main__` of this process."""
    loader = importlib.machinery.SourceFileLoader(_IMPORTED, file)
    module = types.ModuleType(_IMPORTED)
    module.__file__ = file
    sys.modules["__main__"] = sys.modules[_IMPORTED] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # beside a program is none
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before


def refuse_while_loading(spec: str) -> None:
    """Refuse to cut while this process imports a chunker: each would start the next without end.

    Raises:
        InputError: It does.
    """
    if LOADING in os.environ:
        raise InputError(
            f"chunker {spec} is to cut while a chunker is imported; put what cuts under `{GUARD}`"
        )


def _is_guarded(file: Path) -> bool:
    """Whether something at the top of a program depends on its name."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(node, ast.If)
        and {"__name__", "__main__"}
        <= {
            getattr(part, "id", getattr(part, "value", None))
            for part in ast.walk(node.test)
            if isinstance(part, ast.Name | ast.Constant)
        }
        for node in tree.body
    )
