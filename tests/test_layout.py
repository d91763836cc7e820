"""The layout: no code among the data, a card in every folder, every package on the page."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_datasets_holds_data_alone() -> None:
    assert list((ROOT / "datasets").rglob("*.py*")) == []


def test_every_folder_of_data_has_its_card() -> None:
    folders = sorted((ROOT / "datasets").iterdir())
    others = [folder.name for folder in folders if not (folder / "dataset.toml").is_file()]
    assert others == ["models", "suites"]


def test_the_architecture_page_lists_every_package() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `((?:harness|chunkers)/[a-z]+)/` \|", page, re.MULTILINE))
    packages = {
        init.parent.relative_to(ROOT).as_posix()
        for top in ("harness", "chunkers")
        for init in (ROOT / top).glob("*/__init__.py")
    }
    assert listed == packages


def test_the_architecture_page_shows_the_layers_of_import_linter() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    (shown,) = re.findall(r"^(cli → .*?)^```", page, re.MULTILINE | re.DOTALL)
    names = [name.strip() for name in shown.split("→")]
    assert names == [layer.removeprefix("harness.") for layer in layers]
