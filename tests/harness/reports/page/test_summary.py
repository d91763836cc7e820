"""The first screen of a report, and the sources of questions that disagree, by made documents."""

import pytest

from harness.reports.page.questions import kind_of, sources_of
from harness.reports.page.summary import summary_of

NAMES = {"run": 0, "dataset": "made", "embedder": "minilm", "retriever": "dense"}
MEASURE = "SpanR@10000c"


def cell(chunker, mean=0.5, tokens=100, **changes):
    metric = {"mean": mean, "ci95": [mean - 0.1, mean + 0.1], "comparable": True,
              "random": 0.1, "oracle": 1.0, "oracle_is_bound": False}  # fmt: skip
    return {
        **NAMES,
        "chunker": chunker,
        "key": chunker,
        "metrics": {MEASURE: metric},
        "primary": MEASURE,
        "n_queries": 50,
        "health": {"chunks": 10, "coverage": 1.0, "unseen_chunk_tokens": 0.02},
        "cost": {"tokens": tokens, "vectors": 10, "embedding_seconds": 1.5, "seconds": 2.0,
                 "chars_delivered": 900, "price": 0.0125},
        "marks": [],
        "left_out": {},
    } | changes  # fmt: skip


def row(chunker, verdict, difference=0.05, **changes):
    return {
        "measure": MEASURE, "exploratory": False, "chunker": chunker, "difference": difference,
        "ci95": [difference - 0.02, difference + 0.02], "p_adjusted": 0.01, "verdict": verdict,
        "mdd": 0.03,
    } | changes  # fmt: skip


def pair(a, b, verdict, needed=None, **changes):
    return {
        "dataset": "made", "shared": ["minilm", "dense"], "measure": MEASURE, "a": a, "b": b,
        "estimand": "these corpora", "exploratory": False, "verdict": verdict,
        "queries_to_decide": needed,
    } | changes  # fmt: skip


def document(rows, cells, pairs=(), follows="", corpora=9, **changes):
    verdict = {
        **NAMES, "measure": MEASURE, "margin": 0.02, "baseline": "fixed",
        "sentences": ["What run says.", "And this."], "differences": rows, "comparisons": 2,
    }  # fmt: skip
    contest = {
        "dataset": "made", "shared": ["minilm", "dense"], "n_queries": 50, "clusters": 20,
        "corpora": corpora, "pairs": list(pairs),
        "cells": {each["chunker"]: f"runs/first/cells/{each['key']}" for each in cells},
    }  # fmt: skip
    information = {"gold follows": follows} if follows else {}
    manifest = {"datasets": {"made": {"information": information}}}
    return {
        "runs": [{"path": "runs/first", "manifest": manifest}], "cells": cells,
        "verdicts": [verdict],
        "compare": [{"contests": [contest], "pairs": list(pairs)}], "failed": [], "absent": [],
    } | changes  # fmt: skip


CELLS = [
    cell("ast", 0.6, 120),
    cell("function", 0.55, 90),
    cell("fixed", 0.5, 100),
    cell("whole-file", 0.9, 10),
]


@pytest.mark.parametrize(
    ("verdicts", "pairs", "follows", "choice", "level"),
    [
        (("better", "undecided"), (), "", "ast", "shown"),
        (
            ("better", "better"),
            (),
            "",
            "function",
            "shown",
        ),  # the cheapest of those that are better
        (("better", "better"), (pair("ast", "function", "better"),), "", "ast", "shown"),
        (("better", "better"), (pair("function", "ast", "worse"),), "", "ast", "shown"),
        (("better", "undecided"), (), "definitions", "ast", "provisional"),
        (("worse", "worse"), (), "", "fixed", "shown"),
        (("worse", "worse"), (), "definitions", "fixed", "provisional"),
        (("undecided", "undecided"), (), "", "function", "undecided"),
        (("undecided", "worse"), (), "", "fixed", "undecided"),
        # The cheapest may not be worse than the baseline, and yet worse than another.
        (
            ("undecided", "undecided"),
            (pair("ast", "function", "better"),),
            "",
            "fixed",
            "undecided",
        ),
        (
            ("equivalent", "equivalent"),
            (pair("function", "ast", "worse"),),
            "",
            "fixed",
            "equivalent",
        ),
        (("equivalent", "better, but negligible"), (), "", "function", "equivalent"),
        (("equivalent", "undecided"), (), "", "function", "undecided"),
        (("not estimable", "not estimable"), (), "", "function", "undecided"),
    ],
)
def test_the_choice_follows_the_verdicts(verdicts, pairs, follows, choice, level):
    rows = [row(name, verdict) for name, verdict in zip(("ast", "function"), verdicts, strict=True)]
    rows.append(row("whole-file", "better", 0.4))  # a baseline, which is never chosen
    summary = summary_of(document(rows, CELLS, pairs, follows))
    (part,) = summary["parts"]
    assert part["costs_of"] == list(dict.fromkeys((choice, "fixed", "ast")))
    assert (part["choice"], part["level"]) == (choice, level)
    assert f"`{choice}`" in summary["headline"]
    assert part["verdict"] == "What run says."


def test_the_first_screen_has_what_it_rests_on():
    rows = [row("ast", "better"), row("function", "undecided")]
    pairs = [pair("ast", "fixed", "better"), pair("function", "fixed", "undecided", 1234)]
    cells = [*CELLS[1:], cell("ast", 0.6, 120, marks=["3 chunks are over the size limit"])]
    failed = [{**NAMES, "chunker": "x", "reason": "failed on 9 of 9 files"}]
    made = document(rows, cells, pairs, corpora=1, failed=failed)
    (part,) = summary_of(made)["parts"]
    assert part["sure"] == [
        "`ast` against `fixed`: 5.0 points of SpanR@10000c, 95 % interval [3.0, 7.0], adjusted p "
        "0.010: better.",
        "50 queries in 20 clusters of 1 corpus.",
        "And this.",
    ]
    assert part["lost"] == [
        "`ast`: 100.0 % of the text is in chunks; the embedder did not see 2.0 % of its tokens.",
        "`ast`: 3 chunks are over the size limit.",
        "`x` is not scored: failed on 9 of 9 files.",
    ]
    assert part["decide"] == [
        "1,234 further queries of this kind would show a difference of 2.0 points from `fixed` "
        "with a probability of 80 %.",
        "For other repositories: at least 7 corpora instead of 1.",
    ]
    assert part["costs_of"] == ["ast", "fixed"]
    assert {name: values for name, *values in part["costs"]} == {
        "vectors": ["10", "10"],
        "chunks": ["10", "10"],
        "tokens to embed": ["120", "100"],
        "seconds to embed": ["1.5", "1.5"],
        "seconds in all": ["2.0", "2.0"],
        "characters in the first ten chunks": ["900", "900"],
        "price of embedding": ["0.0125", "0.0125"],
    }
    assert [one["chunker"] for one in part["standing"]] == ["ast", "function", "fixed"]


@pytest.mark.parametrize(
    ("embedder", "unseen", "ends"),
    [
        ("minilm", 0.02, "; the embedder did not see 2.0 % of its tokens."),
        ("minilm", 0.0, "; the embedder did not see 0.0 % of its tokens."),
        ("openai:x", None, "."),  # an embedder without a known limit
        ("none", None, "; no embedder, so none cuts text off."),
    ],
)
def test_what_an_embedder_did_not_see_is_said_where_it_is_known(embedder, unseen, ends):
    cells = [cell(name, embedder=embedder) for name in ("ast", "fixed")]
    for each in cells:
        each["health"] |= {"unseen_chunk_tokens": unseen}
    made = document([row("ast", "better")], cells)
    made["verdicts"][0]["embedder"] = embedder
    (part,) = summary_of(made)["parts"]
    assert part["lost"][0] == f"`ast`: 100.0 % of the text is in chunks{ends}"


def test_an_interval_without_0_that_is_undecided_is_explained():
    for rows, explained in (
        ([row("ast", "undecided", 0.03)], True),
        ([row("ast", "better", 0.03)], False),
        ([row("ast", "undecided", 0.01)], False),
        ([row("ast", "undecided", -0.03)], True),
        ([row("ast", "not estimable", 0.03, ci95=None)], False),
    ):
        (part,) = summary_of(document(rows, CELLS))["parts"]
        assert ("adjusted for 2 comparisons" in part["note"]) is explained


@pytest.mark.parametrize("verdict", ["undecided", "better", "equivalent"])
def test_data_in_which_a_random_ranking_does_as_well_decide_nothing(verdict):
    cells = [cell(name, 1.0, n_queries=20) for name in ("ast", "fixed")]
    for each in cells:
        each["metrics"][MEASURE]["random"] = 1.0
    (part,) = summary_of(document([row("ast", verdict)], cells))["parts"]
    assert part["level"] == "undecided"
    assert part["headline"].endswith("or any other: these data decide nothing.")
    assert f"{MEASURE} decides nothing here: a random ranking does as well" in part["sure"][0]
    assert part["sure"][1].startswith("20 queries: with fewer than 30")
    assert part["decide"] == ["A smaller budget, or a larger corpus."]


def test_several_comparisons_are_summed_up():
    made = document([row("ast", "better")], CELLS)
    verdict = made["verdicts"][0]
    same = summary_of(made | {"verdicts": [verdict, verdict]})
    assert same["headline"] == "Use `ast` in all 2 comparisons: shown in 2."
    other = verdict | {"differences": [row("ast", "worse")]}
    differ = summary_of(made | {"verdicts": [verdict, verdict, other]})
    assert "`ast` in 2 and `fixed` in 1 comparisons" in differ["headline"]


@pytest.mark.parametrize(
    ("others", "says"),
    [
        (("better",), "all 2 comparisons: shown in 2."),
        ((None,), "1 of 2 comparisons: shown in 1 and not compared in 1."),
        ((None, "better"), "2 of 3 comparisons: shown in 2 and not compared in 1."),
        (("better", "undecided"), "all 3 comparisons: shown in 2 and undecided in 1."),
    ],
)
def test_all_comparisons_are_those_that_were_made(others, says):
    cells = [cell("ast", 0.6, 90), cell("fixed")]
    made = document([row("ast", "better")], cells)
    (first,) = made["verdicts"]
    rest = [first | {"differences": [row("ast", other)] * (other is not None)} for other in others]
    assert summary_of(made | {"verdicts": [first, *rest]})["headline"] == f"Use `ast` in {says}"


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([], "There is no result."),
        ([CELLS[0]], "there is one chunker: `ast`"),
        ([CELLS[3]], "there is no chunker"),
        ([{**CELLS[0], "n_queries": 0}, {**CELLS[2], "n_queries": 0}], "there is no query"),
        (CELLS, "no measure"),
        ([CELLS[0], {**CELLS[2], "run": 1}], "no run has two chunkers"),
        ([CELLS[0], {**CELLS[2], "dataset": "other"}], "no run has two chunkers"),
    ],
)
def test_without_an_answer_it_says_why(cells, says):
    assert says in summary_of(document([], cells) | {"verdicts": []})["headline"]


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        (("better", "equivalent"), "Nothing: the answer is decided."),
        (("better", "undecided"), "More questions; how many cannot be estimated from these."),
        (("not estimable", "worse"), "More questions; how many cannot be estimated from these."),
    ],
)
def test_only_a_decided_answer_is_called_so(verdicts, says):
    rows = [row(name, verdict) for name, verdict in zip(("ast", "function"), verdicts, strict=True)]
    (part,) = summary_of(document(rows, CELLS))["parts"]
    assert part["decide"] == [says]


@pytest.mark.parametrize("folders", [("runs/first", "runs/second"), ("a/run", "b/run")])
def test_the_comparison_is_that_of_the_same_run(folders):
    """`compare` tells apart what two runs have by the name of their folder, or by a mark."""
    rows = [row("ast", "undecided")]
    cells = [cell(name, run=run) for run in (0, 1) for name in ("ast", "fixed")]
    names = [f"{name}{end}" for end in ("", " (run)'") for name in ("ast", "fixed")]
    made = document(rows, cells, [pair("ast", "fixed", "undecided", 7),
                                  pair("ast (run)'", "fixed (run)'", "undecided", 8),
                                  pair("ast", "fixed (run)'", "undecided", 9)])  # fmt: skip
    made["runs"] = [made["runs"][0] | {"path": folder} for folder in folders]
    places = [f"{folders[each['run']]}/cells/{each['key']}" for each in cells]
    (own,) = made["compare"][0]["contests"]
    own["cells"] = dict(zip(names, places, strict=True))
    other = own | {"cells": {"ast": "c/run/cells/ast"}, "clusters": 3}
    made["compare"] = [{"contests": [other, own]}]
    first = made["verdicts"][0]
    parts = summary_of(made | {"verdicts": [first, first | {"run": 1}]})["parts"]
    for part, needed in zip(parts, (7, 8), strict=True):
        assert "50 queries in 20 clusters of 9 corpora." in part["sure"]
        assert part["decide"][0].startswith(f"{needed} further queries")
    (part,) = summary_of(made | {"compare": [{"contests": [other]}]})["parts"]
    assert part["decide"] == ["More questions; how many cannot be estimated from these."]


def sources(first, second, pairs=(), names=("stdlib", "repo:x,queries=commits")):
    cells = [
        cell(name, mean, dataset=dataset, run=run)
        for run, (dataset, means) in enumerate(zip(names, (first, second), strict=True))
        for name, mean in means.items()
    ]
    contests = [
        {
            "cells": {name: f"{run}/cells/{name}" for name in means},
            "pairs": [each for each in pairs if each["dataset"] == dataset],
        }
        for run, (dataset, means) in enumerate(zip(names, (first, second), strict=True))
    ]
    runs = [{"path": "0"}, {"path": "1"}]
    return sources_of({"runs": runs, "cells": cells, "compare": [{"contests": contests}]})


def test_sources_that_change_the_order_are_named_those_shown_first():
    first = {"ast": 0.6, "fixed": 0.5, "function": 0.4, "whole-file": 0.1}
    second = {"ast": 0.5, "fixed": 0.55, "function": 0.7, "whole-file": 0.9}
    shown = [
        pair("function", "ast", "worse", dataset="stdlib"),
        pair("function", "ast", "better", dataset="repo:x,queries=commits"),
    ]
    (source,) = sources(first, second, shown)
    assert [column["kind"] for column in source["columns"]] == ["documentation", "commits"]
    assert [one["chunker"] for one in source["columns"][1]["order"]] == ["function", "fixed", "ast"]
    assert source["sentences"][0] == (
        "`ast` is ahead of `function` on `stdlib` (20.0 points), but `function` is ahead of `ast` "
        "on `repo:x,queries=commits` (20.0 points)."
    )
    assert len(source["sentences"]) == 3
    assert all("not shown" in line for line in source["sentences"][1:])


def test_sources_that_agree_say_so_and_one_source_is_none():
    (source,) = sources({"ast": 0.6, "fixed": 0.5}, {"ast": 0.3, "fixed": 0.2})
    assert source["sentences"] == ["The sources agree: no two chunkers change their order."]
    assert sources({"ast": 0.6, "fixed": 0.5}, {}) == []
    assert sources({"ast": 0.6}, {"ast": 0.3, "fixed": 0.5}, names=("stdlib", "stdlib")) == []


@pytest.mark.parametrize("second", [{"fixed": 0.2}, {"ast": 0.2}, {"ast": 0.2, "lines": 0.3}])
def test_sources_without_two_common_chunkers_neither_agree_nor_disagree(second):
    (source,) = sources({"ast": 0.6, "fixed": 0.5}, second)
    assert source["sentences"] == [
        "No two chunkers were run on two of the sources, so their order is not compared."
    ]


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [
        ("stdlib", "documentation"),
        ("repo:.", "documentation"),
        ("repo:PATH,queries=commits,limit=5", "commits"),
        ("repo:PATH,queries=calls", "calls"),
        ("repo:PATH,queries=asked.txt", "own questions"),
        ("cosqa", ""),
        ("</script>", ""),
    ],
)
def test_the_kind_of_questions_follows_from_the_name(dataset, kind):
    assert kind_of(dataset) == kind
