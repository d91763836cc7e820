"""The version of a plug-in that states none: another one after every edit of its own code."""

import sysconfig

import pytest

from chunkers.plugins.provenance import code_version


@pytest.fixture
def project(tmp_path):
    files = {
        "mine.py": "import helper\nfrom pack import cuts\n\ndef late():\n    import later\n",
        "helper.py": "N = 1\n",
        "later.py": "N = 1\n",
        "stranger.py": "N = 1\n",
        "pack/__init__.py": "",
        "pack/cuts.py": "from . import deep\nfrom .sub.far import x\n",
        "pack/deep.py": "N = 1\n",
        "pack/sub/__init__.py": "",
        "pack/sub/far.py": "from ..up import x\n",
        "pack/up.py": "x = 1\n",
        "pack/alone.py": "x = 1\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def changed(project, path, file="mine.py"):
    before = code_version(project / file)
    (project / path).write_text((project / path).read_text() + "M = 2\n")
    return code_version(project / file) != before


@pytest.mark.parametrize(
    "path",
    ["mine.py", "helper.py", "later.py", "pack/__init__.py", "pack/cuts.py", "pack/deep.py",
     "pack/sub/__init__.py", "pack/sub/far.py", "pack/up.py"],
)  # fmt: skip
def test_an_edit_of_what_is_imported_is_another_version(project, path):
    assert changed(project, path)


@pytest.mark.parametrize("path", ["stranger.py", "pack/alone.py"])
def test_an_edit_of_what_is_not_imported_is_none(project, path):
    assert not changed(project, path)


def test_a_module_of_a_package_has_its_package(project):
    assert changed(project, "pack/up.py", "pack/cuts.py")
    assert not changed(project, "helper.py", "pack/cuts.py")


def test_what_is_installed_has_no_neighbours(project, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"purelib": str(project)})
    assert not changed(project, "helper.py")
    assert not changed(project, "pack/up.py")
    assert changed(project, "pack/up.py", "pack/cuts.py")


def test_modules_that_import_each_other_and_what_does_not_parse_end(project):
    (project / "helper.py").write_text("import mine\nimport helper\n")
    (project / "later.py").write_text("def (\n")
    assert code_version(project / "mine.py").startswith("files ")
