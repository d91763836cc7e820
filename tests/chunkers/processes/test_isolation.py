"""Processes that cut: what ends one ends nothing else, and is named."""

import itertools
import os
import subprocess
import time

import numpy as np
import pytest

from chunkers import InputError, Services, Source, Span
from chunkers.processes.isolation import Failure, Job, Limits, LoadTarget, Worker
from chunkers.processes.pool import Pool, Task

SOURCE = Source("a = 1\n" * 25, "folder/a.py", "python")
LIMITS = Limits(seconds=2.0, memory=256 << 20)


def cut_all(target, sources, limits, processes=None):
    """Cut by several processes at once."""
    with Pool(target, limits, processes=processes) as pool:
        yield from pool.cut([Task(source) for source in sources])


def worker(name, services=None, **options):
    return Worker(LoadTarget(f"faulty:{name}"), LIMITS, services, **options)


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("hangs", "timeout", "took over 2 s"),
        ("hangs_in_c", "timeout", "took over 2 s"),
        ("segfaults", "crash", "died of SIGSEGV"),
        ("exits", "crash", "left with exit code 3"),
        ("allocates", "memory", "needed over 256 MiB"),
        ("stops", "raised", "SystemExit: enough"),
        ("reorders", "order", "item 2 is Span(0, 60"),
        ("too_large,max_size=x", "crash", "max_size=x: must be a whole number"),
    ],
)
def test_what_ends_a_process_is_named(name, kind, reason):
    with worker(name) as one:
        outcome = one.cut(SOURCE)
    assert (outcome.path, outcome.spans) == ("folder/a.py", None)
    assert outcome.failure.kind == kind
    assert reason in outcome.failure.reason


def test_a_fresh_process_cuts_the_next_file():
    files = ["\t", "a\n" * 15, "\t\n", "b\n"]
    with worker("hangs_on_tabs") as one:
        outcomes = [one.cut(Source(text, f"{at}", None)) for at, text in enumerate(files)]
    late = Failure("timeout", "took over 2 s")
    assert [outcome.failure for outcome in outcomes] == [late, None, late, None]
    assert outcomes[1].spans == [Span(0, 20), Span(20, 30)]


def test_what_is_raised_costs_no_process():
    with worker("recurses") as one:
        bad = one.cut(Source("[" * 5000, "a", None))
        good = one.cut(SOURCE)
    assert bad.failure.kind == "raised"
    assert bad.failure.reason.startswith("RecursionError: ")
    assert len(good.spans) == 3
    assert good.seconds > 0


def test_many_processes_answer_in_the_order_of_the_files():
    texts = ["\t" if at == 2 else "a\n" * at for at in range(40)]
    sources = [Source(text, f"{at}", None) for at, text in enumerate(texts)]
    outcomes = list(cut_all(LoadTarget("faulty:hangs_on_tabs"), sources, LIMITS, processes=3))
    assert [outcome.path for outcome in outcomes] == [source.path for source in sources]
    failed = [outcome.path for outcome in outcomes if outcome.failure]
    assert failed == ["2"]
    assert [len(one.spans) for one in outcomes if one.spans is not None] == [
        -(-at // 10) for at in range(40) if at != 2
    ]


def test_a_chunker_that_cannot_be_loaded_is_refused():
    with pytest.raises(InputError, match="unknown chunker 'asst'; did you mean ast"):
        Worker(LoadTarget("asst"), LIMITS).load()
    with pytest.raises(InputError, match="faulty has no 'nothing'"):
        list(cut_all(LoadTarget("faulty:nothing"), [SOURCE], LIMITS))
    assert list(cut_all(LoadTarget("faulty:tens"), [], LIMITS)) == []


def test_what_the_chunker_declares_comes_back():
    with Worker(LoadTarget("code-chunk-ast:max_size=99"), LIMITS) as one:
        declared = one.load()
    assert (declared.name, declared.max_size, declared.unit, declared.windows) == (
        "code-chunk-ast:max_size=99",
        99,
        "nws",
        None,
    )
    assert "size limit" in declared.exceptions
    assert "rust" in declared.languages


def test_what_is_printed_or_read_disturbs_nothing():
    with worker("prints") as one:
        for _ in range(3):
            assert len(one.cut(SOURCE).spans) == 3


def test_vectors_counts_notes_and_odd_texts_pass_unchanged():
    vectors = np.array([[0.1, np.pi], [1e-30, -1.0]])
    seen = []

    def embed(texts):
        seen.extend(texts)
        return vectors

    services = Services(embed=embed, count_tokens=len)
    with worker("asks", services) as one:
        outcome = one.cut(SOURCE, "corpus")
    assert seen == ["a", "\ud83d"]
    assert outcome.notes == {"corpus 3": 1}
    (span,) = outcome.spans
    expected = vectors.astype(np.float32).tolist()
    assert span == Span(0, len(SOURCE.text), f"float32 {expected} \ud83d", "mine")


def test_without_an_embedder_the_chunker_is_told_so():
    with worker("asks", Services()) as one:
        failure = one.cut(SOURCE).failure
    said = "TypeError: 'NoneType' object is not callable (faulty.py, line 180)"
    assert failure == Failure("raised", said)


def test_waiting_for_vectors_is_not_charged():
    def embed(texts):
        time.sleep(LIMITS.seconds + 0.5)
        return np.ones((len(texts), 2))

    with worker("asks", Services(embed=embed, count_tokens=len)) as one:
        outcome = one.cut(SOURCE)
    assert outcome.failure is None
    assert outcome.seconds < LIMITS.seconds


def test_a_fault_of_the_embedder_is_no_fault_of_the_chunker():
    def embed(texts):
        raise OSError("no connection")

    with (
        worker("asks", Services(embed=embed)) as one,
        pytest.raises(OSError, match="no connection"),
    ):
        one.cut(SOURCE)


def running(argument):
    """Whether a program with this argument runs."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return f"sleep {argument}" in found.stdout


def test_programs_that_the_chunker_started_end_with_it():
    source = Source("a\n" * (1000 + os.getpid()), "a", None)
    with worker("leaves_a_process") as one:
        assert one.cut(source).failure.kind == "timeout"
        assert not running(2000 + os.getpid())


def test_whoever_reads_no_further_waits_for_nothing():
    sources = [Source("a\n", "0", None), *(Source("\t", f"{at}", None) for at in range(1, 50))]
    started = time.monotonic()
    limits = Limits(seconds=60.0)
    outcomes = cut_all(LoadTarget("faulty:hangs_on_tabs"), sources, limits, processes=2)
    assert [one.path for one in itertools.islice(outcomes, 1)] == ["0"]
    outcomes.close()
    assert time.monotonic() - started < 30


def test_the_hash_seed_can_be_chosen():
    for seed in (1, 2):
        with worker("tells_its_seed", hash_seed=seed) as one:
            (span,) = one.cut(SOURCE).spans
            assert span.embed_text == str(seed)


def test_threads_cut_at_once():
    with worker("tens") as one:
        outcomes = one.run(Job("cut", (SOURCE,), threads=8))
    assert [outcome.spans for outcome in outcomes] == [
        [Span(0, 60), Span(60, 120), Span(120, 150)]
    ] * 8


def test_memory_is_counted_from_rest():
    with Worker(LoadTarget("faulty:tens"), Limits()) as one:
        small, large = (
            one.cut(Source("a\n" * n, "a", None), measure=True) for n in (10, 2_000_000)
        )
        again = one.cut(SOURCE, measure=True)
    assert small.peak < 10 << 20 < large.peak < 200 << 20
    assert again.peak < large.peak


@pytest.mark.parametrize("processes", [1, 2])
def test_what_files_before_it_left_in_memory_fails_no_file(processes):
    sources = [Source("a\n", f"{at:02}", None) for at in range(12)]
    limits = Limits(seconds=20.0, memory=128 << 20)
    outcomes = list(cut_all(LoadTarget("faulty:hoards"), sources, limits, processes))
    assert [one.failure for one in outcomes] == [None] * 12


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("has_odd_gaps", "gaps must be a tuple of pairs of int"),
        ("has_no_gaps", "gaps must be a tuple of pairs of int"),
        ("has_an_odd_id", "ref_id of type float"),
        ("fails_to_say_why", "_Silent, whose message cannot be read"),
        ("notes_what_is_no_note", ""),
    ],
)
def test_what_is_no_span_or_note_fails_the_file(name, reason):
    with worker(name) as one:
        outcome = one.cut(SOURCE)
    assert outcome.spans is None
    assert reason in outcome.failure.reason


def test_a_list_that_changes_is_read_once():
    with worker("is_two_faced") as one:
        assert one.cut(SOURCE).spans == [Span(0, 1)]
