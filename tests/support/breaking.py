"""Chunkers that break on one file, and cut all others whole."""

import ctypes
import os
import time
from pathlib import Path

from chunkers import Span

BROKEN = "one/copy of alpha.py"


def whole(source):
    return [Span(0, len(source.text))]


def hangs(source):
    return time.sleep(1000) if source.path == BROKEN else whole(source)


def allocates(source):
    taken = []
    while source.path == BROKEN:
        taken.append(bytearray(1 << 26))
    return whole(source)


def recurses(source):
    def down():
        return down()

    return down() if source.path == BROKEN else whole(source)


def segfaults(source):
    return ctypes.string_at(0) if source.path == BROKEN else whole(source)


def exits(source):
    return os._exit(0) if source.path == BROKEN else whole(source)


def raises(source):
    return source[0] if source.path == BROKEN else whole(source)


def interrupts(source):
    if source.path == BROKEN:
        raise KeyboardInterrupt
    return whole(source)


def reorders(source):
    spans = [Span(1, len(source.text)), Span(0, 1)]
    return spans if source.path == BROKEN else whole(source)


def prints(source):
    os.write(1, b"\x00" * 100)
    print("a line", flush=True)
    return whole(source)


def comes_late(source):
    """The first file takes longer than all others."""
    if source.path == "one/alpha.py":
        time.sleep(0.5)
    return whole(source)


def always_hangs(source):
    """Says in the current folder which process hangs."""
    Path(f"{os.getpid()}.pid").touch()
    time.sleep(1000)


def while_there_is_a_flag(source):
    if Path("flag").exists():
        raise RuntimeError("there is a flag")
    return whole(source)
