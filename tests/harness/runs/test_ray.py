"""A run on Ray has the bytes of the local run, also where processes die or machines differ."""

import contextlib
import json
import os
import threading
import time

import pytest
from commands import call, says
from tiny_models import bert
from worlds import BYTES, function, small

from chunkers.errors import InputError
from chunkers.processes.pool import Task
from chunkers.source import Source
from harness.model import Corpus
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.ray_engine import _batches, _groups, connect
from harness.runs.runner import run

ray = pytest.importorskip("ray", reason="Ray is not installed")

import psutil  # noqa: E402  (it comes with Ray)

CHUNKERS = ("ast:max_size=120", "fixed:max_size=120", "worlds:failing")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(autouse=True)
def nothing_shared(tmp_path, monkeypatch):
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    yield
    ray.shutdown()


def test_files_are_handed_out_in_groups_that_fit_into_memory(monkeypatch):
    monkeypatch.setattr("harness.runs.ray_engine._CHARACTERS", 10)
    tasks = [Task(Source("x" * size, f"{n}")) for n, size in enumerate((4, 6, 1, 12, 3))]
    groups = [[task.source.length for task in group] for group in _groups(tasks)]
    assert groups == [[4, 6], [1], [12], [3]]
    assert [*_groups([])] == []


def many_files():
    """Enough files and texts for many batches of the cluster."""
    corpora = []
    for corpus in small().corpora:
        extra = [
            Source(function(f"f{n}", 2 + n % 40), f"{corpus.id}/extra{n:03d}.py", "python")
            for n in range(100)
        ]
        files = tuple(sorted([*corpus.sources, *extra], key=lambda source: source.path))
        corpora.append(Corpus(corpus.id, files, corpus.skipped))
    return small(corpora=tuple(corpora))


def cells(out, model, engine, dataset=None, chunkers=CHUNKERS):
    """The stored bytes of each cell by its chunker, and the manifest."""
    config = RunConfig().over(
        chunkers=chunkers,
        embedders=(f"st:{model}",),
        retrievers=("dense", "bm25"),
        max_failures="50%",
        engine=engine,
    )
    run(make_plan(config), [dataset or small()], out)
    manifest = json.loads((out / "manifest.json").read_text())
    return {
        (cell["chunker"], cell["retriever"]): [
            (out / "cells" / cell["key"] / name).read_bytes() for name in BYTES
        ]
        for cell in manifest["cells"]
    }, manifest


@contextlib.contextmanager
def killing(*names):
    """Kill one process of Ray of each name as soon as there is one; yields the names killed."""
    killed, done = [], threading.Event()

    def watch():
        while not done.is_set() and len(killed) < len(names):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    title = "".join(process.cmdline()[:1])  # empty once it has ended
                    for name in set(names) - set(killed):
                        if name in title and title.startswith("ray::"):
                            process.kill()
                            killed.append(name)
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        done.set()
        watcher.join()


def test_processes_that_die_lose_nothing_and_change_no_byte(tmp_path, model, monkeypatch):
    dataset = many_files()
    local, manifest = cells(tmp_path / "local", model, "local", dataset)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "other cache"))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")  # a cluster of somebody else
    with killing("_cut", "_Model") as killed:
        spread, spread_manifest = cells(tmp_path / "ray", model, "ray", dataset)
    assert sorted(killed) == ["_Model", "_cut"]
    assert spread == local
    assert len(local) == 6
    assert spread_manifest["embedders"] == manifest["embedders"]
    failures = [
        [json.loads(file.read_text())["failures"] for file in sorted(folder.rglob("cell.json"))]
        for folder in (tmp_path / "local", tmp_path / "ray")
    ]
    assert failures[0] == failures[1]
    assert any(failures[0])


def test_a_cluster_of_unlike_machines_has_a_fingerprint_of_its_own(tmp_path, model):
    from ray.cluster_utils import Cluster

    local, manifest = cells(tmp_path / "local", model, "local", chunkers=CHUNKERS[:1])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1, env_vars={"ATEN_CPU_CAPABILITY": "default"})
        engine = f"ray:{cluster.address}"
        spread, spread_manifest = cells(tmp_path / "ray", model, engine, chunkers=CHUNKERS[:1])
    finally:
        ray.shutdown()
        cluster.shutdown()
    (own,), (mixed,) = manifest["embedders"].values(), spread_manifest["embedders"].values()
    assert len(mixed["mixed"]) == 2
    assert own in mixed["mixed"]
    variables = [kind["processor"]["variables"] for kind in mixed["mixed"]]
    assert sorted(variables, key=len) == [{}, {"ATEN_CPU_CAPABILITY": "default"}]
    # The chunks and the lexical rankings do not depend on the processors.
    assert spread[CHUNKERS[0], "bm25"] == local[CHUNKERS[0], "bm25"]


def test_wrong_engines_are_refused_before_any_work(capsys, tmp_path):
    def fails(engine, *words):
        done = call(capsys, "run", "--engine", engine, "--limit", 2, "-o", tmp_path / "run")
        says(done, 2, *words)
        assert not (tmp_path / "run").exists()

    fails("dask", "engine 'dask'", "write local, ray or ray:ADDRESS")
    fails("ray:", "engine 'ray:'", "write local, ray or ray:ADDRESS")
    fails("ray:127.0.0.1:1", "engine ray: no cluster at 127.0.0.1:1")


def dying(batch):
    os._exit(1)


def test_a_batch_that_ends_every_process_is_given_up():
    connect("")
    assert list(_batches([], dying, 1)) == []
    with pytest.raises(InputError, match="a batch failed 4 times"):
        list(_batches([{"number": 0}], dying, 1))
