"""A way to write files, and to score them through the command line."""

import json
from pathlib import Path

import pytest
from commands import call


@pytest.fixture
def put(tmp_path):
    """Writes a file: text as it is, bytes as they are, lists of rows as JSON lines, else JSON."""

    def write(name, content):
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row) + "\n" for row in content)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def score(capsys, put):
    """Scores rankings by judgements, or records; gives what the program left."""

    def run(content, qrels=None, *options, name="run.json"):
        path = content if isinstance(content, Path) else put(name, content)
        arguments = ["--records" if qrels is None else "--run", path]
        if qrels is not None:
            judged = qrels if isinstance(qrels, Path) else put("qrels.json", qrels)
            arguments += ["--qrels", judged]
        return call(capsys, "score", *arguments, "--format", "json", *options)

    return run


@pytest.fixture
def means(score):
    """The means of measures by name."""

    def run(content, qrels, *names, options=(), name="run.json"):
        wanted = [part for one in names for part in ("-m", one)]
        done = score(content, qrels, *wanted, *options, name=name)
        assert done.code == 0, done.err
        return {name: one["mean"] for name, one in done.json["metrics"].items()}

    return run
