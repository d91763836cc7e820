"""The built-in chunkers over every `.py` file of the running Python's standard library."""

import sysconfig
from pathlib import Path

import pytest

from chunkers import Source, load_chunker


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    root = Path(sysconfig.get_path("stdlib"))
    found = []
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root)
        if {"site-packages", "dist-packages"} & set(path.parts):
            continue
        content = file.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        found.append(Source(text, path.as_posix(), "python"))
    return found


@pytest.mark.parametrize("size", [80, 300, 600, 1500])
def test_ast_cuts_the_standard_library_exactly_once(sources, spans_of, size):
    assert len(sources) > 100
    chunker = load_chunker(f"ast:max_size={size}")
    assert sum(len(spans_of(chunker, source)) for source in sources) > len(sources)


@pytest.mark.parametrize(
    "name", ["function", "random-cuts", "fixed", "semantic", "cluster-semantic"]
)
@pytest.mark.parametrize("size", [80, 300, 600, 1500])
def test_the_others_cut_a_part_of_it_exactly_once(sources, spans_of, name, size):
    plain, repeating = (
        load_chunker(f"{name}:max_size={size}{more}") for more in ("", ",overlap=3")
    )
    for source in sources[::12]:
        spans_of(plain, source)
    for source in sources[1::48]:
        spans_of(repeating, source, 3)
