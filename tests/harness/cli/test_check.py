"""`chunkmark check-chunker`: exit codes, and what is shown of a fault."""

import csv
import io

import pytest
from commands import call, says

CHECKS = [
    "verbatim spans", "order", "exactly-once", "size limit", "determinism", "thread safety",
    "no crash", "time per MB", "memory",
]  # fmt: skip


def test_a_chunker_that_conforms_exits_with_0(capsys):
    done = call(capsys, "check-chunker", "fixed:max_size=300", "--language", "python")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("fixed:max_size=300: conforms (42 sources; python)\n")
    for name in CHECKS:
        assert f"\n{name} " in done.out


def test_a_fault_is_named_with_its_smallest_input_and_exits_with_1(capsys):
    arguments = ["check-chunker", "faulty:raises", "--language", "text", "--seed", "3"]
    done = call(capsys, *arguments, "--format", "json")
    assert done.code == 1
    assert done.json["schema"] == "chunkmark.check-chunker/1"
    assert (done.json["chunker"], done.json["ok"]) == ("faulty:raises", False)
    assert done.json["languages"] == [None]
    assert [one["name"] for one in done.json["checks"]] == CHECKS
    (failed,) = (one for one in done.json["checks"] if one["status"] == "fail")
    assert failed["name"] == "no crash"
    assert failed["example"] == {"case": "NUL", "language": None, "text": "\0"}

    table = call(capsys, *arguments)
    assert table.code == 1
    assert "faulty:raises: fails the check 'no crash'" in table.out
    assert r"'no crash': the smallest input that fails is '\x00' (plain text; " in table.out


def test_limits_can_be_given(capsys):
    limits = ["--time-limit", "1", "--memory-limit", "64", "--format", "csv"]
    for name, check, found in (
        ("hangs", "time per MB", "took over 1 s"),
        ("allocates", "memory", "needed over 64 MiB"),
    ):
        done = call(capsys, "check-chunker", f"faulty:{name}", "--language", "python", *limits)
        assert done.code == 1
        rows = {row["check"]: row for row in csv.DictReader(io.StringIO(done.out))}
        assert rows[check]["result"] == "fail"
        assert found in rows[check]["found"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["asst"], ["asst", "ast"]),
        (["ast:max_size=0"], ["max_size=0"]),
        (["ast:max_size=1|2"], ["a|b is allowed only"]),
        (["faulty:nothing"], ["nothing"]),
        (["no_such_module:attr"], ["no_such_module"]),
        (["ast", "--language", "pyton"], ["pyton", "python"]),
        (["ast", "--seed", "-1"], ["--seed"]),
        ([], ["chunker"]),
    ],
)
def test_wrong_usage_exits_with_2(capsys, arguments, words):
    says(call(capsys, "check-chunker", *arguments), 2, *words)
