"""A small data set made by hand, the grid over it, and chunkers that do wrong."""

from pathlib import Path

from chunkers.source import Source, Span
from harness.model import Corpus, Dataset, Query, Skipped, Target
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.runner import run

BYTES = ("metrics.json", "run.trec", "scores.jsonl", "per_query.jsonl", "qrels.trec",
         "chunks.jsonl", "targets.jsonl", "queries.jsonl")  # fmt: skip


def function(name, lines=4):
    body = "".join(f"    {name}_{i} = transform({name}, {i})\n" for i in range(lines))
    return f"def {name}(value):\n{body}    return {name}_0\n\n\n"


def small(**changes):
    """Two corpora, one of them with a copied file; ids that need encoding."""
    texts = {
        "one/alpha.py": function("alpha") + function("beta") + function("gamma"),
        "one/copy of alpha.py": function("alpha") + function("delta"),
        "two/rho.py": function("rho", 30) + function("sigma"),
        "two/blank.py": "\n\n",
    }

    def corpus(name):
        sources = [Source(t, p, "python") for p, t in sorted(texts.items()) if p.startswith(name)]
        return Corpus(name, tuple(sources), (Skipped(f"{name}/icon.py", "binary"),))

    def query(name, path, first, last, **fields):
        of = path.split("/", maxsplit=1)[0]
        return Query(name, of, f"transform {name}", (Target(path, first, last),), **fields)

    fields = {
        "name": "small",
        "gold": "span",
        "corpora": (corpus("one"), corpus("two")),
        "queries": (
            query("q alpha", "one/alpha.py", 1, 6, tags={"kind": "first"}),
            query("q beta", "one/alpha.py", 9, 14, tags={"kind": "other"}),
            query("q rho", "two/rho.py", 1, 32, tags={"kind": "first"}),
            query("q sigma", "two/rho.py", 35, 40, tags={"kind": "other"}),
            query("q\tgone", "two/gone.py", 1, 2, tags={"kind": "other"}),
        ),
    }
    return Dataset(**(fields | changes))


def files(out):
    return {
        f"{cell.name}/{name}": (cell / name).read_bytes()
        for cell in sorted((Path(out) / "cells").iterdir())
        for name in BYTES
    }


def grid(tmp_path, name="run", dataset=None, **changes):
    given = {
        "chunkers": ("ast:max_size=120", "fixed:max_size=120", "whole-file"),
        "embedders": ("minilm",),
        "retrievers": ("dense", "bm25"),
    } | changes
    config = RunConfig().over(**given)
    return run(make_plan(config), [dataset or small()], tmp_path / name)


def lossy(source):
    """Drops the second half of every file, and all of the file `two/rho.py`."""
    if source.path == "two/rho.py":
        return [Span(0, 0)]
    return [Span(0, source.lines.offsets_of(1, source.lines.count // 2)[1])] * 2


def failing(source):
    if source.path.startswith("one/copy"):
        raise RuntimeError("cannot\nparse this")
    return [Span(0, len(source.text))]


def returning_nothing(source):
    """No chunk of any file."""
    return []


def returning_blanks(source):
    """Line feeds alone."""
    return [Span(at, at + 1) for at, mark in enumerate(source.text) if mark == "\n"]


def by_lines(source):
    """Every line a chunk, blank ones too."""
    return [Span(*source.lines.offsets_of(line, line)) for line in range(1, source.lines.count + 1)]


def failing_on_alpha(source):
    if source.path == "one/alpha.py":
        raise RuntimeError("cannot parse this")
    return [Span(0, len(source.text))]


def only_the_copy(source):
    """Cuts whole files, and leaves out the file with the original."""
    return [] if source.path == "one/alpha.py" else [Span(0, len(source.text))]


def headless(source):
    """Whole files; only one has text to embed."""
    text = source.text if source.path == "one/alpha.py" else " \n "
    return [Span(0, len(source.text), embed_text=text)]


def leaving(source):
    raise SystemExit(0)


def spoiling(source):
    source.lines.nws[:] = 0
    return []


def naming_alone(source):
    """Embeds the first line of the text alone."""
    first = source.text.split("\n", 1)[0]
    return [Span(0, len(source.text), embed_text=first)] if first else []


def renaming(source):
    """Embeds another text than the chunk's."""
    return [Span(0, len(source.text), embed_text="something else")] if source.text.strip() else []


def with_option(source, *, header: bool = True):
    """Whole files; its option has the name of one of the built-in chunkers, and does nothing."""
    return [Span(0, len(source.text))] if source.text.strip() else []


def of_corpus(source, services):
    """Names the corpus in the ids of its chunks."""
    return [Span(0, len(source.text), ref_id=f"/r/{services.corpus}/{source.path}")]
