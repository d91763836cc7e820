import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from harness.loaders.docstrings import Function, cut_docstrings


def without_docstrings(tree: ast.Module) -> str:
    """The tree as it must be after the cut, made by other means."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            while (
                node.body
                and isinstance(node.body[0], ast.Expr)
                and isinstance(node.body[0].value, ast.Constant)
                and isinstance(node.body[0].value.value, str)
            ):
                node.body.pop(0)
            if not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.Pass())
    return ast.dump(tree)


SOURCE = '''#!/usr/bin/env python
"""Module."""
import os

class C:
    """Class.

    Of several lines.
    """

    x = 1

    @property
    @other(
        1
    )
    def method(self):
        """Method."""
        def inner():
            "Inner."
            return 2
        return inner

    def stub(self):
        """Stub."""

async def late():
    return """No docstring."""
'''
CUT = '''#!/usr/bin/env python
import os

class C:

    x = 1

    @property
    @other(
        1
    )
    def method(self):
        def inner():
            return 2
        return inner

    def stub(self):
        pass

async def late():
    return """No docstring."""
'''


def test_docstrings_go_with_their_lines_and_gold_follows() -> None:
    text, functions = cut_docstrings(SOURCE)
    assert text == CUT
    assert functions == (
        Function("C.method", "Method.", False, 8, 15),
        Function("C.method.inner", "Inner.", False, 13, 14),
        Function("C.stub", "Stub.", True, 17, 18),
        Function("late", None, False, 20, 21),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('def f(): "doc"\n', "def f(): pass\n"),
        ('def f(): "doc"; return 1\n', "def f(): return 1\n"),
        ('def f():\n    "doc"; return 1\n', "def f():\n    return 1\n"),
        ('def f():\n    "doc";\n    return 1\n', "def f():\n    return 1\n"),
        ('def f():\n    "doc"  # why\n    return 1\n', "def f():\n      # why\n    return 1\n"),
        ('def f():\n    ("a"\n     "b")\n    return 1\n', "def f():\n    return 1\n"),
        ('def f():\n    "one"\n    """two"""\n    return 1\n', "def f():\n    return 1\n"),
        ('def f():\n    "one"\n    "two"\n', "def f():\n    pass\n"),
        ('class C:\n    "doc"\n', "class C:\n    pass\n"),
        ('"é"; "ü"; x = "ö"\n', 'x = "ö"\n'),
        ('def é(ü="ö"): "ä"; return "ß"\n', 'def é(ü="ö"): return "ß"\n'),
        ('def f():\r\n    """a\r\n    b"""\r\n    return 1\r\n', "def f():\r\n    return 1\r\n"),
        ('\f\ndef f():\n    "doc"\n    \f\n    return 1\n', "\f\ndef f():\n    \f\n    return 1\n"),
        ('"doc"', ""),
        ("", ""),
        ('def f():\n    f"{1}"\n    b"x"\n', 'def f():\n    f"{1}"\n    b"x"\n'),
        ('if 1:\n    "no docstring"\n', 'if 1:\n    "no docstring"\n'),
        ('x = 1\n"no docstring"\n', 'x = 1\n"no docstring"\n'),
        ('try:\n    def f():\n        "d"\nexcept E:\n    class C:\n        "d"\n',
         "try:\n    def f():\n        pass\nexcept E:\n    class C:\n        pass\n"),
    ],
)  # fmt: skip
def test_only_the_docstring_goes(before: str, after: str) -> None:
    assert cut_docstrings(before)[0] == after
    assert ast.dump(ast.parse(after)) == without_docstrings(ast.parse(before))


def test_lone_carriage_returns_end_no_line() -> None:
    text, (function,) = cut_docstrings('x = 1\ry = 2\ndef f():\r    "doc"\r    return 1\nz = 3\n')
    assert ast.get_docstring(ast.parse(text).body[2]) is None  # type: ignore[arg-type]
    assert (function.start_line, function.end_line) == (2, 2)


def test_definitions_in_every_kind_of_block_are_named_by_those_around_them() -> None:
    source = (
        "for a in b:\n  def one(): 1\nelse:\n  def two(): 1\n"
        "match x:\n  case 1:\n    def three(): 1\n"
        "try: pass\nexcept E:\n  def four(): 1\nfinally:\n  def five(): 1\n"
        "class A:\n  with x:\n    class B:\n      async def six(self):\n        def seven(): 1\n"
    )
    names = [function.name for function in cut_docstrings(source)[1]]
    assert names == ["one", "two", "three", "four", "five", "A.B.six", "A.B.six.seven"]


def test_what_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        cut_docstrings("def")


def test_the_library_keeps_its_meaning_and_loses_every_docstring() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    files = sorted(root.glob("*.py")) + sorted(root.glob("[a-z]*/[a-z_]*.py"))
    files = [file for file in files if file.parent.name not in ("site-packages", "lib2to3")]
    for file in files[:: max(1, len(files) // 120)]:
        text = file.read_text(encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes in test data
            cut, functions = cut_docstrings(text)
            tree = ast.parse(cut)
            assert ast.dump(tree) == without_docstrings(ast.parse(text)), file
        spans = {
            (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno)
            for n in ast.walk(tree)
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert {(f.start_line, f.end_line) for f in functions} == spans, file
