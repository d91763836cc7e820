"""Scoring of rankings made elsewhere: 6,000 queries of 100 documents, 8 of them judged."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytrec_eval

from benchmarks.speed.pairs import Pair, calling, chunkmark, running
from harness.measures.cell import Cell, Gold, Units
from harness.measures.evaluate import evaluate
from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.measures.score import score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.support.arrays import Floats, Ints

    Judgements = dict[str, dict[str, int]]
    Run = dict[str, dict[str, float]]

QUERIES, DEPTH, DOCUMENTS = 6000, 100, 200_000
MEASURES = ("nDCG@10", "MAP", "MRR", "P@10", "R@10")
THEIRS = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.10"}
SCRIPT = """
import sys, pytrec_eval
with open(sys.argv[1]) as file: qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file: run = pytrec_eval.parse_run(file)
rows = pytrec_eval.RelevanceEvaluator(qrels, set(sys.argv[3:])).evaluate(run).values()
for name in next(iter(rows)): print(name, sum(row[name] for row in rows) / len(rows))
"""


def draw() -> tuple[Ints, Floats, Ints, Ints]:
    """Documents and scores in rank order, 3 relevant ones with grades 1 or 2, and 5 others."""
    rng = np.random.default_rng(0)
    documents = np.stack([rng.choice(DOCUMENTS, DEPTH, replace=False) for _ in range(QUERIES)])
    scores = -np.sort(-rng.random((QUERIES, DEPTH)).round(6), axis=1)
    relevant = np.stack([rng.choice(row, 3, replace=False) for row in documents])
    others = np.stack([rng.choice(DOCUMENTS, 5, replace=False) for _ in range(QUERIES)])
    return documents, scores, relevant, others


def dictionaries(
    documents: Ints, scores: Floats, relevant: Ints, others: Ints
) -> tuple[Run, Judgements]:
    """The same as dictionaries."""
    run: Run = {}
    qrels: Judgements = {}
    for query in range(QUERIES):
        names = [f"d{document}" for document in documents[query].tolist()]
        run[f"q{query}"] = dict(zip(names, scores[query].tolist(), strict=True))
        grades = {f"d{document}": 0 for document in others[query].tolist()}
        grades |= {f"d{document}": 1 + at % 2 for at, document in enumerate(relevant[query])}
        qrels[f"q{query}"] = grades
    return run, qrels


def cell_of(documents: Ints, relevant: Ints, others: Ints) -> Cell:
    """The same as arrays."""
    nothing = np.zeros(DOCUMENTS, dtype=np.int64)
    gold = []
    for good, other in zip(relevant, others, strict=True):
        order = np.argsort(good)
        grade = (1.0 + np.arange(3) % 2)[order]
        zero = np.sort(np.setdiff1d(other, good))
        gold.append(Gold(corpus=0, unit=good[order], grade=grade, judged_zero=zero))
    return Cell(
        queries=tuple(f"q{query}" for query in range(QUERIES)),
        corpora=(Units(nothing, nothing),),
        gold=tuple(gold),
        ranking=tuple(documents),
        spans=False,
    )


def write(run: Run, qrels: Judgements, folder: Path) -> None:
    """The same as TREC's files."""
    rows = (
        f"{query} Q0 {name} {rank} {value:.6f} tag\n"
        for query, row in run.items()
        for rank, (name, value) in enumerate(row.items(), 1)
    )
    (folder / "run.trec").write_text("".join(rows), "utf-8")
    rows = (
        f"{query} 0 {name} {grade}\n" for query, row in qrels.items() for name, grade in row.items()
    )
    (folder / "qrels.trec").write_text("".join(rows), "utf-8")


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """From dictionaries, from arrays, and from files."""
    documents, scores, relevant, others = draw()
    run, qrels = dictionaries(documents, scores, relevant, others)
    cell, profile = cell_of(documents, relevant, others), load_profile("trec")
    measures = [parse_measure(name) for name in MEASURES]
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, THEIRS)
    with tempfile.TemporaryDirectory() as folder:
        write(run, qrels, Path(folder))
        options = [part for name in MEASURES for part in ("-m", name)]
        files = ["score", "--run", "run.trec", "--qrels", "qrels.trec", "--profile", "trec"]
        program = chunkmark([*files, *options], folder)
        names = ["nDCG@10", "AP", "RR", "P@10", "R@10"]
        yield [
            Pair(
                "`harness.score`, dictionaries",
                calling(lambda: score(run, qrels, MEASURES, "trec")),
                "pytrec_eval",
                calling(lambda: pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)),
                aim=1,
            ),
            Pair(
                "`measures.evaluate`, arrays, gold prepared",
                calling(lambda: evaluate(cell, measures, profile)),
                "pytrec_eval, judgements prepared",
                calling(lambda: evaluator.evaluate(run)),
                aim=0.04,
            ),
            Pair(
                "`chunkmark score`, TREC files, with intervals",
                program,
                "`ir_measures`",
                running("-m", "ir_measures", "qrels.trec", "run.trec", *names, cwd=folder),
                aim=1,
            ),
            Pair(
                "`chunkmark score`, TREC files, with intervals",
                program,
                "a script with pytrec_eval",
                running("-c", SCRIPT, "qrels.trec", "run.trec", *sorted(THEIRS), cwd=folder),
                aim=None,
            ),
        ]
