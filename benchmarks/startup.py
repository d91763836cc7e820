"""Seconds from the shell to the end of the commands that must answer at once."""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 7


def main() -> None:
    """Print the best and the median of several starts."""
    for arguments in (["--help"], ["list"], ["list", "chunkers"]):
        command = [sys.executable, "-m", "harness.cli", *arguments]
        seconds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(time.perf_counter() - started)
        seconds.sort()
        name = " ".join(["chunkmark", *arguments])
        print(f"{name:24} best {seconds[0]:.2f} s   median {seconds[ROUNDS // 2]:.2f} s")


if __name__ == "__main__":
    main()
