"""Every chunker that can be used here, in one run."""

import io

import pytest
from commands import call
from rich.console import Console
from worlds import grid, small

from chunkers import Source, list_chunkers
from harness.model import Corpus, Query, Target
from harness.reports.document import run_document
from harness.reports.tables import as_markdown, print_table
from harness.runs.record import ChunkRow, ChunkRows
from harness.runs.results import table_of

BUILT_IN = {"ast", "code-chunk-ast", "function", "memorybench-fixed", "semantic", "whole-file"}
LIBRARIES = {"astchunk", "chonkie-code", "langchain-code", "llamaindex-code", "semchunk"}
LONG = 'x = "' + "A" * 800 + '"\ny = 1\n' + "def f():\n    a = 1\n\n\n    return a\n\n\n\n" * 30


def usable(embedding=True):
    listed = [one for one in list_chunkers() if one.version]
    return [one.name for one in listed if embedding or one.family != "semantic"]


def test_a_run_of_every_chunker_ends_in_one_table(tmp_path):
    names = usable()
    assert set(names) >= BUILT_IN
    result = grid(tmp_path, chunkers=tuple(names), retrievers=("bm25",))
    assert result.failures == []
    cells = {cell["chunker"]: cell for cell in run_document(result)["cells"]}
    assert set(cells) == set(names)
    for name, cell in cells.items():
        assert cell["metrics"]["MRR"]["mean"] > 0, name
        assert cell["health"]["coverage"] == 1.0, name


def shown(document):
    """The table of a terminal: its lines."""
    text = io.StringIO()
    print_table(document, Console(file=text, width=130, highlight=False, markup=False))
    return text.getvalue().splitlines()


def test_what_is_lost_and_what_is_over_the_limit_is_marked_behind_the_name(tmp_path):
    for name in ("astchunk", "chonkie"):
        pytest.importorskip(name)
    corpus = Corpus("c", (Source(LONG, "a.py", "python"),), ())
    query = Query("q", "c", "def f", (Target("a.py", 3, 6),))
    dataset = small(corpora=(corpus,), queries=(query,))
    chosen = (
        "astchunk:max_size=100",
        "chonkie-code:max_size=100,unit=chars",
        "fixed-chars:max_size=100",
    )
    result = grid(tmp_path, dataset=dataset, chunkers=chosen, retrievers=("bm25",))
    document = run_document(result)
    lossy, soft, exact = chosen
    legend = {
        "< after a name: part of the text is in no chunk",
        "> after a name: some chunks are over the size limit",
    }
    lines = shown(document)
    assert legend <= set(lines)
    marked = [line.split()[:2] for line in lines if line.startswith((lossy, exact))]
    # Once among the scores, once among what was lost.
    assert [pair[1] for pair in marked if pair[0] == lossy] == ["<", "<"]
    assert not {"<", ">", "!"} & {pair[1] for pair in marked if pair[0] == exact}
    markdown = as_markdown(document).replace("\\", "").splitlines()
    assert len([line for line in markdown if line.startswith(f"| {soft} > |")]) == 2
    assert {f"- {line}" for line in legend} <= set(markdown)

    clean = run_document(grid(tmp_path, "clean", dataset=dataset, chunkers=(exact,)))
    assert not [line for line in shown(clean) if "after a name" in line]


def test_a_coverage_that_is_not_all_is_not_shown_as_all():
    from harness.reports.columns import coverage

    assert [coverage(one) for one in (1.0, 0.99999, 0.999, 0.57, 0.0)] == [
        "100.0 %", "99.9 %", "99.9 %", "57.0 %", "0.0 %",
    ]  # fmt: skip


def test_what_all_cells_have_is_said_once(tmp_path):
    # A file of each corpus is skipped, whatever the chunker.
    document = run_document(grid(tmp_path, retrievers=("bm25",)))
    skipped = [line for line in shown(document) if "files are not indexed" in line]
    assert len(skipped) == 1
    assert skipped[0].startswith("! all chunkers: 2 files are not indexed; `chunkmark dataset info")


def test_a_language_that_a_chunker_does_not_read_has_no_means_of_its_own(tmp_path):
    pytest.importorskip("astchunk")
    sources = (
        Source("def f():\n    return 1\n", "a.py", "python"),
        Source("package main\n\nfunc g() {}\n", "b.go", "go"),
    )
    queries = (
        Query("f", "c", "def f", (Target("a.py", 1, 2),), tags={"language": "python"}),
        Query("g", "c", "func g", (Target("b.go", 3, 3),), tags={"language": "go"}),
    )
    dataset = small(corpora=(Corpus("c", sources, ()),), queries=queries)
    document = run_document(
        grid(tmp_path, dataset=dataset, chunkers=("astchunk", "ast"), retrievers=("bm25",))
    )
    lines = shown(document)
    at = next(number for number, line in enumerate(lines) if "by language" in line)
    assert lines[at - 1].split()[:2] == ["go", "python"]
    rows = {line.split()[0]: line.split()[1:3] for line in lines[at + 2 : at + 4]}
    assert rows == {"astchunk": ["-", "1.000"], "ast": ["1.000", "1.000"]}
    # The query stays in the mean of all, as for every chunker.
    assert document["cells"][0]["metrics"]["SpanR@10000c"]["mean"] == 0.5


@pytest.mark.slow
def test_every_chunker_over_real_repositories_ends_in_one_table(data, tmp_path, capsys):
    archive = data / "repoeval" / "repositories" / "function_level.zip"
    if not archive.is_file():
        pytest.skip(f"the data folder lacks {archive.name}")
    names = usable(embedding=False)
    if not set(names) >= LIBRARIES:
        pytest.skip("the libraries of the extra chunkers are not all here")
    command = ("run", "-d", "repoeval-function", "-r", "bm25", "-o", tmp_path / "run")
    done = call(capsys, *command, *(f"-c{name}" for name in names))
    assert done.code == 0, done.err
    signs = {}
    for line in done.out.splitlines():
        name, *rest = line.split()[:2] or [""]
        if name in names and rest[0] in ("<", ">", "!", "<>"):
            signs[name] = rest[0]
    # Those with limits of their own kind, and no other, are over them.
    assert signs == {"astchunk": "<", "chonkie-code": ">", "code-chunk-ast": ">"}
    assert "< after a name: part of the text is in no chunk" in done.out
    assert "> after a name: some chunks are over the size limit" in done.out
    cells = call(capsys, *command, *(f"-c{name}" for name in names), "--format", "json").json
    health = {cell["chunker"]: cell["health"] for cell in cells["cells"]}
    assert set(health) == set(names)
    lossy = {name for name, one in health.items() if one["coverage"] < 1}
    soft = {name for name, one in health.items() if one["over_size"]}
    assert (lossy, soft) == ({"astchunk"}, {"chonkie-code", "code-chunk-ast"})
    assert 0.94 < health["astchunk"]["coverage"] < 0.98
    assert all(one["files_failed"] == one["unlocated"] == 0 for one in health.values())


@pytest.mark.parametrize(
    ("ref_id", "lines"), [(None, (2, 4)), ("a/b.py:0-6", (0, 6)), ("doc-7-chunk-3", (2, 4))]
)
def test_lines_are_those_of_the_reproduced_systems_id_where_it_has_any(ref_id, lines):
    names = ("id", "path", "start", "end", "start_line", "end_line", "nws", "lines")
    place = zip(names, ("a.py:3-5", "a.py", 0, 9, 3, 5, (0, 9), (0, 3)), strict=True)
    row = ChunkRow(corpus="c", ref_id=ref_id, **dict(place))
    table = table_of(ChunkRows.of([row]))
    assert (table.begin.tolist(), table.end.tolist()) == ([lines[0]], [lines[1]])
