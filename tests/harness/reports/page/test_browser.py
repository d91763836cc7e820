"""The data of both browsers come from stored cells and agree with their measures."""

import pytest
from report_pages import expanded
from worlds import grid

from chunkers.source import Source
from harness.datasets.loading import load_dataset
from harness.reports.page.browser import browser_data, disagreement
from harness.reports.page.sources import coloured
from harness.runs.record import read_record
from harness.runs.stored_values import read_stored_cells

CHUNK = 6
PAIR = ("ast:max_size=120", "fixed:max_size=120,overlap=30")


def made(
    tmp_path, world, chunkers=("ast:max_size=120", "fixed:max_size=120,overlap=30"), **options
):
    """A run of a data set, read again from its folder."""
    dataset = load_dataset(f"browser_worlds:{world}")
    given = {"retrievers": ("bm25",), "chunkers": chunkers, "datasets": (dataset.name,)} | options
    tmp_path.mkdir(exist_ok=True)
    grid(tmp_path, dataset=dataset, **given)
    return list(read_stored_cells(tmp_path / "run"))


def document_of(cells, **options):
    data = browser_data(cells, **options)
    (part,) = expanded(data.block)["sets"]
    return part, expanded(data.block)["texts"], data.notes


def chunks_of(part, cut, file):
    """The chunks of a file as tuples of start, end, first line, last line, low, high."""
    row = cut["rows"][cut["of"][file]] if cut["of"][file] >= 0 else []
    end = line = high = 0
    for at in range(0, len(row), CHUNK):
        start, first, low = end + row[at], line + row[at + 2], high + row[at + 4]
        end, line, high = start + row[at + 1], first + row[at + 3], low + row[at + 5]
        yield start, end, first, line, low, high


def numbered(part, cell):
    """The file and the chunk of every number."""
    cut = part["cuts"][cell["cuts"]]
    return [
        (file, chunk) for file in range(len(part["files"])) for chunk in chunks_of(part, cut, file)
    ]


def source_of(part, texts, file):
    """The text of a file in UTF-16 units, masked lines replaced."""
    source = part["files"][file][3]
    if isinstance(source, int):
        return texts[source][0].encode("utf-16-le", "surrogatepass")
    number, first, last, masked = source
    lines = texts[number][0].splitlines(keepends=True)
    return "".join([*lines[: first - 1], masked, *lines[last:]]).encode("utf-16-le")


MEASURES = ("SpanR@150c", "SpanR@400c", "SpanP@150c", "SpanP@400c", "nDCG@10", "Hit@3")
PROFILES = ["default", "default:assemble=merge", "code-chunk", "default:deliver=embed"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("world", ["plain", "astral", "masked"])
def test_what_is_delivered_is_what_the_measures_say(tmp_path, world, profile):
    chunkers = ("ast:max_size=120,header=on", "browser_worlds:gappy", *PAIR[1:], "whole-file")
    cells = made(tmp_path, world, chunkers, measures=MEASURES, profile=profile)
    part, _, _ = document_of(cells)
    compared = 0
    for cell, stored in zip(part["cells"], cells, strict=True):
        for query, shown in zip(part["queries"], cell["shown"], strict=True):
            targets = {(t[0], *range(t[4], t[5])) for t in query["targets"]}
            size = sum(len(target) - 1 for target in targets)
            for budget, (_, _, chars, gold) in zip(cell["budgets"], shown[3], strict=True):
                credited = sum(high - low for low, high in gold)
                values = stored.values[query["id"]]
                assert credited / size == pytest.approx(values[f"SpanR@{budget}c"], abs=1e-12)
                precision = credited / chars if chars else 0
                assert precision == pytest.approx(values[f"SpanP@{budget}c"], abs=1e-12)
                compared += credited > 0
    assert compared
    assert part["measures"] == list(MEASURES)
    assert part["primary"] == cells[0].measures[0]


@pytest.mark.parametrize("relevance", ["overlap", "iou,threshold=0.3", "share", "graded"])
def test_a_chunk_counts_as_in_the_stored_judgements(tmp_path, relevance):
    cells = made(
        tmp_path, f"plain,relevance={relevance}", ("ast:max_size=120", "fixed:max_size=90")
    )
    part, _, _ = document_of(cells)
    kinds = set()
    for cell, stored in zip(part["cells"], cells, strict=True):
        record = read_record(stored.folder)
        ids = {(c.corpus, c.path, c.start_line, c.nws): c.id for c in record.chunks}
        chunks = numbered(part, cell)
        judged = {}
        for line in (stored.folder / "qrels.trec").read_text("utf-8").splitlines():
            query, _, unit, grade = line.split(" ")
            judged[query, unit] = float(grade)
        for query, shown in zip(record.queries, cell["shown"], strict=True):
            reasons = {reason[0]: reason for reason in shown[2]}
            for rank, number in enumerate(shown[0]):
                file, chunk = chunks[number]
                corpus, path, *_ = part["files"][file]
                name = ids[corpus, path, chunk[2], chunk[4:]].replace(" ", "%20")
                grade = judged.get((query.id.replace(" ", "%20"), name), 0)
                reason = reasons.get(rank, [rank, None, 0])
                assert reason[2] == pytest.approx(grade)
                kinds |= {reason[1]} - {None}
            assert shown[5][0] == sum(name == query.id.replace(" ", "%20") for name, _ in judged)
    assert "relevant" in kinds
    assert ("below" in kinds) == (relevance in ("iou,threshold=0.3", "share"))


def test_a_chunk_of_blank_lines_counts_where_the_profile_says_so(tmp_path):
    chunkers = ("browser_worlds:after_first_line",)
    kinds = {}
    for profile in ("default", "code-chunk"):
        cells = made(tmp_path / profile, "blank", chunkers, profile=profile)
        part, _, _ = document_of(cells)
        (shown,) = part["cells"][0]["shown"]
        kinds[profile] = [(shown[0][reason[0]], reason[1]) for reason in shown[2]]
        assert shown[5][0] == len(kinds[profile])
    assert kinds["default"] == [(0, "relevant")]
    assert sorted(kinds["code-chunk"]) == [(0, "relevant"), (1, "blank-lines")]


def test_text_that_a_chunk_lacks_is_kept_with_it(tmp_path):
    cells = made(tmp_path, "plain", ("browser_worlds:gappy",))
    part, _, _ = document_of(cells)
    gaps = part["cuts"][0]["gaps"]
    record = read_record(cells[0].folder)
    wanted = [[list(gap) for gap in chunk.gaps] for chunk in record.chunks]
    assert [gaps.get(str(number), []) for number in range(len(wanted))] == wanted
    assert any(wanted)


def test_a_copy_says_which_chunk_it_stands_for(tmp_path):
    cells = made(tmp_path, "plain", ("whole-file",))
    part, _, _ = document_of(cells)
    (cell,) = part["cells"]
    rows = dict(zip((query["id"] for query in part["queries"]), cell["shown"], strict=True))
    paths = [part["files"][file][1] for file, _ in numbered(part, cell)]
    reasons = {paths[rows["q alpha"][0][reason[0]]]: reason for reason in rows["q alpha"][2]}
    copy = reasons["one/copy of alpha.py"]
    assert copy[1] == "copy"
    assert [paths[number] for number in copy[5]] == ["one/alpha.py"]
    assert copy[4] == reasons["one/alpha.py"][4]
    assert part["queries"][0]["targets"][0][7] == [[1, 0, copy[4][0][1]]]


@pytest.mark.parametrize("world", ["plain", "astral", "masked", "hostile"])
def test_chunks_lie_on_their_text(tmp_path, world):
    """In the units of JavaScript, and for masked files on the masked text."""
    cells = made(tmp_path, world)
    part, texts, notes = document_of(cells)
    assert notes == ()
    rows = 0
    for cell, stored in zip(part["cells"], cells, strict=True):
        record = read_record(stored.folder)
        expected = {(c.corpus, c.path, c.start_line, c.end_line, *c.nws) for c in record.chunks}
        for file, (start, end, first, last, low, high) in numbered(part, cell):
            corpus, path, *_ = part["files"][file]
            text = source_of(part, texts, file).decode("utf-16-le", "surrogatepass")
            units = source_of(part, texts, file)[2 * start : 2 * end]
            kept = units.decode("utf-16-le", "surrogatepass")
            assert (corpus, path, first, last, low, high) in expected
            assert len("".join(kept.split())) == high - low
            before = source_of(part, texts, file)[: 2 * start].decode("utf-16-le", "surrogatepass")
            assert before.count("\n") + 1 == first
            assert text[len(before) :].startswith(kept)
            rows += 1
    assert rows > len(part["files"])


def test_a_masked_file_has_the_text_that_was_ranked(tmp_path):
    cells = made(tmp_path, "masked")
    part, texts, _ = document_of(cells)
    (query,) = part["queries"]
    assert query["mask"] == ["one/alpha.py", 9, 14]
    file = query["targets"][0][0]
    assert part["files"][file][:2] == ["one@q", "one/alpha.py"]
    assert "def beta" not in source_of(part, texts, file).decode("utf-16-le")
    assert "def beta" in texts[part["files"][file][3][0]][0]


def test_documents_have_their_grades_and_text(tmp_path):
    cells = made(tmp_path, "documents", ("whole-file",), measures=("nDCG@10",))
    part, texts, _ = document_of(cells)
    assert part["gold"] == "document"
    assert [query["targets"] for query in part["queries"]] == [
        [[0, "d1", 2], [2, "d3", 0]],
        [[1, "d2", 1], [2, "d3", 1]],
    ]
    first, second = part["cells"][0]["shown"]
    names = [part["files"][number][1] for number in first[0]]
    assert names == ["d1", "d3"]
    assert [(reason[0], reason[1], reason[2]) for reason in first[2]] == [
        (0, "judged", 2),
        (1, "judged", 0),
    ]
    assert second[4] == [[2, None]]  # relevant, but no word of the query is in it
    assert [texts[row[3]][0] for row in part["files"]] == [
        "sort a list of numbers", "read a file", "sort the lines of a file",
    ]  # fmt: skip


def test_the_same_cells_give_the_same_bytes(tmp_path):
    cells = made(tmp_path, "plain")
    assert browser_data(cells) == browser_data(cells)


@pytest.mark.parametrize("limit", [0, 300, 10_000])
def test_texts_stay_within_the_limit_and_the_rest_is_counted(tmp_path, limit):
    cells = made(tmp_path, "plain")
    part, texts, notes = document_of(cells, limit=limit)
    assert sum(len(text) for text, _ in texts) <= limit
    without = sum(file[3] == -1 for file in part["files"])
    assert without == {0: 4, 300: 3, 10_000: 0}[limit]
    assert len(notes) == (without > 0)
    assert all(f"{without} files of 4" in note and "--sources" in note for note in notes)
    # Values, lines and reasons do not depend on it.
    whole, _, _ = document_of(cells)
    for one, other in zip(part["cells"], whole["cells"], strict=True):
        assert one == other


def test_the_text_of_targets_comes_first(tmp_path):
    cells = made(tmp_path, "plain")
    part, texts, _ = document_of(cells)
    rows = [query["targets"][0] for query in part["queries"]]
    targets = {row[0] for row in rows} | {copy[0] for row in rows for copy in row[7]}
    size = sum(len(texts[part["files"][file][3]][0]) for file in targets)
    part, texts, _ = document_of(cells, limit=size)
    assert {file for file, row in enumerate(part["files"]) if row[3] >= 0} == targets


def test_without_its_data_set_a_run_has_all_but_text(tmp_path, monkeypatch):
    cells = made(tmp_path, "plain")
    whole, _, _ = document_of(cells)
    monkeypatch.delattr("browser_worlds.plain")
    part, texts, (note,) = document_of(cells)
    assert texts == []
    assert note.startswith("browser_worlds:plain: there is no source text: ")
    assert "does not load" in note and "has no 'plain'" in note
    assert part["cells"] == whole["cells"]
    assert part["queries"] == whole["queries"]
    assert {file[3] for file in part["files"]} == {-1}


def test_changed_files_are_not_shown(tmp_path, monkeypatch):
    cells = made(tmp_path, "plain")
    other = load_dataset("browser_worlds:astral")
    monkeypatch.setattr("browser_worlds.plain", lambda data_dir: other)
    part, texts, (note,) = document_of(cells)
    assert texts == []
    assert other.fingerprint[:12] in note and "run again" in note
    assert part["problem"]


def test_the_pair_is_of_the_two_best_contenders_on_equal_terms(tmp_path):
    chunkers = ("whole-file", "fixed:max_size=120", "ast:max_size=120")
    cells = made(tmp_path, "plain", chunkers)
    part, _, _ = document_of(cells)
    names = [part["cells"][at]["label"] for at in part["pair"]]
    assert set(names) == {"fixed:max_size=120", "ast:max_size=120"}
    means = [cells[at].metrics["metrics"][part["primary"]]["mean"] for at in part["pair"]]
    assert means == sorted(means, reverse=True)
    alone, _, _ = document_of(cells[1:2])
    assert alone["pair"] == [0, 0]
    # Two runs of one cell are told apart by their folders.
    twice, _, _ = document_of([*cells, *made(tmp_path / "2", "plain", chunkers)])
    labels = [cell["label"] for cell in twice["cells"]]
    assert len(set(labels)) == len(labels) == 6
    assert len(twice["cuts"]) == 3  # equal chunks are stored once


def test_data_sets_and_cells_with_other_queries_stand_together(tmp_path):
    cells = [
        *made(tmp_path / "1", "plain", PAIR[:1]),
        *made(tmp_path / "2", "plain", PAIR[1:], limit=2),
        *made(tmp_path / "3", "documents", ("whole-file",), measures=("nDCG@10",)),
        *made(tmp_path / "4", "masked", ("whole-file",)),
        *made(tmp_path / "5", "masked", ("whole-file",), mask_query=False),
    ]
    sets = expanded(browser_data(cells).block)["sets"]
    assert [part["name"] for part in sets] == [
        "browser_worlds:plain", "browser_worlds:documents",
        "browser_worlds:masked, masked", "browser_worlds:masked, not masked",
    ]  # fmt: skip
    whole, few = sets[0]["cells"]
    assert None not in whole["shown"]
    assert [row is None for row in few["shown"]] == [row is None for row in few["values"]]
    assert sum(row is not None for row in few["shown"]) == len(cells[1].values) < 4
    assert sets[3]["queries"][0]["mask"] is None


def test_no_cell_gives_no_browser():
    assert browser_data([]).block == ""


@pytest.mark.parametrize(
    ("cuts", "value"),
    [
        (([], []), 0),
        (([0, 10], [0, 10]), 0),
        (([0, 5, 10], [0, 10]), 1 / 13),
        (([0, 5, 10], [0, 6, 10]), 2 / 14),
        (([0, 5, 10], [0, 5, 10], [0, 10]), 1 / 13),
        (([0, 10], []), 2 / 12),
    ],
)
def test_disagreement_is_the_share_of_boundaries_that_not_all_have(cuts, value):
    assert disagreement([frozenset(cut) for cut in cuts]) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "language", "runs"),
    [
        ("def f(x):\n    return 1  # é\n", "python", "K3P1F1P9K6P1M1P2C3P1"),
        ("x = '\U0001f40d'\n", "python", "P4S4P1"),
        ("int x;\n", "c", "K3P4"),
        ("plain text", None, "P10"),
        ("x" * 3000, "python", ""),
        ("what is it", "no-such-language", ""),
        ("", "python", ""),
    ],
)
def test_colours_cover_the_text_in_units_of_javascript(text, language, runs):
    assert coloured(Source(text, "a", language)) == runs
