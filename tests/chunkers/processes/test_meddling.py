"""Chunkers that meddle with what runs them: a file fails, and nothing is left behind."""

import time
from pathlib import Path

import pytest
from faulty import LEFT

from chunkers import Source
from chunkers.processes.isolation import Limits, Target, Worker

SOURCE = Source("a = 1\n" * 5, "folder/a.py", "python")
LIMITS = Limits(seconds=3.0, memory=256 << 20)


def left():
    """Programs that were left behind."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if LEFT.encode() in file.read_bytes():
                found.append(file.parent.name)
        except OSError:
            continue
    return found


def outcome_of(name):
    with Worker(Target(f"faulty:{name}"), LIMITS) as one:
        return one.cut(SOURCE)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leaves_a_child_at_the_pipe", "left with exit code 3"),
        ("leaves_a_session", "left with exit code 3"),
        ("leaves_a_daemon", None),
    ],
)
def test_what_a_chunker_starts_neither_holds_the_run_nor_outlives_it(name, reason):
    started = time.monotonic()
    outcome = outcome_of(name)
    assert time.monotonic() - started < 20
    assert (outcome.failure and outcome.failure.reason) == reason
    until = time.monotonic() + 5  # what is killed takes a moment to go
    while left() and time.monotonic() < until:
        time.sleep(0.05)
    assert left() == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("has_odd_gaps", "gaps that are no tuple of pairs of int"),
        ("has_no_gaps", "gaps that are no tuple of pairs of int"),
        ("has_an_odd_id", "ref_id of type float"),
        ("fails_to_say_why", "_Silent, which fails to say what it is"),
        ("notes_what_is_no_note", ""),
        ("answers_too_much", ""),
        ("answers_a_list", ""),
        ("answers_nothing", "answered what is no answer"),
        ("answers_no_spans", "answered what is no answer"),
        ("answers_depth", ""),
        ("answers_spans_of_nowhere", "answered what is no answer"),
    ],
)
def test_what_comes_from_other_people_s_code_is_not_believed(name, reason):
    outcome = outcome_of(name)
    assert outcome.spans is None
    assert reason in outcome.failure.reason


def test_a_list_that_changes_is_read_once():
    outcome = outcome_of("is_two_faced")
    assert [(span.start, span.end) for span in outcome.spans] == [(0, 1)]
