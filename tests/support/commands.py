"""Calls the program in this process, and reads what it says."""

import json
from dataclasses import dataclass

import pytest

from harness.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a call left: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as strict JSON."""
        return json.loads(self.out, parse_constant=pytest.fail)


def call(capsys, *arguments):
    """Run the program and take what it wrote."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    written = capsys.readouterr()
    return Done(int(left.value.code or 0), written.out, written.err)


def says(done, code, *words):
    """Check the exit code, and one or two lines that hold the words."""
    assert done.code == code, done.err
    assert 1 <= len(done.err.strip().split("\n")) <= 2, done.err
    assert "unexpected" not in done.err
    for word in words:
        assert str(word) in done.err, done.err
