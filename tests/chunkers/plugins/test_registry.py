import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chunkers import InputError, Services, Source, list_chunkers, load_chunker
from chunkers.plugins.loading import CHUNKERS
from chunkers.plugins.spec import parse_spec

BUILT_IN = [
    "ast",
    "cluster-semantic",
    "fixed",
    "fixed-chars",
    "fixed-tokens",
    "function",
    "random-cuts",
    "semantic",
    "whole-file",
]

WORKING = '''
from chunkers import Span


class Halves:
    version = "7"

    def __init__(self, max_size):
        self.max_size = max_size

    def chunk(self, source, services):
        middle = len(source.text) // 2
        return [Span(0, middle), Span(middle, len(source.text))]


def make(*, max_size: int = 10) -> Halves:
    """Two halves.

    More about it.
    """
    return Halves(max_size)
'''


@pytest.fixture
def install(tmp_path, monkeypatch) -> Iterator[Callable[[str, dict[str, str], str], None]]:
    """Puts a distribution with modules and entry points of chunkers where Python finds it."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(name: str, modules: dict[str, str], points: str) -> None:
        for module, code in modules.items():
            (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[chunkmark.chunkers]\n{points}\n")
        importlib.invalidate_caches()

    yield put
    for module in set(sys.modules) - before:
        if Path(getattr(sys.modules[module], "__file__", None) or "").is_relative_to(tmp_path):
            del sys.modules[module]


def test_the_built_in_chunkers_are_found_without_a_list():
    entries = CHUNKERS.entries()
    found = [name for name, one in entries.items() if one.target.startswith("chunkers.builtin.")]
    assert found == BUILT_IN
    assert {entries[name].origin for name in BUILT_IN} == {"built-in"}
    assert entries["random-cuts"].target == "chunkers.builtin.random_cuts:make"


def test_a_working_plug_in_is_used_beside_a_broken_one(install):
    install("good-plug", {"good_plug": WORKING}, "halves = good_plug:make")
    install("bad-plug", {"bad_plug": "import nothing_of_that_name"}, "broken = bad_plug:make")
    with pytest.warns(UserWarning, match="nothing_of_that_name"):
        listed = {one.name: one for one in list_chunkers()}
    assert list(listed) == sorted(listed)
    assert set(listed) >= {*BUILT_IN, "broken", "halves"}
    halves = listed["halves"]
    assert (halves.origin, halves.version, halves.problem) == ("good-plug", "7", "")
    assert (halves.description, halves.options) == ("Two halves.", {"max_size": "10"})
    assert "nothing_of_that_name" in listed["broken"].problem
    assert "\n" not in listed["broken"].problem

    loaded = load_chunker("halves:max_size=020")
    assert (loaded.name, loaded.max_size) == ("halves:max_size=20", 20)
    assert len(loaded.chunk(Source("abcd", "a"), Services())) == 2
    with pytest.raises(
        InputError, match=r"broken \(bad-plug\): bad_plug cannot be imported.*install noth"
    ):
        load_chunker("broken")
    assert load_chunker("ast").name == "ast"


def test_a_plug_in_is_not_imported_to_find_another(install):
    code = "import sys\nsys.exit('imported')"
    install("loud-plug", {"loud_plug": code}, "loud = loud_plug:make")
    assert load_chunker("fixed").name == "fixed"
    assert "loud_plug" not in sys.modules
    with pytest.raises(InputError, match="SystemExit: imported"):
        load_chunker("loud")


def test_a_built_in_keeps_its_name_against_a_plug_in(install):
    install("thief-plug", {"thief_plug": WORKING}, "ast = thief_plug:make")
    with pytest.warns(UserWarning, match="'ast' of thief-plug is ignored"):
        assert CHUNKERS.entries()["ast"].origin == "built-in"
    assert CHUNKERS.find(parse_spec("ast"))[0].origin == "built-in"


def test_extras_behind_an_entry_point_do_no_harm(install):
    install("extra-plug", {"extra_plug": WORKING}, "halves = extra_plug:make [fast]")
    assert load_chunker("halves").version == "7"


def test_an_unknown_name_is_answered_with_the_nearest_or_all():
    with pytest.raises(InputError, match="did you mean fixed"):
        load_chunker("fixd")
    with pytest.raises(InputError, match="see `chunkmark list chunkers`"):
        load_chunker("zzz")


def test_nothing_is_warned_of_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [one.name for one in list_chunkers() if one.name in BUILT_IN] == BUILT_IN
