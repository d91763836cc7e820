# ruff: noqa: E501
"""Constructs that a grammar nests without end are cut as siblings."""

import pytest

from chunkers import Services, Source, load_chunker
from chunkers.grammars.chains import arms
from chunkers.grammars.parsing import parse

# Language -> head, first arm, next arm, tail; {n} counts the arms.
CHAINS = {
    "c else if": ("c", "int f(char *a) {\n", "  if (strcmp(a, \"--option-{n}\") == 0) {{\n    set(config, {n});\n",
        "  }} else if (strcmp(a, \"--option-{n}\") == 0) {{\n    set(config, {n});\n", "  }\n  return 0;\n}\n"),
    "c else if on its own line": ("c", "int f(char *a) {\n", "  if (strcmp(a, \"--option-{n}\") == 0)\n    set(config, {n});\n",
        "  else if (strcmp(a, \"--option-{n}\") == 0)\n    set(config, {n});\n", "  return 0;\n}\n"),
    "go else if": ("go", "package p\nfunc f(a string) {\n", "  if a == \"option-number-{n}\" {{\n    setOption(config, {n})\n",
        "  }} else if a == \"option-number-{n}\" {{\n    setOption(config, {n})\n", "  }\n}\n"),
    "javascript else if": ("javascript", "function f(a) {\n", "  if (a === 'option-number-{n}') {{\n    setOption(config, {n});\n",
        "  }} else if (a === 'option-number-{n}') {{\n    setOption(config, {n});\n", "  }\n}\n"),
    "java else if": ("java", "class A {\n void f(String a) {\n", "  if (a.equals(\"option-{n}\")) {{\n    setOption(config, {n});\n",
        "  }} else if (a.equals(\"option-{n}\")) {{\n    setOption(config, {n});\n", "  }\n }\n}\n"),
    "rust else if": ("rust", "fn f(a: &str) {\n", "  if a == \"option-number-{n}\" {{\n    set_option(config, {n});\n",
        "  }} else if a == \"option-number-{n}\" {{\n    set_option(config, {n});\n", "  }\n}\n"),
    "kotlin else if": ("kotlin", "fun f(a: String) {\n", "  if (a == \"option-number-{n}\") {{\n    setOption(config, {n})\n",
        "  }} else if (a == \"option-number-{n}\") {{\n    setOption(config, {n})\n", "  }\n}\n"),
    "php else if": ("php", "<?php\nfunction f($a) {\n", "  if ($a === 'option-number-{n}') {{\n    setOption($config, {n});\n",
        "  }} else if ($a === 'option-number-{n}') {{\n    setOption($config, {n});\n", "  }\n}\n"),
    "ruby elsif": ("ruby", "def f(a)\n", "  if a == 'option-number-{n}'\n    set_option(config, {n})\n",
        "  elsif a == 'option-number-{n}'\n    set_option(config, {n})\n", "  end\nend\n"),
    "python elif": ("python", "def f(a):\n", "  if a == 'option-number-{n}':\n    set_option(config, {n})\n",
        "  elif a == 'option-number-{n}':\n    set_option(config, {n})\n", ""),
    "c preprocessor elif": ("c", "", "#if defined(OPTION_NUMBER_{n})\n#define VALUE something_{n}\n",
        "#elif defined(OPTION_NUMBER_{n})\n#define VALUE something_{n}\n", "#endif\n"),
    "csharp else if": ("csharp", "class A {\n void F(string a) {\n", "  if (a == \"option-number-{n}\") {{\n    SetOption(config, {n});\n",
        "  }} else if (a == \"option-number-{n}\") {{\n    SetOption(config, {n});\n", "  }\n }\n}\n"),
    "javascript calls": ("javascript", "const schema = build()\n", "  .field('name-of-field-{n}', {{\n    type: 'string-{n}', required: true,\n  }})\n",
        "  .field('name-of-field-{n}', {{\n    type: 'string-{n}', required: true,\n  }})\n", "  .done();\n"),
    "javascript promises": ("javascript", "fetchAll()", ".then(function (result) {{\n  return process(result, {n});\n}})",
        ".then(function (result) {{\n  return process(result, {n});\n}})", ";\n"),
    "java builder": ("java", "class A {\n Object o = Thing.builder()\n", "    .withProperty(\"name-{n}\", makeValue({n}))\n",
        "    .withProperty(\"name-{n}\", makeValue({n}))\n", "    .build();\n}\n"),
    "rust calls": ("rust", "fn f() {\n  let app = App::new()\n", "    .arg(Arg::with_name(\"name-{n}\")\n      .takes_value(true))\n",
        "    .arg(Arg::with_name(\"name-{n}\")\n      .takes_value(true))\n", "    ;\n}\n"),
    "java concatenation": ("java", "class A {\n String s = \"\"\n", "    + \"some longer text of line {n} in a string\"\n",
        "    + \"some longer text of line {n} in a string\"\n", "    ;\n}\n"),
    "c conditions": ("c", "int f(int a) {\n  return a == 0\n", "    || is_member_of_the_set_{n}(a, {n})\n",
        "    || is_member_of_the_set_{n}(a, {n})\n", "    ;\n}\n"),
    "javascript ternaries": ("javascript", "const x =\n", "  a === 'option-number-{n}' ? valueOfOption({n}) :\n",
        "  a === 'option-number-{n}' ? valueOfOption({n}) :\n", "  none;\n"),
    "c switch": ("c", "int f(int a) {\n  switch (a) {\n", "  case {n}:\n    return value_of_option_number({n});\n",
        "  case {n}:\n    return value_of_option_number({n});\n", "  }\n}\n"),
    "rust match": ("rust", "fn f(a: u32) -> u32 {\n  match a {\n", "    {n} => {{\n      value_of_option_number({n})\n    }}\n",
        "    {n} => {{\n      value_of_option_number({n})\n    }}\n", "  }\n}\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_arms_of_a_chain_are_merged_to_the_limit(name):
    language, head, first, after, tail = CHAINS[name]
    arms = [(after if n else first).format(n=n) for n in range(30)]
    source = Source(head + "".join(arms) + tail, "file", language)
    counts = {}
    for spec in ("ast", "function", "fixed"):
        spans = load_chunker(spec).chunk(source, Services())
        assert "".join(source.text[s.start : s.end] for s in spans).split() == source.text.split()
        counts[spec] = len(spans)
    assert counts["ast"] <= counts["fixed"] + 1
    assert counts["function"] <= counts["fixed"] + 2


def test_a_chunk_of_an_arm_begins_where_the_arm_does():
    head, arm = "function f(a) {\n", "if (a === 'option-{n}') {{\n    setOption(config, {n});\n"
    text = head + "  " + "  } else ".join(arm.format(n=n) for n in range(40)) + "  }\n}\n"
    spans = load_chunker("ast").chunk(Source(text, "a.js", "javascript"), Services())
    firsts = [text[span.start :].split("\n")[0] for span in spans[1:]]
    assert len(firsts) > 1
    assert {first.strip()[:9] for first in firsts} == {"} else if"}


def test_a_comment_right_above_an_arm_is_in_its_chunk():
    arm = "  // what option {n} is about\n  .option('name-{n}', 'a longer description of it {n}')\n"
    text = "const program = command\n" + "".join(arm.format(n=n) for n in range(30)) + "  ;\n"
    spans = load_chunker("ast").chunk(Source(text, "a.js", "javascript"), Services())
    chunks = [text[span.start : span.end] for span in spans]
    assert len(chunks) > 2
    assert not [
        chunk for chunk in chunks if chunk.rstrip().split("\n")[-1].lstrip().startswith("//")
    ]


def test_the_heads_of_nested_modules_are_together():
    heads = "".join(f"{'  ' * n}module Module{n}\n" for n in range(5))
    methods = "".join(
        f"{'  ' * 5}def method_{n}(a)\n{'  ' * 6}a.compute({n})\n{'  ' * 5}end\n" for n in range(40)
    )
    tails = "".join(f"{'  ' * n}end\n" for n in reversed(range(5)))
    text = heads + methods + tails
    first, *rest = load_chunker("ast").chunk(Source(text, "a.rb", "ruby"), Services())
    assert text[first.start : first.end].startswith(heads + "          def method_0")
    assert len(rest) > 1
    assert text[rest[-1].start : rest[-1].end].endswith(f"{'  ' * 5}end\n{tails}")


@pytest.mark.parametrize("name", ["ast", "function"])
def test_a_chain_on_one_line_is_looked_at_once(name, monkeypatch):
    """Its tail runs on, so the chain is split; found anew at each link it would cost n squared."""
    from chunkers.grammars import syntax

    calls = []
    find = syntax.arms
    monkeypatch.setattr(syntax, "arms", lambda *given: calls.append(1) or find(*given))
    text = "if(a){b()}" + "else if(a){b()}" * 300 + "else{\n" + "c();\n" * 30 + "}\n"
    source = Source(text, "a.js", "javascript")
    spans = load_chunker(f"{name}:max_size=100").chunk(source, Services())
    assert "".join(text[span.start : span.end] for span in spans).split() == text.split()
    assert len(calls) < 20


def test_looking_for_a_chain_leaves_the_tree_as_it_is():
    text = "def f(a)\n" + "  if a\n    b\n  else\n    c\n  end\n" * 2 + "end\n"
    nodes = [parse(Source(text, "a.rb", "ruby"))]
    seen = []
    for node in nodes:
        nodes += node.children
        seen.append(list(node.children))
        arms(node, ("body", "consequence"), ("comment",))
    assert [node.children for node in nodes] == seen
    assert [children[-1].type for children in seen if children].count("end") == 3
