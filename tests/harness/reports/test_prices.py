"""What the tokens of a run cost."""

import csv
import io
import re

import pytest
from commands import call, says
from rich.console import Console
from worlds import grid

from chunkers.errors import InputError
from harness.reports.document import run_document
from harness.reports.prices import parse_prices, uncounted, with_price
from harness.reports.tables import as_csv, as_markdown, print_table

NAMES = ["minilm", "st:a,max_tokens=100"]


@pytest.mark.parametrize(
    ("texts", "prices"),
    [
        ([], {}),
        (["0.02"], dict.fromkeys(NAMES, 0.02)),
        (["0"], dict.fromkeys(NAMES, 0.0)),
        (["minilm=0.1"], {"minilm": 0.1}),
        (["st:a,max_tokens=100=0.1"], {NAMES[1]: 0.1}),
        (["1", " minilm=2e-2 "], {"minilm": 0.02, NAMES[1]: 1.0}),
    ],
)
def test_a_price_is_of_all_embedders_or_of_one(texts, prices):
    assert parse_prices(texts, NAMES) == prices


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["x"], "invalid price 'x'"),
        (["$0.02"], "a million tokens"),
        (["-1"], "invalid price"),
        (["nan"], "invalid price"),
        (["inf"], "invalid price"),
        (["minilm="], "invalid price"),
        (["minlm=1"], "no embedder 'minlm'.*minilm"),
        (["st:a,max_tokens=100"], "no embedder 'st:a,max_tokens'"),
        (["1", "2"], "a second price for all embedders"),
        (["minilm=1", "minilm=1"], "a second price for minilm"),
    ],
)
def test_what_is_no_price_is_named(texts, words):
    with pytest.raises(InputError, match=words):
        parse_prices(texts, NAMES)


def test_a_run_by_words_has_no_price():
    assert parse_prices([], []) == {}
    with pytest.raises(InputError, match="the run has no embedder"):
        parse_prices(["0.02"], [])


def test_tokens_that_are_not_counted_have_no_price():
    cells = [
        {"embedder": name, "cost": {"tokens": tokens}}
        for name, tokens in (("minilm", 3_000_000), ("st:b", None), ("none", None))
    ]
    prices = {"minilm": 0.02, "st:b": 1.0}
    assert [with_price(cell, prices)["price"] for cell in cells] == [0.06, None, None]
    assert with_price(cells[0], {"st:b": 1.0})["price"] is None
    assert uncounted(cells, prices) == ["st:b"]


def test_every_form_of_a_run_has_the_price_of_its_tokens(tmp_path):
    result = grid(tmp_path, chunkers=("fixed", "ast"), retrievers=("bm25",), measures=("MRR",))
    for cell, tokens in zip(result.cells, (1234, None), strict=True):
        cell.cell["cost"]["tokens"] = tokens
    document = run_document(result, prices={"none": 20.0})
    counted, other = document["cells"]
    assert counted["cost"]["price"] == 1234 * 20 / 1e6
    assert other["cost"]["price"] is None
    rows = [row for row in csv.DictReader(io.StringIO(as_csv(document))) if row["name"] == "price"]
    assert [row["value"] for row in rows] == ["0.02468", ""]
    assert re.search(
        r"tokens \| price \|.*\n.*\n\| fixed .* \| 1234 \| 0.02468 \|", as_markdown(document)
    )
    out = io.StringIO()
    print_table(document, Console(width=130, file=out))
    assert "0.02468" in out.getvalue()
    for form in (as_csv, as_markdown):
        assert "price" not in form(run_document(result))


def test_a_wrong_price_ends_a_run_before_the_work(tmp_path, capsys):
    options = ("run", "-r", "dense", "-c", "fixed", "-o", tmp_path / "run", "--price", "minlm=1")
    says(call(capsys, *options), 2, "no embedder 'minlm'")
    assert not (tmp_path / "run").exists()
