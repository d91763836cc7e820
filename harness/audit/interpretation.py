"""What an audit says: every number, and one line on what to think of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.audit.self_retrieval import MOST
from harness.runs.health import TRUNCATION_MARK
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.audit.audit import Audit, ChunkerAudit
    from harness.audit.counts import Duplicates, GoldCut, Truncation, Twins
    from harness.audit.self_retrieval import SelfRetrieval

SOME = 0.05
"""Share from which a finding touches the scores."""


@dataclass(frozen=True)
class Finding:
    """One line of an audit.

    Attributes:
        audit: Which audit.
        of: The chunker or embedder, or both; empty where it is the data set's own.
        found: The numbers.
        reading: What to think of them.
    """

    audit: str
    of: str
    found: str
    reading: str


def findings(audit: Audit) -> tuple[Finding, ...]:
    """Every finding of an audit, those of the data set first."""
    return tuple(_findings(audit))


def _findings(audit: Audit) -> Iterator[Finding]:
    if audit.self_retrieval is not None:
        yield from _self_retrieval(audit.self_retrieval)
    if audit.twins is not None:
        yield _twins(audit.twins)
    if audit.identical_files is not None:
        yield _identical(audit.identical_files)
    for embedder, queries in audit.queries_truncated.items():
        yield _truncated("queries", embedder, queries)
    for chunker in audit.chunkers:
        yield from _chunker(chunker)
    if audit.needs_dataset:
        yield Finding(
            ", ".join(audit.needs_dataset),
            "",
            "not in a run folder, which holds no texts",
            f"this needs the data set: chunkmark audit -d '{audit.dataset}'",
        )


def _self_retrieval(one: SelfRetrieval) -> Iterator[Finding]:
    if one.lines_in_gold > MOST or one.queries_over_90 > 0.5:
        reading = "this measures finding a text by itself"
    elif one.lines_in_gold > SOME:
        reading = "part of the answer stands in the question"
    else:
        reading = "queries are not lines of their gold"
    yield Finding(
        "self-retrieval, lines",
        "",
        f"{_percent(one.lines_in_gold)} of query lines stand in gold; over 90 % of them in "
        f"{_percent(one.queries_over_90)} of queries, all in {_percent(one.queries_of_gold)}",
        reading,
    )
    if one.words_in_corpus - one.words_in_gold > SOME:
        reading = "the corpus holds the queries' words outside of gold: they outrank the answer"
    elif one.words_in_gold > SOME:
        reading = "gold holds the words of the queries: a copy is found, not an answer"
    elif one.queries_sharing_words > 0:
        reading = "some queries can be found by their wording"
    else:
        reading = "queries are in words of their own"
    yield Finding(
        "self-retrieval, words",
        "",
        f"{_percent(one.words_in_gold)} of 8-word runs stand in gold, "
        f"{_percent(one.words_in_corpus)} in the corpus; "
        f"{_percent(one.queries_sharing_words)} of queries share one",
        reading,
    )
    if one.inside_file == 0:
        reading = "no query stands whole in a file"
    elif one.inside_gold == one.inside_file:
        reading = "these find themselves"
    else:
        reading = "these find themselves before the answer, unless run masks them: --mask-query"
    yield Finding(
        "self-retrieval, whole text",
        "",
        f"{_percent(one.inside_gold)} of queries stand whole in their gold, "
        f"{_percent(one.inside_file)} in a file, "
        f"{_percent(one.inside_rest)} outside of their own lines too",
        reading,
    )


def _twins(one: Twins) -> Finding:
    return Finding(
        "twins",
        "",
        f"{one.with_twins} of {one.targets} targets have copies, {one.twins} in all; "
        f"{_percent(one.queries_touched)} of queries",
        "no target has a copy"
        if one.twins == 0
        else "a copy counts as the target in the profile default, as a miss in the others",
    )


def _identical(count: int) -> Finding:
    return Finding(
        "identical files",
        "",
        counted(count, "file equals another one", "files equal another one"),
        "no file has a copy"
        if count == 0
        else "their chunks tie: the order of the corpus decides which comes first",
    )


def _chunker(one: ChunkerAudit) -> Iterator[Finding]:
    if one.failures:
        _, path, reason = one.failures[0]
        yield Finding(
            "failures",
            one.chunker,
            f"failed on {counted(len(one.failures), 'file')}, such as {path}: {reason}",
            "the other findings do not see these files",
        )
    yield _duplicates(one.chunker, one.duplicates)
    for embedder, chunks in one.truncation.items():
        yield _truncated("chunks", f"{one.chunker}, {embedder}", chunks)
    if one.gold_cut is not None:
        yield _cut(one.chunker, one.gold_cut)


def _duplicates(chunker: str, one: Duplicates) -> Finding:
    if one.duplicates == 0:
        reading = "every chunk has a text of its own"
    elif one.share > SOME:
        reading = "equal texts tie: many ranks rest on the order of the corpus"
    else:
        reading = "few ranks rest on the order of the corpus"
    return Finding(
        "duplicates",
        chunker,
        f"{one.duplicates} of {one.chunks} chunks ({_percent(one.share)}) share their text",
        reading,
    )


def _truncated(what: str, of: str, one: Truncation | None) -> Finding:
    audit = f"truncation of {what}"
    if one is None:
        return Finding(audit, of, "the limit is unknown", "nobody knows what the model sees")
    found = f"{_percent(one.unseen)} of tokens are not seen"
    if one.truncated is not None:
        among = "" if one.texts is None else f" of {one.texts}"
        found += f"; {one.truncated}{among} texts pass the limit"
    if one.limit is not None:
        found += f" of {one.limit}"
    if not one.marked:
        reading = "the model sees nearly all"
    elif what == "chunks":
        reading = (
            f"! over {TRUNCATION_MARK:.0%}: scores say little about where to cut; "
            "take smaller chunks, or windows=mean"
        )
    else:
        reading = "queries are looked up by the end that is kept, not by the whole"
    return Finding(audit, of, found, reading)


def _cut(chunker: str, one: GoldCut) -> Finding:
    if one.uncovered:
        reading = f"{one.uncovered} targets can never be found: their text is in no chunk"
    elif one.whole <= 0.5:
        reading = "most targets come in pieces: read SpanR and Complete, not the first hit"
    elif one.first_line_cut > SOME * one.targets:
        reading = "most targets come whole, but first lines are cut from what they begin"
    else:
        reading = "most targets come whole"
    return Finding(
        "gold cut",
        chunker,
        f"{_percent(one.whole)} of {one.targets} targets whole in one chunk; "
        f"{one.chunks_per_target:.2f} chunks a target, {one.uncovered} in none; "
        f"cut off: first line {one.first_line_cut}, last {one.last_line_cut}",
        reading,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def numbers(audit: Audit) -> Iterator[tuple[str, str, str, float | None]]:
    """Every number as audit, what it is of, name and value."""
    parts: list[tuple[str, str, object]] = [
        ("self-retrieval", "", audit.self_retrieval),
        ("twins", "", audit.twins),
    ]
    parts += [("truncation of queries", name, one) for name, one in audit.queries_truncated.items()]
    for one in audit.chunkers:
        parts.append(("duplicates", one.chunker, one.duplicates))
        parts += [
            ("truncation of chunks", f"{one.chunker}, {name}", value)
            for name, value in one.truncation.items()
        ]
        parts.append(("gold cut", one.chunker, one.gold_cut))
    if audit.identical_files is not None:
        yield "identical files", "", "files", audit.identical_files
    for name, of, value in parts:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for key, number in dataclasses.asdict(value).items():
                yield name, of, key, number
