"""numpy, imported on first use: listing parts and asking for help takes less time than its import.

Modules that commands import before they know whether they need it write
`from chunkers.lazy import np`.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["np"]


def _lazy(name: str) -> ModuleType:
    """A module that imports another when an attribute is first read, and then has all of its."""
    module = ModuleType(name)

    def load(attribute: str) -> Any:
        loaded = importlib.import_module(name)
        vars(module).update(vars(loaded))
        return getattr(loaded, attribute)

    vars(module)["__getattr__"] = load
    return module


if not TYPE_CHECKING:
    np = _lazy("numpy")
