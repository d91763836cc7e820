from dataclasses import FrozenInstanceError, fields

import pytest

from chunkers.errors import InputError
from harness.profiles import list_profiles, load_profile


def test_profiles_differ_in_the_conventions_they_name():
    default, trec = load_profile("default"), load_profile("trec")
    differing = {
        one.name for one in fields(default) if getattr(default, one.name) != getattr(trec, one.name)
    }
    assert differing == {"name", "description", "ties", "nothing_relevant", "absent", "twins"}


def test_option_changes_its_field_and_stands_in_the_name():
    complete = load_profile("trec:complete=true")
    assert (complete.name, complete.absent) == ("trec:complete=true", "zero")
    assert load_profile("default:twins=false").twins is False


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
        ("beir", "there are default, trec"),
        ("trec:complet=true", "complete"),
        ("trec:complete=maybe", "true, false"),
        ("default:complete=true", "twins"),
        ("trec:argument", "takes no argument"),
    ],
)
def test_wrong_profile_says_what_there_is(text, says):
    with pytest.raises(InputError, match=says):
        load_profile(text)


def test_ranking_fields_are_those_a_ranking_depends_on():
    default, trec = (load_profile(name).ranking_fields() for name in ("default", "trec"))
    assert default == {"blank": "drop", "similarity": "cosine", "ties": "corpus-order"}
    assert trec == default | {"ties": "float32-id-desc"}
    assert load_profile("default:twins=false").ranking_fields() == default


def test_profile_is_frozen():
    with pytest.raises(FrozenInstanceError):
        load_profile("default").twins = False


def test_list_holds_every_profile():
    assert [one.name for one in list_profiles()] == ["default", "trec"]
    assert all(one.description for one in list_profiles())
