"""Data sets for the browsers of a report, each loaded as `browser_worlds:NAME`."""

from itertools import pairwise

from worlds import function, small

from chunkers.source import Source, Span
from harness.model import Corpus, Dataset, Query, Region, Target

HOSTILE = "</script><img src=x onerror=alert(1)>"
BIDI = "\u202eevil\u2066 \u05d0\u05d1\u05d2 \u200f"
TERMINAL = "\x1b[31mred\x1b[0m\x07"
LONG = "x" * 10_000
ASTRAL = "\U0001f40d"


def plain(data_dir):
    """Two corpora, one of them with a copied file."""
    return small()


def astral(data_dir):
    """Text with characters that JavaScript counts twice, before and in the gold."""
    text = (
        f"# {ASTRAL * 3} caf\u00e9\n"
        + function("alpha")
        + f"NAME = '{ASTRAL}'\r\n"
        + function("beta")
    )
    query = Query("q", "one", "transform beta", (Target("a.py", 9, 16),))
    return Dataset("astral", "span", (Corpus("one", (Source(text, "a.py", "python"),)),), (query,))


def hostile(data_dir):
    """Text, path, ids and tags that a page must show and not run."""
    lines = [f"# {HOSTILE}", f"# {BIDI}", f"# {TERMINAL}", f"NAME = '{LONG}'", function("alpha")]
    path = f"one/{HOSTILE}{BIDI}.py"
    sources = (
        Source("\n".join(lines), path, "python"),
        Source(function("beta"), "one/b.py", "python"),
    )
    asked = f"alpha {HOSTILE} {TERMINAL} {BIDI}"
    queries = (
        Query(f"q {HOSTILE}{BIDI}", "one", asked, (Target(path, 5, 10),), tags={"kind": HOSTILE}),
        Query("q long", "one", f"beta {LONG}", (Target("one/b.py", 1, 6),), tags={"kind": "long"}),
    )  # fmt: skip
    return Dataset("hostile", "span", (Corpus("one", sources),), queries)


def masked(data_dir):
    """A query that is lines of its corpus; its masked file needs a filler."""
    text = function("alpha") + function("beta", 12) + function("gamma")
    source = Source(text, "one/alpha.py", "python")
    other = Source(function("delta"), "one/other.py", "python")
    asked = "\n".join(text.split("\n")[8:14])
    query = Query("q", "one", asked, (Target("one/alpha.py", 25, 30),),
                  region=Region("one/alpha.py", 9, 14))  # fmt: skip
    return Dataset("masked", "span", (Corpus("one", (source, other)),), (query,), mask=True)


def documents(data_dir):
    """Documents with grades, one of them not retrieved by its words."""
    texts = {"d1": "sort a list of numbers", "d2": "read a file", "d3": "sort the lines of a file"}
    sources = tuple(Source(text, name) for name, text in texts.items())
    queries = (
        Query("q1", "all", "sort numbers", qrels={"d1": 2, "d3": 0}),
        Query("q2", "all", "read", qrels={"d2": 1, "d3": 1}),
    )
    return Dataset("documents", "document", (Corpus("all", sources),), queries, pooling="max")


def long(data_dir):
    """A file of 12,000 lines, with the gold near its end."""
    text = "".join(function(f"name_{number}") for number in range(1500))
    query = Query("q", "one", "transform name_1490", (Target("a.py", 11_921, 11_926),))
    return Dataset("long", "span", (Corpus("one", (Source(text, "a.py", "python"),)),), (query,))


def gappy(source):
    """Chunks of ten lines, each without the text of its fourth line."""
    lines = source.lines
    return [
        Span(
            lines.start_of(first),
            lines.end_of(min(first + 9, lines.count)),
            gaps=(lines.offsets_of(first + 3, first + 3),) if first + 9 <= lines.count else (),
        )
        for first in range(1, lines.count + 1, 10)
    ]


def blank(data_dir):
    """A target that ends with blank lines."""
    text = "alpha = 1\n\n\nbeta = 2\n"
    query = Query("q", "one", "alpha beta", (Target("a.py", 1, 2),))
    return Dataset("blank", "span", (Corpus("one", (Source(text, "a.py", "python"),)),), (query,))


def after_first_line(source):
    """The first line, then the rest with the blank lines before it."""
    end = source.lines.end_of(1)
    return [Span(0, end), Span(end, len(source.text))]


def labelled(source, label=""):
    """Cuts before each function; its name holds any text."""
    starts = [at for at in range(1, len(source.text)) if source.text.startswith("def ", at)]
    return [Span(a, b) for a, b in pairwise([0, *starts, len(source.text)])]
