import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers import Source
from chunkers.grammars.outline import Scope, outline

CASES = {
    "python": (
        '''\
import os

# About A.
@deco(
    1)
class A(Base):
    """Doc."""

    @property
    def f(
        self,  # me
        x=1,
    ):  # why
        def inner(): return 1
        return inner

async def g(): pass
class B: x = 1
class C:
    def h(self): pass
''',
        [
            (6, 15, "A", "class A(Base):"),
            (10, 15, "f", "def f( self, # me x=1, ):"),
            (14, 14, "inner", "def inner():"),
            (17, 17, "g", "async def g():"),
            (18, 18, "B", "class B:"),
            (19, 20, "C", "class C:"),
            (20, 20, "h", "def h(self):"),
        ],
    ),
    "javascript": (
        """\
export default class A extends B {
  // Does it.
  @logged
  run(a,
      b) {
  }
  handle = (event) => {
  };
}
const one = (x) => x + 1, two = function () {
};
module.exports.three = async function named() { };
const table = {
  "four five": () => {
  },
};
describe('nothing', () => {
  it('is named', () => {});
});
""",
        [
            (1, 9, "A", "export default class A extends B"),
            (4, 6, "run", "run(a, b)"),
            (7, 8, "handle", "handle = (event) =>"),
            (10, 10, "one", "const one = (x) =>"),
            (10, 11, "two", "two = function ()"),
            (12, 12, "module.exports.three", "module.exports.three = async function named()"),
            (14, 15, "four five", '"four five": () =>'),
        ],
    ),
    "typescript": (
        """\
@Component({
})
export class A<T> implements B {
  @Input() set(name: string): void {}
}
namespace Inner {
  export interface Shape {
    at: number;
  }
}
""",
        [
            (3, 5, "A", "export class A<T> implements B"),
            (4, 4, "set", "set(name: string): void"),
            (6, 10, "Inner", "namespace Inner"),
            (7, 9, "Shape", "export interface Shape"),
        ],
    ),
    "java": (
        """\
/** Doc. */
@Deprecated
@Names({
    "a"
})
public final class A {
    @Override public int f()
            throws E {
        return 1;
    }
    interface L {
        void on();
    }
}
""",
        [
            (6, 14, "A", "public final class A"),
            (7, 10, "f", "public int f() throws E"),
            (11, 13, "L", "interface L"),
            (12, 12, "on", "void on();"),
        ],
    ),
    "go": (
        """\
type Store[T any] struct {
	all []T
}
func (s *Store[T]) Add(one T) error {
	return nil
}
type (
	Source interface {
		Next() int
	}
)
""",
        [
            (1, 3, "Store", "type Store[T any] struct"),
            (4, 6, "Add", "func (s *Store[T]) Add(one T) error"),
            (8, 10, "Source", "Source interface"),
        ],
    ),
    "rust": (
        """\
#[derive(Debug)]
pub struct Reading<'a> {
    pub at: f64,
}
impl<'a> Display for Reading<'a> {
    /// Doc.
    #[inline]
    pub fn f<F>(&self, then: F) -> f64
    where
        F: Fn(f64) -> f64,
    {
        1.0
    }
}
mod tests {
}
""",
        [
            (2, 4, "Reading", "pub struct Reading<'a>"),
            (5, 14, "Reading<'a>", "impl<'a> Display for Reading<'a>"),
            (8, 13, "f", "pub fn f<F>(&self, then: F) -> f64 where F: Fn(f64) -> f64,"),
            (15, 16, "tests", "mod tests"),
        ],
    ),
    "c": (
        """\
typedef struct reading {
    double at;
} reading_t;
struct store *make(struct store *from);
static int (*pick(int way))(int)
{
    return 0;
}
""",
        [
            (1, 3, "reading", "typedef struct reading"),
            (5, 8, "pick", "static int (*pick(int way))(int)"),
        ],
    ),
    "cpp": (
        """\
namespace a {
template <class T>
struct Store : Base {
    operator bool() const { return true; }
    T& operator()(int at) { return all[at]; }
};
template <class T>
T& Store<T>::at(int n) {
}
}
""",
        [
            (1, 10, "a", "namespace a"),
            (2, 6, "Store", "template <class T> struct Store : Base"),
            (4, 4, "operator bool", "operator bool() const"),
            (5, 5, "operator()", "T& operator()(int at)"),
            (7, 9, "Store<T>::at", "template <class T> T& Store<T>::at(int n)"),
        ],
    ),
}


@pytest.mark.parametrize("language", CASES)
def test_every_named_definition_stands_with_its_lines_and_signature(language):
    text, expected = CASES[language]
    for shift, put in enumerate((text, "\n" + text.replace("\n", "\r\n"))):
        assert list(outline(Source(put, "a", language))) == [
            Scope(first + shift, last + shift, name, signature)
            for first, last, name, signature in expected
        ]


def test_without_a_grammar_there_is_none():
    assert outline(Source("def f(): pass", "a", None)) == ()
    assert outline(Source("program", "a", "fortran")) == ()
    assert outline(Source("", "a", "python")) == ()


def test_signature_and_name_are_cut_at_200_characters_and_may_be_of_any_script():
    text = "def größe_" + "é" * 300 + "(" + 'a="🐍", ' * 400 + "):\n    pass\n"
    (scope,) = outline(Source(text, "a", "python"))
    assert scope.signature == text[:200]
    assert len(scope.name) == 200


def test_broken_code_keeps_what_can_be_told():
    text = "class A:\n    def f(self):\n        return (\n\n    def g(self):\n        return 1\n"
    names = [scope.name for scope in outline(Source(text, "a", "python"))]
    assert "g" in names


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [("python", "[", "]"), ("javascript", "() => {\n", "}\n"), ("cpp", "namespace a {\n", "}\n")],
)
def test_deep_nesting_is_no_error(language, opening, closing):
    scopes = outline(Source(opening * 5000 + closing * 5000, "a", language))
    assert len(scopes) == (5000 if language == "cpp" else 0)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(sorted(CASES)))
def test_whatever_the_text_scopes_lie_in_it_in_order(data, language):
    text = CASES[language][0]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    source = Source(
        text[:start] + data.draw(st.sampled_from(["", "{", "é(", "\n"])) + text[end:], "a", language
    )
    scopes = outline(source)
    for scope in scopes:
        assert 1 <= scope.start_line <= scope.end_line <= source.lines.count
        assert scope.name and scope.signature == " ".join(scope.signature.split())
    assert [s.start_line for s in scopes] == sorted(s.start_line for s in scopes)


@pytest.mark.parametrize("name", ["ast.py", "typing.py", "inspect.py"])
def test_real_files_have_the_definitions_that_python_sees(name):
    import ast

    text = (Path(sysconfig.get_path("stdlib")) / name).read_text("utf-8")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    expected = [
        (node.lineno, node.end_lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, kinds)
    ]
    found = [
        (one.start_line, one.end_line, one.name) for one in outline(Source(text, "a", "python"))
    ]
    assert sorted(found) == sorted(expected)
