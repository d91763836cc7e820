"""Lexical scores are the same bytes whatever the hash seed and the number of threads."""

import os
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[3] / "support"
CODE = """
import hashlib, sys
from pathlib import Path
from retrieving import TEN, material, ranked
text = Path(sys.argv[1]).read_text("utf-8")
chunks = [text[at : at + 300] for at in range(0, len(text), 300)]
for corpus in (material(TEN), material(chunks)):
    for spec in ("bm25", "bm25:tokens=words", "bow", "vsa"):
        for query in ("parse url", chunks[3], chunks[8] * 9):
            found = ranked(spec, corpus, query)
            digest = hashlib.sha256(found.units.tobytes() + found.scores.tobytes())
            print(spec, digest.hexdigest())
"""


def digests(seed, threads):
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads)) | {"PYTHONHASHSEED": str(seed)}
    environment["PYTHONPATH"] = f"{SUPPORT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(Path(subprocess.__file__))],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_bytes_depend_on_neither_hash_seed_nor_threads():
    first = digests(0, 1)
    assert len(first) == 24
    assert len(set(first)) > 20
    assert digests(1, 2) == digests(12345, 4) == first
