"""What is told of long work before it starts."""

import pytest

from harness.cli.progress import Progress


def told(capsys: pytest.CaptureFixture[str], *calls: tuple[str, int, int]) -> str:
    with Progress() as progress:
        for call in calls:
            progress.tell(*call)
    return capsys.readouterr().err


def test_the_expected_time_of_many_texts_is_told_once_before_they_are_embedded(
    capsys: pytest.CaptureFixture[str],
):
    said = told(capsys, ("embedding", 0, 7200), ("embedding", 16, 7200), ("embedding", 7200, 7200))
    assert said.startswith("chunkmark: embedding 7,200 texts: about 4 minutes")
    assert said.count("\n") == 1


def test_nothing_is_told_of_few_texts_or_other_work(capsys: pytest.CaptureFixture[str]):
    assert told(capsys, ("embedding", 0, 2400), ("chunking", 0, 7200)) == ""
