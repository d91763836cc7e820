"""The embedded default: docstring summaries as queries to the running Python's own library.

Every docstring of the indexed files is removed first, so the corpus holds a query's words only
where the code itself does. Queries of which too much remains are left out and counted.
"""

from __future__ import annotations

import platform
import sysconfig
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.built_queries import names_overlap
from harness.building.docs.comments import strip_doc_comments
from harness.building.docs.styles import STYLES
from harness.building.docs.text import summary_of
from harness.chunking.parsing import UnparsedError
from harness.model import DEFINITIONS, GOLD_FOLLOWS, Corpus, Dataset, Query, Skipped, Target
from harness.reading.reader import ReadRules, read_file
from harness.reading.stored_text import kept
from harness.support.word_runs import RUN, count_words, leaked_queries, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.source import Source
    from harness.building.docs.comments import DocumentedDefinition
    from harness.datasets.cards import Card

_RULES = ReadRules(suffixes=(".py",), guess="cp1252")
_FEWEST_WORDS = 4
_STYLE = replace(STYLES["python"], comments=False)

# Why a docstring makes no query; the first that applies is counted.
_ONLY_DOCSTRING = "body is nothing but the docstring"
_FEW_WORDS = f"summary under {_FEWEST_WORDS} words"
_SHARED = "summary shared by several functions"
_LEAKED = f"{RUN} words in a row of the summary remain in the corpus"
_TWINS = "modules that are the Python twin of C code"
_LACKING = "modules that this Python lacks"


@dataclass(frozen=True, slots=True)
class _Summary:
    path: str
    id: str
    function: DocumentedDefinition
    text: str
    words: tuple[str, ...]


def load(card: Card, data_dir: Path | None) -> Dataset:
    """Load the modules that the card lists; `data_dir` is not used.

    Raises:
        InputError: This Python has no source of its library.
    """
    root = Path(sysconfig.get_path("stdlib"))
    chosen = _chosen(card)
    twins = {path for path in [*chosen, *_top_level(root)] if is_twin(path)}
    present = [path for path in chosen if path not in twins and (root / path).is_file()]
    if not present:
        raise InputError(f"dataset stdlib: {root} holds no source of Python's library")
    sources: list[Source] = []
    skipped: list[Skipped] = []
    summaries: list[_Summary] = []
    for path in present:
        read = read_file(root / path, path, _RULES)
        if isinstance(read, Skipped):
            skipped.append(read)
            continue
        try:
            cut = strip_doc_comments(read, _STYLE)
        except UnparsedError as error:
            skipped.append(Skipped(error.path, error.reason))
            continue
        sources.append(kept(cut.source))
        summaries += _summaries(path, cut.documented)
    left_out = {_TWINS: len(twins), _LACKING: len({*chosen} - twins) - len(present)}
    queries, dropped = _queries(summaries, sources)
    return Dataset(
        name=card.name,
        gold="span",
        corpora=(Corpus("stdlib", tuple(sources), tuple(skipped)),),
        queries=queries,
        left_out=dropped | left_out,
        information={
            "python": platform.python_version(),
            "modules": str(len(sources)),
            GOLD_FOLLOWS: DEFINITIONS,
        },
    )


def is_twin(path: str) -> bool:
    """Whether a library path is a Python twin of C code, or text generated from documentation."""
    top = path.split("/", 1)[0]
    return top.startswith("_py") or top == "pydoc_data"


def _chosen(card: Card) -> list[str]:
    modules = card.settings.get("modules")
    if not isinstance(modules, list) or not all(isinstance(path, str) for path in modules):
        raise InputError(f"card {card.name}: settings.modules must be a list of paths")
    return sorted(set(modules))


def _top_level(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir()) if root.is_dir() else []


def _summaries(path: str, documented: Iterable[DocumentedDefinition]) -> list[_Summary]:
    """The documented functions of one file."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    summaries = []
    for function in documented:
        (docstring,) = function.comment
        if function.function and docstring:
            text = summary_of(docstring)
            number = f"#{function.number}" if function.number > 1 else ""
            name = f"{module}.{function.name}{number}"
            summaries.append(_Summary(path, name, function, text, tuple(words_of(text))))
    return summaries


# Fewer rules than for doc comments of any repository (`harness.building.docs.queries`), and
# other sentences: each of those rules would change the queries, and with them all earlier scores.
def _queries(
    summaries: list[_Summary], sources: list[Source]
) -> tuple[tuple[Query, ...], dict[str, int]]:
    dropped = dict.fromkeys((_ONLY_DOCSTRING, _FEW_WORDS, _SHARED, _LEAKED), 0)
    shared = Counter(summary.words for summary in summaries)
    leaked = leaked_queries(
        {each.id: each.text for each in summaries}, (source.text for source in sources)
    )
    queries = []
    for summary in summaries:
        if summary.function.empty:
            dropped[_ONLY_DOCSTRING] += 1
        elif count_words(summary.text) < _FEWEST_WORDS:
            dropped[_FEW_WORDS] += 1
        elif shared[summary.words] > 1:
            dropped[_SHARED] += 1
        elif summary.id in leaked:
            dropped[_LEAKED] += 1
        else:
            queries.append(_query(summary))
    return tuple(sorted(queries, key=lambda query: query.id)), dropped


def _query(summary: _Summary) -> Query:
    function = summary.function
    return Query(
        id=summary.id,
        corpus="stdlib",
        text=summary.text,
        targets=(Target(summary.path, function.start_line, function.end_line),),
        tags={"name-overlap": "yes" if names_overlap(function.name, summary.text) else "no"},
        cluster=summary.path,
    )
