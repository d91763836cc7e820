"""The findings of an audit: its numbers, each with a line on what they mean for scores."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.audit.self_retrieval import MOST
from harness.runs.health import TRUNCATION_MARK
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.audit.audit import (
        Audit,
        ChunkerAudit,
        Duplicates,
        GoldCut,
        Sizes,
        Truncation,
        Twins,
    )
    from harness.audit.self_retrieval import SelfRetrieval

SOME = 0.05
"""Share from which a finding affects scores."""


@dataclass(frozen=True)
class Finding:
    """One line of an audit; `of` is the chunker or embedder, or both, empty for the data set."""

    audit: str
    of: str
    found: str
    reading: str


def findings(audit: Audit) -> Iterator[Finding]:
    """Every finding of an audit, those of the data set first."""
    if audit.self_retrieval is not None:
        yield from _self_retrieval(audit.self_retrieval, masked=audit.mask_query)
    if audit.twins is not None:
        yield _twins(audit.twins)
    if audit.identical_files is not None:
        yield Finding(
            "identical files",
            "",
            counted(audit.identical_files, "file equals another one", "files equal another one"),
            "their chunks tie: the order of the corpus decides which comes first"
            if audit.identical_files
            else "no file has a copy",
        )
    for embedder, queries in audit.queries_truncated.items():
        yield _truncation("queries", embedder, queries)
    for chunker in audit.chunkers:
        yield from _chunker(chunker)
    if audit.needs_dataset:
        yield Finding(
            ", ".join(audit.needs_dataset),
            "",
            "not in a run folder, which holds no texts",
            f"audit the data set: chunkmark audit -d '{audit.dataset}'",
        )


def _self_retrieval(leaks: SelfRetrieval, *, masked: bool) -> Iterator[Finding]:
    if leaks.lines_in_gold > MOST or leaks.queries_over_90 > 0.5:
        reading = "queries are lines of their targets: retrieval finds the same text, not an answer"
    elif leaks.lines_in_gold > SOME:
        reading = "part of the answer is in the question"
    else:
        reading = "queries are not lines of their targets"
    yield Finding(
        "self-retrieval, lines",
        "",
        f"{_percent(leaks.lines_in_gold)} of query lines are in gold; over 90 % of them in "
        f"{_percent(leaks.queries_over_90)} of queries, all in {_percent(leaks.queries_of_gold)}",
        reading,
    )
    if leaks.words_in_corpus - leaks.words_in_gold > SOME:
        reading = "the corpus has the queries' words outside of gold: they outrank the answer"
    elif leaks.words_in_gold > SOME:
        reading = "gold has the words of the queries: a copy is found, not an answer"
    elif leaks.queries_sharing_words > 0:
        reading = "some queries share their wording with the corpus"
    else:
        reading = "queries share no wording with the corpus"
    yield Finding(
        "self-retrieval, words",
        "",
        f"{_percent(leaks.words_in_gold)} of 8-word runs are in gold, "
        f"{_percent(leaks.words_in_corpus)} in the corpus; "
        f"{_percent(leaks.queries_sharing_words)} of queries share one",
        reading,
    )
    if leaks.inside_file == 0:
        reading = "no file contains a whole query"
    elif leaks.inside_gold == leaks.inside_file:
        reading = "these queries retrieve themselves"
    elif masked:
        reading = (
            "these queries retrieve copies of themselves before the answer: only their own lines "
            "are masked"
        )
    else:
        reading = (
            "these queries retrieve themselves before the answer, unless run masks them: "
            "--mask-query"
        )
    yield Finding(
        "self-retrieval, whole text",
        "",
        f"{_percent(leaks.inside_gold)} of queries are whole in their gold, "
        f"{_percent(leaks.inside_file)} in a file, "
        f"{_percent(leaks.inside_rest)} outside of their own lines too",
        reading,
    )


def _twins(twins: Twins) -> Finding:
    return Finding(
        "twins",
        "",
        f"{twins.with_twins} of {counted(twins.targets, 'target')} "
        f"{'has' if twins.with_twins == 1 else 'have'} copies, {twins.twins} in all; "
        f"{_percent(twins.queries_touched)} of queries",
        "a copy counts as the target in the profile default, as a miss in the others"
        if twins.twins
        else "no target has a copy",
    )


def _chunker(audit: ChunkerAudit) -> Iterator[Finding]:
    if audit.failures:
        _, path, reason = audit.failures[0]
        yield Finding(
            "failures",
            audit.chunker,
            f"failed on {counted(len(audit.failures), 'file')}, such as {path}: {reason}",
            "the other findings do not include these files"
            if audit.duplicates.chunks
            else "no chunk is left to audit: correct the chunker, and check it by "
            f"`chunkmark check-chunker {audit.chunker}`",
        )
        if not audit.duplicates.chunks:
            return
    yield _duplicates(audit.chunker, audit.duplicates)
    sizes = audit.sizes
    yield Finding(
        "sizes",
        audit.chunker,
        f"median {sizes.median} c, 95 % up to {sizes.p95} c, largest {sizes.largest} c",
        "in non-white-space characters, whatever the unit of the chunker's limit",
    )
    for embedder, chunks in audit.truncation.items():
        yield _truncation("chunks", f"{audit.chunker}, {embedder}", chunks)
    if audit.gold_cut is not None:
        yield _gold_cut(audit.chunker, audit.gold_cut)


def _duplicates(chunker: str, count: Duplicates) -> Finding:
    if count.duplicates == 0:
        reading = "no two chunks have the same text"
    elif count.share > SOME:
        reading = "equal texts tie: many ranks depend on the order of the corpus"
    else:
        reading = "few ranks depend on the order of the corpus"
    chunks = counted(count.chunks, "chunk")
    shared = f"{count.duplicates} of {chunks} ({_percent(count.share)})"
    return Finding("duplicates", chunker, f"{shared} share their text", reading)


def _truncation(what: str, of: str, truncation: Truncation | None) -> Finding:
    audit = f"truncation of {what}"
    if truncation is None:
        return Finding(audit, of, "the limit is unknown", "tokens may be unseen")
    text = f"{_percent(truncation.unseen)} of tokens are not seen"
    if truncation.truncated is not None:
        texts = counted(truncation.texts or truncation.truncated, "text")
        among = f"{truncation.truncated} of {texts}" if truncation.texts else texts
        text += f"; {among} {'is' if truncation.truncated == 1 else 'are'} over the limit"
    if truncation.limit is not None:
        text += f" of {truncation.limit}"
    if not truncation.marked:
        reading = "the model sees nearly all text"
    elif what == "chunks":
        reading = (
            f"! over {TRUNCATION_MARK:.0%}: scores say little about where to cut; "
            "take smaller chunks, or windows=mean"
        )
    else:
        reading = "a long query is matched by its end alone, the part that is kept"
    return Finding(audit, of, text, reading)


def _gold_cut(chunker: str, cut: GoldCut) -> Finding:
    if cut.uncovered:
        targets = counted(cut.uncovered, "target has", "targets have")
        reading = f"{targets} no text in a chunk, and can never be found"
    elif cut.whole <= 0.5:
        reading = "most targets are in pieces: read SpanR and Complete, not the first hit"
    elif cut.first_line_cut > SOME * cut.targets:
        reading = "most targets are whole, but some are cut off from their first line"
    else:
        reading = "most targets are whole"
    return Finding(
        "gold cut",
        chunker,
        f"{_percent(cut.whole)} of {counted(cut.targets, 'target')} whole in one chunk; "
        f"{cut.chunks_per_target:.2f} chunks a target, {cut.uncovered} in none; "
        f"cut off: first line {cut.first_line_cut}, last {cut.last_line_cut}",
        reading,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def numbers(audit: Audit) -> Iterator[tuple[str, str, str, float | None]]:
    """Every number: its audit, chunker or embedder, name and value."""
    if audit.identical_files is not None:
        yield "identical files", "", "files", audit.identical_files
    rows: list[
        tuple[str, str, SelfRetrieval | Twins | Duplicates | Sizes | Truncation | GoldCut | None]
    ] = [
        ("self-retrieval", "", audit.self_retrieval),
        ("twins", "", audit.twins),
        *(("truncation of queries", name, row) for name, row in audit.queries_truncated.items()),
    ]
    for chunker in audit.chunkers:
        rows.append(("duplicates", chunker.chunker, chunker.duplicates))
        rows.append(("sizes", chunker.chunker, chunker.sizes))
        for name, row in chunker.truncation.items():
            rows.append(("truncation of chunks", f"{chunker.chunker}, {name}", row))
        rows.append(("gold cut", chunker.chunker, chunker.gold_cut))
    for name, of, counts in rows:
        for key, number in ({} if counts is None else dataclasses.asdict(counts)).items():
            yield name, of, key, number
