import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from chunkers.source import Source
from harness.building.docs.comments import DocumentedDefinition, StrippedSource, strip_doc_comments


def cut_of(text: str) -> StrippedSource:
    return strip_doc_comments(Source(text, "a.py", "python"))


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
    cut = cut_of(SOURCE)
    assert cut.source.text == CUT
    assert cut.documented == (
        DocumentedDefinition("C", ("Class.\n\nOf several lines.",), 4, 18, function=False),
        DocumentedDefinition("C.method", ("Method.",), 8, 15),
        DocumentedDefinition("C.method.inner", ("Inner.",), 13, 14),
        DocumentedDefinition("C.stub", ("Stub.",), 17, 18, empty=True),
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
    assert cut_of(before).source.text == after
    assert ast.dump(ast.parse(after)) == without_docstrings(ast.parse(before))


def test_definitions_in_every_kind_of_block_are_named_by_those_around_them() -> None:
    source = (
        "for a in b:\n  def one(): 'A'; 1\nelse:\n  def two(): 'A'; 1\n"
        "match x:\n  case 1:\n    def three(): 'A'; 1\n"
        "try: pass\nexcept E:\n  def four(): 'A'; 1\nfinally:\n  def five(): 'A'; 1\n"
        "class A:\n  with x:\n    class B:\n      async def six(self):\n        'A'\n"
        "        def seven(): 'A'; 1\n"
    )
    names = [one.name for one in cut_of(source).documented]
    assert names == ["one", "two", "three", "four", "five", "A.B.six", "A.B.six.seven"]


def test_the_library_keeps_its_meaning_and_loses_every_docstring() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    files = sorted(root.glob("*.py")) + sorted(root.glob("[a-z]*/[a-z_]*.py"))
    files = [file for file in files if file.parent.name not in ("site-packages", "lib2to3")]
    for file in files[:: max(1, len(files) // 120)]:
        text = file.read_text(encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes in test data
            cut = cut_of(text)
            tree = ast.parse(cut.source.text)
            before = ast.parse(text)
            assert ast.dump(tree) == without_docstrings(ast.parse(text)), file
        spans = {
            (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno)
            for n in ast.walk(tree)
            if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert {(one.start_line, one.end_line) for one in cut.documented} <= spans, file
        documented = sum(
            isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(n) is not None
            for n in ast.walk(before)
        )
        # Comments count for what has no docstring.
        above = [line.lstrip()[:1] for line in ["", *text.split("\n")]]
        commented = sum(
            isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and above[n.lineno - 1] == "#"
            and ast.get_docstring(n) is None
            for n in ast.walk(before)
        )
        assert documented <= len(cut.documented) <= documented + commented, file
