"""Runs within a limit of memory: the same bytes, and no more memory than the limit."""

import hashlib
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from commands import call, says
from worlds import files, grid, small

from chunkers.errors import InputError
from harness.embedding.text_vectors import mean_vectors, unit_vectors, usable_vectors
from harness.retrieval.indexes import hnsw, ivf
from harness.support.sequences import Ragged
from harness.support.space import Space, parse_space

LITTLE = Space(1000)


def test_a_size_is_read_as_it_is_written():
    for text, size in (("64MB", 64 << 20), ("1.5 GiB", 3 << 29), ("2g", 2 << 30), ("1TB", 1 << 40)):
        assert parse_space(text).limit == size
    assert parse_space(None).limit == np.inf
    for text in ("", "much", "-1GB", "1e9", "10MB", "0"):
        with pytest.raises(InputError, match="memory"):
            parse_space(text)


def test_arrays_in_files_have_the_values_of_arrays_in_memory():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 24)).astype(np.float32)
    values[7], values[9, 3] = 0, np.nan
    unit, usable = unit_vectors(values)
    small_unit, small_usable = unit_vectors(values, LITTLE)
    assert isinstance(small_unit, np.memmap)
    assert not isinstance(unit, np.memmap)
    assert unit.tobytes() == small_unit.tobytes()
    assert usable.tolist() == small_usable.tolist() == usable_vectors(values, LITTLE).tolist()
    assert (~usable).sum() == 2
    windows = Ragged.of([[0], [1, 2], [3], [4, 5, 6], [9, 10]])
    assert (
        mean_vectors(values, windows).tobytes() == mean_vectors(values, windows, LITTLE).tobytes()
    )


def test_a_run_within_a_limit_has_the_bytes_of_a_run_without(tmp_path, monkeypatch):
    options = {"embedders": ("minilm", "minilm:windows=mean"), "retrievers": ("dense", "hybrid")}
    grid(tmp_path, "plain", small(), **options)
    monkeypatch.setattr("harness.support.space._LEAST", 0)
    grid(tmp_path, "limited", small(), memory="2K", **options)
    assert files(tmp_path / "limited") == files(tmp_path / "plain")


def test_indexes_that_copy_vectors_into_memory_are_refused_where_they_do_not_fit():
    rows = unit_vectors(np.eye(50, 40, dtype=np.float32), LITTLE)[0]
    for index, name in ((hnsw.make(), "hnsw"), (ivf.make(), "ivf")):
        with pytest.raises(InputError, match=f"index {name} keeps 8,000 bytes"):
            index.build(rows)


def test_a_limit_that_is_no_size_is_refused_before_any_work(capsys, tmp_path):
    done = call(capsys, "run", "--memory", "lots", "-o", tmp_path / "run")
    says(done, 2, "--memory 'lots'", "500MB")
    assert not (tmp_path / "run").exists()


MEGABYTE, WIDTH = 1 << 20, 4096


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A folder of 14,000 vectors, 219 MB, and the texts that they belong to."""
    folder = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(1)
    np.save(folder / "vectors.npy", rng.random((14_000, WIDTH), dtype=np.float32) - 0.5)
    digests = (hashlib.sha256(f"text {n}".encode()).hexdigest() for n in range(14_000))
    (folder / "text_sha256.txt").write_text("\n".join(digests) + "\n")
    return folder


SEARCH = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    import faiss, numpy as np
    from harness.embedding.text_vectors import embed_texts, unit_vectors
    from harness.embedding.vector_store import VectorStore
    from harness.retrieval.indexes import flat
    from harness.runs.pipeline import load_embedder
    from harness.support.space import parse_space

    folder, store, memory, allowed = sys.argv[1:]
    embedder = load_embedder(f"vectors:{folder}")
    texts = [f"text {n}" for n in range(14_000)]
    faiss.omp_set_num_threads(1)
    flat.make().build(np.eye(8, dtype=np.float32)).search(np.eye(8, dtype=np.float32), 1)
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    most = int(status["VmData"].split()[0]) * 1024 + int(allowed)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    space = parse_space(memory or None)
    try:
        vectors = embed_texts(texts, embedder, VectorStore(Path(store)), "document", space=space)
        unit, usable = unit_vectors(vectors.values, space)
        found = flat.make().build(unit).search(unit[:20].copy(), 10)
    except MemoryError:
        sys.exit("out of memory")
    print(found.rows.tobytes().hex()[:2000], usable.sum())
""")


def searched(wide, store, memory, allowed):
    """What a process of so many bytes more than it has at its start finds, or what it says."""
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(wide), str(store), memory, str(allowed)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.stdout or done.stderr


def test_vectors_three_times_larger_than_the_limit_are_searched_within_it(wide, tmp_path):
    size = 14_000 * WIDTH * 4
    memory = size // 3
    plain = searched(wide, tmp_path / "plain.sqlite", "", 1 << 40)
    assert plain.endswith("14000\n")
    limited = searched(wide, tmp_path / "limited.sqlite", f"{memory // MEGABYTE + 1}MB", memory)
    assert limited == plain
    assert "memory" in searched(wide, tmp_path / "stored.sqlite", "", memory).lower()


RUN = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    from harness.api import evaluate
    from harness.datasets.loading import load_dataset
    from harness.support import space

    space._LEAST = 0
    out, memory, allowed = sys.argv[1:]

    def run(name, memory):
        data = load_dataset(f"repo:{name},queries={name}.jsonl", memory=memory or None)
        evaluate(
            data, chunkers=["fixed:max_size=4000"], retriever="bm25", out=f"{out}/{name}",
            memory=memory or None,
        )

    run("little", memory)
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    most = int(status["VmData"].split()[0]) * 1024 + int(allowed)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        run("large", memory)
    except MemoryError:
        sys.exit("out of memory")
""")


def test_a_corpus_three_times_larger_than_the_limit_is_run_within_it(tmp_path):
    rng = np.random.default_rng(2)
    words = np.array([f"{'abcdefgh'[n % 8] * 40}{n}" for n in range(1000)])
    size = 0
    for name, count in (("little", 2), ("large", 400)):
        (tmp_path / name).mkdir()
        for number in range(count):
            lines = words[rng.integers(0, len(words), (2000, 3))]
            text = "\n".join(f"{a} = {b}({c})" for a, b, c in lines.tolist())
            (tmp_path / name / f"{number:03}.py").write_text(text)
        size += len(text) * count
        question = {"text": f"where is {lines[7][1]} called", "targets": f"{number:03}.py:5-9"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(question) + "\n")
    memory = size // 3
    fixed = 64 * MEGABYTE  # blocks, tables of tokens, what was read last

    def ran(out, limit, allowed):
        return subprocess.run(
            [sys.executable, "-c", RUN, out, limit, str(allowed)], cwd=tmp_path,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    limited = ran("limited", f"{memory // MEGABYTE + 1}MB", memory + fixed)
    assert limited.returncode == 0, limited.stderr
    assert "memory" in ran("stopped", "", memory + fixed).stderr.lower()
    plain = ran("plain", "", 1 << 40)
    assert plain.returncode == 0, plain.stderr
    assert files(tmp_path / "limited/large") == files(tmp_path / "plain/large")
