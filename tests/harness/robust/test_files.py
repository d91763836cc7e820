"""Single files: what each transformation leaves alone, and where it stops."""

import pytest

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Region, Target
from harness.robust.transformations import TRANSFORMATIONS, transform


def after(name, text, path="a.py", language="python", targets=(), regions=(), seed=0):
    """A file after a transformation, and the lines of the queries' targets and regions."""
    queries = [
        Query(f"q{number}", "c", "?", (Target(path, *lines),))
        for number, lines in enumerate(targets)
    ]
    queries += [
        Query(f"r{number}", "c", "?", (Target(path),), region=Region(path, *lines))
        for number, lines in enumerate(regions)
    ]
    dataset = Dataset("d", "span", (Corpus("c", (Source(text, path, language),)),), tuple(queries))
    new, _ = transform(dataset, name, seed)
    lines = [(target.start_line, target.end_line) for query in new.queries
             for target in query.targets if target.start_line is not None]  # fmt: skip
    lines += [(query.region.start_line, query.region.end_line) for query in new.queries
              if query.region]  # fmt: skip
    return new.corpora[0].sources[0].text, lines


@pytest.mark.parametrize("name", list(TRANSFORMATIONS)[1:])
@pytest.mark.parametrize(
    ("text", "path", "language"),
    [
        ("def f(:\n    x\n\n", "a.py", "python"),
        ("plain\n\n    text # x\n", "a.txt", None),
        ("<template>\n    <p/>\n</template>\n\n<script>\nf() // x\n</script>\n", "a.vue",
         "javascript"),
        ("", "a.py", "python"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_proved_the_same_stays(name, text, path, language):
    assert after(name, text, path, language)[0] == text


def test_strings_of_several_lines_are_not_touched():
    text = 'def f():\n    x = """a\n    b\n\n    # no comment\n"""\n\n    return x\n'
    assert after("indent-2", text)[0] == text.replace("    x =", "  x =").replace(
        "    return", "  return"
    )
    assert after("blank-lines", text)[0] == text.replace('"""\n\n', '"""\n\n\n')
    assert after("no-comments", text)[0] == text
    script = "function f() {\n    return `a\n    b\n\n// c\n`;\n}\n"
    for name in ("blank-lines", "no-comments"):
        assert after(name, script, "a.js", "javascript")[0] == script
    assert after("indent-tab", script, "a.js", "javascript")[0] == script.replace(
        "    return", "\treturn"
    )
    document = "<?php\n$a = <<<X\na\nb\nX;\n"
    assert after("crlf", document, "a.php", "php")[0] == document
    assert after("crlf", document[:6] + "f();\n", "a.php", "php")[0] == "<?php\r\nf();\r\n"
    assert after("crlf", "cd x\n", "a.sh", "bash")[0] == "cd x\n"
    heredoc = "def f\n    x = <<A\n    y\n\n      z\nA\n    x\nend\n"
    indented = heredoc.replace("    x = <", "  x = <").replace("A\n    x\n", "A\n  x\n")
    assert after("indent-2", heredoc, "a.rb", "ruby")[0] in (heredoc, indented)
    assert after("blank-lines", heredoc, "a.rb", "ruby")[0] == heredoc
    script = "run: |\n    if x; then\n        echo 1\n    fi\n"
    assert after("indent-2", script, "a.yml", "yaml")[0] == script
    page = "<div>\n    <pre>\n    a\n        b\n    </pre>\n</div>\n"
    assert after("indent-2", page, "a.html", "html")[0] == page


def test_comments_that_compilers_and_data_bases_read_stay():
    for text, path, language in (
        ('/// <reference path="x.d.ts" />\nf();\n', "a.ts", "typescript"),
        ("#' @export\nf <- function(x) x\n", "a.r", "r"),
        ("SELECT /*+ INDEX(a) */ x FROM a;\n", "a.sql", "sql"),
    ):
        assert after("no-comments", text, path, language)[0] == text


def test_other_units_of_indentation_stay():
    for text in ("def f():\n  if x:\n    return 1\n", "def f():\n\tif x:\n\t\treturn 1\n"):
        assert after("indent-2", text)[0] == after("indent-tab", text)[0] == text
    mixed = "if a:\n  if b:\n    c\nif d:\n    if e:\n        f\n        if g:\n            h\n"
    assert after("indent-tab", mixed)[0] == mixed  # "  " and a tab would be one block
    aligned = "def f(a,\n      b):\n    if a:\n        return b\n"
    assert after("indent-2", aligned)[0] == ("def f(a,\n    b):\n  if a:\n    return b\n")


def test_the_header_stands_below_what_must_be_first():
    for first, path, language, mark in (
        ("#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n", "a.py", "python", "# "),
        ("#!/bin/sh\n", "a.sh", "bash", "# "),
        ("<?php\n", "a.php", "php", "// "),
        ("", "a.go", "go", "// "),
    ):
        rest = "package a\n" if language == "go" else "f();\n" if language == "php" else "f\n"
        text, lines = after(
            "header", first + rest, path, language, [(1, 1), (first.count("\n") + 1,) * 2]
        )
        assert text.startswith(f"{first}{mark}Copyright The Authors\n{mark[:2].strip()}\n")
        assert text.endswith(f"limitations under the License.\n\n{rest}")
        assert lines[1] == (text.count("\n"),) * 2
        assert lines[0] == ((1, 1) if first else lines[1])


RUN = "def a():\n    pass\n\n\n# of b\ndef b():\n    return a()\n\n\ndef c(x=1):\n    return x\n"


def test_functions_change_places_with_the_comments_above_them():
    text, lines = after("order", RUN, targets=[(1, 2), (5, 7), (10, 11), (1, 11)])
    assert text != RUN
    for old, (first, last) in zip([(1, 2), (5, 7), (10, 11)], lines, strict=False):
        assert text.split("\n")[first - 1 : last] == RUN.split("\n")[old[0] - 1 : old[1]]
    assert lines[3] == (1, 11)
    assert {after("order", RUN, seed=seed)[0] for seed in range(20)} > {text}


@pytest.mark.parametrize("places", [{"targets": [(1, 7)]}, {"targets": [(2, 5)]},
                                    {"regions": [(6, 10)]}, {"targets": [(8, 11)]}])  # fmt: skip
def test_functions_stay_where_a_target_would_be_torn(places):
    assert after("order", RUN, **places)[0] == RUN


@pytest.mark.parametrize(
    "second",
    [
        "def a():\n    pass\n",  # the later one counts
        "def b(x=a):\n    pass\n",
        "def b(x: a):\n    pass\n",
        "def b(x=f()):\n    pass\n",
        "@d\ndef b():\n    pass\n",
        "x = 1\n",
    ],
)
def test_functions_whose_order_may_matter_stay(second):
    for text in (f"def a():\n    pass\n\n\n{second}", f"{second}\n\ndef a():\n    pass\n"):
        assert after("order", text)[0] == text
    for shared in (
        "function a() {} f();\nfunction b() {}\n",
        "function a() {} /* x */ /* y */ f();\nfunction b() {}\n",
        "function a() {} /* x\n*/\nfunction b() {}\n",
        "const c = () => {\n  function a() {}\n  function b() {}\n};\n",
    ):
        assert after("order", shared, "a.js", "javascript")[0] == shared
    script = "class A {\n  @d\n  a() {}\n  b() {}\n}\n"
    assert after("order", script, "a.ts", "typescript")[0] == script
    overloads = "function a(x: string): void;\nfunction a(x: any) {}\nfunction b() {}\n"
    assert after("order", overloads, "a.ts", "typescript")[0] == overloads
    declared = "void a(void) {}\n\nvoid b(void) { a(); }\n"
    assert after("order", declared, "a.c", "c")[0] == declared


@pytest.mark.parametrize(
    ("path", "language", "text"),
    [
        ("a.js", "javascript", "export function a() {}\n\nfunction b() {}\n"),
        ("a.go", "go", "package a\n\nfunc (x *T) S() {}\n\nfunc (x *U) S() {}\n"),
        ("a.java", "java", "class A {\n    void a() {}\n\n    void b() {}\n}\n"),
        ("a.rs", "rust", "fn a() {}\n\n/// Of b.\nfn b() {}\n"),
        ("a.rb", "ruby", "class A\n  def a\n  end\n\n  def b\n  end\nend\n"),
    ],
)
def test_functions_of_other_languages_change_places(path, language, text):
    new = after("order", text, path, language)[0]
    assert new != text
    assert sorted(new.split("\n")) == sorted(text.split("\n"))


KEPT = """\
def f(a, b=1, *c, d=2, **e):
    global g
    g = 1
    a = b
    import os as h
    try:
        g.i = len(c)
    except OSError as j:
        print(j, k=1)
    '''l'''
    l = 1
    m = f"{m}"
    def n(o):
        nonlocal p
        p = q = 1
    p = q = n
    r = [r for r in e]
    match a:
        case {"x": s, **t}:
            u = s
            s = t = 1
    return h, lambda w: (w := d)
"""


def test_names_that_may_be_seen_from_outside_stay():
    new = after("names", KEPT)[0]
    assert new == KEPT.replace("u = s", "v1 = s").replace("p = q = 1", "p = v1 = 1")
    for reader in ("locals()", "eval(a)", "sys._getframe(1)", "vars()"):
        text = f"def f(a):\n    x = a\n    return {reader}\n"
        assert after("names", text)[0] == text


def test_a_local_name_is_replaced_wherever_it_is_read():
    text = (
        "x = 'é', v1\n\n\ndef f(a):\n"
        "    x = 'é' + a.x; y: int = 0\n"
        "    for i, (x, z) in g(x=x):\n        y += x[i] if z else [w for _ in z]\n"
        "    with open(y) as k, k: del y\n"
        "    w = x\n    return lambda: x.w\n"
    )
    # v1 is taken in this file; w and x are read by scopes inside.
    assert after("names", text)[0] == (
        "x = 'é', v1\n\n\ndef f(a):\n"
        "    x = 'é' + a.x; v2: int = 0\n"
        "    for v3, (x, v4) in g(x=x):\n        v2 += x[v3] if v4 else [w for _ in v4]\n"
        "    with open(v2) as v5, v5: del v2\n"
        "    w = x\n    return lambda: x.w\n"
    )


def test_comments_go_with_their_lines():
    text = (
        "#!/usr/bin/env python\n# coding: utf-8\n# gone\nx = 1  # gone\n\n"
        "def f():  # type: ignore\n    # gone\n    return '# stays'\n    # gone\n"
    )
    new, lines = after("no-comments", text, targets=[(6, 9), (7, 9)])
    assert new == (
        "#!/usr/bin/env python\n# coding: utf-8\nx = 1\n\n"
        "def f():  # type: ignore\n    return '# stays'\n"
    )
    assert lines == [(5, 6), (6, 6)]
    script = "f(a /* gone */, b/* gone */+ c); // gone\n/* gone\n*/\n/* stays\n*/ g();\n"
    assert after("no-comments", script, "a.js", "javascript")[0] == (
        "f(a  , b + c);\n/* stays\n*/ g();\n"
    )
    tags = "//go:build linux\n\n// gone\npackage a\n"
    assert after("no-comments", tags, "a.go", "go")[0] == "//go:build linux\n\npackage a\n"


def test_a_comment_that_is_all_of_a_target_stays():
    text = "# one\nx = 1\n# two\n"
    assert after("no-comments", text)[0] == "x = 1\n"
    for places in ({"targets": [(1, 1)]}, {"regions": [(3, 3)]}):
        assert after("no-comments", text, **places)[0] == text


def test_lines_beyond_the_end_stay_beyond_it():
    _, lines = after("header", "x = 1\n", targets=[(1, 9), (2, 2)])
    assert lines == [(15, 23), (16, 16)]


def test_files_with_crlf_keep_their_line_ends():
    text = "def f():\r\n    x = 1\r\n\r\n    return x  # gone\r\n"
    assert after("crlf", text)[0] == text
    assert after("indent-2", text)[0] == text.replace("    ", "  ")
    assert after("blank-lines", text)[0] == text.replace("\r\n\r\n", "\r\n\r\n\r\n")
    assert after("no-comments", text)[0] == text.replace("  # gone", "")
    assert after("header", text)[0].count("\r\n") == after("header", text)[0].count("\n") == 18
