"""Runs every benchmark: `python -m benchmarks`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

for name in sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])):
    if name != "__main__":
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
