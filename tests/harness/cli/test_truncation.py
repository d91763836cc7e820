"""The truncation mark: at 1500 and not at 600, in every form of a run."""

import csv
import io

from commands import call

RUN = ("run", "-d", "stdlib", "-c", "ast:max_size=600|1500", "-m", "MRR", "--limit", "20")
LONG = "ast:max_size=1500"


def test_what_was_truncated_is_marked_in_every_form(capsys, tmp_path):
    run = (*RUN, "-o", tmp_path / "run", "--format")
    short, long = call(capsys, *run, "json").json["cells"]
    assert (short["chunker"], short["truncated"]) == ("ast", False)
    assert (long["chunker"], long["truncated"]) == (LONG, True)
    assert short["health"]["unseen_chunk_tokens"] < 0.1 < long["health"]["unseen_chunk_tokens"]
    share = f"{long['health']['unseen_chunk_tokens']:.1%}"
    assert f"truncated: the embedder never saw {share} of the chunk tokens" in long["marks"]
    assert not [mark for mark in short["marks"] if "truncated" in mark]

    for form in ("table", "markdown"):
        lines = call(capsys, *run, form).out.replace("\\", "").splitlines()
        marked = [line for line in lines if line.strip("| ").startswith(f"{LONG} !")]
        assert len(marked) == 2  # among the scores, and among what was lost
        assert not [line for line in lines if line.strip("| ").startswith("ast !")]
        (legend,) = [line for line in lines if "! after a name" in line]
        assert "never saw over 10% of the chunk tokens" in legend
        assert [line for line in lines if f"{LONG}: truncated" in line]

    rows = list(csv.DictReader(io.StringIO(call(capsys, *run, "csv").out)))
    marks = {row["chunker"]: row["value"] for row in rows if row["kind"] == "mark"}
    assert marks == {"ast": "False", LONG: "True"}


def test_a_table_without_the_mark_explains_none(capsys, tmp_path):
    options = ("run", "-c", "fixed", "-r", "bm25", "--limit", "3", "-o", tmp_path / "run")
    done = call(capsys, *options)
    assert "!" not in done.out
    assert call(capsys, *options, "--format", "json").json["cells"][0]["truncated"] is False
