from dataclasses import FrozenInstanceError, fields

import pytest

from chunkers.errors import InputError
from harness.measures.profiles import explain_profiles, list_profiles, load_profile


def differing(one, other):
    """The fields in which two profiles differ, with the values of the other."""
    one, other = load_profile(one), load_profile(other)
    return {
        field.name: getattr(other, field.name)
        for field in fields(one)
        if field.name not in ("name", "description")
        and getattr(one, field.name) != getattr(other, field.name)
    }


def test_trec_differs_from_the_default_in_ties_twins_and_who_is_in_the_mean():
    assert differing("default", "trec") == {
        "ties": "float32-id-desc",
        "id_ties": "float32-id-desc",
        "negative": "unjudged",
        "twins": False,
        "nothing_relevant": "zero",
        "absent": "left-out",
    }


def test_beir_differs_from_trec_in_identical_ids_mrr_and_rounding():
    assert differing("trec", "trec:variant=beir") == {
        "mrr": "as-given-over-all-judged",
        "same_id": "dropped",
        "places": 5,
        "sums": "run-order",
    }


def test_mteb_differs_from_trec_in_mrr_and_rounding():
    assert differing("trec", "trec:variant=mteb") == {
        "mrr": "id-desc-unrounded",
        "places": 5,
        "sums": "run-order",
    }


def test_trec10_differs_from_trec_in_the_precision_of_scores_alone():
    assert differing("trec", "trec:variant=trec10") == {"ties": "id-desc", "id_ties": "id-desc"}


def test_rel_is_a_grade_above_0():
    assert (load_profile("trec:rel=2").name, load_profile("trec:rel=2").rel) == ("trec:rel=2", 2)
    assert load_profile("trec:variant=beir,rel=2").rel == 2
    assert load_profile("default:rel=0.5").rel == 0.5
    for wrong in ("trec:rel=0", "default:rel=-1"):
        with pytest.raises(InputError, match="write rel=1 or more"):
            load_profile(wrong)


def test_code_chunk_differs_from_the_default_where_its_evaluation_does():
    assert differing("default", "code-chunk") == {
        "similarity": "dot-over-norms",
        "blank": "index",
        "truncate": "head",
        "overlap": "any-line",
        "twins": False,
        "ref_id": True,
        "id_ties": "as-given",
        "gain": "binary",
        "repeats": "each-counts",
        "no_judgements": "zero",
        "nothing_relevant": "zero",
        "mean": "corpora",
    }


def test_code_chunk_can_leave_out_empty_files():
    assert differing("code-chunk", "code-chunk:empty=drop") == {"blank": "drop"}
    assert load_profile("code-chunk:empty=drop").name == "code-chunk:empty=drop"
    assert load_profile("code-chunk:empty=keep") == load_profile("code-chunk")


def test_memorybench_differs_from_the_default_where_its_code_does():
    assert differing("default", "memorybench") == {
        "overlap": "any-line",
        "twins": False,
        "id_ties": "as-given",
        "precision": "retrieved",
        "recall": "any-hit",
        "gain": "binary",
        "ideal": "found-unless-named",
        "repeats": "each-counts",
        "no_judgements": "zero",
        "nothing_relevant": "zero",
        "absent": "left-out",
    }


def test_option_changes_its_field_and_stands_in_the_name():
    complete = load_profile("trec:complete=true")
    assert (complete.name, complete.absent) == ("trec:complete=true", "zero")
    assert load_profile("default:twins=false").twins is False
    merge = load_profile("default:assemble=merge")
    assert (merge.name, merge.assemble) == ("default:assemble=merge", "merge")
    assert load_profile("default:assemble=concatenate") == load_profile("default")


def test_option_at_its_default_leaves_the_name():
    assert load_profile("trec:complete=false") == load_profile("trec")
    assert load_profile("default:twins=true") == load_profile("default")


def test_options_are_named_in_one_order():
    assert load_profile("trec:twins=true,complete=true") == load_profile(
        "trec:complete=true,twins=true"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("trek", "did you mean trec"),
        ("beir", "write trec:variant=beir"),
        ("trec:complet=true", "complete"),
        ("trec:complete=maybe", "true, false"),
        ("default:assemble=join", "concatenate, merge"),
        ("default:assemble=merge,deliver=embed", "leave out deliver=embed"),
        ("default:complete=true", "twins"),
        ("trec:variant=coir", "trec_eval, trec10, beir, mteb"),
        ("trec:rel=high", "must be a number"),
        ("code-chunk:rel=2", "unknown option 'rel'"),
        ("code-chunk:empty=true", "keep, drop"),
        ("memorybench:twins=true", "memorybench"),
        ("code-chunks", "did you mean code-chunk"),
        ("trec:argument", "'argument' is not key=value; its options are"),
    ],
)
def test_wrong_profile_says_what_there_is(text, says):
    with pytest.raises(InputError, match=says):
        load_profile(text)


def test_ranking_fields_are_those_a_ranking_depends_on():
    names = ("default", "trec", "code-chunk", "code-chunk:empty=drop", "memorybench")
    default, trec, chunk, dropped, memory = (load_profile(one).ranking_fields() for one in names)
    assert default == {
        "blank": "drop",
        "similarity": "cosine",
        "ties": "corpus-order",
        "truncate": "query",
    }
    assert trec == default | {"ties": "float32-id-desc"}
    assert chunk == default | {
        "blank": "index",
        "similarity": "dot-over-norms",
        "truncate": "head",
    }
    assert dropped == chunk | {"blank": "drop"}
    assert memory == default
    assert load_profile("default:twins=false").ranking_fields() == default
    assert load_profile("default:assemble=merge").ranking_fields() == default
    assert load_profile("trec:variant=beir").ranking_fields() == trec


def test_profile_is_frozen():
    with pytest.raises(FrozenInstanceError):
        load_profile("default").twins = False


def test_list_holds_every_profile():
    variants = [f"trec:variant={name}" for name in ("trec10", "beir", "mteb")]
    names = ["default", "code-chunk", "trec", *variants, "memorybench"]
    assert [one.name for one in list_profiles()] == names
    assert all(one.description for one in list_profiles())


def test_explanation_has_a_row_for_every_field_and_a_column_for_every_profile():
    rows = explain_profiles()
    profiles = list_profiles()
    assert [row["field"] for row in rows] == [
        one.name for one in fields(profiles[0]) if one.name != "name"
    ]
    names = [one.name for one in profiles]
    for row in rows:
        assert list(row) == ["field", *names, "means"]
        assert all(isinstance(value, str) and value for value in row.values())
    by_field = {row["field"]: row for row in rows}
    assert {name for name in names if by_field["places"][name] == "5"} == {
        "trec:variant=beir",
        "trec:variant=mteb",
    }
    assert {name for name in names if by_field["twins"][name] == "yes"} == {"default"}


def test_explanation_names_every_value_that_a_profile_has_besides_the_default():
    for row in explain_profiles():
        if row["field"] in ("description", "places", "twins", "ref_id"):
            continue
        values = {row[one.name] for one in list_profiles()} - {row["default"]}
        explained = ("zero", "left-out", "dropped", "drop", "any-line")  # as plain as the words
        for value in values.difference(explained):
            assert value in row["means"], (row["field"], value)
