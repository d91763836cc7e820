"""Watches the memory of this process, for the other benchmarks."""

from __future__ import annotations

import threading
from pathlib import Path


class PeakMemory:
    """The most anonymous memory, `most`, beyond what there was at the start, in bytes.

    Files that are mapped do not count, since the system takes their pages back when it needs them.
    """

    def __enter__(self) -> PeakMemory:
        self._before, self.most = self._now(), 0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.most = max(self.most, self._now() - self._before)

    @staticmethod
    def _now() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))
