"""Runs every benchmark but the board of chunkers, which takes an hour: `python -m benchmarks`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

for name in sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])):
    if name not in ("__main__", "board"):
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
