"""What is told of long work before it starts."""

import pytest

from harness.cli import progress
from harness.cli.progress import Progress


def told(capsys: pytest.CaptureFixture[str], *calls: tuple[str, int, int], passes: int = 1) -> str:
    with Progress(passes) as shown:
        for call in calls:
            shown.tell(*call)
    return capsys.readouterr().err


def test_the_expected_time_of_many_texts_is_told_once_before_they_are_embedded(
    capsys: pytest.CaptureFixture[str],
):
    said = told(capsys, ("embedding", 0, 7200), ("embedding", 16, 7200), ("embedding", 7200, 7200))
    assert said.startswith("chunkmark: embedding 7,200 texts: about 4 minutes")
    assert said.count("\n") == 1


def test_nothing_is_told_of_few_texts_or_other_work(capsys: pytest.CaptureFixture[str]):
    assert told(capsys, ("embedding", 0, 2400), ("chunking", 0, 7200)) == ""


def test_without_a_terminal_a_line_now_and_then_says_how_far_a_phase_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    calls = [("chunking", n, 4) for n in range(5)]
    assert told(capsys, *calls) == ""
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)
    lines = told(capsys, *calls).splitlines()
    assert lines == [f"chunkmark: chunking: {n} of 4" for n in range(4)]


def test_the_minutes_that_are_left_are_told_by_those_that_went(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    clock = iter([100.0, 120.0, 130.0, 159.0, 161.0, 161.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    calls = [("embedding", n, 1200) for n in (0, 200, 300, 301, 600)]
    assert told(capsys, *calls) == (
        "chunkmark: embedding: 300 of 1,200\n"
        "chunkmark: embedding: 600 of 1,200, about 2 minutes left\n"
    )


@pytest.mark.parametrize(
    ("calls", "lines"),
    [
        # Seconds, phase, steps. The first step of a phase says when it began, not how fast it is.
        ([(0, "chunking", 1), (2, "chunking", 5), (3, "chunking", 11)],
         ["chunking: 11 of 100 after 3 seconds, about 27 seconds left"]),
        ([(0, "chunking", 1), (3, "chunking", 11), (9, "chunking", 12)],
         ["chunking: 11 of 100 after 3 seconds, about 27 seconds left"]),  # once
        ([(0, "chunking", 1), (3, "chunking", 40), (9, "chunking", 41)], []),  # soon done
        ([(0, "chunking", 1), (2, "chunking", 99), (3, "searching", 1), (4, "searching", 2)], []),
        ([(0, "reading commits", 0), (30, "reading commits", 2)],
         ["reading commits: 2 of 100 after 30 seconds, about 25 minutes left"]),
        ([(0, "results", 0), (1, "chunking", 1), (20, "results", 1), (21, "chunking", 1),
          (25, "chunking", 2), (40, "results", 2)],
         ["results: 1 of 100 after 20 seconds, about 33 minutes left"]),
        ([(0, "embedding", 1), (30, "embedding", 2)], []),  # it has an estimate of its own
    ],
)  # fmt: skip
@pytest.mark.parametrize("terminal", [False, True])
def test_the_rest_of_long_work_is_estimated_once_by_its_first_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, calls, lines, terminal
):
    clock = iter([second for second, *_ in calls])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "_BETWEEN", 1e9)
    monkeypatch.setattr(progress, "_PATIENCE", 1e9)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: terminal)
    told_lines = told(capsys, *((phase, done, 100) for _, phase, done in calls)).splitlines()
    assert told_lines == [f"chunkmark: {line}" for line in lines]


def test_texts_of_all_chunkers_count_for_the_time_that_is_told(
    capsys: pytest.CaptureFixture[str],
):
    calls = [("embedding", 0, 1300), ("embedding", 1300, 1300), ("embedding", 0, 9000)]
    said = told(capsys, *calls, passes=2)
    assert said.startswith(
        "chunkmark: embedding 1,300 texts, then about as many once more: about 2 minutes"
    )
    assert said.count("\n") == 1
    assert told(capsys, *calls[:2], passes=1) == ""
    few_first = told(capsys, ("embedding", 0, 10), ("embedding", 0, 3000), passes=4)
    assert few_first.startswith("chunkmark: embedding 3,000 texts, then about as many 2 more times")
