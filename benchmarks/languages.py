"""How each chunker cuts a program of each language: `python -m benchmarks.languages`.

The programs are those of the tests, written by hand for each grammar. `--write` puts the table into
`docs/languages.md`. Vectors and tokens are the cheap ones of the conformance kit.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers import Source, load_chunker
from chunkers.languages import grammar_of, list_languages
from chunkers.testing.services import count_tokens, embed
from harness.chunking.boundaries import boundaries, definition_lines
from harness.chunking.corpus import chunk_corpus
from harness.model import Corpus

if TYPE_CHECKING:
    from chunkers.languages import ListedLanguage

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs/languages.md"
PROGRAMS = ROOT / "tests/chunkers/programs"
SIZE = 300
SPECS = (
    *(f"{name}:max_size={SIZE}" for name in ("ast", "function", "semantic", "cluster-semantic")),
    *(f"{name}:max_size={SIZE}" for name in ("random-cuts", "fixed")),
    *("fixed-chars:max_size=450", "fixed-tokens:max_size=120", "whole-file"),
)
HEAD = ("language", "files", "grammar", "version", "lines", "definitions")


def table() -> str:
    """The table as Markdown, a row for each language."""
    chunkers = [f"`{spec.partition(':')[0]}`" for spec in SPECS]
    rows = [[*HEAD, *chunkers], ["---"] * 4 + ["--:"] * (2 + len(SPECS))]
    rows += [_row(language) for language in list_languages()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(language: ListedLanguage) -> list[str]:
    files = " ".join(f"`{file}`" for file in language.files.split())
    grammar = language.grammar or "-"
    if language.source not in ("wheel", "none"):
        grammar = f"{language.grammar} (extra)"
    names = [language.name, files or "-", grammar, language.version or "-"]
    source = sample(language.name)
    if source is None:
        return [*names, *["-"] * (2 + len(SPECS))]
    ranges = [source.lines.offsets_of(head, end) for head, _, end in definition_lines(source)]
    fitting = sum(source.lines.size(*offsets) <= SIZE for offsets in ranges)
    count = f"{len(ranges)} ({fitting})" if ranges else "0"
    cells = [_cell(source, spec, definitions=bool(ranges)) for spec in SPECS]
    return [*names, str(source.lines.count), count, *cells]


def _cell(source: Source, spec: str, *, definitions: bool) -> str:
    corpus = Corpus("sample", (source,))
    chunked = chunk_corpus(corpus, load_chunker(spec), count_tokens, embed=embed)
    chunks = str(len(chunked.chunks))
    return f"{boundaries(chunked).whole} in {chunks}" if definitions else chunks


def sample(language: str) -> Source | None:
    """The program of a language; None if no grammar is installed."""
    if grammar_of(language) is None:
        return None
    files = (PROGRAMS / f"{language}.txt", PROGRAMS / "extra" / f"{language}.txt")
    (file,) = (file for file in files if file.is_file())
    return Source(file.read_bytes().decode("utf-8"), file.name, language)


def with_table(document: str) -> str:
    """The document with its table replaced by the current one."""
    old = re.compile(r"(?<=<!-- made by `python -m benchmarks.languages` -->\n\n)(?:\|.*\n)*")
    return old.sub(lambda _: table(), document)


def main() -> None:
    """Print the table, or with `--write` put it into the document."""
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), encoding="utf-8")
    else:
        print(table(), end="")


if __name__ == "__main__":
    main()
