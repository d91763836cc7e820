"""Where `ast` cuts. In the programs, a line `~~~` stands where a cut is expected."""

import pytest

from chunkers import Services, Source, load_chunker
from chunkers.sizes import span_size

# In these a stray bracket is text.
NO_ERRORS = {"html", "markdown", "yaml"}

CASES = {
    "python: comments and decorators stay with their definition": (
        "python",
        60,
        """\
import os
LIMIT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

~~~
# What f does.
# More about it.
@deco
@other(1)
def f(x):
    return x
~~~
# A comment of its own.

VALUE = 1
~~~
@deco
# between
class A:
    # about g
    @property
    def g(self): return 1
""",
    ),
    "python: the opening lines go with the first statements": (
        "python",
        60,
        '''\
@deco
class Reader(Base):
    """Reads things."""

    size = 600
~~~
    def read(self, path, limit):
        with open(path) as file:
            text = file
~~~
        return [line for line in text.splitlines() if line.strip()]
~~~

    def close(self):
        self.closed = True
''',
    ),
    "python: neighbours are merged as long as they fit, a small rest with some of them": (
        "python",
        20,
        """\
a = 1
b = 2
c = 3
~~~
d = 4
e = 5
f = 6
g = 7
""",
    ),
    "python: a text is cut by lines": (
        "python",
        30,
        '''\
TEXT = """
one two three four
~~~
five six seven eight nine ten
~~~
eleven twelve thirteen
"""
''',
    ),
    "javascript: comments, decorators and exports stay together": (
        "javascript",
        60,
        """\
import { a } from 'a';
import { b } from 'b';

~~~
/**
 * What f does.
 */
export default function f(x) {
  return x + 1;
}
~~~
// About A.
@deco
export class A {
  x = 1;

~~~
  // About g.
  @bound
  @cached({ size: 1 })
  g() {
    return this.x;
  }
}
""",
    ),
    "javascript: closing brackets stay with the piece before": (
        "javascript",
        40,
        """\
foo(function () {
  one(1, 2, 3);
  two(1, 2, 3);
~~~
  three(1, 2, 3);
  four([
    1,
  ]);
});
~~~
const table = {
  a: 'aaaaaaaaaaaaaaaa',
~~~
  b: 'bbbbbbbbbbbbbbbbbbbbbbb',
};
""",
    ),
    "typescript: decorators and overloads": (
        "typescript",
        80,
        """\
interface Shape { x: number; y: number; z: number; name: string; }

~~~
// About C.
@Component({
  selector: 'c',
})
export class C {
  @Input() name = '';
  @Input()
  size = 0;

~~~
  /** Reacts. */
  @HostListener('click')
  onClick(event: Event): void {
    this.size += 1;
  }
}
""",
    ),
    "tsx: elements are cut between their children": (
        "tsx",
        60,
        """\
// The view.
const View = (props: Props) => (
  <ul className="list">
~~~
    <li>the first entry of the list</li>
    <li>the second one</li>
~~~
    <li>
      <b>{props.name}</b>
    </li>
  </ul>
);
""",
    ),
    "java: comments and annotations stay with their method": (
        "java",
        70,
        """\
/** What it is. */
@Entity
public class A {
    private int x = 1;

~~~
    // About f.
    @Override
    @SuppressWarnings("unchecked")
    public int f() {
        return x;
    }
~~~

    /* About g. */
    void g() {
    }
}
""",
    ),
    "go: comments stay with their declaration": (
        "go",
        60,
        """\
package a

import "fmt"

~~~
// T is a thing.
// It has a size.
type T struct {
	size int
}
~~~
// F prints.
//
//go:noinline
func (t *T) F() {
	fmt.Println(t.size)
}
~~~
/* G does nothing. */
func G() {}
""",
    ),
    "rust: doc comments and attributes stay with their item": (
        "rust",
        70,
        """\
//! About the crate.
#![allow(dead_code)]
use std::fmt;

~~~
/// A thing.
/// It has a size.
#[derive(Debug, Clone)]

pub struct T {
    size: u8,
}
~~~
impl T {
    /// Gives the size.
    #[inline]
    #[must_use]
    fn f(&self) -> u8 {
        self.size
    }
}
~~~
#[cfg(test)]
mod tests {
    #[test]
    fn works() { assert!(true); }
}
""",
    ),
    "c: comments stay with their function and the body is entered from any style": (
        "c",
        60,
        """\
#include <stdio.h>
#define LIMIT 100

~~~
/* Whether x is small. */
static int
small(int x)
{
    return x < LIMIT;
}
~~~
// Prints it all, line by line.
void print_all(int count)
{
    int at = 0;
~~~
    while (at < count) {
        printf("%d", at);
        at++;
    }
    puts("");
}
""",
    ),
    "cpp: comments, templates and access specifiers stay with what follows": (
        "cpp",
        100,
        """\
#pragma once
#include <vector>
~~~
namespace n {

/// A list of things.
template <typename T>
class List : public Base<T> {
public:
    List() = default;

~~~
    // Adds one.
    template <class U>
    void add(U&& one) {
        all.push_back(one);
    }

~~~
private:
    std::vector<T> all;
};

}  // namespace n
""",
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_cuts_fall_where_they_are_expected(cut, case):
    language, size, marked = CASES[case]
    expected = [piece.strip("\n") for piece in marked.split("~~~\n")]
    found = cut(f"ast:max_size={size}", marked.replace("~~~\n", ""), language)
    assert [piece.strip("\n") for piece in found] == expected


def test_a_comment_parts_from_a_definition_only_where_both_do_not_fit(cut):
    text = "x = 1\n" + "# a comment\n" * 3 + "def f():\n    return 12345\n"
    assert cut("ast:max_size=47", text) == ["x = 1\n", text[6:]]
    assert cut("ast:max_size=45", text) == ["x = 1\n", text[6:]]
    assert cut("ast:max_size=44", text) == ["x = 1\n" + "# a comment\n" * 3, text[42:]]


def test_a_file_that_fits_is_one_chunk(cut, programs):
    for language, text in programs.items():
        assert cut("ast:max_size=10000", text, language) == [text]


def test_blank_lines_at_the_ends_of_a_chunk_are_left_out(cut):
    assert cut("ast:max_size=5", "\n\n  \na = 1\n\n\n\nb = 2\n \n") == ["a = 1\n", "b = 2\n"]


@pytest.mark.parametrize("unit", ["nws", "chars", "tokens"])
def test_the_limit_counts_in_the_chosen_unit(programs, unit):
    source = Source(programs["python"], "a.py", "python")
    services = Services(count_tokens=lambda text: len(text.split()))
    spans = load_chunker(f"ast:max_size=50,unit={unit}").chunk(source, services)
    sizes = [span_size(source, span, unit, services) for span in spans]
    single = [len(source.text[span.start : span.end].splitlines()) == 1 for span in spans]
    assert all(size <= 50 or alone for size, alone in zip(sizes, single, strict=True))
    # Less would mean that another unit had been counted.
    assert max(size for size, alone in zip(sizes, single, strict=True) if not alone) > 40


@pytest.mark.parametrize("name", ["ast", "function", "random-cuts"])
@pytest.mark.parametrize("language", ["cmake", "cobol", None])
def test_a_language_without_a_grammar_is_cut_by_lines_and_said_so(name, language):
    source = Source("x = 1\n" * 300, "a.txt", language)
    services = Services()
    spans = load_chunker(name).chunk(source, services)
    assert services.notes == {f"fallback: fixed ({language or 'unknown language'})": 1}
    if name != "random-cuts":
        assert spans == load_chunker("fixed").chunk(source, Services())


@pytest.mark.parametrize("name", ["ast", "function", "random-cuts"])
def test_a_syntax_error_is_noted_and_loses_nothing(name, spans_of, programs):
    chunker = load_chunker(f"{name}:max_size=80")
    for language, text in programs.items():
        services = Services()
        chunker.chunk(Source(text, "a", language), services)
        assert not services.notes, language
        broken = Source("(((\n" + text.replace(")", ""), "a", language)
        chunker.chunk(broken, services)
        errors = {} if language in NO_ERRORS else {"syntax error": 1}
        assert services.notes == errors, language
        spans_of(chunker, broken)
