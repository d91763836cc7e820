"""Chunkers with one fault each. They cut by tens of lines, whatever stands there."""

import ctypes
import os
import random
import re
import subprocess
import sys
import threading
import time

from chunkers import Span

SLEEP = 1000


def tens(source):
    """Right: all text, in order, once."""
    lines = source.lines
    starts = [lines.start_of(line) for line in range(1, lines.count + 1, 10)]
    ends = [*starts[1:], len(source.text)]
    return [Span(start, end) for start, end in zip(starts, ends, strict=False)]


def drops_literals(source):
    """Chunks with a long literal are dropped."""
    return [one for one in tens(source) if "AAAA" not in source.text[one.start : one.end]]


def counts_bytes(source):
    """Offsets are those of the bytes."""
    return [
        Span(*(len(source.text[:offset].encode()) for offset in (one.start, one.end)))
        for one in tens(source)
    ]


def shifts_by_one(source):
    """Every chunk begins and ends a character late, while its own text is what it should be."""
    size = len(source.text)
    return [
        Span(min(size, one.start + 1), min(size, one.end + 1), source.text[one.start : one.end])
        for one in tens(source)
    ]


def repeats(source):
    """Every chunk begins with the last line of the one before."""
    lines = source.lines
    return [
        Span(lines.start_of(max(1, lines.line_of(one.start) - 1)), one.end) for one in tens(source)
    ]


def reorders(source):
    """The last chunk comes first."""
    spans = tens(source)
    return spans[-1:] + spans[:-1]


def draws_lots(source):
    """Cuts are somewhere else each time."""
    size = len(source.text)
    at = random.randint(0, size)  # noqa: S311
    return [Span(0, at), Span(at, size)]


def hashes(source):
    """The cut depends on the hash seed."""
    at = hash(source.text) % (len(source.text) + 1)
    return [Span(0, at), Span(at, len(source.text))]


_seen = set()


def remembers(source):
    """Nothing is found in a source that was seen before, nor in those that are like it."""
    if len(source.text) in _seen:
        return []
    _seen.add(len(source.text))
    return tens(source)


_shared = []


def shares(source):
    """A list that all calls share, as if there were no threads."""
    _shared.clear()
    for span in tens(source):
        _shared.append(span)
        time.sleep(0)
    return list(_shared)


def too_large(source, max_size: int = 50):
    """Ten lines at once are over the limit that is declared."""
    return tens(source)


def hangs(source):
    """Sleeps for good."""
    time.sleep(SLEEP)


def hangs_in_c(source):
    """Holds the interpreter for good."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def hangs_on_tabs(source):
    """Sleeps for good where there is a tab."""
    return time.sleep(SLEEP) if "\t" in source.text else tens(source)


def leaves_a_process(source):
    """Starts a program, and waits for it."""
    subprocess.run(["sleep", str(SLEEP + source.lines.count)], check=False)


def raises(source):
    """Raises where there is a NUL."""
    return tens(source[0] if "\0" in source.text else source)


def cuts_nothing(source):
    """Raises on every source."""
    raise ValueError(source.path)


def recurses(source, depth: int = 0):
    """Goes as deep as brackets are nested."""

    def down(left):
        return left and 1 + down(left - 1)

    down(source.text.count("["))
    return tens(source)


def segfaults(source):
    """Reads where there is no memory."""
    ctypes.string_at(0)


def segfaults_in_threads(source):
    """Reads where there is no memory, but not in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        ctypes.string_at(0)
    return tens(source)


def allocates(source):
    """Takes memory without end."""
    taken = []
    while True:
        taken.append(bytearray(1 << 24))


def exits(source):
    """Leaves the process."""
    os._exit(3)


def stops(source):
    """Raises what ends a program."""
    sys.exit("enough")


def prints(source):
    """Writes to standard output, and reads standard input."""
    os.write(1, b"\x00\x00\x00\x00\x00\x00\x00\x02{}" * 1000)
    print(sys.stdin.read(), flush=True)
    return tens(source)


def asks(source, services):
    """Embeds what the vectors say; one of the texts is half of a character."""
    vectors = services.embed(["a", "\ud83d"])
    services.note(f"{services.corpus} {services.count_tokens('a b')}")
    return [Span(0, len(source.text), f"{vectors.dtype} {vectors.tolist()} \ud83d", "mine")]


def tells_its_seed(source):
    """The hash seed is what it embeds."""
    return [Span(0, 0, os.environ.get("PYTHONHASHSEED", ""))]


class Declares:
    """Drops the first ten lines, and says so; what it does and says can be chosen."""

    max_size = None

    def __init__(
        self, exceptions: str = "exactly-once", languages: str = "python", drops: bool = True
    ) -> None:
        self.drops = drops
        self.exceptions = tuple(filter(None, exceptions.split("+")))
        self.languages = tuple(filter(None, languages.split("+")))

    def chunk(self, source, services):
        return [one for one in tens(source) if one.start or not self.drops]


_KEPT = []


def hoards(source):
    """Keeps 40 MiB of every file."""
    _KEPT.append(bytearray(os.urandom(1 << 20) * 40))
    return [Span(0, len(source.text))]


def has_odd_gaps(source):
    return [Span(0, len(source.text), None, None, ((False, True),))]


def has_no_gaps(source):
    return [Span(0, len(source.text), None, None, float("nan"))]


def has_an_odd_id(source):
    return [Span(0, len(source.text), ref_id=float("nan"))]


def notes_what_is_no_note(source, services):
    services.notes = [[1, 2], 3]
    return tens(source)


class _TwoFaced(list):
    def __iter__(self):
        self.asked = getattr(self, "asked", 0) + 1
        return iter([Span(0, 1)] if self.asked < 2 else [Span(-5, 10**9)])


def is_two_faced(source):
    return _TwoFaced([Span(0, 1)])


class _Silent(Exception):  # noqa: N818
    def __str__(self):
        raise ValueError("no")


def fails_to_say_why(source):
    raise _Silent
