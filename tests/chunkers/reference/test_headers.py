"""What the headers of code-chunk say, language by language."""

import pytest

from chunkers.reference.code_chunk_ast import reference_chunks


def header(text, path, max_size=1500, chunk=0):
    """The lines of a chunk's header by their label, the path's and the overlap left out."""
    lines = reference_chunks(text, path, max_size=max_size)[chunk].header.split("\n\n")[0]
    labelled = (line.removeprefix("# ").partition(": ") for line in lines.split("\n")[1:])
    return {label: value for label, _, value in labelled}


USES = {
    "module and names": ("from a.b import c as d, e", "a.py", "a.b, d, e"),
    "relative modules give their names alone": ("from . import e", "a.py", "e"),
    "a relative module without names": ("from .f import *", "a.py", ".f"),
    "several modules": ("import g.h as i, j.k", "a.py", "i, j.k"),
    "no future": ("from __future__ import annotations\nimport os", "a.py", "os"),
    "the first ten": (
        "import a, b, c, d, e, f, g, h, i, j, k",
        "a.py",
        "a, b, c, d, e, f, g, h, i, j",
    ),
    "default, namespace": ("import d, * as n from 'x'", "a.js", "d, n"),
    "aliases": ("import {a as b, default as c, d} from 'x'", "a.mjs", "b, c, d"),
    "types": ("import type {A, B as C} from 'x'", "a.ts", "A, C"),
    "sources": ("import {} from \"x\"; import './y'", "a.ts", "x, ./y"),
    "required": ("import x = require('y')", "a.ts", "<anonymous>"),
    "paths": ("use a; use a::B; use a::c as _; use super::self;", "a.rs", "a, B, _, self"),
    "lists": (
        "use a::{self, B, c::{D, e as f}}; use {}; use a::*;",
        "a.rs",
        "B, D, f, <anonymous>, *",
    ),
    "a list without names": ("use a::{self};", "a.rs", "a::{self}"),
    "go": (
        'package p\nimport (\n\ta "x/y"\n\t_ "z"\n\t. "w"\n\t"q/v2"\n\t"f.v3"\n\t`r/s`\n)\n'
        "import ()\n",
        "a.go",
        "<anonymous>, a, _, ., v2, f.v3, s`, <anonymous>",
    ),
    "java": (
        "import a.b.C; import a.b.*; import static x.Y.z; import Q;",
        "A.java",
        "C, b, z, <anonymous>",
    ),
}


@pytest.mark.parametrize("case", USES)
def test_imports_give_their_names(case):
    text, path, expected = USES[case]
    assert header(text, path)["Uses"] == expected


DEFINES = {
    "python": (
        "@d\nclass A(B) : # c\n  @e\n  async def f(self,\n      x) -> int :\n    def g(): pass\n",
        "a.py",
        "class A(B) : # c, async def f(self, x) -> int, def g()",
    ),
    "javascript": (
        "export default function* f(a = class { m() {} }) {}\n"
        "class A extends B { static async x() {} get y() {} #p() {} 's'() {} z = () => 1 }\n"
        "const g = () => 1; const o = { m() {} };\n",
        "a.js",
        "export default function* f(a = class { m() {} }) {}, function* f(a = class { m() {} }), "
        "m(), class A extends B, static async x(), get y()",
    ),
    "typescript": (
        "export { a,\n  b };\nexport * from 'x';\n"
        "function f(a = class { m() {} }): { x: {} } { return a }\nfunction g(): void;\n"
        "abstract class Q<T> { #p(): void {} ['c']() {} abstract n(): void; o?: string }\n"
        "interface I extends J { k(): void }\nenum E { A = 1 }\ntype R<T, E = X> = T\n"
        "namespace N { function inner() {} }\n",
        "a.ts",
        "export { a, b };, m(), function f(a = class { m() {} }): { x: {} }, "
        "abstract class Q<T>, #p(): void, ['c'](), interface I extends J, enum E, type R<T, E, "
        "function inner()",
    ),
    "rust": (
        "pub struct W(u8);\nstruct K<'a> { x: &'a str }\nstruct P<A, B = A> { x: A }\n"
        "struct M(\n  u8,\n);\nenum E { A }\ntype T = u8;\n"
        "impl<T> Tr for S<T> where T: A, { type O = u8; fn g(&self) -> u8 { 1 } }\n"
        "trait Tr { type O; fn h(); fn i() {} }\nmod m { const fn j() {} }\nconst C: u8 = 1;\n",
        "a.rs",
        "pub struct W(u8);, struct K<'a> { x: &'a str }, struct P<A, B, struct M(, enum E, "
        "type T, impl<T> Tr for S<T> where T: A,, type O, fn g(&self) -> u8, trait Tr, "
        "fn i(), const fn j()",
    ),
    "go": (
        "package p\ntype (\n\tA interface { M(x int) error }\n\tB[T any] struct {}\n)\n"
        "type F func(int) error\ntype C interface { N() interface{ x() } }\ntype D = A\n"
        "func (c *C) m() interface{} { return nil }\nfunc (C) n() {}\nfunc (_ C) o() {}\n"
        "func z()\n",
        "a.go",
        "M(x int) error, A interface, B[T any] struct, F func(int) error, C interface, "
        "N() interface, x(), func (c *C) m() interface{}, func (_ C) o(), func z()",
    ),
    "java": (
        "@A(x = 1) enum E { P(1) { void k() {} }, Q }\n@interface N { int v() default 0; }\n"
        "class K<T> extends L { @A(b = 1) K(int x) {} K() throws X {} abstract void m(int a); }\n"
        "record R(int a) { R {} void q() {} }\ninterface I { void i(); }\n",
        "A.java",
        "@A(x, P(1), void k(), Q, @interface N, int v() default 0;, class K<T> extends L, @A(b, "
        "K() throws X, abstract void m(int a);, void q(), interface I, void i();",
    ),
}


@pytest.mark.parametrize("language", DEFINES)
def test_definitions_give_their_signatures(language):
    text, path, expected = DEFINES[language]
    assert header(text, path)["Defines"] == expected


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("impl S", "S"),
        ("impl Tr for S", "Tr"),
        ("impl Tr<T> for S", "S"),
        ("impl m::Tr for S", "S"),
        ("impl S<T>", "<anonymous>"),
        ("impl m::Tr for S<T>", "<anonymous>"),
    ],
)
def test_an_implementation_is_called_by_its_first_plain_name(head, name):
    assert header(f"{head} {{ fn f() {{}} }}\n", "a.rs")["Scope"] == name


def test_the_scope_goes_from_the_outside_to_where_the_chunk_starts():
    text = "class A:\n  class B:\n    def f(self):\n      return 'aaaaaaaaaa'\n"
    assert header(text, "a.py", max_size=18, chunk=-1)["Scope"] == "A > B > f"


def test_neighbours_are_the_three_nearest_of_the_scope_that_do_not_overlap():
    text = "".join(f"def f{number}():\n  return {number}\n\n" for number in range(9))
    middle = header(text, "a.py", max_size=15, chunk=4)
    assert middle == {
        "Scope": "f4",
        "Defines": "def f4()",
        "After": "f3, f2, f1",
        "Before": "f5, f6, f7",
    }


def test_a_chunk_outside_every_scope_has_the_outermost_for_neighbours():
    text = "".join(f"def f{number}():\n  return {number}\n\nx = {number}\n" for number in range(5))
    outside = header(text, "a.py", max_size=15, chunk=5)
    assert outside == {"After": "f2, f1, f0", "Before": "f3, f4"}


def test_a_missing_name_is_empty():
    assert header("class {\n  f() {}\n}\n", "a.js").get("Scope", "") == ""
