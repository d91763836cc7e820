"""The chunks of the originals, row by row; the packages' rows have a test of their own."""

import hashlib

import pytest

from chunkers import Services, Source, load_chunker
from chunkers.reference import code_chunk_fixed, memorybench_fixed

PYTHON = [
    "amazon-science_patchcore-inspection",
    "deepmind_tracr",
    "edge",
    "google_lightweight_mmm",
    "lucidrains_imagen-pytorch",
    "maxhumber_redframes",
]
LANGUAGES = ["go", "java", "javascript", "rust", "tsx", "typescript"]


def chosen(rows, repo):
    found = [row for row in rows if row["repo"] == repo]
    assert found
    return found


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def utf16(text):
    return text.encode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize("repo", PYTHON)
def test_python_is_cut_along_the_tree_as_the_original_cuts_it(repo, golden, text_of, check_ast):
    for row in chosen(golden("chunks_ast.jsonl"), repo):
        check_ast(row, text_of(row))


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages_are_cut_along_the_tree_as_the_original_cuts_them(
    language, golden, check_ast
):
    for row in chosen(golden("chunks_ast_languages.jsonl"), f"edge-{language}"):
        check_ast(row, row["code"])


def test_the_golden_files_hold_what_is_compared_here(golden):
    assert {row["repo"] for row in golden("chunks_ast.jsonl")} == set(PYTHON)
    rows = golden("chunks_ast_languages.jsonl")
    inline = {f"edge-{language}" for language in LANGUAGES}
    assert {row["repo"] for row in rows if "code" in row} == inline
    assert all(
        {"package", "version", "path_in_package"} <= set(row) for row in rows if "code" not in row
    )


@pytest.mark.parametrize("repo", PYTHON)
def test_lines_are_packed_as_the_original_packs_them(repo, golden, text_of, spans_of_row):
    for row in chosen(golden("chunks_fixed.jsonl"), repo):
        text = text_of(row)
        found = code_chunk_fixed.reference_chunks(text, row["filepath"], max_size=row["max_nws"])
        expected = [
            (one["id"], one["startLine"], one["endLine"], one["text_sha256"])
            for one in row["chunks"]
        ]
        assert expected == [
            (chunk.id, chunk.start_line, chunk.end_line, sha256(chunk.text)) for chunk in found
        ]
        source, spans, _ = spans_of_row("code-chunk-fixed", row, text, "python")
        assert [(name, text_hash) for name, _, _, text_hash in expected] == [
            (span.ref_id, sha256(span.embed_text or source.text[span.start : span.end]))
            for span in spans
        ]


def test_characters_are_cut_as_memorybench_cuts_them(golden):
    rows = [row for row in golden("memorybench_reference.jsonl") if row["fn"] == "fixedChunk"]
    assert len(rows) == 40
    for row in rows:
        text, path, size, overlap = row["args"]
        found = memorybench_fixed.reference_chunks(text, path, max_size=size, overlap=overlap)
        assert row["expected"] == [
            {
                "content": chunk.text,
                "startLine": chunk.start_line,
                "endLine": chunk.end_line,
                "id": chunk.id,
            }
            for chunk in found
        ]
        chunker = load_chunker(f"memorybench-fixed:max_size={size},overlap={overlap}")
        spans = chunker.chunk(Source(text, path), Services())
        assert [one["id"] for one in row["expected"]] == [span.ref_id for span in spans]
        for span, one in zip(spans, row["expected"], strict=True):
            whole, content = utf16(text[span.start : span.end]), utf16(one["content"])
            # Half of a surrogate pair has its whole character in the span.
            assert content in whole
            assert len(whole) - len(content) <= 4
            embedded = content.decode("utf-16-le", "replace") if whole != content else None
            assert span.embed_text == embedded
