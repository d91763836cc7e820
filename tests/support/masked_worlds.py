"""A data set whose queries are lines of its corpus, and the same with the lines cut by hand."""

from dataclasses import replace

from worlds import function

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Region, Skipped, Target

ALPHA = function("alpha") + function("beta", 12) + function("gamma")
OTHERS = (Source(function("alpha") + function("delta"), "one/copy.py", "python"),)
RHO = (Source(function("rho", 30) + function("sigma"), "two/rho.py", "python"),)


def masked_world(**changes):
    """Queries that are lines of their corpus: behind, before, around and in another file."""
    one = Corpus("one", (Source(ALPHA, "one/alpha.py", "python"), *OTHERS), (Skipped("x", "odd"),))

    def query(name, corpus, region, *targets):
        source = next(
            s for c in (one, Corpus("two", RHO)) for s in c.sources if s.path == region[0]
        )
        start, end = source.lines.offsets_of(*region[1:])
        asked = source.text[start:end]
        gold = tuple(Target(*target) for target in targets)
        return Query(name, corpus, asked, gold, region=Region(*region), tags={"kind": name[0]})

    alpha, copy = "one/alpha.py", "one/copy.py"
    fields = {
        "name": "made",
        "gold": "span",
        "corpora": (one, Corpus("two", RHO)),
        "queries": (
            query("a behind", "one", (alpha, 1, 6), (alpha, 9, 22)),
            query("b before", "one", (alpha, 9, 30), (alpha, 1, 6)),
            query("c around", "one", (alpha, 9, 22), (alpha, 1, 6), (alpha, 25, 30)),
            query("d elsewhere", "one", (alpha, 1, 32), (copy, 9, 14)),
            query("e two", "two", ("two/rho.py", 1, 9), ("two/rho.py", 35, 40)),
        ),
    }
    return Dataset(**(fields | changes))


def by_hand(dataset, name):
    """The data set of one query alone, its file without the region."""
    query = next(one for one in dataset.queries if one.id == name)
    region = query.region

    def cut(source):
        if source.path != region.path:
            return source
        lines = source.text.split("\n")
        count = region.end_line - region.start_line + 1
        lines[region.start_line - 1 : region.end_line] = [""] * count
        return replace(source, text="\n".join(lines))

    corpus = next(one for one in dataset.corpora if one.id == query.corpus)
    alone = replace(corpus, sources=tuple(cut(source) for source in corpus.sources))
    asked = replace(query, region=None)
    return replace(dataset, corpora=(alone,), queries=(asked,))
