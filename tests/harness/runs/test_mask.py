"""Runs with masks: rankings are those of the corpus without the query's own lines."""

import json
import sys
from dataclasses import replace

import pytest
from commands import call
from masked_worlds import by_hand, masked_world
from worlds import files, function, grid

import harness
from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.loading import load_dataset
from harness.model import Corpus, Dataset, Query, Region, Target
from harness.relevance import filler
from harness.reports.document import run_document
from harness.reports.notes import notes_of
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.record import read_record
from harness.runs.runner import run


def cells(result):
    return [read_record(result.out / "cells" / cell.key) for cell in result.cells]


GRID = {
    "chunkers": ("ast:max_size=200", "whole-file"),
    "retrievers": ("dense", "bm25"),
}


def test_a_masked_ranking_is_that_of_the_masked_corpus(tmp_path):
    dataset = masked_world()
    measures = ("SpanR@300c", "nDCG@10", "IoU@5", "FileR@1", "pnDCG@2", "pnDCG@10")
    names = [query.id for query in dataset.queries]
    together = grid(tmp_path, dataset=dataset, mask_query=True, measures=measures, **GRID)
    for number, name in enumerate(names):
        alone = grid(tmp_path, f"alone {number}", by_hand(dataset, name), measures=measures, **GRID)
        pairs = zip(cells(together), cells(alone), strict=True)
        for mine, right in pairs:
            assert mine.rankings[number] == right.rankings[0]
            assert mine.queries[number].places == right.queries[0].places
            rows = mine.ranked_chunks()[mine.queries[number].ranked]
            assert [replace(row, corpus="") for row in rows] == [
                replace(row, corpus="") for row in right.chunks
            ]
            lines = mine.ranked_files()[mine.queries[number].ranked]
            assert [replace(row, corpus="") for row in lines] == [
                replace(row, corpus="") for row in right.files
            ]
        for mine, right in zip(together.cells, alone.cells, strict=True):
            values = [
                json.loads(line)["metrics"]
                for line in (together.out / "cells" / mine.key / "per_query.jsonl")
                .read_text()
                .splitlines()
            ][number]
            assert values == {
                measure: one["mean"] for measure, one in right.metrics["metrics"].items()
            }


def test_nothing_of_the_region_is_left_and_other_files_are_untouched(tmp_path):
    dataset = masked_world()
    plain, masked = (
        grid(tmp_path, name, dataset, chunkers=("fixed:max_size=120",), retrievers=("bm25",),
             mask_query=mask)
        for name, mask in (("plain", False), ("masked", True))
    )  # fmt: skip
    (before,), (after,) = cells(plain), cells(masked)
    whole = [row for row in after.chunks if "@" not in row.corpus]
    assert whole == list(before.chunks)
    for query, given in zip(after.queries, dataset.queries, strict=True):
        rows = after.ranked_chunks()[query.ranked]
        others = [row for row in rows if row.path != given.region.path]
        wanted = [row for row in before.chunks if row.corpus == query.corpus]
        assert others == [row for row in wanted if row.path != given.region.path]
        own = [row for row in rows if row.path == given.region.path]
        inside = range(given.region.start_line, given.region.end_line + 1)
        assert not any(row.start_line in inside and row.end_line in inside for row in own)
        assert {row.corpus for row in own} <= {f"{query.corpus}@{query.id}"}
    assert not [r for r in after.ranked_chunks()["one@d elsewhere"] if r.path == "one/alpha.py"]


def test_what_is_grouped_is_grouped_by_the_corpora_of_the_data_set(tmp_path):
    result = grid(
        tmp_path, dataset=masked_world(), chunkers=("fixed",), retrievers=("bm25",),
        measures=("MRR",), profile="code-chunk", mask_query=True,
    )  # fmt: skip
    (cell,) = result.cells
    rows = (result.out / "cells" / cell.key / "per_query.jsonl").read_text().splitlines()
    values = [json.loads(row)["metrics"]["MRR"] for row in rows]
    mean = cell.metrics["metrics"]["MRR"]
    assert mean["by_corpus"] == {"one": sum(values[:4]) / 4, "two": values[4]}
    assert mean["mean"] == (sum(values[:4]) / 4 + values[4]) / 2
    manifest = json.loads((result.out / "manifest.json").read_text())
    assert manifest["config"]["mask_query"] is True
    assert manifest["datasets"]["made"]["queries_masked"] == 5
    assert manifest["datasets"]["made"]["corpora"] == 2
    health = cell.cell["health"]
    assert (health["files_seen"], health["files_indexed"], health["files_skipped"]) == (4, 3, 1)
    assert health["chunks"] == len(read_record(result.out / "cells" / cell.key).chunks)
    assert health["coverage"] == 1.0


def test_what_masks_do_to_the_parse_is_counted_and_shown(tmp_path, monkeypatch):
    text = f"if alpha:\n    weigh()\nelse:\n    rest()\n{function('beta')}"
    sources = (Source(text, "a.py", "python"), Source(function("rho"), "b.py", "python"))
    asked = [
        Query(f"q{n}", "c", "weigh alpha", (Target("a.py", 5, 9),), region=Region("a.py", *lines))
        for n, lines in enumerate([(1, 2), (2, 2), (1, 4)])
    ]
    dataset = Dataset("made", "span", (Corpus("c", sources),), tuple(asked), mask=True)
    given = {"chunkers": ("ast",), "retrievers": ("bm25",)}
    result = grid(tmp_path, "mended", dataset, **given)
    health = result.cells[0].cell["health"]
    assert (health["masked_filled"], health["masked_syntax_errors"]) == (1, 0)
    assert "1 masked file keeps brackets or keywords" in "".join(notes(result))
    # The lines of targets are those of the file as it is.
    assert [query.places[0].start_line for query in cells(result)[0].queries] == [5, 5, 5]
    monkeypatch.setattr(filler, "_KEPT", ())
    result = grid(tmp_path, "broken", dataset, **given)
    health = result.cells[0].cell["health"]
    assert (health["masked_filled"], health["masked_syntax_errors"]) == (0, 1)
    assert "1 masked file has a syntax error that it had not unmasked" in "".join(notes(result))


def notes(result):
    document = run_document(result)
    return notes_of(document, document["cells"])


def test_files_that_fail_are_named_once_each(tmp_path):
    given = {"chunkers": ("worlds:failing_on_alpha",), "retrievers": ("bm25",)}
    world = masked_world()
    result = grid(tmp_path, dataset=world, mask_query=True, max_failures="100%", **given)
    places = [(corpus, path) for corpus, path, _ in result.cells[0].cell["failures"]]
    names = ["one", "one@a behind", "one@b before", "one@c around", "one@d elsewhere"]
    assert places == [(name, "one/alpha.py") for name in names]
    assert result.cells[0].cell["health"]["gold_uncut"] == 4


def test_a_mask_is_another_cell_and_the_same_bytes_every_time(tmp_path):
    given = {"chunkers": ("ast:max_size=120",), "retrievers": ("bm25",)}
    plain = grid(tmp_path, "plain", masked_world(), **given)
    one, two = (grid(tmp_path, n, masked_world(), mask_query=True, **given) for n in ("m1", "m2"))
    assert plain.cells[0].key != one.cells[0].key == two.cells[0].key
    assert files(one.out) == files(two.out)


def test_limit_acts_before_the_mask(tmp_path):
    given = {"chunkers": ("ast:max_size=120",), "retrievers": ("bm25",), "limit": 2}
    dataset = masked_world()
    masked = grid(tmp_path, "masked", dataset, mask_query=True, **given)
    plain = grid(tmp_path, "plain", dataset, **given)
    (one,), (two,) = cells(masked), cells(plain)
    assert [query.id for query in one.queries] == [query.id for query in two.queries]
    assert len({row.corpus for row in one.chunks if "@" in row.corpus}) == 2


def test_a_refusal_leaves_no_folder(tmp_path):
    dataset = masked_world(queries=(Query("q", "one", "x", (Target("one/alpha.py", 1, 2),)),))
    with pytest.raises(
        InputError, match=r"1 of 1 queries were not made from lines.*; remove --mask-query"
    ):
        grid(tmp_path, dataset=dataset, mask_query=True, retrievers=("bm25",))
    assert list(tmp_path.iterdir()) == []


def plugged_in(data_dir):
    return masked_world()


def test_it_is_asked_for_by_option_by_suite_and_by_function(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "masked", sys.modules[__name__])
    suite = tmp_path / "suite.toml"
    suite.write_text('datasets = ["masked:plugged_in"]\nmask_query = true\n')
    few = ("-c", "fixed", "-r", "bm25", "-m", "MRR", "--format", "json", "-o")
    by_suite = call(capsys, "run", suite, *few, tmp_path / "suite").json
    option = ("run", "-d", "masked:plugged_in", "--mask-query")
    by_option = call(capsys, *option, *few, tmp_path / "option").json
    undone = call(capsys, "run", suite, "--no-mask-query", *few, tmp_path / "undone").json
    by_function = harness.evaluate(
        masked_world(), chunkers=["fixed"], retriever="bm25", measures=["MRR"], mask_query=True
    )
    (one,), (two,), (plain,) = (done["cells"] for done in (by_suite, by_option, undone))
    assert one["key"] == two["key"] == by_function.cells[0].key != plain["key"]
    assert (one["mask_query"], plain["mask_query"]) == (True, False)
    table = call(capsys, *option, *few[:-3], "-o", tmp_path / "option").out
    assert "each query's own lines are blank in its corpus" in table


class TestRedframes:
    SPEC = "repoeval-function:repos=maxhumber_redframes"

    def test_the_prompt_is_refused_as_its_own_target(self, data, tmp_path):
        dataset = load_dataset("repoeval-function", data_dir=data)
        with pytest.raises(InputError) as refused:
            grid(tmp_path, dataset=dataset, mask_query=True, retrievers=("bm25",))
        start = "repoeval-function: --mask-query would take the target itself out of "
        assert str(refused.value).startswith(start)
        assert "use target=body" in str(refused.value)

    def test_regions_are_the_prompts_lines(self, data):
        dataset = load_dataset(f"{self.SPEC},target=body", data_dir=data)
        sources = {source.path: source for source in dataset.corpora[0].sources}
        for query in dataset.queries:
            region = query.region
            assert region.end_line + 1 == query.targets[0].start_line
            lines = sources[region.path].lines
            start, end = lines.offsets_of(region.start_line, region.end_line)
            prompt = sources[region.path].text[start:end].replace("\r\n", "\n")
            # The prompt may lack the beginning of its first line.
            assert prompt.split() == query.text.split() or prompt.endswith(f"{query.text}\n")

    def test_bodies_are_found_without_the_prompts(self, data, tmp_path):
        dataset = load_dataset(f"{self.SPEC},target=body", data_dir=data)
        config = RunConfig().over(
            chunkers=("ast", "fixed"), retrievers=("bm25",), limit=12, mask_query=True
        )
        result = run(make_plan(config), [dataset], tmp_path / "run")
        (queries, _) = (
            {q.id: q for q in read_record(tmp_path / "run/cells" / c.key).queries}
            for c in result.cells
        )
        for query in dataset.queries:
            if query.id in queries:
                mask = queries[query.id].mask
                assert (mask.path, mask.start_line, mask.end_line) == (
                    query.region.path, query.region.start_line, query.region.end_line
                )  # fmt: skip
                (place,) = queries[query.id].places
                assert place.start_line == query.targets[0].start_line == mask.end_line + 1
        assert all(cell.metrics["n_queries"] == 12 for cell in result.cells)
