"""What is said where the library of an adapter is missing, or is one that cannot be used."""

import importlib.metadata
import warnings

import pytest
from commands import call, says

from chunkers import distributions, list_chunkers, load_chunker
from chunkers.errors import MissingError, install_command
from harness.cli import doctor

REASON = f"chunker semchunk: semchunk is not installed: {install_command('chunkers')}"


@pytest.fixture
def without(monkeypatch):
    """Says of some distributions that they are not installed, of others that they are, as given."""

    def hide(**versions):
        asked = distributions.version_of

        def version(name):
            if name.replace("-", "_") not in versions:
                return asked(name)
            found = versions[name.replace("-", "_")]
            if found is None:
                raise importlib.metadata.PackageNotFoundError(name)
            return found

        monkeypatch.setattr(distributions, "version_of", version)

    return hide


def test_it_is_listed_with_the_reason_and_no_warning(without):
    without(semchunk=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (listed,) = (one for one in list_chunkers() if one.name == "semchunk")
    assert (listed.problem, listed.absent, listed.version) == (REASON, True, "")
    assert (listed.family, listed.options["max_size"]) == ("text", "600")
    assert listed.description.startswith("semchunk")


def test_a_run_that_names_it_ends_before_any_work_with_one_line(without, capsys, tmp_path):
    without(semchunk=None)
    done = call(capsys, "run", "-c", "ast", "-c", "semchunk", "-o", tmp_path / "run")
    says(done, 2, REASON)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    says(call(capsys, "chunk", __file__, "-c", "semchunk"), 2, REASON)


def test_the_doctor_finds_no_fault_in_it(without, monkeypatch):
    without(semchunk=None)
    monkeypatch.setattr("harness.chunking.probes.library_faults", lambda names: {})
    checks = {what: (ok, detail) for what, ok, detail in doctor._parts()}
    assert checks["chunker semchunk"] == (True, f"absent: {REASON}")


def test_grammars_that_are_fetched_at_first_use_do_not_do(without):
    without(chonkie="1.6.5", chonkie_core="0.10.2", tree_sitter_language_pack="1.25.0")
    with pytest.raises(MissingError, match=r"tree-sitter-language-pack 1\.25\.0 is not supported"):
        load_chunker("chonkie-code")
    # They are no part of the others.
    assert "chonkie 1.6.5" in load_chunker("chonkie-recursive").version


def test_a_version_names_what_the_chunks_depend_on(without):
    without(semchunk="4.1.1", astchunk="0.1.0", tree_sitter_c_sharp="0.23.5")
    assert load_chunker("semchunk").version == "1 (semchunk 4.1.1)"
    without(semchunk="4.1.2", astchunk="0.1.0", tree_sitter_c_sharp="0.23.5")
    assert load_chunker("semchunk").version == "1 (semchunk 4.1.2)"
    version = load_chunker("astchunk").version
    assert version.startswith("1 (astchunk 0.1.0, tree-sitter ")
    assert "tree-sitter-c-sharp 0.23.5" in version
