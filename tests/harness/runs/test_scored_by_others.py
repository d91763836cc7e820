"""Runs over folders of documents, whose rankings pytrec_eval, coir-eval and MTEB score, too."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
import pytrec_eval
from document_worlds import write_vectors, write_world
from evaluators import evaluators

from harness.datasets.loading import load_dataset
from harness.measures.score import score
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.record import decode_id
from harness.runs.runner import run

CUTS = (1, 3, 5, 10, 20, 100, 1000)
FAMILIES = {"nDCG": "ndcg_cut", "MAP": "map_cut", "R": "recall", "P": "P"}
TREC = {f"{ours}@{cut}": f"{name}_{cut}" for ours, name in FAMILIES.items() for cut in CUTS}
MEASURES = (*TREC, *(f"MRR@{cut}" for cut in CUTS))
PROFILES = ("trec", "trec:variant=beir", "trec:variant=mteb")
SCRIPT = """
import copy, json, sys
from coir.beir.retrieval.evaluation import EvaluateRetrieval
from mteb._evaluators import RetrievalEvaluator
given = json.load(sys.stdin)
out = []
for qrels, ranking in given["rankings"]:
    results, coir = copy.deepcopy(ranking), {}
    for part in EvaluateRetrieval.evaluate(qrels, results, given["cuts"]):
        coir |= part
    coir |= EvaluateRetrieval.evaluate_custom(qrels, results, given["cuts"], "mrr")
    t = RetrievalEvaluator.evaluate(None, qrels, copy.deepcopy(ranking), given["cuts"])
    out.append([coir, t.ndcg | t.map | t.recall | t.precision | t.mrr])
json.dump(out, sys.stdout)
"""


@dataclass(frozen=True)
class Scored:
    """A cell: judgements, and its rankings with their scores, and as the run file has them.

    `scores` have the documents in the order of the corpus, which is what decides between equal
    scores in the MRR of `variant=beir`; `file` has them in rank order, without equal scores.
    `means` and `per_query` are the stored values under the profile.
    """

    profile: str
    qrels: dict
    scores: dict
    file: dict
    means: dict
    per_query: dict


def scored_cells(root, seeds, profile):
    """The cells of a run over folders, by two retrievers."""
    root.mkdir()
    written = {f'beir:"{root / str(seed)}"': write_world(root / str(seed), seed) for seed in seeds}
    write_vectors(root / "vectors", [text for _, texts in written.values() for text in texts])
    datasets = [load_dataset(spec) for spec in written]
    config = RunConfig().over(
        datasets=tuple(written), chunkers=("whole-file",), retrievers=("bm25", "dense"),
        embedders=(f'vectors:"{root / "vectors"}"',), measures=MEASURES, profile=profile,
    )  # fmt: skip
    run(make_plan(config), datasets, root / "run")
    names = [dataset.name for dataset in datasets]
    qrels = dict(zip(names, [grades for grades, _ in written.values()], strict=True))
    rows = json.loads((root / "run/manifest.json").read_text("utf-8"))["cells"]
    return [
        scored_cell(root / "run/cells" / row["key"], profile, qrels[row["dataset"]]) for row in rows
    ]


def scored_cell(folder, profile, qrels):
    file, scores = {}, {}
    for line in (folder / "run.trec").read_text("utf-8").splitlines():
        query, _, document, _, points, _ = line.split(" ")
        file.setdefault(decode_id(query), {})[decode_id(document)] = float(points)
    for row in rows_of(folder / "scores.jsonl"):
        ids = file.setdefault(row["query_id"], {})  # a query that retrieves nothing has no line
        scores[row["query_id"]] = dict(sorted(zip(ids, row["scores"], strict=True)))
    values = {row["query_id"]: row["metrics"] for row in rows_of(folder / "per_query.jsonl")}
    metrics = json.loads((folder / "metrics.json").read_text())["metrics"]
    means = {name: metrics[name]["mean"] for name in MEASURES}
    return Scored(profile, qrels, scores, file, means, values)


def rows_of(path):
    return map(json.loads, path.read_text("utf-8").splitlines())


def close(want):
    return pytest.approx(want, abs=1e-12)


def by_pytrec_eval(qrels, ranking):
    return pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())).evaluate(ranking)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return scored_cells(tmp_path_factory.mktemp("few") / "cells", range(3), "trec")


def test_values_of_queries_are_those_of_pytrec_eval(few):
    for cell in few:
        for ranking in (cell.scores, cell.file):
            theirs = by_pytrec_eval(cell.qrels, ranking)
            assert theirs.keys() == cell.per_query.keys() == cell.qrels.keys()
            for query, row in theirs.items():
                own = cell.per_query[query]
                assert {name: own[name] for name in TREC} == close(
                    {name: row[other] for name, other in TREC.items()}
                )


def test_the_folders_have_what_evaluators_treat_differently(few):
    traits = Counter()
    for cell in few:
        for query, row in cell.scores.items():
            values = list(row.values())
            floats = [float(np.float32(value)) for value in values]
            traits["equal scores"] += len(set(values)) < len(values)
            traits["equal as 32-bit floats alone"] += len(set(floats)) < len(set(values))
            traits["identical ids"] += query in row
            traits["nothing retrieved"] += not row
        grades = [set(row.values()) for row in cell.qrels.values()]
        traits["grades"] += len(set.union(*grades)) > 2
        traits["nothing relevant"] += {0} in grades
    assert len(traits) == 6
    assert min(traits.values()) >= 3


def test_the_folders_have_titles_blank_documents_and_unjudged_queries(tmp_path):
    write_world(tmp_path / "0", 0)
    titled, bare = (
        load_dataset(f'beir:"{tmp_path / "0"}",title={way}') for way in ("join", "drop")
    )
    texts = [{source.path: source.text for source in d.corpora[0].sources} for d in (titled, bare)]
    assert texts[0] != texts[1]
    assert int(titled.information["documents without text"]) > 0
    assert titled.left_out["queries without judgement"] == 1
    assert len({name[0] for name in texts[0]}) > 3  # ids in several scripts


@pytest.mark.slow
def test_means_are_those_of_pytrec_eval_coir_and_mteb(tmp_path):
    cells = []
    for at, profile in enumerate(PROFILES):
        cells += scored_cells(tmp_path / str(at), range(67 * at, 67 * (at + 1)), profile)
    assert len(cells) == 402
    folder = evaluators("coir-eval", "mteb")
    theirs = by_coir_and_mteb(cells, folder)
    differing = Counter()
    for cell in cells:
        for ranking in (cell.scores, cell.file):
            rows = by_pytrec_eval(cell.qrels, ranking).values()
            trec = {ours: sum(row[name] for row in rows) / len(rows) for ours, name in TREC.items()}
            coir, mteb = next(theirs)
            assert len(coir) == len(mteb) == len(MEASURES)
            for profile, want in zip(PROFILES, (trec, coir, mteb), strict=True):
                own = score(ranking, cell.qrels, MEASURES, profile).mean
                assert {name: own[name] for name in want} == close(want)
                if profile == cell.profile:
                    # MRR has its own rule for equal scores, which the run file has not.
                    alike = want if ranking is cell.scores else TREC
                    assert {name: cell.means[name] for name in alike} == close(
                        {name: want[name] for name in alike}
                    )
            differing += Counter(name for name in coir if abs(coir[name] - mteb[name]) > 1e-4)
    assert differing.keys() == set(MEASURES)  # so that no profile passes for another


def by_coir_and_mteb(cells, folder):
    """The means by each of the two, of both rankings of every cell."""
    rankings = [(cell.qrels, ranking) for cell in cells for ranking in (cell.scores, cell.file)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        input=json.dumps({"rankings": rankings, "cuts": CUTS}),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    names = {"NDCG": "nDCG", "MAP": "MAP", "Recall": "R", "P": "P", "MRR": "MRR"}
    for each in json.loads(done.stdout):
        parts = ([(key.partition("@"), value) for key, value in row.items()] for row in each)
        yield [{f"{names[name]}@{cut}": value for (name, _, cut), value in row} for row in parts]
