"""Edits of a corpus that change no meaning, and carry the targets of its queries along.

A file stays as it is where that cannot be proved: without a grammar, with a syntax error, or where
its tree would have other tokens, comments aside. Runs of tokens are compared with their depth and
kind, so that blocks are the same too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from chunkers.grammars.model import words
from harness.building.docs.styles import STYLES, Style
from harness.chunking.parsing import prepare
from harness.robust.names import renamed_locals
from harness.robust.order import reordered
from harness.robust.positions import Rewriting
from harness.robust.syntax import read_syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Dataset, Query, Region, Target
    from harness.robust.positions import Edit, Interval
    from harness.robust.syntax import File, Shape

Mark = TypeVar("Mark", "Target", "Region")

HEADER = """\
Copyright The Authors

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
"""

_MARKS: Mapping[tuple[str, str], str] = {
    ("#", ""): "bash cmake dockerfile elixir hcl julia make perl powershell python r ruby toml"
    " yaml",
    ("//", ""): "c cpp csharp dart go groovy hack java javascript kotlin objc php ql rust scala"
    " scss swift tsx typescript zig",
    ("--", ""): "elm haskell lua sql sqlite",
    (";;", ""): "commonlisp elisp",
    ("%", ""): "erlang",
    ("/*", "*/"): "css",
    ("(*", "*)"): "ocaml",
}  # fmt: skip
_MARK_OF = {language: mark for mark, names in _MARKS.items() for language in names.split()}
_CODING = r"[ \t\f]*#.*?coding[:=]"
_FIRST = re.compile(rf"(?:(?:#!|<\?)[^\n]*(?:\n|$))?(?:{_CODING}[^\n]*(?:\n|$))?")
"""Lines that must be the first of their file."""

_NO_CR = words("java javascript go python ruby rust swift tsx typescript")
"""Languages in which CRLF in a literal is read as LF."""

_LF_ALONE = words("bash dockerfile make")
"""Languages whose programs do not read CRLF."""

WIDTH = 4
"""Spaces of a level of indentation in the files that are indented in another way."""

_PLAIN = Style(markup="plain")


@dataclass(frozen=True)
class Transformation:
    """An edit of files.

    Attributes:
        name: Its name.
        description: One line.
        edits: What to edit in a file.
        same: Which part of the shape of a file stays the same.
    """

    name: str
    description: str
    edits: Callable[[File], Iterable[Edit]]
    same: Callable[[Shape], object] = list


def _header(file: File) -> Iterator[Edit]:
    """A licence header, and a blank line after it, on top or after what must come first."""
    source = file.source
    if source.language not in _MARK_OF or not source.text:
        return
    before, after = _MARK_OF[source.language]
    first = _FIRST.match(source.text)
    at = first.end() if first else 0
    if at and not source.text[:at].endswith("\n"):
        return
    lines = [f"{before} {line} {after}".rstrip() for line in HEADER.splitlines()]
    ending = "\r\n" if "\r\n" in source.text else "\n"
    yield at, at, ending.join([*lines, "", ""])


def _indented(unit: str) -> Callable[[File], Iterator[Edit]]:
    """Another unit for files indented by `WIDTH` spaces; spaces for alignment stay."""

    def edits(file: File) -> Iterator[Edit]:
        source = file.source
        own = _indents(file)
        steps = Counter(b - a for a, b in zip([0, *own], own, strict=False) if b > a)
        if not steps or max(steps, key=lambda step: (steps[step], -step)) != WIDTH:
            return
        for start in source.lines.starts.tolist():
            token = file.inside(start)
            spaces = _spaces(source.text, start)
            if spaces >= WIDTH and (token is None or token[2]):
                levels, rest = divmod(spaces, WIDTH)
                yield start, start + spaces, unit * levels + " " * rest

    return edits


def _indents(file: File) -> list[int]:
    """The spaces before each line that is not blank and begins no comment or inside a token."""
    text, comments = file.source.text, {start for start, _, mark in file.tokens if mark}
    indents = []
    for number, start in enumerate(file.source.lines.starts.tolist(), 1):
        spaces = _spaces(text, start)
        if not (
            file.source.lines.blank(number)
            or file.inside(start)
            or start + spaces in comments
            or text[start + spaces] == "\t"
        ):
            indents.append(spaces)
    return indents


def _spaces(text: str, start: int) -> int:
    end = start
    while text[end : end + 1] == " ":
        end += 1
    return end - start


def _doubled_blank_lines(file: File) -> Iterator[Edit]:
    lines = file.source.lines
    for number, start in enumerate(lines.starts.tolist(), 1):
        end = lines.end_of(number)
        text = file.source.text[start:end]
        if lines.blank(number) and text.endswith("\n") and file.inside(start) is None:
            yield start, end, text * 2


def _local_names(file: File) -> Iterator[Edit]:
    if file.source.language == "python":
        yield from renamed_locals(file.source.text)


def _no_comments(file: File) -> Iterator[Edit]:
    """Comments taken out, with their lines where nothing else is on them.

    Those that tools read stay, as do those of several lines that code follows.
    """
    text = file.source.text
    tools = STYLES.get(file.source.language or "", _PLAIN).tools
    if file.source.language == "go" and 'import "C"' in text:
        return  # the comment above it is C
    for start, end, comment in file.tokens:
        if not comment or tools.match(text, start) or re.compile(_CODING).match(text, start):
            continue
        line = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        if text[end:stop].strip():
            if "\n" not in text[start:end]:
                yield start, end, " "
        elif text[line:start].strip():
            yield line + len(text[line:start].rstrip()), end, ""
        else:
            yield line, min(stop + 1, len(text)), ""


def _crlf(file: File) -> Iterator[Edit]:
    text = file.source.text
    if file.source.language in _LF_ALONE:
        return
    if file.source.language not in _NO_CR and any(
        "\n" in text[start:end] for start, end, comment in file.tokens if not comment
    ):
        return
    for match in re.finditer(r"(?<!\r)\n", text):
        yield match.start(), match.end(), "\r\n"


def _normalised(shape: Shape) -> Shape:
    return [(depth, kind, text.replace("\r\n", "\n")) for depth, kind, text in shape]


def _nameless(shape: Shape) -> object:
    """Of a renamed file the names are proved by the rules of `renamed_locals`."""
    return [(depth, kind, text * (kind != "identifier")) for depth, kind, text in shape]


TRANSFORMATIONS = {
    each.name: each
    for each in (
        Transformation("identity", "nothing is changed", lambda file: ()),
        Transformation("header", "a licence header on top of every file", _header),
        Transformation("indent-2", "indentation by 2 spaces in place of 4", _indented("  ")),
        Transformation("indent-tab", "indentation by tabs in place of 4 spaces", _indented("\t")),
        Transformation("blank-lines", "blank lines doubled", _doubled_blank_lines),
        Transformation("order", "adjacent functions in another order", reordered, sorted),
        Transformation(
            "names", "local variables of Python functions renamed", _local_names, _nameless
        ),
        Transformation("no-comments", "comments removed", _no_comments),
        Transformation("crlf", "lines end in CR LF", _crlf, _normalised),
    )
}
"""The transformations by name, in the order of reports."""


def transform(
    dataset: Dataset, transformation: Transformation, seed: int = 0
) -> tuple[Dataset, int]:
    """Transform every file of a data set whose gold is lines; queries keep their texts.

    Args:
        dataset: The data set.
        transformation: What to do.
        seed: Seed of `order`, 0 or above.

    Returns:
        The data set after it, and the number of files that it changed.
    """
    places: dict[tuple[str, str], set[Interval]] = defaultdict(set)
    for query in dataset.queries:
        for mark in _marks(query):
            places[query.corpus, mark.path].add((mark.start_line or 0, mark.end_line or 0))
    moved: dict[tuple[str, str], _Moved] = {}
    corpora = []
    for corpus in dataset.corpora:
        files = [(source, places[corpus.id, source.path]) for source in corpus.sources]
        new = _rewritten(files, transformation, seed)
        moved |= {(corpus.id, path): each for path, each in new.items()}
        sources = (new[s.path].after if s.path in new else s for s in corpus.sources)
        corpora.append(replace(corpus, sources=tuple(sources)))
    queries = tuple(_with_places(query, moved) for query in dataset.queries)
    return replace(dataset, corpora=tuple(corpora), queries=queries), len(moved)


@dataclass(frozen=True)
class _Moved:
    """A file before and after a transformation."""

    before: Source
    after: Source
    rewriting: Rewriting

    def lines(self, first: int, last: int) -> Interval:
        """The new lines of lines; those after the end of the file stay after it."""
        before, after = self.before.lines, self.after.lines
        if last > before.count:
            return max(1, first + after.count - before.count), last + after.count - before.count
        return after.lines_of(*self.rewriting.span(*before.offsets_of(first, last)))


def _rewritten(
    files: Sequence[tuple[Source, set[Interval]]], transformation: Transformation, seed: int
) -> dict[str, _Moved]:
    """The files that can be changed, by path; their lines of `places` are kept in one piece."""
    prepare(source for source, _ in files)
    changed = {}
    for source, places in files:
        lines = source.lines
        spans = [lines.offsets_of(*each) for each in sorted(places) if each[1] <= lines.count]
        file = read_syntax(source, spans, seed)
        if file is None:
            continue
        rewriting = Rewriting.of(source.text, transformation.edits(file))
        # Neither a target nor what is masked may vanish.
        if rewriting.text != source.text and all(
            rewriting.text[slice(*rewriting.span(*span))].strip()
            for span in spans
            if source.text[slice(*span)].strip()
        ):
            after = replace(source, text=rewriting.text)
            changed[source.path] = file.shape, _Moved(source, after, rewriting)
    prepare(moved.after for _, moved in changed.values())
    return {
        path: moved
        for path, (shape, moved) in changed.items()
        if (new := read_syntax(moved.after))
        and transformation.same(shape) == transformation.same(new.shape)
    }


def _marks(query: Query) -> Iterator[Target | Region]:
    """The targets and the region of a query that are lines."""
    yield from (target for target in query.targets if target.start_line is not None)
    if query.region is not None:
        yield query.region


def _with_places(query: Query, moved: Mapping[tuple[str, str], _Moved]) -> Query:
    def placed(mark: Mark) -> Mark:
        file = moved.get((query.corpus, mark.path))
        if file is None or mark.start_line is None or mark.end_line is None:
            return mark
        first, last = file.lines(mark.start_line, mark.end_line)
        return replace(mark, start_line=first, end_line=last)

    region = query.region and placed(query.region)
    return replace(query, targets=tuple(map(placed, query.targets)), region=region)
