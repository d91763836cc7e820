"""Where `function` cuts. In the programs, a line `~~~` stands where a cut is expected."""

import pytest

CASES = {
    "python": """\
import os
LIMIT = 1

~~~
# About f.
@deco
@other(
    1,
)
def f(x):
    def inner():
        return x
    return inner

~~~
@dataclass
class A:
    # The size.
    size: int = 1

~~~
    # About g.
    @property
    def g(self): return 1
~~~
    async def h(self):
        pass

~~~
    name: str = ''

if True:
~~~
    def late(): pass
~~~
else:
    late = None

class Empty: pass
""",
    "javascript": """\
const a = require('a');

~~~
/** About f. */
export default async function f(x) {
  return () => x;
}
~~~
function* g() { yield 1; }

~~~
// About h.
export const h = (x) => {
  return x;
};
~~~
let one = 1, two = 2;
~~~
module.exports.k = function () {
  return 1;
};
~~~

class A extends B {
  x = 1;
~~~
  // About m.
  static m() {
    return 1;
  }
~~~
  n = () => {
    return 2;
  };
}
~~~

const table = {
  low: 1,
~~~
  find(name) {
    return this[name];
  },
~~~
  other: function () { return 1; },
};
~~~

(function () {
~~~
  function hidden() {}
~~~
  hidden();
})();
""",
    "typescript": """\
interface A {
  f(): void;
}
~~~
export function g(x: string): string {
  return x;
}
~~~

@Component({ selector: 'c' })
export class C {
  @Input() name = '';

~~~
  constructor(private readonly service: Service) {}

~~~
  // Reacts.
  @HostListener('click')
  onClick(): void {
  }
}
""",
    "tsx": """\
import React from 'react';

~~~
// A row.
const Row: React.FC = () => {
  return <li>one</li>;
};
~~~
export default function List() {
  return (
    <ul>
      <Row />
    </ul>
  );
}
""",
    "java": """\
package a;

/** A. */
public class A {
    private int x;

~~~
    /** Makes it. */
    public A() {
        x = 1;
    }

~~~
    // About f.
    @Override
    public int f() {
        Runnable run = () -> { x = 2; };
        return x;
    }
}
~~~

interface B {
~~~
    void g();
~~~
    default void h() {}
}
""",
    "go": """\
package a

import "fmt"

type T struct{ x int }

~~~
// F does it.
//
//go:noinline
func (t *T) F() {
	g := func() {}
	g()
}
~~~
func main() { fmt.Println(1) }
""",
    "rust": """\
//! About it.
use std::fmt;

struct T;

impl T {
~~~
    /// About f.
    #[inline]
    pub fn f(&self) -> u8 {
        1
    }
}
~~~

#[cfg(test)]
mod tests {
    use super::*;

~~~
    #[test]
    fn works() {}
}
""",
    "c": """\
#include <stdio.h>

int declared(int x);

struct s {
    int x;
};

~~~
/* About f. */
static int
f(void)
{
    return 1;
}
~~~
int main(void) { return f(); }
""",
    "cpp": """\
#include <vector>

namespace n {

class A {
public:
    int x;

~~~
    // Makes it.
    A() : x(1) {}

~~~
    template <typename T>
    T f(T value) {
        return value;
    }

~~~
private:
    int g() const { return x; }
};
~~~

template <typename T>
class B;

~~~
/// About h.
template <typename T>
int B<T>::h() {
    return 1;
}

}
""",
}


@pytest.mark.parametrize("language", sorted(CASES))
def test_each_definition_is_a_chunk_with_what_stands_above_it(cut, language):
    marked = CASES[language]
    expected = [piece.strip("\n") for piece in marked.split("~~~\n")]
    found = cut("function:max_size=1000", marked.replace("~~~\n", ""), language)
    assert [piece.strip("\n") for piece in found] == expected


def test_the_rest_is_grouped_as_long_as_it_fits(cut):
    text = "a = 1\nb = 2\nc = 3\n\ndef f():\n    pass\n\nd = 4\n"
    assert cut("function:max_size=11", text) == [
        "a = 1\nb = 2\nc = 3\n",
        "def f():\n    pass\n",
        "d = 4\n",
    ]
    assert cut("function:max_size=6", text)[:2] == ["a = 1\nb = 2\n", "c = 3\n"]


def test_what_is_too_large_is_split_as_ast_does(cut, programs):
    body = "".join(f"    value_{number} = {number}\n" for number in range(40))
    text = f"import os\n\n\n# About f.\ndef f():\n{body}\n\nx = 1\n"
    pieces = cut("function:max_size=100", text)
    assert (pieces[0], pieces[-1]) == ("import os\n", "x = 1\n")
    assert pieces[1].startswith("# About f.\ndef f():\n    value_0 = 0\n")
    assert pieces[1:-1] == cut(
        "ast:max_size=100", text[text.index("# About") : -len("\n\nx = 1\n")]
    )


def test_comments_apart_or_behind_code_are_not_part_of_a_definition(cut):
    text = "# Apart.\n\ndef f(): pass\nx = 1  # Behind code.\ndef g(): pass\n"
    assert cut("function", text) == [
        "# Apart.\n",
        "def f(): pass\n",
        "x = 1  # Behind code.\n",
        "def g(): pass\n",
    ]


def test_definitions_that_share_a_line_are_one_chunk(cut):
    text = "function f() {\n} function g() {\n}\nfunction h() {}\n"
    assert cut("function", text, "javascript") == [text[:-16], text[-16:]]


def test_closing_brackets_stay_with_the_definition_only_where_they_fit(cut):
    text = "class A {\n  f() {\n    return 12345;\n  }\n}\n"
    assert cut("function:max_size=20", text, "javascript") == ["class A {\n", text[10:]]
    assert cut("function:max_size=17", text, "javascript") == ["class A {\n", text[10:-2], "}\n"]


@pytest.mark.parametrize(
    ("language", "before", "marks", "head", "after"),
    [
        ("typescript", "class C {\n  a = 1;\n", ("@A()", "@B()"), "f() {", "}\n"),
        ("javascript", "class C {\n  a = 1;\n", ("@A()", "@B()"), "f() {", "}\n"),
        ("java", "class C {\n  int a;\n", ("@A", "@B(1)"), "public int f() {", "}\n"),
        ("csharp", "class C {\n  int a;\n", ("[A]", "[B]"), "int F() {", "}\n"),
        ("kotlin", "val a = 1\n", ("@A", "@B"), "fun f(): Int {", ""),
        ("php", "<?php\n$a = 1;\n", ("#[A]", "#[B]"), "function f() {", ""),
        ("rust", "const A: i32 = 1;\n", ("#[a]", "#[b]"), "fn f() -> i32 {", ""),
        ("swift", "let a = 1\n", ("@A", "@B"), "func f() -> Int {", ""),
        ("scala", "val a = 1\n", ("@A", "@B"), "def f(): Int = {", ""),
    ],
)
def test_a_definition_begins_with_its_first_mark_across_comments(
    cut, language, before, marks, head, after
):
    first, second = marks
    definition = f"{first} // behind\n// about\n{second}\n/* more */\n{head}\n  return 1\n}}\n"
    chunks = cut("function", f"{before}\n{definition}{after}", language)
    assert [chunk for chunk in chunks if head in chunk] == [definition + after]
