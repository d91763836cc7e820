"""Queries out of calls: their lines, their targets and what is left out, and why."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from call_worlds import corpus_of, reasons
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.source import Source
from harness.building.calls import queries as calls
from harness.building.calls.queries import call_queries
from harness.building.calls.syntax import names_of
from harness.model import Dataset, Region, Target
from harness.relevance.masking import masks_of, refuse_mask
from harness.support.word_runs import leaked_queries

TOOLS = "class Scale:\n    def weigh(self):\n        return 1\n\n\ndef carry(a):\n    return a\n"


CALL = "from t import carry\ncarry(1)\n"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"b.py": "def carry(a):\n    return a\n",
          "a.py": "from b import *\nfrom t import *\n\ncarry(one, two)\n"}, calls._SEVERAL),
        ({"t.py": TOOLS + "\n\ncarry(1)\n", "a.py": ""}, calls._SAME_FILE),
        ({"a.py": "def run(b, c):\n    return open(b) + carry(c)\n"}, calls._UNSURE),
        ({"a.py": "def run(b, c):\n    return b.weigh() + c.weigh()\n"}, calls._UNSURE),
        ({"a.py": "import u\n\n\ndef run(b, c):\n    return u.carry(b)\n"}, calls._UNSURE),
        ({"a.py": "from t import Scale, weigh\n\nweigh(one, two, three, four)\n"}, calls._UNSURE),
        ({"a.rb": "def run(b)\n  carry(b)\nend\n"}, calls._LANGUAGE),
        ({"a.py": CALL}, calls._SHORT),
        ({"o.py": "def run():\n    def inner(a):\n        return a\n    return inner\n",
          "a.py": "from o import inner\n\n\ndef f(a):\n    return inner(a)\n"}, calls._LOCAL),
    ],
)  # fmt: skip
def test_a_call_that_may_mean_something_else_is_counted_by_reason(
    files: dict[str, str], reason: str
) -> None:
    assert reasons({"t.py": TOOLS} | files) == {reason: 1}


def test_two_calls_on_a_line_are_a_question_with_two_targets() -> None:
    both = caller("walk", "from t import carry, heave").replace("carry(", "carry(heave(a), ")
    files = {"t.py": TOOLS + "\n\ndef heave(a):\n    return a\n", "a.py": both}
    found = call_queries(corpus_of(files))
    (query,) = found.queries
    assert query.targets == (Target("t.py", 6, 7), Target("t.py", 10, 11))
    assert found.left_out == {calls._OVERLAPPING: 1}


def test_a_bare_name_in_go_is_of_its_own_package() -> None:
    tools = "package a\n\nfunc Weigh(a int) int {\n\treturn a\n}\n"
    main = "package b\n\nfunc run(b int) int {\n\treturn Weigh(b) + other(b)\n}\n"
    assert reasons({"a/t.go": tools, "b/m.go": main}) == {calls._UNSURE: 1}
    assert len(call_queries(corpus_of({"a/t.go": tools, "a/m.go": main})).queries) == 1


def caller(name: str, import_: str = "from t import carry") -> str:
    words = "\n".join(f"    {name}_{n} = {name}_{n + 1}" for n in range(8))
    return (
        f"{import_}\n\n\ndef {name}(a):\n{words}\n    return carry({name}_0)\n\n\n{name}_last = 1\n"
    )


def test_a_query_is_the_lines_round_the_call_as_they_stand() -> None:
    corpus = corpus_of({"t.py": TOOLS, "dir/é x.py": caller("run")})
    (query,) = call_queries(corpus).queries
    source = corpus.sources[0]
    assert query.id == "dir/é x.py::carry"
    # The function ends with the call; what follows is not about it.
    assert query.region == Region("dir/é x.py", 8, 13)
    start, end = source.lines.offsets_of(8, 13)
    assert query.text == source.text[start:end]
    assert query.targets == (Target("t.py", 6, 7),)
    assert query.tags == {"folder": ".", "language": "python", "name-overlap": "yes"}
    assert query.cluster == "t.py"


def test_of_several_callers_one_is_taken_whatever_their_order() -> None:
    files = {"t.py": TOOLS} | {f"{name}.py": caller(name) for name in ("one", "two", "three")}
    corpus = corpus_of(files)
    found = call_queries(corpus)
    assert len(found.queries) == 1
    assert found.left_out == {calls._FURTHER: 2}
    assert call_queries(replace(corpus, sources=corpus.sources[::-1])).queries == found.queries


def test_lines_that_stand_elsewhere_too_ask_nothing_and_another_caller_asks() -> None:
    copies = {"t.py": TOOLS, "one.py": caller("run"), "two.py": caller("run")}
    assert reasons(copies) == {calls._REPEATED: 2}
    found = call_queries(corpus_of({**copies, "three.py": caller("walk")}))
    assert [query.id for query in found.queries] == ["three.py::carry"]


PIECES = st.lists(
    st.sampled_from(
        [
            "from t import carry, Scale\n",
            "def {n}(a):\n    return carry(a)\n",
            "class {n}(Scale):\n    def go(self):\n        return self.weigh() + {n}_x\n",
            "{n} = Scale({n}_1, {n}_2)\n",
            "t.carry({n}_3)\n",
            "\n",
            "  broken(\n",
        ]
    ),
    max_size=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c/d"]), PIECES, min_size=1))
@settings(max_examples=60, deadline=None)
def test_targets_resolve_and_no_run_of_words_is_left_under_the_mask(
    files: dict[str, list[str]],
) -> None:
    texts = {
        f"{path}.py": "".join(
            piece.replace("{n}", f"{path[-1]}{n}") for n, piece in enumerate(pieces)
        )
        for path, pieces in files.items()
    }
    corpus = corpus_of({"t.py": TOOLS, **texts})
    found = call_queries(corpus)
    dataset = Dataset("d", "span", found.corpora, found.queries)
    if found.queries:
        refuse_mask(dataset)
    assert len(masks_of({"c": corpus}, found.queries)) == len(found.queries)
    sources = {source.path: source for source in corpus.sources}
    for query in found.queries:
        assert query.region is not None
        places = {(target.path, target.start_line) for target in query.targets}
        assert len(places) == len(query.targets) > 0
        assert places <= {("t.py", 1), ("t.py", 2), ("t.py", 6)}
        # Where a region was cut out, the lines on its two sides may make new runs of words.
        source = sources[query.region.path]
        start, end = source.lines.offsets_of(query.region.start_line, query.region.end_line)
        rest = [one.text for one in corpus.sources if one is not source]
        rest += [source.text[:start], source.text[end:]]
        assert not leaked_queries({query.id: query.text}, rest)


@given(st.text(max_size=200), st.sampled_from(["python", "javascript", "rust", "ruby", "cpp"]))
@settings(max_examples=80, deadline=None)
def test_no_text_stops_it(text: str, language: str) -> None:
    names = names_of(Source(text + "\nfoo(1)\n", "x", language))
    assert names is not None
    assert all(1 <= call.line <= text.count("\n") + 2 for call in names.calls)


def test_plain_text_names_nothing() -> None:
    assert names_of(Source("foo(1)\n", "a.txt", None)) is None


def test_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "from pathlib import Path; from harness.building.calls.queries import *;"
        "from harness.reading.reader import *; from harness.model import *; import harness;"
        "root = Path(harness.__file__).parent / 'measures';"
        "found = call_queries(Corpus('c', *read_folder(root, ReadRules())));"
        "print(len(found.queries), found.queries, found.left_out)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert int(printed.pop().split()[0]) > 10


def test_a_target_has_its_decorators() -> None:
    run = "from d import f\n\n\ndef run(one, two, three):\n    return f() + one + two + three\n"
    (query,) = call_queries(
        corpus_of(
            {"d.py": '@cache  # grows\ndef f():\n    """One."""\n    return 1\n', "run.py": run}
        )
    ).queries
    assert query.targets == (Target("d.py", 1, 4),)


def lines_of(**calls: str) -> dict[str, str]:
    """A function of 40 lines with words of their own, some of which are replaced by calls."""
    body = [f"    red{n} = blue{n} + green{n} * {n}\n" for n in range(40)]
    for number, call in calls.items():
        body[int(number[1:])] = f"    {call}\n"
    text = "from t import Scale, carry, heave\n\n\ndef run(box):\n" + "".join(body)
    return {"t.py": TOOLS + "\n\ndef heave(a):\n    return a\n", "a.py": text}


def two_calls(lines_between: int) -> dict[str, str]:
    return lines_of(_20="carry(red1)", **{f"_{20 + lines_between}": "heave(red2)"})


@pytest.mark.parametrize("apart", [1, 3, 5])
def test_questions_that_share_most_of_their_lines_are_one_with_all_targets(apart: int) -> None:
    found = call_queries(corpus_of(two_calls(apart)))
    (query,) = found.queries
    assert query.id == "a.py::carry"
    assert query.targets == (Target("t.py", 6, 7), Target("t.py", 10, 11))
    assert "carry(red1)" in query.text
    assert "heave(red2)" in query.text
    assert found.left_out == {calls._OVERLAPPING: 1}


@pytest.mark.parametrize(
    ("call", "is_doubtful"),
    [
        ("box.weigh()", True),  # of an unknown class, perhaps Scale
        ("box[0].weigh()", True),
        ("weigh(red1)", False),  # not imported, so no member of Scale and no function of t
        ("os.weigh(red1)", False),
        ("Basket.weigh(red1)", False),  # a class of elsewhere
        ("box.push(red1)", False),  # defined nowhere
    ],
)
def test_lines_end_before_a_call_that_may_mean_something_of_another_file(
    call: str, is_doubtful: bool
) -> None:
    files = lines_of(_20="carry(red1)", _22=call)
    files["a.py"] = "import os\n" + files["a.py"]
    (query,) = call_queries(corpus_of(files)).queries
    assert query.region == Region("a.py", 21, 27 if is_doubtful else 31)
    assert (call in query.text) is not is_doubtful
    beside = lines_of(_20=f"carry({call})")
    beside["a.py"] = "import os\n" + beside["a.py"]
    found = call_queries(corpus_of(beside))
    assert len(found.queries) == (not is_doubtful)
    assert found.left_out.get(calls._MIXED, 0) == is_doubtful


@pytest.mark.parametrize(
    ("path", "text", "caller", "line"),
    [
        (  # the constant is what is called, the interface only its type
            "fault.ts",
            "export interface Fault extends Error {}\n\n"
            "export const Fault: Maker = makeClass(\n  (base) => base\n);\n",
            "import { Fault } from './fault';\nfunction run(one, two, three, four) {\n"
            "  throw new Fault(one, two, three, four);\n}\n",
            3,
        ),
        (
            "fault.ts",
            "export interface Fault {}\nexport class Fault {\n  a = 1;\n}\n",
            "import { Fault } from './fault';\nfunction run(one, two, three, four) {\n"
            "  throw new Fault(one, two, three, four);\n}\n",
            2,
        ),
        (
            "fault.js",
            "const kept = 1;\nexport const fault = wrap(\n  kept\n);\n",
            "import { fault } from './fault.js';\nfunction run(one, two, three, four) {\n"
            "  return fault(one, two, three, four);\n}\n",
            2,
        ),
        ("fault.ts", "export type Fault = { a: 1 };\nexport enum Other { A }\n",
         "import { Fault } from './fault';\nfunction run(one, two, three, four) {\n"
         "  throw new Fault(one, two, three, four);\n}\n", 0),
        ("kv/fault.go", "package kv\n\ntype Fault interface {\n\tClose(one int)\n}\n",
         "package kv\n\nfunc run(one int, two int, three int) {\n"
         "\tfirst, second := Fault(one), two + three\n}\n", 0),
    ],
)  # fmt: skip
def test_what_is_called_is_no_type(path: str, text: str, caller: str, line: int) -> None:
    name = path.replace("fault", "run")
    found = call_queries(corpus_of({path: text, name: caller}))
    starts = [target.start_line for query in found.queries for target in query.targets]
    assert starts == [line] * (line > 0), found.left_out


def test_of_two_definitions_of_a_name_the_imported_one_is_meant() -> None:
    files = {"t.py": TOOLS, "u.py": TOOLS, "a.py": caller("run", "from u import carry")}
    (query,) = call_queries(corpus_of(files)).queries
    assert query.targets == (Target("u.py", 6, 7),)


def test_a_member_that_is_only_declared_is_no_target() -> None:
    files = {
        "p/Store.java": "package p;\ninterface Store {\n  int total(int a);\n}\n",
        "p/Main.java": "package p;\nclass Main {\n  int run(Store store, int second) {\n"
        "    return store.total(second) + second;\n  }\n}\n",
    }
    assert reasons(files) == {calls._BODILESS: 1}


def test_a_target_in_the_lines_of_another_one_is_part_of_it() -> None:
    files = lines_of(_20="scale = Scale(red1)", _21="scale.weigh(red2)", _22="carry(red3)")
    (query,) = call_queries(corpus_of(files)).queries
    assert query.targets == (Target("t.py", 1, 3), Target("t.py", 6, 7))


@pytest.mark.parametrize("apart", [6, 11])
def test_questions_that_share_fewer_lines_stay_apart(apart: int) -> None:
    queries = call_queries(corpus_of(two_calls(apart))).queries
    assert [(query.id, len(query.targets)) for query in queries] == [
        ("a.py::carry", 1), ("a.py::heave", 1),
    ]  # fmt: skip


def test_a_short_window_whose_call_is_not_in_the_other_one_is_left_out() -> None:
    """At the end of a function windows are shorter, and half of one is soon shared."""
    files = two_calls(6)
    lines = files["a.py"].splitlines(keepends=True)
    found = call_queries(corpus_of({**files, "a.py": "".join(lines[:31])}))
    assert [query.id for query in found.queries] == ["a.py::carry"]
    assert found.left_out == {calls._OVERLAPPING: 1}
    assert found.queries[0].targets == (Target("t.py", 6, 7),)
