"""What is said where the library of an adapter has changed: fakes on the path in its place."""

import importlib.metadata
import sys

import pytest
from commands import call, says
from packaging.requirements import Requirement

from chunkers import Services, Source, list_chunkers, load_chunker
from chunkers.adapters import _library
from chunkers.errors import InputError, install_command
from harness.chunking.probes import library_faults, probe
from harness.cli import doctor

# Adapter -> its distribution, a version in the supported range, that range, the module's code, and
# what is said of it.
CHANGED = {
    "raises while it is imported": (
        "semchunk", "semchunk", "4.9", "<5,>=4",
        "raise RuntimeError('needs a GPU')", "RuntimeError: needs a GPU",
    ),
    "cannot import its own": (
        "semchunk", "semchunk", "4.9", "<5,>=4",
        "from semchunk.fast import chunk", "No module named 'semchunk.fast'",
    ),
    "lacks the function": (
        "semchunk", "semchunk", "4.9", "<5,>=4", "", "has no attribute 'chunk'",
    ),
    "renamed the class": (
        "text-splitter-text", "semantic-text-splitter", "0.39", "<0.40,>=0.30",
        "class Splitter: pass", "cannot import name 'TextSplitter'",
    ),
    "takes other arguments": (
        "semchunk", "semchunk", "4.9", "<5,>=4",
        "def chunk(text, size): return [text]", "TypeError: chunk() ",
    ),
    "returns something else": (
        "semchunk", "semchunk", "4.9", "<5,>=4",
        "def chunk(*_, **options): return [1, 2, 3]", "ValueError: ",
    ),
    "raises when it is called": (
        "text-splitter-text", "semantic-text-splitter", "0.39", "<0.40,>=0.30",
        "class TextSplitter:\n    def from_callback(*_, **options): raise OSError('no parser')",
        "OSError: no parser",
    ),
}  # fmt: skip


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts a distribution with one module on the path."""

    def put(distribution, version, code):
        name = distribution.replace("-", "_")
        (tmp_path / f"{name}.py").write_text(code)
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {distribution}\nVersion: {version}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, name, raising=False)

    return put


@pytest.mark.parametrize("kind", CHANGED)
def test_the_library_its_version_and_what_works_are_named(fake, kind):
    spec, distribution, version, range_, code, reason = CHANGED[kind]
    fake(distribution, version, code)
    with pytest.raises(InputError) as raised:
        load_chunker(spec).chunk(_library.SAMPLE, Services())
    message = str(raised.value)
    assert message.startswith(f"{distribution} {version} (works: {range_}): ")
    assert reason in message
    with pytest.raises(InputError) as probed:  # as `run` does
        probe([spec])
    assert f"chunker {spec}: {message}".startswith(str(probed.value))
    assert str(probed.value).startswith(f"chunker {spec}: {distribution} {version} (works: ")


def test_run_ends_before_any_work_and_doctor_fails(fake, tmp_path, capsys, monkeypatch):
    fake("semchunk", "4.9", "")
    line = "chunker semchunk: semchunk 4.9 (works: <5,>=4): AttributeError: "
    done = call(capsys, "run", "-c", "ast", "-c", "semchunk", "-o", tmp_path / "run")
    says(done, 2, line)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    (listed,) = (row for row in list_chunkers() if row.name == "semchunk")
    monkeypatch.setattr("chunkers.plugins.loading.list_chunkers", lambda: [listed])
    monkeypatch.setattr("chunkers.languages.list_languages", list)
    ((what, ok, detail),) = doctor._parts()
    assert (what, ok) == ("chunker semchunk", False)
    assert detail.startswith(line)


@pytest.mark.parametrize("version", ["3.2.1", "5.0.0"])
def test_versions_out_of_range_are_listed_as_not_usable(fake, capsys, version):
    fake("semchunk", version, "")
    done = call(capsys, "list", "chunkers", "semchunk", "--format", "json")
    (row,) = done.json["chunkers"]
    reason = f"semchunk {version} is not supported, use <5,>=4: {install_command('chunkers')}"
    assert row["problem"] == f"chunker semchunk: {reason}"


def test_a_file_that_the_library_cannot_cut_is_not_blamed_on_its_version(fake):
    code = """
def chunk(text, *_, **options):
    if "deep" in text:
        raise RecursionError("too deep")
    return [text], [(0, len(text))]
"""
    fake("semchunk", "4.9", code)
    chunker = load_chunker("semchunk")
    assert len(chunker.chunk(_library.SAMPLE, Services())) == 1
    with pytest.raises(RecursionError, match="too deep"):
        chunker.chunk(Source("deep = [[]]\n", "a.py", "python"), Services())
    assert library_faults(["semchunk"]) == {}


def test_without_metadata_of_this_package_no_range_is_known(monkeypatch):
    def none(name):
        raise _library.importlib.metadata.PackageNotFoundError(name)

    with monkeypatch.context() as without:
        without.setattr(_library.importlib.metadata, "requires", none)
        _library.supported.cache_clear()
        assert _library.supported() == {}
    _library.supported.cache_clear()
    lines = importlib.metadata.requires("chunkmark")
    asked = [Requirement(line) for line in lines if 'extra == "chunkers"' in line]
    assert _library.supported() == {each.name: each.specifier for each in asked}
    assert str(_library.supported()["semchunk"]) == "<5,>=4"
