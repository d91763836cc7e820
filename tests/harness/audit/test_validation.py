"""What `chunkmark dataset validate` finds in data sets in which something was planted."""

from dataclasses import replace

import pytest
from commands import call, says
from worlds import function, grid, small

from chunkers.source import Source
from harness.audit.validation import validate
from harness.model import Absent, Corpus, Dataset, Query, Region, Skipped, Target
from harness.relevance import filler

WORDS = "which of the many places turns a reading into a value and keeps it"


def dataset(*queries, texts=None, skipped=(), **fields):
    texts = texts or {"pkg/a.py": function("alpha") + function("beta"), "b.py": function("rho")}
    sources = tuple(Source(text, path, "python") for path, text in texts.items())
    corpus = Corpus("one", sources, tuple(Skipped(path, "binary") for path in skipped))
    made = {"name": "planted", "gold": "span", "corpora": (corpus,), "queries": queries} | fields
    return Dataset(**made)


def query(name, path="pkg/a.py", first=1, last=6, text=None, **fields):
    text = f"{WORDS} {name}" if text is None else text
    return Query(name, "one", text, (Target(path, first, last),), **fields)


def found(validation, name):
    return [(one.state, one.found, one.examples) for one in validation.checks if one.check == name]


GOOD = (query("q1"), query("q2", "b.py"))


def test_a_sound_data_set_has_nothing_broken():
    validation = validate(dataset(*GOOD))
    assert not validation.broken
    assert found(validation, "targets") == [("ok", "2 targets", ())]
    assert found(validation, "texts") == [("ok", "2 queries, 2 files", ())]
    assert {one.state for one in validation.checks if "self-retrieval" in one.check} == {"ok"}
    assert found(validation, "duplicate queries") == [("ok", "0 queries", ())]


@pytest.mark.parametrize(
    ("bad", "state", "says_"),
    [
        (query("x", "gone.py"), "broken", "1 of 3 targets name a file that is not there"),
        (query("x", "./b.py"), "broken", "1 of 3 targets name a file that is not there"),
        (query("x", "B.py"), "broken", "1 of 3 targets name a file that is not there"),
        (query("x", "b.py", 5, 99), "broken", "1 of 3 targets name lines after the end"),
        (query("x", "icon.py"), "finding", "1 of 3 targets are in files not indexed"),
        (query("x", "vendor/deep/x.py"), "finding", "1 of 3 targets are in files not indexed"),
        (query("x", "b.py", 7, 8), "finding", "1 of 3 targets have no line that is not blank"),
        (Query("x", "one", WORDS), "finding", "1 query without a target"),
    ],
)
def test_every_target_is_looked_for(bad, state, says_):
    validation = validate(dataset(*GOOD, bad, skipped=("icon.py", "vendor/")))
    [(kind, text, examples)] = found(validation, "targets")
    assert (kind, examples) == (state, ("x",))
    assert text.startswith(says_)
    assert validation.broken == (state == "broken")


def test_documents_that_do_not_exist_are_broken():
    rows = (
        Query("a", "one", "first question", qrels={"b.py": 1, "gone": 0}),
        Query("b", "one", "second question", qrels={"gone": 2}),
    )
    validation = validate(dataset(*rows, gold="document", pooling="max"))
    [(state, _, examples)] = found(validation, "targets")
    assert (state, examples) == ("broken", ("b",))


def test_queries_and_corpora_without_text_are_broken():
    validation = validate(dataset(*GOOD, query("x", text=" \n")))
    assert found(validation, "texts") == [("broken", "1 query has no text", ("x",))]
    validation = validate(dataset(query("q", "b.py", 1, 1), texts={"b.py": "\n \n"}))
    assert found(validation, "texts") == [("broken", "1 corpus has no text", ("one",))]
    assert found(validate(dataset()), "texts")[0][:2] == ("broken", "there is no query")


def test_a_data_set_in_which_nothing_resolves_is_reported_not_refused():
    validation = validate(dataset(query("x", "gone.py")))
    assert validation.broken


def test_planted_duplicates_are_found():
    same = query("same", text=f"{WORDS.upper()}\n q1")
    other = query("other", "b.py", text=f"{WORDS} q2 ")
    elsewhere = query("elsewhere", "b.py", text=f"{WORDS}:  q1?")
    assert found(validate(dataset(*GOOD, same)), "duplicate queries") == [
        ("finding", "2 queries have the text and the targets of another one", ("q1", "same"))
    ]
    assert found(validate(dataset(*GOOD, other)), "duplicate queries")[0][2] == ("other", "q2")
    [(_, text, ids)] = found(validate(dataset(*GOOD, elsewhere)), "duplicate queries")
    assert text == "2 queries have the text of another one, but other targets"
    assert ids == ("elsewhere", "q1")


def test_the_same_question_to_two_corpora_is_no_duplicate():
    two = small().corpora
    rows = tuple(
        Query(corpus.id, corpus.id, "the same question", (Target(corpus.sources[-1].path, 1, 5),))
        for corpus in two
    )
    assert found(validate(small(queries=rows)), "duplicate queries")[0][0] == "ok"


def test_planted_copies_are_found():
    texts = {"pkg/a.py": function("alpha"), "copy.py": "\n" + function("alpha"), "b.py": "b = 1\n"}
    validation = validate(dataset(query("q1"), texts=texts))
    [(state, text, ids)] = found(validation, "twins")
    assert (state, ids) == ("finding", ("q1",))
    assert text.startswith("1 of 1 target has copies, 1 in all")
    assert found(validation, "identical files") == [("finding", "2 files equal another one", ())]


def test_planted_leaks_are_found():
    texts = {
        "pkg/a.py": function("alpha"),
        "notes.py": f"# Nobody knows {WORDS} at all\n",
        "b.py": function("rho"),
    }
    leaked = query("leaked", text=WORDS)
    own = query("own lines", "b.py", text=function("rho"))
    validation = validate(dataset(query("clean", text="something else"), leaked, own, texts=texts))
    assert found(validation, "self-retrieval, words")[0][2] == ("leaked", "own lines")
    assert found(validation, "self-retrieval, whole text")[0][2] == ("leaked", "own lines")
    assert found(validation, "self-retrieval, lines")[0][2] == ("own lines",)
    assert not validation.broken


CALLER = """import tools

if tools.ready:
    tools.weigh(first, second, third, fourth, fifth, sixth)
else:
    rest = 1
"""
BROKEN = "a = {\n    'first': 1,\n"


@pytest.mark.parametrize(
    ("text", "lines", "state", "says_"),
    [
        (CALLER, (3, 4), "ok", "of 1 masked file, 0 have syntax errors that masks made; 1 more"),
        (CALLER, (4, 4), "ok", "of 1 masked file, 0 have syntax errors that masks made; 0 more"),
        (BROKEN + CALLER, (5, 6), "ok", "of 1 masked file, 0 have syntax errors that masks made; "),
        (CALLER, (1, 9), "broken", "query q: its region a.py:1-9 passes the file's 6 lines"),
    ],
)
def test_a_data_set_that_runs_mask_is_validated_as_masked(text, lines, state, says_):
    asked = "\n".join(text.split("\n")[lines[0] - 1 : lines[1]])
    asked = Query("q", "one", asked, (Target("b.py", 1, 6),), region=Region("a.py", *lines))
    made = dataset(asked, texts={"a.py": text, "b.py": function("weigh")}, mask=True)
    validation = validate(made)
    [(kind, text, _)] = found(validation, "masking")
    assert (kind, validation.broken) == (state, state == "broken")
    assert text.startswith(says_)
    if state == "ok":
        [(_, words, _)] = found(validation, "self-retrieval, words")
        assert "0.0 % in the corpus" in words
        [(_, whole, _)] = found(validation, "self-retrieval, whole text")
        assert "0.0 % in a file" in whole
    plain = validate(replace(made, mask=False))
    assert not found(plain, "masking")
    assert "100.0 % in a file" in found(plain, "self-retrieval, whole text")[0][1] or state != "ok"


def test_masks_that_break_a_file_are_findings(monkeypatch):
    monkeypatch.setattr(filler, "_KEPT", ())
    asked = Query("q", "one", "x", (Target("b.py", 1, 6),), region=Region("a.py", 3, 4))
    made = dataset(asked, texts={"a.py": CALLER, "b.py": function("weigh")}, mask=True)
    [(state, text, examples)] = found(validate(made), "masking")
    assert (state, examples) == ("finding", ("q",))
    assert text.startswith("of 1 masked file, 1 has syntax errors that masks made; 0 more")


def test_absent_corpora_and_what_was_left_out_are_findings():
    validation = validate(dataset(*GOOD, absent=(Absent("two", "no tree", 7),),
                                  left_out={"too short": 3, "none such": 0}))  # fmt: skip
    assert found(validation, "absent")[0][1:] == (
        "1 corpus is not at hand, with 7 queries", ("two",))  # fmt: skip
    assert found(validation, "left out") == [("finding", "3: too short", ())]


def test_balance_over_corpus_language_folder_and_tags():
    rows = [query(f"a{i:02}", tags={"kind": "many"}) for i in range(18)]
    rows += [query(f"b{i}", "b.py", tags={"kind": "few"}) for i in range(2)]
    validation = validate(dataset(*rows))
    shares = {(one.by, one.value): (one.queries, one.share) for one in validation.balance}
    assert shares == {
        ("corpus", "one"): (20, 1.0),
        ("folder", "pkg"): (18, 0.9),
        ("folder", "."): (2, 0.1),
        ("kind", "many"): (18, 0.9),
        ("kind", "few"): (2, 0.1),
        ("language", "python"): (20, 1.0),
    }
    assert found(validation, "balance, folder")[0] == (
        "finding", "2 values; pkg has 90.0 % of the queries, 1 has fewer than 10", (".",)
    )  # fmt: skip
    assert found(validation, "balance, language")[0][0] == "ok"


def test_power_without_a_run_is_that_of_the_worst_case():
    rows = [query(f"q{i:03}", cluster=f"file {i}") for i in range(100)]
    clustered, alone = validate(dataset(*rows)).power
    assert (clustered.queries, clustered.clusters, clustered.sd) == (100, 100, 1.0)
    assert clustered.mdd == pytest.approx(alone.mdd) == pytest.approx(0.2829, abs=1e-4)
    assert clustered.queries_for == {1: 78491, 2: 19625, 5: 3142}
    # The target's file is the cluster where the data set names none; 2 of them show nothing.
    few = validate(dataset(*GOOD)).power[0]
    assert (few.clusters, few.mdd) == (2, None)


@pytest.mark.parametrize(("clusters", "shows"), [(5, False), (6, True)])
def test_under_six_clusters_no_difference_can_be_detected(clusters, shows):
    rows = [query(f"q{i:03}", cluster=f"file {i % clusters}") for i in range(60)]
    assert (validate(dataset(*rows)).power[0].mdd is not None) == shows


def test_the_command_shows_all_and_its_exit_code_says_what_is_broken(capsys):
    done = call(capsys, "dataset", "validate", "stdlib", "--format", "json")
    assert done.code == 0
    assert done.json["schema"] == "chunkmark.dataset-validate/1"
    assert done.json["verdict"] == "sound"
    assert set(done.json["power"][0]["queries_for"]) == {"1", "2", "5"}
    for form in ("table", "csv", "markdown"):
        done = call(capsys, "dataset", "validate", "stdlib", "--format", form)
        assert done.code == 0
        assert "155 targets" in done.out
        assert "points" in done.out
    says(call(capsys, "dataset", "validate", "stdlib", "-m", "MRR"), 2, "--run")
    says(call(capsys, "dataset", "validate", "nothing-such"), 2, "unknown data set")


def test_a_data_set_with_a_target_that_does_not_exist_ends_with_1(capsys, tmp_path, monkeypatch):
    (tmp_path / "broken_set.py").write_text(
        "from chunkers.source import Source\n"
        "from harness.model import Corpus, Dataset, Query, Target\n"
        "def load(data_dir):\n"
        "    corpus = Corpus('c', (Source('x = 1\\n', 'a.py', 'python'),))\n"
        "    rows = (Query('good', 'c', 'one', (Target('a.py', 1, 1),)),\n"
        "            Query('bad', 'c', 'two', (Target('gone.py', 1, 1),)))\n"
        "    return Dataset('x', 'span', (corpus,), rows)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = call(capsys, "dataset", "validate", "broken_set:load")
    assert done.code == 1
    assert "BROKEN" in done.out
    assert "bad" in done.out
    # One query is left, of one cluster.
    assert "so nothing can be estimated" in done.out


def test_a_run_says_how_much_chunkers_differ(tmp_path):
    chosen = {"chunkers": ("ast:max_size=120", "fixed:max_size=60", "whole-file"),
              "retrievers": ("bm25",)}  # fmt: skip
    outcome = grid(tmp_path, **chosen)
    assert outcome is not None
    run, data = tmp_path / "run", small()
    _, _, median, most = validate(data, run, "P@5").power
    assert "P@5, median of 3 pairs" in median.assumed
    assert "P@5, most of 3 pairs" in most.assumed
    # q gone has no target, and takes no part.
    assert (median.queries, most.queries) == (4, 4)
    assert 0 <= median.sd <= most.sd


def test_equal_scores_say_nothing_of_the_power(tmp_path, capsys):
    # All that is asked for is within the budget, so every chunker delivers it.
    grid(tmp_path, chunkers=("ast", "fixed"), retrievers=("bm25",), measures=("SpanR@40000c",))
    found = validate(small(), tmp_path / "run", "SpanR@40000c")
    assert found.run_without_scatter
    assert all("pairs in the run" not in power.assumed for power in found.power)


def test_a_run_of_other_data_or_without_the_measure_is_refused(capsys, tmp_path):
    grid(tmp_path, chunkers=("ast", "fixed"), retrievers=("bm25",))
    run = tmp_path / "run"
    says(call(capsys, "dataset", "validate", "stdlib", "--run", run), 2,
         "is a run of small, not of stdlib; give a run of stdlib with two chunkers")  # fmt: skip
    from chunkers.errors import InputError

    with pytest.raises(InputError, match="has no values of Rprec"):
        validate(small(), run, "Rprec")
    with pytest.raises(InputError, match="unknown measure"):
        validate(small(), run, "nonsense@3")
    with pytest.raises(InputError, match="not a run folder"):
        validate(small(), tmp_path)
    cell = next((run / "cells").iterdir())
    (cell / "per_query.jsonl").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        validate(small(), run)


def test_the_pairs_of_a_run_are_those_of_its_stored_values(tmp_path):
    import json

    from harness.audit.validation import pairs_of
    from harness.runs.folder import stored_cells

    grid(tmp_path, chunkers=("ast:max_size=120", "fixed:max_size=60"), retrievers=("bm25", "bow"))
    name, pairs = pairs_of(tmp_path / "run", small(), "ndcg_at_5")
    stored = {}
    for names, folder in stored_cells(tmp_path / "run"):
        rows = map(json.loads, (folder / "per_query.jsonl").read_text().splitlines())
        of = (names["chunker"], f"{names['embedder']}, {names['retriever']}")
        stored[of] = {row["query_id"]: row["metrics"]["nDCG@5"] for row in rows}
    assert name == "nDCG@5"
    assert len(pairs) == 2
    for pair in pairs:
        a, b = stored[pair.a, pair.beside], stored[pair.b, pair.beside]
        assert pair.differences == {query: a[query] - b[query] for query in a}
        assert len(a) == 4


def test_a_handful_of_queries_shows_no_difference(capsys, tmp_path, monkeypatch):
    (tmp_path / "few_set.py").write_text(
        "from chunkers.source import Source\n"
        "from harness.model import Corpus, Dataset, Query, Target\n"
        "def load(data_dir):\n"
        "    sources = tuple(Source('x = 1\\n', f'{i}.py', 'python') for i in range(3))\n"
        "    rows = tuple(Query(s.path, 'c', s.path, (Target(s.path, 1, 1),)) for s in sources)\n"
        "    return Dataset('x', 'span', (Corpus('c', sources),), rows)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = call(capsys, "dataset", "validate", "few_set:load")
    assert done.code == 0
    assert "3 queries in 3 clusters: no difference can be detected (sd 1.000)" in done.out


def window(first, count=11):
    return "\n".join(f"  line {n} of the file" for n in range(first, first + count))


@pytest.mark.parametrize(
    ("texts", "targets", "near"),
    [
        ((window(1), window(6)), (1, 2), 2),  # six lines of eleven
        ((window(1), window(7)), (1, 2), 0),  # five
        ((window(1), window(6)), (1, 1), 0),  # the same answer
        ((window(1), window(3, 6)), (1, 2), 2),  # a shorter one inside
        ((window(1), window(1).replace("  ", "\t")), (1, 2), 0),  # equal, which has its own line
        (("a\nb\nc", "a\nb\nd"), (1, 2), 0),  # too short to say
        (
            ("a\nb\nc\nd\n}\n)\n});\n},\n];", "e\nf\ng\nh\n}\n)\n});\n},\n];"),
            (1, 2),
            0,
        ),  # only closing
    ],
)
def test_queries_that_share_most_of_their_lines_with_other_targets(texts, targets, near):
    corpus = Corpus("c", (Source("x\ny\n", "a.py", "python"),))
    queries = tuple(
        Query(f"q{n}", "c", text, (Target("a.py", line, line),))
        for n, (text, line) in enumerate(zip(texts, targets, strict=True))
    )
    checks = validate(Dataset("made", "span", (corpus,), queries)).checks
    found = [c for c in checks if "half of their lines" in c.found]
    assert [len(check.examples) for check in found] == [near] * (near > 0)
    assert all(check.state == "finding" for check in found)
