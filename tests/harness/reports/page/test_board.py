"""The page of a leaderboard: its values, its bytes, and the option that writes it."""

import re
from html import unescape

import pytest
from commands import call, says
from made_cells import cell, noise
from report_pages import make_run

from chunkers.errors import install_command
from harness.datasets.loading import load_dataset
from harness.reports.leaderboard.board import make_board
from harness.reports.leaderboard.tables import board_rows, notes
from harness.reports.page.board import board_page

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def board():
    """Two tasks; one row lacks one of them, and one is a control."""
    better = noise(1) + 0.2
    cells = [cell("ast", better + noise(2) - 0.5, dataset=task) for task in ("x", HOSTILE)]
    cells += [cell(HOSTILE, better, dataset=task) for task in ("x", HOSTILE)]
    cells += [cell("whole-file", noise(3), dataset=task) for task in ("x", HOSTILE)]
    return make_board([*cells, cell("partial", better, dataset="x")])


def rows_of(page):
    """The texts and full values of the board's cells."""
    table = page[page.index('<table id="cells">') : page.index("</table>")]
    return [
        [
            (unescape(re.sub(r"<[^>]*>", "", text)).strip(), value)
            for value, text in re.findall(
                r'<t[hd](?: (?:class|scope)="\w+")*(?: data-value="([^"]*)")?>(.*?)</t[hd]>', row
            )
        ]
        for row in re.findall(r"<tr.*?</tr>", table.partition("</thead>")[2], re.DOTALL)
    ]


def test_the_page_has_the_values_of_the_table(board):
    page = board_page(board)
    _, texts = board_rows(board)
    _, exact = board_rows(board, exact=True)
    rows = rows_of(page)
    assert [row.configuration.chunker for row in board.rows][-2:] == ["whole-file", "partial"]
    assert [[text.removesuffix(" control") for text, _ in row] for row in rows] == [
        [str(value) for value in row] for row in texts
    ]
    assert [[row[0][1], *(value for _, value in row[5:])] for row in rows] == [
        [str(row[0]), *map(str, row[5:])] for row in exact
    ]
    assert [row[0][0] for row in rows] == ["1", "1", "3", "-"]
    assert rows[-1][-1] == ("-", "")
    assert ("missing", "") in rows[-1]
    assert page.count("<small>control</small>") == 1
    for note in notes(board):
        assert note in unescape(page)
    assert f"of {len(board.rows)} configurations on 2 tasks" in page
    assert "<code>x</code>" in page  # the fingerprint of the made data
    assert [pair.verdict for pair in board.differences] == ["equivalent", "better", "better"]
    assert page.count('<td class="number">better</td>') == 2


def test_names_are_escaped_and_nothing_is_loaded(board):
    page = board_page(board)
    assert HOSTILE not in page
    assert page.count("<script") == page.count("</script>") == 1
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"<(link|img|iframe|object|base)\b", page)
    assert page == board_page(board)


@pytest.mark.parametrize("tasks", ["x", "xy"])
def test_a_board_without_pairs_has_no_differences(tasks):
    made = [cell(f"chunker of {task}", noise(1), dataset=task) for task in tasks]
    page = board_page(make_board(made))
    assert "differences" not in page.partition("<body>")[2].partition("<script>")[0]
    assert len(rows_of(page)) == len(tasks)
    assert [row[0][0] for row in rows_of(page)] == (["1"] if tasks == "x" else ["-", "-"])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    return make_run(folder / "run", [load_dataset("browser_worlds:documents")], measures=("MRR",))


def test_the_page_is_written_beside_what_is_printed_and_replaces_an_earlier_one(
    run, tmp_path, capsys
):
    out = tmp_path / "board.html"
    plain = call(capsys, "leaderboard", run, "-m", "MRR")
    assert call(capsys, "leaderboard", run, "-m", "MRR", "-o", out) == plain
    first = out.read_bytes()
    assert first.startswith(b"<!doctype html>")
    done = call(capsys, "leaderboard", run, "-m", "MRR", "--format", "json", "-o", out)
    assert done.json["measure"] == "MRR"
    assert out.read_bytes() == first


def test_only_a_board_is_replaced(run, tmp_path, capsys, monkeypatch):
    (tmp_path / "other.html").write_text("<title>chunkmark report</title>")
    done = call(capsys, "leaderboard", run, "-m", "MRR", "-o", tmp_path / "other.html")
    says(done, 2, "other.html exists and is not a leaderboard; name another file with -o")
    says(call(capsys, "leaderboard", run, "-o", tmp_path), 2, "is a folder; name a file with -o")
    (tmp_path / "file").write_text("")
    done = call(capsys, "leaderboard", run, "-m", "MRR", "-o", tmp_path / "file/b.html")
    says(done, 2, "cannot be written")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = call(capsys, "leaderboard", run, "-m", "MRR", "-o", tmp_path / "b.html")
    says(done, 2, f"a page needs jinja2; {install_command('report')}")
