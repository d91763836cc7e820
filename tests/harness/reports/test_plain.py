"""Text and tables in LaTeX."""

import re

import pytest
from commands import call
from hypothesis import given
from hypothesis import strategies as st
from worlds import grid

from harness.reports.document import run_document
from harness.reports.plain import as_rows, latex_escaped, latex_table
from harness.reports.tables import as_latex


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("50 %_&#{}", r"50 \%\_\&\#\{\}"),
        ("$a$", r"\$a\$"),
        (r"C:\x~y^2", r"C:\textbackslash{}x\textasciitilde{}y\textasciicircum{}2"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("<b> | *", r"\textless{}b\textgreater{} \textbar{} {*}"),
        ("[-1.5, .2]", "{[}$-$1.5, .2]"),  # no option of the line break before it
        ("-", "-"),
        ("random-cuts --by 2-3", "random-cuts -{}-by 2-3"),
        ("0.5 ±0.1, ≤1", r"0.5 $\pm$0.1, $\leq$1"),
        ("a\nb\x1b", "a?b?"),
    ],
)
def test_text_is_no_latex(text, wanted):
    assert latex_escaped(text) == wanted


@given(st.text(max_size=30))
def test_a_cell_of_latex_stays_a_cell(text):
    """No mark that ends a cell, a row, a group or a line is left without a backslash."""
    rest = re.sub(
        r"\\[%_&#{}$]|\\text\w+\{\}|\$(?:-|\\pm|\\leq)\$|\{[\[*]\}|-\{\}-", "", latex_escaped(text)
    )
    assert not set("\\%_&#{}$~^\n") & set(rest)


def test_a_latex_table_has_a_column_for_each_name():
    first, rule, head, *body = latex_table(("chunker", "a_b"), [("x", "1"), ("[y]", "2")])
    assert (first, rule, head) == (r"\begin{tabular}{lr}", r"\hline", r"chunker & a\_b \\")
    assert body == [r"\hline", r"x & 1 \\", r"{[}y] & 2 \\", r"\hline", r"\end{tabular}"]


def test_a_run_and_a_comparison_print_latex(tmp_path, capsys):
    options = {"retrievers": ("bm25",), "measures": ("MRR", "R@5")}
    result = grid(tmp_path, chunkers=("ast:max_size=120", "fixed"), **options)
    table = as_latex(run_document(result))
    assert r"chunker & MRR{*} & R@5{*} \\" in table
    assert r"ast:max\_size=120 & 1.000 .158-1 & 0.929 \\" in table
    assert r"\caption{small: 4 queries, bm25, profile default, data " in table
    out = tmp_path / "run"
    shown = call(capsys, "compare", out, "-m", "MRR", "--format", "latex").out
    assert shown.count(r"\begin{table}") == shown.count(r"\end{table}") == 2
    assert r"\caption{small: 4 queries in 2 clusters of 2 corpora" in shown
    assert r"ast:max\_size=120 & fixed & " in shown


def test_no_name_in_a_csv_is_a_formula():
    text = as_rows(["=a", "b"], [["\t=1+1", "-1"], ["\n@x", -1]], "csv")
    assert text == "'=a,b\n'\t=1+1,'-1\n\"'\n@x\",-1\n"
