"""A whole run of CoSQA against the BEIR code of coir-eval, with the same model: time and nDCG@10.

    CHUNKMARK_DATA=FOLDER python -m benchmarks.beir [ROUNDS]

Needs `pip install --no-deps coir-eval==0.7.0`. FOLDER/cosqa/beir holds CoSQA in BEIR's layout:
6,267 documents and 500 queries. Each side is a process of its own and embeds everything; the sides
take turns. BEIR sorts documents by length, and sentence-transformers embeds them in batches of 32.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.runs.pipeline import load_embedder

SCRIPT = """
import json, logging, sys
from coir.beir.datasets.data_loader import GenericDataLoader
from coir.beir.retrieval.evaluation import EvaluateRetrieval
from coir.beir.retrieval.search.dense import DenseRetrievalExactSearch
from sentence_transformers import SentenceTransformer

class Model:
    def __init__(self, folder):
        self.model = SentenceTransformer(folder, device="cpu")
    def encode_queries(self, queries, batch_size, **options):
        return self.model.encode(queries, batch_size=batch_size, **options)
    def encode_corpus(self, corpus, batch_size, **options):
        texts = [(row.get("title", "") + " " + row["text"]).strip() for row in corpus]
        return self.model.encode(texts, batch_size=batch_size, **options)

corpus, queries, qrels = GenericDataLoader(sys.argv[1]).load("test")
search = DenseRetrievalExactSearch(Model(sys.argv[2]), batch_size=32)
search.show_progress_bar = False
retrieval = EvaluateRetrieval(search, score_function="cos_sim")
results = retrieval.retrieve(corpus, queries)
print(json.dumps(retrieval.evaluate(qrels, results, [10])[0]["NDCG@10"]))
"""


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """Wall and processor seconds of a command, and its output."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], check=True, capture_output=True, text=True, env=environment
    )
    wall, after = time.perf_counter() - started, os.times()
    spent = after.children_user + after.children_system
    return wall, spent - before.children_user - before.children_system, done.stdout


def main() -> None:
    """Print the seconds of each round, and the median ratio."""
    data = Path(os.environ["CHUNKMARK_DATA"]) / "cosqa" / "beir"
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    model = str(load_embedder("minilm").folder)  # type: ignore[attr-defined]
    options = ["-d", f"beir:{data}", "-c", "whole-file", "-m", "nDCG@10"]
    options += ["--profile", "trec:variant=beir", "--format", "json"]
    ratios = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            own = {**os.environ, "CHUNKMARK_CACHE": f"{folder}/cache"}
            command = ["-m", "harness.cli", "run", *options, "-o", f"{folder}/run"]
            ours = run(command, own)
            theirs = run(["-c", SCRIPT, str(data), model], {**os.environ})
        ratios.append(ours[0] / theirs[0])
        (cell,) = json.loads(ours[2])["cells"]
        print(
            f"CoSQA   chunkmark {ours[0]:.1f} s ({ours[1]:.1f} of processors), nDCG@10 "
            f"{cell['metrics']['nDCG@10']['mean']}; BEIR {theirs[0]:.1f} s ({theirs[1]:.1f}), "
            f"nDCG@10 {json.loads(theirs[2].splitlines()[-1])}; ratio {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"median ratio of times: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
