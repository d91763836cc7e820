import sys
import types

import numpy as np
import pytest

from chunkers import InputError, Services, Source, Span, list_chunkers, load_chunker

SOURCE = Source("abc\ndef\n", "folder/file.py", "python")


@pytest.fixture
def plug(monkeypatch):
    """A module of the name `plug` with the given objects, as `module:attr` names them."""
    module = types.ModuleType("plug")
    monkeypatch.setitem(sys.modules, "plug", module)

    def put(thing: object) -> None:
        module.thing = thing

    return put


def run(spec: str) -> list[Span]:
    return load_chunker(spec).chunk(SOURCE, Services(count_tokens=len))


class Fixed:
    """A chunker object."""

    version = "3"
    unit = "chars"
    windows = "max"

    def __init__(self, max_size: int | None = None) -> None:
        self.max_size = max_size

    def chunk(self, source, services):
        return [Span(0, len(source.text))]


def test_a_factory_is_called_with_the_options(plug):
    def make(*, max_size: int = 5) -> Fixed:
        return Fixed(max_size)

    plug(make)
    loaded = load_chunker("plug:thing,max_size=7")
    assert (loaded.name, loaded.version, loaded.max_size, loaded.unit, loaded.windows) == (
        "plug:thing,max_size=7",
        "3",
        7,
        "chars",
        "max",
    )
    assert loaded.chunk(SOURCE, Services()) == [Span(0, 8)]
    assert load_chunker("plug:thing,max_size=5").name == "plug:thing"


def test_a_class_is_a_factory(plug):
    plug(Fixed)
    assert load_chunker("plug:thing,max_size=7").max_size == 7


def test_a_plain_function_of_a_source_is_a_chunker(plug):
    plug(lambda source: [Span(0, 4), Span(4, len(source.text))])
    assert run("plug:thing") == [Span(0, 4), Span(4, 8)]


def test_a_plain_function_gets_services_and_options_if_it_asks(plug):
    def thing(source, services=None, *, max_size: int = 3):
        services.note(f"{source.path} {max_size}")
        return [Span(0, services.count_tokens("ab"))]

    plug(thing)
    loaded = load_chunker("plug:thing,max_size=4")
    services = Services(count_tokens=len)
    assert loaded.chunk(SOURCE, services) == [Span(0, 2)]
    assert services.notes == {"folder/file.py 4": 1}
    assert (loaded.max_size, loaded.unit) == (4, "nws")
    with pytest.raises(InputError, match="unknown option 'services'; choose from max_size"):
        load_chunker("plug:thing,services=1")


def test_code_without_a_version_gets_one_that_an_edit_changes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    versions = []
    for name, code in (("plug_one", "return []"), ("plug_two", "return  []")):
        (tmp_path / f"{name}.py").write_text(f"def thing(source):\n    {code}\n")
        versions.append(load_chunker(f"{name}:thing").version)
        del sys.modules[name]
    assert versions[0] != versions[1]
    assert versions[0].startswith("file ")


@pytest.mark.parametrize(
    ("spans", "says"),
    [
        (None, "NoneType, not a list"),
        ((), "tuple, not a list"),
        (["abc"], "item 1 is str, not Span"),
        ([Span(0, 9)], "within 0 to 8"),
        ([Span(-1, 3)], "within 0 to 8"),
        ([Span(3, 2)], "its end is before its start"),
        ([Span(0, 1), Span(2, 3), Span(1, 4)], "item 3 .* starts before the previous span, at 2"),
        ([Span(np.int64(0), 3)], "must be int"),
        ([Span(0, True)], "must be int"),
        ([Span(0, 1.0)], "must be int"),
        ([Span(0, 1, b"x")], "embed_text of type bytes"),
    ],
)
def test_wrong_spans_are_refused_with_chunker_and_file(plug, spans, says):
    plug(lambda source: spans)
    with pytest.raises(
        InputError, match=f"chunker plug:thing on folder/file.py: .*{says}"
    ) as error:
        run("plug:thing")
    assert "\n" not in str(error.value)


def test_odd_but_valid_spans_pass(plug):
    spans = [Span(0, 0), Span(0, 8, "header\nabc"), Span(0, 4), Span(8, 8)]
    plug(lambda source: spans)
    assert run("plug:thing") == spans


def test_an_error_of_a_chunker_is_left_to_the_caller(plug):
    def thing(source):
        raise RecursionError("too deep")

    plug(thing)
    with pytest.raises(RecursionError, match="too deep"):
        run("plug:thing")


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (7, "it cannot be called"),
        (lambda: None, "NoneType, which has no method chunk"),
        (lambda: [None], r"it takes no source; write def thing\(source\)"),
        (lambda *, size: None, "needs the option size; write plug:thing,size=VALUE"),
        (lambda size: None, "its first parameter must be named source, not size"),
        (lambda source, size: [], "needs the option size; write plug:thing,size=VALUE"),
        (lambda: types.SimpleNamespace(chunk=len), r"write chunk\(self, source, services\)"),
        (lambda: 1 / 0, "cannot be created: ZeroDivisionError"),
        (lambda: types.SimpleNamespace(chunk=max, unit="bytes"), "unit='bytes'"),
        (lambda: types.SimpleNamespace(chunk=max, max_size="7"), "max_size='7'"),
    ],
)
def test_what_is_no_chunker_is_refused_in_one_line(plug, thing, says):
    plug(thing)
    with pytest.raises(InputError, match=says) as error:
        load_chunker("plug:thing")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["no_such_module:thing", "plug:other"])
def test_what_cannot_be_imported_is_refused_in_one_line(plug, spec):
    plug(None)
    with pytest.raises(InputError, match=r"no module 'no_such|plug has no 'other'") as error:
        load_chunker(spec)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("ast:max_size=0", "max_size=0"),
        ("fixed:max_size=-5", "max_size=-5"),
        ("fixed:overlap=-1", "overlap=-1"),
        ("function:max_size=0", "max_size=0"),
        ("random-cuts:max_size=0", "max_size=0"),
        ("ast:unit=bytes", "nws, chars, tokens"),
        ("ast:overlap=-1", "overlap=-1: must be at least 0"),
        ("ast:max_size=300,overlap=400", "overlap=400: must be at least 0 and below max_size=300"),
        ("function:overlap=600", "overlap=600: must be at least 0 and below max_size=600"),
        ("fixed-tokens:overlap=254", "overlap=254: must be at least 0 and below max_size=254"),
        (
            "memorybench-fixed:overlap=1024",
            "overlap=1024: must be at least 0 and below max_size=1024",
        ),
        ("ast:header=yes", "write on or off"),
        ("ast:size=2", "unknown option 'size'; did you mean max_size"),
        ("whole-file:max_size=2", "unknown option 'max_size'; choose from header"),
        ("whole-file:overlap=2", "unknown option 'overlap'; choose from header"),
        ("code-chunk-fixed:header=on", "unknown option 'header'"),
        ("ast:max_size=300|600", r"give one value; a\|b is allowed only with -c"),
    ],
)
def test_wrong_options_of_the_built_in_chunkers_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        load_chunker(spec)


def test_plug_ins_have_no_options_but_their_own(plug):
    plug(lambda source: [Span(0, 8)])
    with pytest.raises(InputError, match="unknown option 'header'; it has no options"):
        load_chunker("plug:thing,header=on")


def test_overlap_and_header_belong_to_the_name_where_they_are_not_the_default():
    assert load_chunker("ast:overlap=0,header=off").name == "ast"
    assert load_chunker("ast:overlap=3,header=on").name == "ast:header=on,overlap=3"
    listed = {one.name: one.options for one in list_chunkers()}
    assert listed["ast"] == {"max_size": "600", "unit": "nws", "overlap": "0", "header": "off"}
    assert listed["whole-file"] == {"header": "off"}
    assert "overlap" not in listed["code-chunk-ast"]


def test_what_the_built_in_chunkers_declare():
    declared = {
        name: (one.max_size, one.unit, one.windows)
        for name in ("ast", "fixed", "function", "random-cuts", "whole-file")
        for one in [load_chunker(name)]
    }
    assert declared.pop("whole-file") == (None, "nws", "max")
    assert set(declared.values()) == {(600, "nws", None)}
    assert "python 0." in load_chunker("ast").version
    assert load_chunker("ast:unit=chars,max_size=1500").name == "ast:max_size=1500,unit=chars"
