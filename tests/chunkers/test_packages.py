"""The chunkers over real code of every language, fetched from npm, PyPI and Debian."""

from pathlib import Path

import pytest
from packages import fetch

from chunkers import Source, language_of, load_chunker
from chunkers.grammars.bundled import BUNDLED

pytestmark = pytest.mark.slow

# Package, and the languages of which it must hold files.
PACKAGES = [
    ("npm", "lodash@4.17.21", {"javascript"}),
    ("npm", "express@4.19.2", {"javascript"}),
    ("npm", "rxjs@7.8.1", {"javascript", "typescript"}),
    ("npm", "@react-navigation/stack@6.3.29", {"javascript", "typescript", "tsx"}),
    ("npm", "react-native-maps@1.10.3", {"java", "typescript"}),
    ("pypi", "JPype1==1.5.0", {"java", "cpp"}),
    ("pypi", "psutil==5.9.8", {"c"}),
    ("pypi", "regex==2024.5.15", {"c"}),
    ("pypi", "ujson==5.10.0", {"c", "cpp"}),
    ("debian", "golang-github-spf13-cobra-dev", {"go"}),
    ("debian", "golang-golang-x-text-dev", {"go"}),
    ("debian", "librust-regex-dev", {"rust"}),
    ("debian", "librust-serde-dev", {"rust"}),
    ("debian", "libeigen3-dev", {"cpp"}),
    ("debian", "nlohmann-json3-dev", {"cpp"}),
    # Examples of all languages, many of which are odd on purpose.
    ("pypi", "Pygments==2.18.0", set(BUNDLED) - {"tsx", "typescript"}),
    ("pypi", "pythonnet==3.0.3", {"csharp"}),
    ("npm", "bats@1.11.0", {"bash"}),
    ("npm", "bootstrap@5.3.3", {"css"}),
    ("npm", "react-native-screens@3.31.1", {"kotlin", "xml", "json", "markdown"}),
    ("npm", "@capacitor/ios@6.0.0", {"swift"}),
    ("debian", "hlint", {"haskell", "yaml"}),
    ("debian", "lua-penlight", {"lua"}),
    ("debian", "php-twig", {"php"}),
    ("debian", "roundcube-core", {"sql", "html", "css", "php"}),
    ("debian", "ruby-rack", {"ruby"}),
]


def sources_in(folder: Path) -> list[Source]:
    found = []
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if file.is_symlink() or not file.is_file() or language_of(path) is None:
            continue
        content = file.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        found.append(Source(text, path, language_of(path)))
    return found


@pytest.mark.parametrize(("kind", "package", "languages"), PACKAGES)
def test_real_code_is_cut_exactly_once(tmp_path, spans_of, kind, package, languages):
    sources = sources_in(fetch(kind, package, tmp_path))
    assert languages <= {source.language for source in sources}
    for name in ("ast", "function", "random-cuts"):
        for size in (80, 300, 600, 1500):
            chunker = load_chunker(f"{name}:max_size={size}")
            for source in sources:
                spans_of(chunker, source)
