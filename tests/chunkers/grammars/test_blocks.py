"""Components: their scripts are parsed at their own lines, and cut apart from the markup."""

import pytest

from chunkers.grammars.blocks import parsed_text, script_blocks
from chunkers.grammars.outline import outline
from chunkers.languages import language_of
from chunkers.plugins.loading import load_chunker
from chunkers.source import Services, Source

FUNCTION = """
/** Adds up the prices of a cart. */
function total(prices: number[]): number {
  let sum = 0
  for (const price of prices) sum += price
  return sum
}
"""
MARKUP = "".join(f"  <p class='row'>Größe {n}: {{{{ total }}}}</p>\n" for n in range(60))
SETUP = f'<script setup lang="ts">{FUNCTION}</script>\n'
VUE = f"<template>\n{MARKUP}</template>\n{SETUP}<style>\np {{ }}\n</style>\n"
PLAIN = FUNCTION.replace(": number[]", "").replace(": number", "")
SVELTE = f"<!-- <script>function no() {{\n}}</script> -->\n<script>{PLAIN}</script>\n{MARKUP}"
ASTRO = f"---{FUNCTION}---\n{MARKUP}<script>\nfunction last() {{\n  return 1\n}}\n</script>\n"
GENERIC = f'<script lang="ts" generic="T extends Map<string, T>">{FUNCTION}</script>\n{MARKUP}'
DEFAULT = "<script>\nexport default {}\n</script>\n"
TWO = f"{DEFAULT}{MARKUP}<SCRIPT setup lang='ts'>{FUNCTION}</SCRIPT>\n"


def source(path: str, text: str) -> Source:
    return Source(text, path, language_of(path))


CASES = [
    (source("Cart.vue", VUE), ["total"]),
    (source("Lamp.svelte", SVELTE), ["total"]),
    (source("index.astro", ASTRO), ["total", "last"]),
    (source("Generic.vue", GENERIC), ["total"]),
    (source("Two.vue", TWO), ["total"]),
    (source("Coffee.vue", VUE.replace('"ts"', '"coffee"')), []),
    (source("Data.svelte", f"<script type='application/ld+json'>{FUNCTION}</script>"), []),
    (source("Bare.vue", MARKUP), []),
]


@pytest.mark.parametrize(("component", "names"), CASES, ids=lambda x: getattr(x, "path", ""))
def test_definitions_are_at_their_own_lines(component: Source, names: list[str]) -> None:
    lines = component.text.split("\n")
    scopes = outline(component)
    assert [scope.name for scope in scopes] == names
    for scope in scopes:
        assert f"function {scope.name}" in lines[scope.start_line - 1]
        assert lines[scope.end_line - 1] == "}"
    parsed = parsed_text(component)
    assert len(parsed) == len(component.text.encode())
    assert parsed.count(b"\n") == component.text.count("\n")


@pytest.mark.parametrize("spec", ["ast", "function"])
@pytest.mark.parametrize(("component", "names"), CASES, ids=lambda x: getattr(x, "path", ""))
def test_a_function_is_whole_and_nothing_is_lost(
    component: Source, names: list[str], spec: str
) -> None:
    chunker = load_chunker(f"{spec}:max_size=200")
    spans = chunker.chunk(component, Services())
    kept = "".join(span.kept(component.text) for span in spans)
    assert "".join(kept.split()) == "".join(component.text.split())
    texts = [component.text[span.start : span.end] for span in spans]
    for name in names:
        (chunk,) = (text for text in texts if f"function {name}" in text)
        assert "\n}" in chunk
        assert "<p" not in chunk


def test_a_component_read_as_another_language_is_not_split() -> None:
    html = Source(VUE, "Cart.vue", "html")
    assert script_blocks(html) == []
    assert parsed_text(html) == VUE.encode()
