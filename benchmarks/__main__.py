"""Runs every benchmark: `python -m benchmarks`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

for found in sorted(pkgutil.iter_modules([str(Path(__file__).parent)]), key=lambda one: one.name):
    if found.name != "__main__":
        print(f"== {found.name}", flush=True)
        importlib.import_module(f"benchmarks.{found.name}").main()
