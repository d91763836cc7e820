"""Golden chunks of the systems that are reproduced, and a count of those that were met."""

import hashlib
import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkers import Services, Source, Span, load_chunker
from chunkers.reference import ReferenceChunk, code_chunk_ast

Row = dict[str, Any]
MET: dict[str, Counter[str]] = defaultdict(Counter)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


@pytest.fixture(scope="session")
def golden(data: Path) -> Callable[[str], list[Row]]:
    """The rows of a golden file."""

    def rows(name: str) -> list[Row]:
        file = data / "golden" / name
        if not file.is_file():
            pytest.skip(f"the data folder lacks golden/{name}")
        with file.open(encoding="utf-8", newline="\n") as lines:
            return [json.loads(line) for line in lines]

    return rows


@pytest.fixture(scope="session")
def text_of(data: Path) -> Iterator[Callable[[Row], str]]:
    """The source text of a golden row, as it lies in the archive of trees."""
    file = data / "repoeval" / "repositories" / "function_level.zip"
    if not file.is_file():
        pytest.skip("the data folder lacks repoeval/repositories/function_level.zip")
    with zipfile.ZipFile(file) as archive:

        def text(row: Row) -> str:
            if "code" in row:
                return str(row["code"])
            octets = archive.read(f"{row['repo']}/{row['path']}")
            assert hashlib.sha256(octets).hexdigest() == row["file_sha256"], row["path"]
            return octets.decode("utf-8")

        yield text


@pytest.fixture(scope="session")
def spans_of_row() -> Callable[..., tuple[Source, list[Span], Services]]:
    """Cuts a row's text by a spec, its path split into prefix and path."""

    def cut(spec: str, row: Row, text: str, language: str) -> tuple[Source, list[Span], Services]:
        prefix, path = "/data", row["filepath"].removeprefix("/data/")
        marked = text.startswith("\ufeff")
        encoding = "utf-8-sig" if marked else "utf-8"
        source = Source(text.removeprefix("\ufeff"), path, language, encoding)
        services = Services()
        spec = f"{spec}:max_size={row['max_nws']},path_prefix={prefix}"
        return source, load_chunker(spec).chunk(source, services), services

    return cut


@pytest.fixture(scope="session")
def check_ast(
    spans_of_row: Callable[..., tuple[Source, list[Span], Services]],
) -> Callable[[Row, str], None]:
    """Holds the chunks of a text against a row of the AST chunker."""

    def check(row: Row, text: str) -> None:
        where, expected = f"{row['path']} at {row['max_nws']}", row["chunks"]
        language = row.get("language", "python")
        met = MET[f"code-chunk-ast {language}"]
        found = code_chunk_ast.reference_chunks(
            text, row["filepath"], language=language, max_size=row["max_nws"]
        )
        assert len(found) == len(expected), where
        met.update(rows=1, chunks=len(expected))
        wrong = [_differs(chunk, one) for chunk, one in zip(found, expected, strict=True)]
        for names in wrong:
            met.update({"range", "text", "header"} - set(names))
        assert not any(wrong), f"{where}: {wrong}"
        source, spans, services = spans_of_row("code-chunk-ast", row, text, language)
        assert ("syntax error" in services.notes) == row["parse_error"], where
        _check_spans(source, spans, expected, len(text) - len(source.text))

    return check


def _differs(chunk: ReferenceChunk, one: Row) -> list[str]:
    places = (chunk.id, chunk.start_line, chunk.end_line, chunk.start, chunk.end)
    lines = [line for line in chunk.header.split("\n\n")[0].split("\n") if line]
    shown = [line if len(line) <= 300 else f"sha256:{sha256(line)}" for line in lines]
    headers = [sha256(chunk.header + chunk.text) == one["contextualized_sha256"]]
    if "context_header" in one:
        headers.append(chunk.header == one["context_header"])
    else:
        headers.append(sha256(chunk.header) == one["context_header_sha256"])
        headers.append(shown == one["context_lines"])
    same = {
        "range": places
        == tuple(one[key] for key in ("id", "startLine", "endLine", "byteStart", "byteEnd")),
        "text": sha256(chunk.text) == one["text_sha256"],
        "header": all(headers),
    }
    return [name for name, equal in same.items() if not equal]


def _check_spans(source: Source, spans: list[Span], expected: list[Row], marks: int) -> None:
    """The spans say the same in characters; they are in order of start, whatever the original's."""
    text = source.text
    found = Counter(
        (
            span.ref_id,
            units(text[: span.start]) + marks,
            units(text[: span.end]) + marks,
            sha256(text[span.start : span.end]),
            sha256(span.embed_text or text[span.start : span.end]),
        )
        for span in spans
    )
    keys = ("id", "byteStart", "byteEnd", "text_sha256", "contextualized_sha256")
    assert found == Counter(tuple(one[key] for key in keys) for one in expected), source.path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many golden chunks were met in each language."""
    for name, met in sorted(MET.items()):
        shares = ", ".join(
            f"{what} {met[what] / max(1, met['chunks']):.1%}"
            for what in ("range", "text", "header")
        )
        terminalreporter.line(f"{name}: {met['rows']} files, {met['chunks']} chunks: {shares}")
