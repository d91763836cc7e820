from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.plugins.spec import Spec, bind, canonical, expand_spec, parse_spec


def make(
    *,
    size: int = 600,
    share: float = 0.5,
    name: str = "x",
    on: bool = False,
    unit: Literal["nws", "chars"] = "nws",
    depth: int | None = None,
    either: int | Literal["all"] = "all",
) -> None:
    """Everything an option can be."""


def with_argument(argument: str, *, size: int = 1) -> None:
    """Needs an argument."""


# A blank inside would be read as several names.
names = st.text(min_size=1).filter(
    lambda name: name.split() == [name] and not any(mark in name for mark in ":,=|")
)
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)


@given(names, st.none() | st.text(), st.lists(st.tuples(keys, st.text()), unique_by=lambda o: o[0]))
def test_a_printed_spec_parses_to_itself(name, argument, options):
    spec = Spec(name, argument, tuple(options))
    assert parse_spec(str(spec)) == spec


@given(st.text())
def test_any_text_parses_or_is_refused(text):
    try:
        specs = expand_spec(text)
    except InputError:
        return
    assert all(expand_spec(str(spec)) == (spec,) for spec in specs)


def test_the_parts_of_a_spec():
    assert parse_spec("ast") == Spec("ast")
    assert parse_spec("ast:max_size=300,unit=chars") == Spec(
        "ast", None, (("max_size", "300"), ("unit", "chars"))
    )
    assert parse_spec("beir:../a/b,pooling=max") == Spec("beir", "../a/b", (("pooling", "max"),))
    assert parse_spec('beir:"a,b|c",k="x,y"') == Spec("beir", "a,b|c", (("k", "x,y"),))
    assert parse_spec("module.sub:attr,k=1") == Spec("module.sub", "attr", (("k", "1"),))


def test_a_python_object_is_printed_so_that_it_parses_again():
    assert str(Spec("module:attr", None, (("k", "1"),))) == "module:attr,k=1"


def test_sweeps_vary_the_last_key_fastest():
    specs = expand_spec('fixed:max_size=300|600,overlap=0|"1,0"')
    assert [dict(spec.options) for spec in specs] == [
        {"max_size": "300", "overlap": "0"},
        {"max_size": "300", "overlap": "1,0"},
        {"max_size": "600", "overlap": "0"},
        {"max_size": "600", "overlap": "1,0"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "ast:", " ast", "a,b", "a|b"),
        *("ast:a=", "ast:a=1,", "ast:a=1,b", "ast:a=1,a=2", "ast:a=1|2", "ast:x|y"),
        *('ast:a="1', 'ast:a="1"x', "st:model,prompt=\udcff"),
    ],
)
def test_what_is_no_single_spec_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        parse_spec(text)
    assert "\n" not in str(error.value)


def test_options_are_converted_by_their_annotations():
    spec = parse_spec("x:size=3,share=2,name=7,on=on,unit=chars,depth=2,either=4")
    assert bind(make, spec, "part") == {
        "size": 3,
        "share": 2.0,
        "name": "7",
        "on": True,
        "unit": "chars",
        "depth": 2,
        "either": 4,
    }
    assert bind(make, parse_spec("x:either=all"), "part") == {"either": "all"}
    assert bind(make, parse_spec("x"), "part") == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x:size=a", "must be a whole number"),
        ("x:size=1.5", "must be a whole number"),
        ("x:share=b", "a number"),
        ("x:share=nan", "a number"),
        ("x:share=inf", "a number"),
        ("x:on=true", "on or off"),
        ("x:unit=bytes", "nws, chars"),
        ("x:either=some", "all"),
        ("x:sise=1", "did you mean size"),
        ("x:a/b", "'a/b' is not key=value; its options are"),
    ],
)
def test_wrong_options_are_refused_with_what_there_is(text, says):
    with pytest.raises(InputError, match=says):
        bind(make, parse_spec(text), "part")


def test_an_argument_is_passed_and_missed():
    assert bind(with_argument, parse_spec("x:here,size=2"), "part") == {
        "argument": "here",
        "size": 2,
    }
    with pytest.raises(InputError, match="needs an argument"):
        bind(with_argument, parse_spec("x"), "part")


def test_an_unreadable_type_of_another_option_does_no_harm():
    def odd(*, size: int = 1, other: "Nowhere" = None) -> None:  # noqa: F821
        """Its second option has a type that is not at hand."""

    assert bind(odd, parse_spec("x:size=2"), "part") == {"size": 2}
    with pytest.raises(InputError, match="Nowhere"):
        bind(odd, parse_spec("x:other=2"), "part")


def test_the_canonical_form_sorts_and_leaves_defaults_out():
    spec = parse_spec("x:unit=chars,size=0600,share=0.25,on=off,depth=3")
    assert canonical(make, spec, bind(make, spec, "part")) == "x:depth=3,share=0.25,unit=chars"
    same = parse_spec("x:depth=+3,unit=chars,share=.25")
    assert canonical(make, same, bind(make, same, "part")) == "x:depth=3,share=0.25,unit=chars"


@given(
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.booleans(),
)
def test_the_canonical_form_means_the_same(size, share, name, on):
    written = {"size": str(size), "share": repr(share), "name": name, "on": "on" if on else "off"}
    spec = Spec("x", None, tuple(written.items()))
    bound = bind(make, spec, "part")
    again = parse_spec(canonical(make, spec, bound))
    defaults = {"size": 600, "share": 0.5, "name": "x", "on": False}
    assert defaults | bind(make, again, "part") == bound
    assert canonical(make, again, bind(make, again, "part")) == str(again)


@pytest.mark.parametrize("digits", ["2147483648", "9" * 20, "9" * 400])
def test_a_number_that_no_size_has_is_refused(digits: str) -> None:
    with pytest.raises(InputError, match="must be a whole number up to 2147483647"):
        load_chunker(f"fixed:max_size={digits}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ast:max_size", "chunker ast: an option is written key=value, as in ast:max_size=600"),
        ("ast:max_size=300;overlap=3", "separate options by a comma: ast:max_size=300,overlap=3"),
        ("ast:max_size=300 overlap=3 ; unit=nws", "comma: ast:max_size=300,overlap=3,unit=nws"),
        ("ast:max_size=300 overlp=3", "options are separated by commas"),
        (
            "ast:max_size=300,3",
            r"write KEY=3; several values of one key are written 'ast:max_size=300\|3'",
        ),
        (
            "ast:max_size=300,max_size=3",
            r"give it once; write several values of it as max_size=A\|B",
        ),
        ("ast:overlap=0,max_size=300,3", r"written 'ast:overlap=0,max_size=300\|3'"),
        ("ast:max_size=300,header", "write header=VALUE, as in"),
        ("ast()", r"drop the \(\): write ast"),
        ("own:cut()", r"drop the \(\): write own:cut"),
        ("own:cut(size=3)", r"drop the \(\): write own:cut,size=3"),
        ("own:cut size=3", "options follow a comma: write own:cut,size=3"),
        ("own:cut;size=3", "options follow a comma: write own:cut,size=3"),
        ("sub/own:cut", "write sub.own:cut in the folder of the file"),
        ("../sub/own.py:cut", "write own:cut in the folder of the file"),
        ("ats", "did you mean ast?"),
        ("ast,fixed", "names several parts; repeat the option: one for ast, one for fixed"),
        ("repo:", "repo: needs a path; write repo:PATH"),
        ("own.py", "write own:FUNCTION in the folder of the file"),
    ],
)
def test_a_wrong_spec_says_how_to_write_it(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_chunker(text)
