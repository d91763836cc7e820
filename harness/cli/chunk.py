"""`chunkmark chunk`: show how chunkers cut a file."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    PARTIAL,
    EncodingOption,
    Format,
    FormatOption,
    LanguageOption,
    chunker_option,
    console,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.source import Source
    from harness.chunking.corpus import ChunkedCorpus
    from harness.model import Corpus


def chunk(
    file: Annotated[Path, typer.Argument(help="File to cut.")],
    chunker: Annotated[list[str] | None, chunker_option("ast")] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            "-e",
            "--embedder",
            help="Embedder for chunkers that count tokens or cut by vectors. Default: minilm.",
        ),
    ] = None,
    language: LanguageOption = None,
    encoding: EncodingOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Show how chunkers cut a file.

    Prints sizes, lost text and split definitions. With one chunker, its chunks are printed.
    With several, the file is printed once, with the number of each chunk beside its first line.

    The exit code is 3 if a chunker fails, or if the parser hangs or crashes; the other chunkers are
    still shown. A syntax error in the file or a file without text gives a warning.
    """
    from chunkers.errors import InputError
    from chunkers.languages import parse_overrides, warn_unused
    from chunkers.source import Source
    from harness.cli.progress import Progress
    from harness.datasets.suites import part_of
    from harness.model import Corpus
    from harness.reading.decoding import NOT_UTF8, parse_encodings
    from harness.reading.reader import ReadRules, read_file
    from harness.runs.failures import own_reason
    from harness.runs.pipeline import load_chunkers
    from harness.support.json_files import require_regular_file

    chunkers = load_chunkers(chunker or ["ast"])
    rules = ReadRules(
        languages=parse_overrides(language or ()), encodings=parse_encodings(encoding or ())
    )
    if not file.exists():
        part = part_of(str(file))
        problem = f"is {part}, not a file" if part else "does not exist"
        flag = f", and write {part.flag} {file}" if part and part.flag == "-c" else ""
        raise InputError(f"{file} {problem}; give a file{flag}")
    require_regular_file(file)
    source = read_file(file, file.name, rules)
    warn_unused("--language", rules.languages, [file.name])
    warn_unused("--encoding", rules.encodings, [file.name])
    if not isinstance(source, Source):
        reason = source.reason.removeprefix("unreadable: ")
        advice = "give a text file"
        if reason == NOT_UTF8:
            advice = f"give its encoding, as in --encoding '*{file.suffix}=latin-1'"
        raise InputError(f"{file} cannot be read: {reason}; {advice}")
    corpora = _cut(Corpus(str(file), (source,)), chunkers, embedder)
    cuts = list(zip(chunkers, corpora, strict=True))
    failures = [
        f"{cutter.name} failed on {path}: {own_reason(reason, cutter.name, path)}"
        for cutter, chunked in cuts
        for path, reason in chunked.failures
    ]
    results = [_result(*cut, source) for cut in cuts if not cut[1].failures]
    failures += dict.fromkeys(
        f"cannot parse {path} to compare boundaries: {reason}"
        for result in results
        for path, reason in result["boundaries"]["failures"]
    )
    for line in [*_remarks(source, file), *failures]:
        Progress().warn(line)
    if form is Format.JSON:
        write_json(
            {
                "schema": "chunkmark.chunk/1",
                "path": str(file),
                "language": source.language,
                "results": results,
                "failures": failures,
            }
        )
    elif form is Format.TABLE:
        if results:
            _print(source, results)
    else:
        columns = ("chunker", "id", "start", "end", "start_line", "end_line", "size", "text")
        rows = [
            [result["chunker"], *(row[name] for name in columns[1:])]
            for result in results
            for row in result["chunks"]
        ]
        write_rows(form, columns, rows)
    return PARTIAL if failures else 0


def _cut(
    corpus: Corpus, chunkers: Sequence[LoadedChunker], embedder: str | None
) -> list[ChunkedCorpus]:
    """The corpus cut by each chunker; the embedder is loaded only if one of them needs it."""
    from harness.chunking.corpus import chunk_corpus
    from harness.cli.progress import Progress
    from harness.embedding.embedder import plain
    from harness.embedding.vector_store import VectorStore
    from harness.runs.chunking import ChunkVectors, counter
    from harness.runs.pipeline import load_embedder, refuse_unknown_embedder
    from harness.runs.plan import needs_embedder
    from harness.support.data_folders import cache_dir

    if embedder is not None:
        refuse_unknown_embedder(embedder)
    if not any(map(needs_embedder, chunkers)):
        if embedder is not None:
            Progress().warn(f"-e {embedder} is not used: no chunker needs an embedder")
        return [chunk_corpus(corpus, one) for one in chunkers]
    helper = plain(load_embedder(embedder or "minilm"))
    helper.fingerprint()  # fails before any work if the model is missing
    store = VectorStore(cache_dir() / "vectors.sqlite")
    try:
        with Progress() as progress:
            vectors = ChunkVectors(helper, store, functools.partial(progress.tell, "chunking"))
            return [chunk_corpus(corpus, one, counter(helper), embed=vectors) for one in chunkers]
    finally:
        store.close()


def _remarks(source: Source, file: Path) -> Iterator[str]:
    """Warnings of a file without text, and of a syntax error."""
    from harness.chunking.boundaries import syntax_error_line
    from harness.chunking.parsing import UnparsedError

    if not source.text.strip():
        yield f"{file} has no text, so there is nothing to cut"
    with contextlib.suppress(UnparsedError):  # which is among the failures
        if line := syntax_error_line(source):
            yield (
                f"{file}, line {line}: syntax error according to the {source.language} grammar; "
                "definitions near it may not be recognised"
            )


def _result(chunker: LoadedChunker, chunked: ChunkedCorpus, source: Source) -> dict[str, Any]:
    from harness.chunking.boundaries import boundaries
    from harness.chunking.corpus import coverage_shares, size_statistics

    rows = []
    for row in chunked.chunks:
        text = source.text[row.start : row.end]
        shown = {name: getattr(row, name) for name in ("id", "start", "end")}
        shown |= {"start_line": row.start_line, "end_line": row.end_line, "size": row.size}
        shown |= {"text": text} | ({"embed_text": row.text} if row.text != text else {})
        rows.append(shown)
    return {
        "chunker": chunker.name,
        "chunks": rows,
        "health": {
            **coverage_shares([chunked]),
            **({} if source.text.strip() else {"coverage": None, "repeated": None}),
            **size_statistics([chunked], chunker),
            "blank": chunked.blank,
            "notes": dict(chunked.notes),
        },
        "boundaries": boundaries(chunked).document(),
    }


def _print(source: Source, results: list[dict[str, Any]]) -> None:
    from harness.reports.chunks import numbers, side_by_side
    from harness.reports.plain import plain
    from harness.support.wording import counted

    write_rows(Format.TABLE, *numbers(results))
    if len(results) > 1:
        write("\n".join(side_by_side(source, results)))
        return
    (result,) = results
    notes = "".join(f", {note}" for note in result["health"]["notes"])
    console().rule(f"{plain(result['chunker'])}: {counted(len(result['chunks']), 'chunk')}{notes}")
    for row in result["chunks"]:
        write(f"── {row['start_line']}-{row['end_line']}, size {row['size']}")
        shown = row.get("embed_text", row["text"]).rstrip("\n").split("\n")
        write("\n".join(plain(line.expandtabs(4)) for line in shown))
