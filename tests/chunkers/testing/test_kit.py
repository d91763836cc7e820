"""The conformance kit: built-in chunkers pass, and every planted fault is named."""

import subprocess
import sys
import types

import faulty
import pytest

from chunkers import InputError
from chunkers.languages import GRAMMARS
from chunkers.plugins.loading import CHUNKERS as REGISTERED
from chunkers.testing import CHECKS, Report, check_chunker
from chunkers.testing.cases import cases

OWN = [
    name
    for name, entry in REGISTERED.entries().items()
    if entry.target.startswith(("chunkers.builtin.", "chunkers.reference."))
]
FAST = {"programs": 1, "languages": ["python"]}
LIMITED = FAST | {"seconds": 0.5, "memory": 64 << 20}


def statuses(report: Report) -> dict[str, str]:
    return {check.name: check.status for check in report.checks if check.status != "pass"}


@pytest.mark.parametrize("name", OWN)
def test_what_comes_with_this_program_conforms(name):
    report = check_chunker(name, languages=["python", "java", None], programs=2)
    report.raise_for_failures()
    assert report.chunker == name
    assert report.sources > 70
    assert [check.name for check in report.checks] == list(CHECKS)
    if name not in ("code-chunk-ast", "memorybench-fixed"):
        assert set(statuses(report).values()) <= {"unchecked"}


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_it_conforms_in_all_languages_and_declares_what_it_does_not_keep(name):
    check_chunker(name).raise_for_failures()
    check_chunker(name, languages=sorted(GRAMMARS)).raise_for_failures()


@pytest.mark.parametrize(
    "spec",
    [
        "ast:max_size=80,unit=tokens",
        "function:max_size=300,unit=chars,header=on",
        "code-chunk-ast:header=off,max_size=300",
    ],
)
def test_their_options_conform_too(spec):
    check_chunker(spec, **FAST).raise_for_failures()


@pytest.mark.parametrize("spec", ["fixed:overlap=3", "fixed-chars:overlap=9"])
def test_an_overlap_is_declared(spec):
    report = check_chunker(spec, **FAST)
    report.raise_for_failures()
    assert statuses(report) == {"exactly-once": "declared"}
    assert "repeated" in report.check("exactly-once").detail


def test_what_fails_on_every_source_is_not_checked_for_more():
    report = check_chunker("faulty:cuts_nothing", **FAST)
    assert report.check("no crash").status == "fail"
    for name in ("determinism", "time per MB", "memory", "order"):
        assert report.check(name).status == "unchecked", name
        assert report.check(name).detail == "no source was cut"


@pytest.mark.parametrize(
    ("name", "check", "detail", "smallest"),
    [
        ("drops_literals", "exactly-once", "100.0% lost, first in line 1: 'AAAA'", "AAAA"),
        ("counts_bytes", "verbatim spans", "offsets must be within 0 to 1", 1),
        ("shifts_by_one", "verbatim spans", "does not hold its own text", 30),
        ("repeats", "exactly-once", "repeated, first in line 10", 20),
        ("reorders", "order", "it starts before the previous span", 11),
        ("draws_lots", "determinism", "chunk 1 is [0, ", 60),
        ("hashes", "determinism", "chunk 1 is [0, ", 10),
        ("remembers", "determinism", "chunks", 10_000),
        ("shares", "thread safety", "alone and in 8 threads at once: ", 10_000),
        ("segfaults_in_threads", "thread safety", "died of SIGSEGV", 0),
        ("too_large", "size limit", "the limit is 50", 60),
        ("hangs", "time per MB", "took over 0.5 s", 0),
        ("hangs_in_c", "time per MB", "took over 0.5 s", 0),
        ("hangs_on_tabs", "time per MB", "took over 0.5 s", 10),
        ("allocates", "memory", "needed over 64 MiB", 0),
        ("segfaults", "no crash", "died of SIGSEGV", 0),
        ("exits", "no crash", "left with exit code 3", 0),
        ("stops", "no crash", "SystemExit: enough", 0),
        ("raises", "no crash", "TypeError: 'Source' object is not subscriptable", "\0"),
        ("recurses", "no crash", "RecursionError", 2_000),
    ],
)
def test_every_planted_fault_is_named_with_a_small_input(name, check, detail, smallest):
    limits = LIMITED if name.startswith(("hangs", "allocates", "segfaults", "exits")) else FAST
    report = check_chunker(f"faulty:{name}", **limits)
    assert not report.ok
    failed = report.check(check)
    assert failed.status == "fail"
    assert detail in failed.detail
    if isinstance(smallest, str):
        assert failed.example.text == smallest
    else:
        assert len(failed.example.text) <= smallest
    with pytest.raises(AssertionError, match=f"faulty:{name}: fails .*{check}"):
        report.raise_for_failures()


@pytest.mark.parametrize("name", ["tens", "prints"])
def test_a_right_chunker_conforms(name):
    report = check_chunker(f"faulty:{name}", **FAST)
    assert statuses(report) == {"size limit": "unchecked"}


def test_a_declared_exception_is_shown_and_one_that_is_not_met_is_stale():
    def check(options):
        return check_chunker(f"faulty:Declares,{options}", programs=0)

    declared = check("drops=on")
    assert declared.ok
    assert statuses(declared) == {"exactly-once": "declared", "size limit": "unchecked"}
    assert declared.check("exactly-once").example.text

    stale = check("exceptions=exactly-once+order+size limit+time per MB")
    assert [one.name for one in stale.failures] == ["order", "size limit"]
    assert {one.status for one in stale.failures} == {"stale"}
    # Another machine may fail it.
    assert stale.check("time per MB").status == "pass"

    gone = check("exceptions=repeats,drops=off")
    assert [(one.name, one.status) for one in gone.failures] == [("exactly-once", "stale")]

    lossy = check("exceptions=repeats")
    assert [(one.name, one.status) for one in lossy.failures] == [("exactly-once", "fail")]

    with pytest.raises(InputError, match="declares the exception 'speed'; choose from verbatim"):
        check("exceptions=speed")


def test_an_exception_need_not_be_met_in_languages_that_were_chosen():
    report = check_chunker("faulty:Declares,drops=off", languages=["java"], programs=0)
    assert report.ok
    assert report.check("exactly-once").status == "pass"
    assert "not met" in report.check("exactly-once").detail


@pytest.mark.parametrize(
    ("spec", "languages"),
    [
        ("faulty:tens", ("python", "javascript", "java", "c", None)),
        ("faulty:Declares,languages=java+ruby,drops=off", ("java",)),
        ("faulty:Declares,languages=ruby", ("ruby",)),
    ],
)
def test_a_chunker_is_tried_on_the_languages_that_it_reads(spec, languages):
    assert check_chunker(spec, programs=0).languages == languages


def test_a_function_or_class_at_the_top_of_a_module_will_do():
    assert check_chunker(faulty.tens, **FAST).chunker == "faulty:tens"
    here = check_chunker(two_halves, **FAST)
    assert here.ok
    assert here.chunker.endswith("test_kit:two_halves")


def two_halves(source):
    from chunkers import Span

    middle = len(source.text) // 2
    return [Span(0, middle), Span(middle, len(source.text))]


def test_what_another_process_cannot_import_is_refused():
    def local(source):
        return []

    for chunker in (local, lambda source: [], faulty.Declares(), types.SimpleNamespace()):
        with pytest.raises(InputError, match="at the top of a module"):
            check_chunker(chunker)


def test_progress_ends_where_it_should():
    told = []
    check_chunker("faulty:tens", **FAST, progress=lambda *one: told.append(one))
    total = told[0][1]
    assert [done for done, _ in told] == list(range(1, total + 1))


def test_cases_hold_what_goes_wrong_often_and_differ_by_seed():
    texts = {case.name: case.text for case in cases(("python",), 0, 3)}
    assert {"empty", "blank", "CRLF", "lone CR", "tabs", "form feeds", "NUL"} <= set(texts)
    assert "\r" in texts["lone CR"]
    assert "\n" not in texts["lone CR"]
    assert texts["CRLF"].count("\r\n") == texts["CRLF"].count("\n") > 5
    assert any(ord(mark) > 0xFFFF for mark in texts["astral characters"])
    assert texts["byte order mark in the text"].startswith("\ufeff")
    assert texts["duplicate functions"].count("def alpha") == 12
    for case in cases(("python",), 0, 3):
        compiles(case)
    for language in (None, "python", "rust", "ruby"):
        one, same, other = (cases((language,), seed, 3) for seed in (0, 0, 1))
        assert one == same
        assert one[:-3] == other[:-3]
        assert all(a.text != b.text for a, b in zip(one[-3:], other[-3:], strict=True))


def compiles(case):
    """Random programs and the plain cases are programs that Python reads."""
    if case.name.startswith("random") or case.name in ("CRLF", "duplicate functions", "tabs"):
        compile(case.text.replace("\u202e", "").replace("x\0", "x"), case.name, "exec")


def test_no_test_library_is_loaded():
    code = "import sys, chunkers.testing; print({'pytest', 'hypothesis'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
