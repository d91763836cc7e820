"""Small folders in BEIR's layout, by seed, with all that evaluators treat differently."""

import hashlib
import json
from random import Random

import numpy as np

WORDS = ("load", "save", "sort", "join", "split", "parse", "merge", "count")
IDS = (
    "d{}", "D {}", "50%{}", "\u03b4{} \u00e9", "e\u0301{}", "\u6587\u66f8{}", "\uffee{}",
    "\U0001f40d{}",
)  # fmt: skip
VECTORS = [(1, 2, 2), (2, 1, 2), (2, 2, 1), (1, 0, 0), (0, 1, 0), (1, 1, 1), (-1, 2, 0)]
NEARLY = 1 + 2.0**-23
"""The least 32-bit float above 1: it changes a cosine by less than such a float can tell."""


def write_world(folder, seed):
    """Write a folder.

    Returns:
        Query id -> document id -> grade, and the texts that a run embeds.
    """
    rng = Random(seed)  # noqa: S311
    names = [rng.choice(IDS).format(at) for at in range(rng.randint(8, 40))]
    queries = [f"q{at}" for at in range(2)] + rng.sample(names, 4)  # four with ids of documents
    documents = {
        name: {"title": " ".join(rng.choices(WORDS, k=rng.choice([0, 0, 1]))),
               "text": " ".join(rng.choices(WORDS, k=rng.choice([0, 1, 1, 2, 5])))}
        for name in names
    }  # fmt: skip
    texts = {query: " ".join(rng.choices(WORDS, k=rng.randint(1, 3))) for query in queries}
    texts[queries[1]] = "zzz"  # no document has this word
    texts["nobody judged this"] = WORDS[0]
    qrels = {
        query: {name: rng.choice([0, 1, 1, 2, 3]) for name in rng.sample(names, rng.randint(1, 5))}
        for query in queries[:-1]
    }
    qrels[queries[-1]] = dict.fromkeys(names[:2], 0)  # nothing is relevant
    (folder / "qrels").mkdir(parents=True)
    _write(folder / "corpus.jsonl", ({"_id": name, **row} for name, row in documents.items()))
    _write(folder / "queries.jsonl", ({"_id": name, "text": text} for name, text in texts.items()))
    rows = [f"{q}\t{d}\t{grade}\n" for q, row in qrels.items() for d, grade in row.items()]
    heading = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels/test.tsv").write_text(heading + "".join(rows), "utf-8")
    joined = [f"{row['title']} {row['text']}".strip() for row in documents.values()]
    return qrels, [text for text in (*joined, *texts.values()) if text]


def write_vectors(folder, texts):
    """Write vectors of which many are equal, and many are equal as 32-bit cosines."""
    folder.mkdir()
    rng = Random(0)  # noqa: S311
    known = sorted(set(texts))
    vectors = [[rng.choice([1, 1, NEARLY]) * part for part in rng.choice(VECTORS)] for _ in known]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in known]
    (folder / "text_sha256.txt").write_text("\n".join(digests) + "\n")
    np.save(folder / "vectors.npy", np.array(vectors, dtype=np.float32))


def _write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
