"""Runs with late vectors: what is counted, masked, resumed and refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from commands import call, says
from masked_worlds import by_hand, masked_world
from tiny_models import bert, sentence_model
from worlds import files, function, grid, small

from chunkers.errors import InputError
from chunkers.plugins.loading import load_chunker
from chunkers.source import Source
from harness.audit.audit import audit_dataset
from harness.embedding.embedder import OutOfMemoryError, Passage
from harness.embedding.pretrained import Loaded
from harness.embedding.text_vectors import embed_passages, embed_texts
from harness.embedding.vector_store import VectorStore
from harness.reports.document import run_document
from harness.runs.pipeline import load_embedder
from harness.runs.record import read_record

CHUNKERS = ("fixed:max_size=120", "fixed:max_size=120,overlap=40", "whole-file")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model with a limit of 126 tokens, and the spec of its late vectors."""
    root = tmp_path_factory.mktemp("model")
    return f"st:{sentence_model(bert(root / 'bert'), root / 'st', more=[('Normalize',)])}"


def cells(tmp_path, embedders, name="run", dataset=None, **changes):
    given = {"chunkers": CHUNKERS, "retrievers": ("dense",), "embedders": embedders}
    return grid(tmp_path, name, dataset, **(given | changes))


def test_a_run_counts_what_late_vectors_see_and_is_resumed(tmp_path, model, monkeypatch):
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    embedders = (model, f"{model},pool=late")
    long = tuple(replace(query, text=query.text * 60) for query in small().queries)
    dataset = small(queries=long)
    result = cells(tmp_path, embedders, dataset=dataset)
    stored = files(result.out)
    by_name = {(cell.chunker, cell.embedder): cell for cell in result.cells}
    assert len(by_name) == len({cell.key for cell in result.cells}) == 6
    for chunker in CHUNKERS:
        plain, late = (by_name[chunker, embedder] for embedder in embedders)
        health = late.cell["health"]
        assert (health["unseen_chunk_tokens"], health["truncated_chunks"]) == (0, 0)
        assert health["unseen_query_tokens"] == plain.cell["health"]["unseen_query_tokens"] > 0.1
        assert health["zero_vectors"] == 0
        # One vector a chunk: no two chunks have the same text in the same file.
        assert late.cell["cost"]["vectors"] == health["chunks"]
        assert late.cell["cost"]["embedding_seconds"] > 0
        assert read_record(result.out / "cells" / late.key).chunks
    whole = by_name["whole-file", embedders[1]].cell["cost"]
    assert whole["tokens"] == by_name[CHUNKERS[0], embedders[1]].cell["cost"]["tokens"] > 126
    overlapping = by_name[CHUNKERS[1], embedders[1]].cell["cost"]["tokens"]
    assert overlapping > whole["tokens"]

    again = cells(tmp_path, embedders[::-1], dataset=dataset)
    assert files(again.out) == stored
    other = cells(tmp_path, embedders, "other", dataset, chunkers=CHUNKERS[1:2])
    assert files(other.out).items() <= stored.items()
    manifest = json.loads((result.out / "manifest.json").read_text())
    assert manifest["embedders"][embedders[1]]["pool"] == {"late": 1}


def test_scores_are_those_of_the_places_of_chunks_in_their_files(tmp_path, model):
    late = load_embedder(f"{model},pool=late")
    result = cells(tmp_path, (late.name,), chunkers=CHUNKERS[:1])
    record = read_record(result.out / "cells" / result.cells[0].key)
    texts = {source.path: source for corpus in small().corpora for source in corpus.sources}
    store = VectorStore(tmp_path / "apart.sqlite")
    for query, ranking in zip(record.queries, record.rankings, strict=True):
        (asked,) = embed_texts([query.text], late, store, "query-tail").values
        passages = []
        for name in ranking.ids:
            path, _, lines = name.rpartition(":")
            start, end = texts[path].lines.offsets_of(*map(int, lines.split("-")))
            passages.append(Passage(texts[path].text, start, end))
        vectors = embed_passages(passages, late, store).values
        assert len(vectors) > 1
        assert np.abs(vectors @ asked - ranking.scores).max() < 1e-6
    store.close()


def test_a_masked_query_is_ranked_against_the_masked_file(tmp_path, model):
    dataset, embedders = masked_world(), (f"{model},pool=late",)
    given = {"chunkers": CHUNKERS[:1]}
    together = cells(tmp_path, embedders, dataset=dataset, mask_query=True, **given)
    (mine,) = (read_record(together.out / "cells" / cell.key) for cell in together.cells)
    unmasked = cells(tmp_path, embedders, "plain", dataset, **given)
    (others,) = (read_record(unmasked.out / "cells" / cell.key) for cell in unmasked.cells)
    for number in (0, 3, 4):
        query = dataset.queries[number]
        alone = cells(tmp_path, embedders, f"{number}", by_hand(dataset, query.id), **given)
        (right,) = (read_record(alone.out / "cells" / cell.key) for cell in alone.cells)
        assert mine.rankings[number] == right.rankings[0]  # bit for bit
        assert mine.rankings[number].scores != others.rankings[number].scores


def test_blank_chunks_and_chunks_without_a_token_are_counted_and_never_ranked(tmp_path, model):
    first, second = small().corpora
    odd = Source("\x00\x00\n" + function("tau", 6), "one/odd.py", "python")
    dataset = small(corpora=(replace(first, sources=(*first.sources, odd)), second))
    result = cells(
        tmp_path, (model, f"{model},pool=late"), dataset=dataset, chunkers=("worlds:by_lines",)
    )
    plain, late = result.cells
    assert late.cell["health"]["blank"] == plain.cell["health"]["blank"] > 0
    assert (plain.cell["health"]["zero_vectors"], late.cell["health"]["zero_vectors"]) == (0, 1)
    record = read_record(result.out / "cells" / late.key)
    assert "one/odd.py:1-1" in {chunk.id for chunk in record.chunks}
    assert "one/odd.py:1-1" not in {name for ranking in record.rankings for name in ranking.ids}

    kept = cells(tmp_path, (model, f"{model},pool=late"), "kept", dataset,
                 chunkers=("worlds:by_lines",), profile="code-chunk")  # fmt: skip
    plain, late = (cell.cell["health"]["zero_vectors"] for cell in kept.cells)
    assert (plain, late) == (1, 2)  # equal blanks share a vector


def test_headers_are_refused_before_anything_runs(tmp_path, model):
    for chunker in ("fixed:header=on", "ast:header=off|on", "code-chunk-ast"):
        with pytest.raises(InputError, match="pools the tokens of a chunk in its file") as error:
            cells(tmp_path, (model, f"{model},pool=late"), chunkers=("fixed", chunker))
        assert str(error.value).count("\n") <= 1
        assert chunker.partition(":")[0] in str(error.value)
    assert not (tmp_path / "run").exists()
    # What is not embedded may have headers.
    lexical = cells(tmp_path, (f"{model},pool=late",), chunkers=("fixed:header=on",),
                    retrievers=("bm25",))  # fmt: skip
    assert len(lexical.cells) == 1
    # A prefix that goes into ids alone, and an option of the same name that does something else.
    fitting = ("code-chunk-fixed:path_prefix=/a", "worlds:with_option")
    assert cells(tmp_path, (f"{model},pool=late",), "fitting", chunkers=fitting).failed == ()


def test_a_chunker_that_rewrites_text_fails_in_the_late_cell_alone(tmp_path, model, capsys):
    chunkers = ("worlds:renaming", "fixed:max_size=120")
    late = f"{model},pool=late"
    result = cells(tmp_path, (model, late), chunkers=chunkers)
    assert [(cell.chunker, cell.embedder) for cell in result.cells] == [
        (chunkers[0], model), (chunkers[1], model), (chunkers[1], late),
    ]  # fmt: skip
    (failed,) = result.failed
    assert (failed.chunker, failed.embedder) == (chunkers[0], late)
    assert result.failures == [
        f"not scored: worlds:renaming on small ({late}, dense) since 3 chunks have another text "
        f"than in the file, where {late} pools the tokens of a chunk; first one/alpha.py:1-24"
    ]
    assert run_document(result)["failed"][0]["reason"] == failed.reason
    again = cells(tmp_path, (model, late), chunkers=chunkers)
    assert (len(again.cells), again.failures) == (3, result.failures)
    done = call(capsys, "report", result.out, "-o", tmp_path / "report.html")
    assert done.code == 0, done.err
    assert "another text than in the file" in (tmp_path / "report.html").read_text()


def test_what_a_chunker_embeds_to_cut_has_no_file(tmp_path, model):
    given = {"chunkers": ("meaning:ByVectors",), "max_failures": "25%"}
    plain, late = cells(tmp_path, (model, f"{model},pool=late"), **given).cells
    chunked = [cell.cell["identity"]["chunk_embedder"] for cell in (plain, late)]
    assert chunked[0] == chunked[1] != late.cell["identity"]["embedder"][0]
    assert plain.cell["identity"]["embedder"][0] == chunked[0]


def test_smaller_batches_after_out_of_memory_are_another_cell(tmp_path, model, monkeypatch):
    run = Loaded.run

    def tight(self, texts, rows, output):
        if rows > 4:
            raise OutOfMemoryError("no")
        return run(self, texts, rows, output)

    monkeypatch.setattr(Loaded, "run", tight)
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    (halved,) = cells(tmp_path, (f"{model},pool=late",), chunkers=CHUNKERS[:1]).cells
    monkeypatch.undo()
    (whole,) = cells(tmp_path, (f"{model},pool=late",), chunkers=CHUNKERS[:1]).cells
    assert halved.key != whole.key


def test_an_audit_knows_that_windows_cover_a_file(model):
    late = load_embedder(f"{model},pool=late")
    chunkers = [load_chunker("whole-file")]
    (cut,) = audit_dataset(small(), chunkers, [late, load_embedder(model)]).chunkers
    seen, plain = cut.truncation.values()
    assert (seen.unseen, seen.truncated, seen.limit) == (0, 0, None)
    assert seen.texts == 3
    assert plain.limit == 126


def test_a_model_that_does_not_pool_by_the_mean_is_refused_in_one_line(tmp_path, capsys):
    path = sentence_model(bert(tmp_path / "bert"), tmp_path / "cls", pooling="cls")
    spec = f"st:{path},pool=late"
    done = call(capsys, "run", "-d", "meaning:tiny", "-e", spec, "-o", tmp_path / "run")
    says(done, 2, "Transformer → Pooling(cls)")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
