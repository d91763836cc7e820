"""Masked lines: the rest of the file parses as before, and no word of the lines is left."""

import re

import pytest

from chunkers.grammars.parsing import parse
from chunkers.source import Source
from harness.model import Region
from harness.relevance.filler import mask_sources

# The lines from « to » are masked.
CASES = {
    "python: a condition with another branch": (
        "python",
        "a = 1\n«if box.tare > kilo:\n    weigh(b)»\nelse:\n    c()\n",
        "filled",
        ["if x.x > x:"],
    ),
    "python: the end of a string": (
        "python",
        'def f():\n    """Weighs it.\n«    In kilos.\n    """\n    return kilo(1)»\n\n\nx = f()\n',
        "filled",
        ['    """'],
    ),
    "python: the beginning of a string": (
        "python",
        'y = 1\n«text = f"""first {kilo}»\nlast"""\n',
        "filled",
        ['x = """x{x}'],
    ),
    "python: whole statements": (
        "python",
        "if a:\n    b()\n«    weigh(1)\n    weigh(2)»\n    c()\n",
        "whole",
        [],
    ),
    "python: arguments of a call that goes on": (
        "python",
        "f(\n    a,\n«    weigh(b),\n    kilo=c,»\n    d=e,\n)\n",
        "whole",
        [],
    ),
    "javascript: an arrow in a call": (
        "javascript",
        "const a = 1;\n«boxes.map((box) => {\n  const weight = box.weigh();»\n  return a;\n});\n",
        "filled",
        ["x.x((x) => {"],
    ),
    "javascript: a method of a class": (
        "javascript",
        "class A {\n«  weigh(box) {\n    if (box.ready) {»\n      f();\n    }\n  }\n}\n",
        "filled",
        ["  x(x) {", "    if (x.x) {"],
    ),
    "go: the end of one function and the head of the next": (
        "go",
        "package a\n\nfunc f() {\n\tif a {\n"
        "«\t\tb()\n\t}\n}\n\n// Weighs.\nfunc Weigh(box *Box) (int, int) {»\n\treturn 1, nil\n}\n",
        "filled",
        ["\t}", "}", "{"],
    ),
    "java: a loop in an anonymous class": (
        "java",
        "class A {\n  B b = new B() {\n"
        "«    public int weigh(Box box) {\n      for (Part part : box) {»\n"
        "        f();\n      }\n      return 1;\n    }\n  };\n}\n",
        "filled",
        ["    public int x(X x) {", "      for (X x : x) {"],
    ),
    "ruby: the end of one method and the head of the next": (
        "ruby",
        "class A\n  def f(a)\n    if a\n«      weigh(a)\n    end\n  end\n\n  def weigh(box)»\n"
        "    box\n  end\nend\n",
        "filled",
        ["    end", "  end", "  def x(x)"],
    ),
    "c: a comment that goes on, and names taken by the text": (
        "c",
        "int a;\n«int x(int xx) { return xx; }\n/* Weighs»\n   a box. */\nint b;\n",
        "filled",
        ["/*"],
    ),
    "javascript: a name that the text has": (
        "javascript",
        "class A {\n«  weigh(x, _x) {»\n    f();\n  }\n}\n",
        "filled",
        ["  xx(xx, xx) {"],
    ),
    "javascript: names that the kinds of their nodes have": (
        "javascript",
        "«if (box.property === user.private) {»\n  f();\n} else {\n  g();\n}\n",
        "filled",
        ["if (x.x === x.x) {"],
    ),
    "rust: arms of a match": (
        "rust",
        "fn f(a: A) -> u8 {\n    match a {\n"
        "«        A::Box(weight) => weigh(weight),\n        A::Crate(weight) => {»\n"
        "            g()\n"
        "        }\n    }\n}\n",
        "filled",
        ["        X::X(x) => {"],
    ),
    "php: a condition": (
        "php",
        "<?php\nf();\n«if ($box->weigh() > 1) {»\n    g();\n}\n",
        "filled",
        ["{"],
    ),
    "an error that is there already": (
        "python",
        "def f(:\n    a()\n«    weigh(b)»\n    c()\n",
        "whole",
        [],
    ),
    "no grammar": (None, "{\n«{ weigh»\n}\n", "whole", []),
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(("language", "marked", "state", "filler"), CASES.values(), ids=CASES)
def test_the_rest_parses_and_no_word_of_the_lines_is_left(language, marked, state, filler, ending):
    before, inside, after = re.split("[«»]", marked.replace("\n", ending))
    first = before.count("\n") + 1
    source = Source(before + inside + after, "a", language)
    region = Region("a", first, first + inside.count("\n"))
    (masked,) = mask_sources([(source, region, "q")])
    assert masked.parse == state
    lines = masked.source.text.split("\n")
    kept = lines[first - 1 : region.end_line]
    assert len(kept) == inside.count("\n") + 1
    assert [line.rstrip("\r") for line in kept if line.strip()] == filler
    assert lines[: first - 1] == before.split("\n")[:-1]
    assert lines[region.end_line :] == after.split("\n")[1:]
    if state == "filled":
        assert not parse(masked.source).has_error
