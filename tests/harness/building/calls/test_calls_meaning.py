"""Which definition a call means, in many languages, and which it only seems to mean."""

from __future__ import annotations

import pytest
from call_worlds import corpus_of, reasons

from harness.building.calls import queries as calls
from harness.building.calls.queries import call_queries
from harness.model import Target

PAIRS = {
    "python": (
        {"pkg/tools.py": "import os\n\n\n@cache\ndef weigh(a):\n    return a\n"},
        "a.py",
        "from pkg.tools import weigh\n\n\ndef run(b):\n    return weigh(b) + one + two + three\n",
        ("pkg/tools.py", 4, 6),
    ),
    "python module": (
        {"pkg/tools.py": "def weigh(a):\n    return a\n"},
        "a.py",
        "import pkg.tools\n\n\ndef run(b):\n    return pkg.tools.weigh(b)\n",
        ("pkg/tools.py", 1, 2),
    ),
    "python method": (
        {"pkg/scale.py": "class Scale:\n    def weigh(self):\n        return 1\n"},
        "a.py",
        "from pkg.scale import Scale\n\n\ndef run(b: Scale):\n    return b.weigh(b)\n",
        ("pkg/scale.py", 2, 3),
    ),
    "javascript": (
        {"lib/tools.js": "export function weigh(a) {\n  return a;\n}\n"},
        "a.mjs",
        "import { weigh } from './lib/tools.js';\n\nexport const run = (b) => {\n"
        "  return weigh(b) + one + two;\n};\n",
        ("lib/tools.js", 1, 3),
    ),
    "javascript required": (
        {"lib/tools.js": "const weigh = (a) => {\n  return a;\n};\nmodule.exports = { weigh };\n"},
        "a.js",
        "const { weigh } = require('./lib/tools');\n\nfunction run(b) {\n"
        "  return weigh(b) + one + two + three;\n}\n",
        ("lib/tools.js", 1, 3),
    ),
    "typescript": (
        {"lib/scale.ts": "export class Scale<T> {\n  weigh(a: T): T {\n    return a;\n  }\n}\n"},
        "a.ts",
        "import { Scale } from './lib/scale';\n\nfunction run(b: Scale<number>) {\n"
        "  return b.weigh<number>(1);\n}\n",
        ("lib/scale.ts", 2, 4),
    ),
    "go": (
        {"tools/weigh.go": "package tools\n\nfunc Weigh(a int) int {\n\treturn a\n}\n"},
        "main.go",
        'package main\n\nimport "example.com/m/tools"\n\n'
        "func run(b int) int {\n\treturn tools.Weigh(b)\n}\n",
        ("tools/weigh.go", 3, 5),
    ),
    "rust": (
        {"src/tools.rs": "pub fn weigh<T>(a: T) -> T {\n    a\n}\n"},
        "src/main.rs",
        "use tools::weigh;\n\nfn run(b: u32) -> u32 {\n    weigh::<u32>(b)\n}\n",
        ("src/tools.rs", 1, 3),
    ),
    "java": (
        {"p/Scale.java": "class Scale {\n  static int weigh(int a) {\n    return a;\n  }\n}\n"},
        "p/Main.java",
        "class Main {\n  int run(int b) {\n    return Scale.weigh(b) + 1 + b;\n  }\n}\n",
        ("p/Scale.java", 2, 4),
    ),
    "java made": (
        {"p/Scale.java": "class Scale {\n  int a;\n}\n"},
        "p/Main.java",
        "class Main {\n  Object run(int b) {\n    return new Scale(b, b, b);\n  }\n}\n",
        ("p/Scale.java", 1, 3),
    ),
    "c": (
        {"tools.c": "int weigh(int a)\n{\n    return a;\n}\n"},
        "main.c",
        "int weigh(int a);\n\nint run(int b)\n{\n    return weigh(b) + one + two;\n}\n",
        ("tools.c", 1, 4),
    ),
    "cpp": (
        {"tools.cpp": "namespace n {\nint weigh(int a) {\n    return a;\n}\n}\n"},
        "main.cpp",
        "int weigh(int a);\nint run(int b) {\n    int c = b;\n    return c + weigh(b);\n}\n",
        ("tools.cpp", 2, 4),
    ),
    "csharp": (
        {"Scale.cs": "class Scale\n{\n  static int Weigh(int a)\n  {\n    return a;\n  }\n}\n"},
        "Main.cs",
        "class Main\n{\n    int Run(int b) { return Scale.Weigh<int>(b); }\n}\n",
        ("Scale.cs", 3, 6),
    ),
    "ruby": (
        {"lib/scale.rb": "class Scale\n  def weigh!(a)\n    a\n  end\nend\n"},
        "main.rb",
        "def run(b)\n  scale = Scale.new\n"
        + "\n" * 5
        + "  scale.weigh!(b)\n  one + two + three + four + five + six\nend\n",
        ("lib/scale.rb", 2, 4),
    ),
    "php": (
        {"tools.php": "<?php\nfunction weigh($a)\n{\n    return $a;\n}\n"},
        "main.php",
        "<?php\nfunction run($b)\n{\n    return weigh($b) + $b->other();\n}\n",
        ("tools.php", 2, 5),
    ),
    "kotlin": (
        {"Tools.kt": "fun weigh(a: Int): Int {\n    return a\n}\n"},
        "Main.kt",
        "fun run(b: Int): Int {\n    val c = weigh(b)\n    return c + b\n}\n",
        ("Tools.kt", 1, 3),
    ),
    "scala": (
        {"Scale.scala": "object Scale {\n  def weigh(a: Int): Int = {\n    a\n  }\n}\n"},
        "Main.scala",
        "object Main {\n  def run(b: Int): Int = {\n    Scale.weigh(b)\n  }\n}\n",
        ("Scale.scala", 2, 4),
    ),
    "swift": (
        {"Tools.swift": "func weigh(a: Int) -> Int {\n    return a\n}\n"},
        "Main.swift",
        "func run(b: Int) -> Int {\n    let c = weigh(a: b)\n    return c\n}\n",
        ("Tools.swift", 1, 3),
    ),
    "lua": (
        {"tools.lua": "function weigh(a)\n  return a\nend\n"},
        "main.lua",
        'require("tools")\nlocal function run(b)\n  local c = weigh(b)\n  return c + b\nend\n',
        ("tools.lua", 1, 3),
    ),
    "bash": (
        {"tools.sh": "weigh() {\n  echo one\n  echo two\n}\n"},
        "main.sh",
        "source tools.sh\n\nrun() {\n  my-weigh other\n  weigh one two three four\n}\n",
        ("tools.sh", 1, 4),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_call_means_the_definition_in_the_other_file(
    pair: str,
) -> None:
    files, path, text, (target, first, last) = PAIRS[pair]
    found = call_queries(corpus_of({**files, path: text}))
    goal = [q for q in found.queries if q.targets == (Target(target, first, last),)]
    assert [query.region.path for query in goal if query.region] == [path], found


JOIN = "def join(parts):\n    return parts\n"
WALK = "\n\n\ndef run(one, two, three, four):\n    return {} + one + two + three + four\n"
STORE = "class Store:\n    def total(self, a):\n        return a\n"


def python(import_: str, call: str) -> str:
    return import_ + WALK.format(call)


# Each calls what has a name that the corpus defines once, and means something else.
OTHERS = {
    "library": {"u.py": JOIN, "a.py": python("from os.path import join", "join(one)")},
    "library's name": {"json.py": JOIN, "a.py": python("import json", "json.join(one)")},
    "unknown module": {"u.py": JOIN, "a.py": python("from other.u import join", "join(one)")},
    "other file": {"p/u.py": JOIN, "u.py": "", "a.py": python("from u import join", "join(one)")},
    "relative": {"p/u.py": JOIN, "p/q/a.py": python("from .u import join", "join(one)")},
    "beyond the top": {"u.py": JOIN, "a.py": python("from ..u import join", "join(one)")},
    "two imports": {
        "u.py": JOIN,
        "a.py": python(
            "try:\n    from u import join\nexcept E:\n    from os import join", "join(one)"
        ),
    },
    "another's alias": {"u.py": JOIN, "a.py": python("from u import x as join", "join(one)")},
    "parameter": {
        "u.py": JOIN,
        "a.py": python("from u import join", "1").replace("(one,", "(join, one,") + "    join(1)\n",
    },
    "member of what is no module": {
        "u.py": JOIN,
        "a.py": python("from u import join", "one.join(two)"),
    },
    "variable called as the module": {
        "u.py": JOIN,
        "a.py": python("import u", "u.join(one)").replace("(one,", "(u, one,"),
    },
    "other class": {"s.py": STORE, "a.py": python("from s import Store", "one.total(two)")},
    "two types": {
        "s.py": STORE,
        "a.py": python("from s import Store\nv: Store\nv = Basket(1)", "v.total(two)"),
    },
    "other function's variable": {
        "s.py": STORE,
        "a.py": python("from s import Store\ndef f(v: Store):\n    pass\n", "v.total(two)"),
    },
    "class of elsewhere": {
        "s.py": STORE,
        "a.py": python("from t import Store", "Store.total(two)"),
    },
    "javascript library": {
        "hooks.js": "export function useState(a) {\n  return a;\n}\n",
        "app.js": "import { useState } from 'react';\nexport function App(one, two, three) {\n"
        "  const [a, b] = useState(one, two, three);\n  return [a, b, one, two];\n}\n",
    },
    "javascript other file": {
        "lib/hooks.js": "export function useState(a) {\n  return a;\n}\n",
        "app.js": "import { useState } from './hooks';\nexport function App(one, two, three) {\n"
        "  const [a, b] = useState(one, two, three);\n  return [a, b, one, two];\n}\n",
    },
    "go builtin": {
        "kv/store.go": "package kv\n\ntype Store struct{ a int }\n\n"
        "func (s *Store) close(how int) error {\n\treturn nil\n}\n",
        "kv/worker.go": "package kv\n\nfunc work(one int, two int, done chan bool) {\n"
        "\tclose(done)\n\tprintln(one, two)\n}\n",
    },
    "go library": {
        "strings/x.go": "package strings\n\nfunc Join(a int) int {\n\treturn a\n}\n",
        "main.go": 'package main\n\nimport "strings"\n\nfunc work(one int, two int, three int) {\n'
        "\tstrings.Join(one, two, three)\n}\n",
    },
    "java comment": {
        "Store.java": "class Store {\n  int total(int a) { return a + 1; }\n}\n",
        "Main.java": "// Unlike the Store, a basket is local.\nclass Main {\n"
        "  int run(Basket basket, int first, int second) {\n    int sum = first + second;\n"
        "    return basket.total(sum) + first + second;\n  }\n}\n",
    },
    "java import": {
        "p/Store.java": "package p;\nclass Store {\n  static int total(int a) { return a; }\n}\n",
        "q/Main.java": "package q;\nimport java.util.Store;\nclass Main {\n"
        "  int run(int first, int second) {\n    return Store.total(first) + second;\n  }\n}\n",
    },
    "c++ class": {
        "a.cpp": "struct S {\n  void shut(int how) { total += how; }\n  int total;\n};\n",
        "c.cpp": '#include "a.cpp"\n// unlike S this one is a file\n'
        "int main(int argc, char **argv) {\n"
        "  File file;\n  file.shut(argc + 1);\n  return file.handle;\n}\n",
    },
    "rust library": {
        "src/fs.rs": "pub fn read(a: u8) -> u8 {\n    a\n}\n",
        "src/main.rs": "use std::fs;\n\nfn run(one: u8, two: u8, three: u8) -> u8 {\n"
        "    fs::read(one) + two + three + one\n}\n",
    },
    "ruby without require": {
        "t.rb": "def weigh(a)\n  a\nend\n",
        "a.rb": "def run(one, two, three)\n  weigh(one) + two + three + one + two\nend\n",
    },
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_name_alone_means_nothing(name: str) -> None:
    found = call_queries(corpus_of(OTHERS[name]))
    assert not found.queries, found.queries
    assert found.left_out[calls._UNSURE] == 1


def test_c_plus_plus_has_two_functions_of_one_name_wherever_they_are_defined() -> None:
    files = {
        "a.cpp": "struct S {\n  void shut(int how) { total += how; }\n};\n",
        "b.cpp": "void File::shut(int how)\n{\n  handle = how;\n}\n",
        "c.cpp": "int main(int one, int two, int three) {\n  S file;\n"
        "  file.shut(one + two + three);\n  return one;\n}\n",
    }
    assert reasons(files) == {calls._SEVERAL: 1}


@pytest.mark.parametrize(
    ("path", "definition", "call"),
    [
        (
            "a.c",
            "static int weigh(int a)\n{\n    return a;\n}\n",
            "int weigh(int a);\nint run(int b)\n{\n    return weigh(b);\n}\n",
        ),
        (
            "a.lua",
            "local function weigh(a)\n  return a\nend\n",
            "require('a')\nfunction run(b)\n  return weigh(b)\nend\n",
        ),
    ],
)
def test_what_is_private_to_its_file_is_not_meant(path: str, definition: str, call: str) -> None:
    assert reasons({path: definition, f"b{path[1:]}": call}) == {calls._LOCAL: 1}


# Each means the one definition, by a way that its file says.
SAID = {
    "relative": {"p/u.py": JOIN, "p/q/a.py": python("from ..u import join", "join(one)")},
    "absolute": {
        "src/p/__init__.py": "",
        "src/p/u.py": JOIN,
        "tests/a.py": python("from p.u import join", "join(one)"),
    },
    "folder's module": {
        "p/__init__.py": "from .u import join\n",
        "p/u.py": JOIN,
        "a.py": python("from p import join", "join(one)"),
    },
    "folder's star": {
        "p/__init__.py": "from .u import *\n",
        "p/u.py": JOIN,
        "a.py": python("import p", "p.join(one)"),
    },
    "module as": {"p/u.py": JOIN, "a.py": python("import p.u as x", "x.join(one)")},
    "module from": {"p/u.py": JOIN, "a.py": python("from p import u", "u.join(one)")},
    "module beside": {"p/u.py": JOIN, "p/a.py": python("from . import u", "u.join(one)")},
    "top is a package": {
        "__init__.py": "",
        "u.py": JOIN,
        "t/a.py": python("from top.u import join", "join(one)"),
    },
    "class": {"s.py": STORE, "a.py": python("from s import Store", "Store.total(one, two)")},
    "module's class": {"s.py": STORE, "a.py": python("import s", "s.Store.total(one, two)")},
    "variable": {"s.py": STORE, "a.py": python("from s import Store\nv: Store", "v.total(two)")},
    "annotated": {
        "s.py": STORE,
        "a.py": python("from s import Store", "one.total(two)").replace(
            "(one,", "(one: Store | None,"
        ),
    },
    "inherited": {
        "s.py": STORE,
        "a.py": "from s import Store\n\n\nclass Big(Store):\n    def run(self, one, two, three):\n"
        "        return self.total(one) + two + three\n",
    },
    "namespace of javascript": {
        "lib/t.ts": "export function weigh(a) {\n  return a;\n}\n",
        "lib/index.ts": "export * from './t';\n",
        "a.ts": "import * as tools from './lib';\nfunction run(one, two, three) {\n"
        "  return tools.weigh(one, two, three);\n}\n",
    },
    "go method": {
        "kv/store.go": "package kv\n\ntype Store struct{ a int }\n\n"
        "func (s *Store) Shut(how int) error {\n\treturn nil\n}\n",
        "kv/worker.go": "package kv\n\nfunc work(one int, two int, store *Store) {\n"
        "\tstore.Shut(one)\n\tprintln(one, two)\n}\n",
    },
    "java import": {
        "p/Store.java": "package p;\nclass Store {\n  int total(int a) { return a + 1; }\n}\n",
        "q/Main.java": "package q;\nimport p.Store;\nclass Main {\n"
        "  int run(Store store, int second) {\n    return store.total(second) + second;\n  }\n}\n",
    },
    "c++ header": {
        "f.h": "class File { public: void shut(int how); };\n",
        "f.cpp": '#include "f.h"\nvoid File::shut(int how)\n{\n  handle = how;\n}\n',
        "c.cpp": '#include "f.h"\nint main(int one, int two) {\n  File file;\n'
        "  file.shut(one + two);\n  return one;\n}\n",
    },
    "ruby required": {
        "t.rb": "def weigh(a)\n  a\nend\n",
        "a.rb": "require_relative 't'\n\ndef run(one, two, three)\n"
        "  weigh(one) + two + three + one\nend\n",
    },
}


@pytest.mark.parametrize("name", SAID)
def test_a_file_says_in_many_ways_what_it_means(name: str) -> None:
    found = call_queries(corpus_of(SAID[name]))
    assert len(found.queries) == 1, found.left_out


@pytest.mark.parametrize(
    ("path", "opening", "call"),
    [
        ("a.js", "import {Engine} from './t.js';\nconst template = `", "template.start();"),
        ("a.js", "import {Engine} from './t.js';\nconst template: `", "template.start();"),
        ("a.js", "import {Engine} from './t.js';\nengine = Engine /*", "engine.start();"),
        ("a.js", "import {Engine} from './t.js';\nclass Foo extends Engine /*", "foo.start();"),
    ],
)
def test_a_long_string_or_comment_costs_no_more_than_its_length(
    path: str, opening: str, call: str
) -> None:
    closing = "`" if opening.endswith("`") else "*/"
    text = opening + "word of it\n" * 30_000 + closing + f"\n\nfunction run() {{ {call} }}\n"
    tools = "export class Engine {\n  start() {\n    return 1;\n  }\n}\n"
    # Steps of the number of its square would take hours.
    assert sum(reasons({"t.js": tools, path: text}).values()) > 0


def test_headers_that_include_each_other_are_read_once_each() -> None:
    count = 300
    includes = "".join(f'#include "h{n}.h"\n' for n in range(count))
    files = {f"h{n}.h": includes + f"int f{n}(int a);\n" for n in range(count)}
    files |= {f"d{n}.c": f"int f{n}(int a) {{\n  return a;\n}}\n" for n in range(count)}
    files |= {
        f"c{n}.c": f'#include "h0.h"\nint g{n}(int b) {{\n  return f{n}(b) + {n};\n}}\n'
        for n in range(count)
    }
    assert len(call_queries(corpus_of(files)).queries) == count
