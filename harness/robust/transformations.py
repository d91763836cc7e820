"""Edits of a corpus that change no meaning, and carry the targets of its queries along.

A file stays as it is where that cannot be proved: without a grammar, with a syntax error, or where
its tree would have other tokens, comments aside. Runs of tokens are compared with their depth and
kind, so that blocks are the same too.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from chunkers.grammars.model import words
from harness.building.docs.styles import STYLES, Style
from harness.chunking.parsing import prepare
from harness.reading.stored_text import kept
from harness.robust.names import renamed_locals
from harness.robust.order import reordered
from harness.robust.positions import Rewriting
from harness.robust.syntax import read_syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Dataset, Region, Target
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

_MARKS = {
    "#": "bash cmake elixir hcl julia make perl powershell python r ruby toml yaml",
    "//": "c cpp csharp dart go groovy java javascript kotlin objc php rust scala scss swift tsx"
    " typescript zig",
    "--": "elm haskell lua sql sqlite",
}
_MARK_OF = {language: mark for mark, names in _MARKS.items() for language in names.split()}
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=].*\n?")
_FIRST = re.compile(rf"(?:(?:#!|<\?).*\n)?(?:{_CODING.pattern})?")
"""Lines that must be the first of their file."""

_READ = re.compile(r"/// *<|# *(?:syntax|escape|check) *=|#'|/\*\+|--\+")
"""Beginnings of comments that compilers, data bases, Docker and R read."""

_READ_AS_LF = words("java javascript go python ruby rust swift tsx typescript")
"""Languages in which CRLF in a literal is read as LF."""

_LF_ALONE = words("bash dockerfile make")
"""Languages whose programs do not read CRLF."""

_TEXTS = words("html markdown xml")
"""Languages in which white space is content."""

_SPACES = re.compile(" *")
_PLAIN = Style(markup="plain")


def _header(file: File) -> Iterator[Edit]:
    """A licence header, and a blank line after it, on top or after what must come first."""
    text, mark = file.source.text, _MARK_OF.get(file.source.language or "")
    first = _FIRST.match(text)
    at = first.end() if first else 0
    if mark and text and (not at or text[at - 1] == "\n"):
        lines = [f"{mark} {line}".rstrip() for line in HEADER.splitlines()]
        yield at, at, ("\r\n" if "\r\n" in text else "\n").join([*lines, "", ""])


def _indented(unit: str) -> Callable[[File], Iterator[Edit]]:
    """Another unit for files indented by 4 spaces; spaces for alignment stay."""

    def edits(file: File) -> Iterator[Edit]:
        text, lines = file.source.text, file.source.lines
        if file.source.language in _TEXTS:
            return
        comments = {start for start, _, comment in file.tokens if comment}
        free, code = [], [0]  # lines that can be indented, and the spaces before those of code
        for number, start in enumerate(lines.starts.tolist(), 1):
            spaces = len(_SPACES.match(text, start)[0])  # type: ignore[index]
            token = file.inside(start)
            if spaces and (token is None or token[2]) and not lines.blank(number):
                free.append((start, spaces))
            if not (lines.blank(number) or token or start + spaces in comments):
                code.append(spaces)
        steps = Counter(b - a for a, b in itertools.pairwise(code) if b > a)
        if steps and max(steps, key=lambda step: (steps[step], -step)) == 4:
            for start, spaces in free:
                yield start, start + spaces, unit * (spaces // 4) + " " * (spaces % 4)

    return edits


def _doubled_blank_lines(file: File) -> Iterator[Edit]:
    lines = file.source.lines
    if file.source.language in _TEXTS:
        return
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
        kept = (tools, _CODING, _READ)
        if not comment or any(pattern.match(text, start) for pattern in kept):
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
    literals = (text[start:end] for start, end, comment in file.tokens if not comment)
    language = file.source.language
    if language in _READ_AS_LF or not (language in _LF_ALONE or any("\n" in x for x in literals)):
        for match in re.finditer(r"(?<!\r)\n", text):
            yield match.start(), match.end(), "\r\n"


def _normalised(shape: Shape) -> Shape:
    return [(depth, kind, text.replace("\r\n", "\n")) for depth, kind, text in shape]


def _nameless(shape: Shape) -> object:
    """Of a renamed file the names are proved by the rules of `renamed_locals`."""
    return [(depth, kind, text * (kind != "identifier")) for depth, kind, text in shape]


TRANSFORMATIONS: Mapping[str, Callable[[File], Iterable[Edit]]] = {
    "identity": lambda _: (),
    "header": _header,
    "indent-2": _indented("  "),
    "indent-tab": _indented("\t"),
    "blank-lines": _doubled_blank_lines,
    "order": reordered,
    "names": _local_names,
    "no-comments": _no_comments,
    "crlf": _crlf,
}
"""The edits of a file by the name of the transformation, in the order of reports."""

_SAME: Mapping[str, Callable[[Shape], object]] = {
    "order": sorted,
    "names": _nameless,
    "crlf": _normalised,
}
"""What of the shape of a file stays the same, where it is not all."""


def transform(dataset: Dataset, name: str, seed: int = 0) -> tuple[Dataset, int]:
    """Transform every file of a data set whose gold is lines; queries keep their texts.

    Args:
        dataset: The data set.
        name: The transformation.
        seed: Seed of `order`, 0 or above.

    Returns:
        The data set after it, and the number of files that it changed.
    """
    places: dict[tuple[str, str], set[Interval]] = defaultdict(set)
    for query in dataset.queries:
        for mark in (*query.targets, *([query.region] if query.region else ())):
            places[query.corpus, mark.path].add((mark.start_line or 0, mark.end_line or 0))
    moved: dict[tuple[str, str], _Moved] = {}
    corpora = []
    for corpus in dataset.corpora:
        files = [(source, places[corpus.id, source.path]) for source in corpus.sources]
        new = _rewritten(files, name, seed)
        moved |= {(corpus.id, path): each for path, each in new.items()}
        sources = (new[s.path].after if s.path in new else s for s in corpus.sources)
        corpora.append(replace(corpus, sources=tuple(sources)))

    def placed(mark: Mark, corpus: str) -> Mark:
        file = moved.get((corpus, mark.path))
        if file is None or mark.start_line is None or mark.end_line is None:
            return mark
        first, last = file.lines(mark.start_line, mark.end_line)
        return replace(mark, start_line=first, end_line=last)

    queries = (
        replace(
            query,
            targets=tuple(placed(target, query.corpus) for target in query.targets),
            region=query.region and placed(query.region, query.corpus),
        )
        for query in dataset.queries
    )
    return replace(dataset, corpora=tuple(corpora), queries=tuple(queries)), len(moved)


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
    files: Sequence[tuple[Source, set[Interval]]], name: str, seed: int
) -> dict[str, _Moved]:
    """The files that can be changed, by path; their lines of targets and regions do not vanish."""
    prepare(source for source, _ in files)
    changed = {}
    for source, places in files:
        lines, text = source.lines, source.text
        spans = [lines.offsets_of(*each) for each in sorted(places) if 0 < each[1] <= lines.count]
        file = read_syntax(source, spans, seed)
        if file is None:
            continue
        new = Rewriting.of(text, TRANSFORMATIONS[name](file))
        left = (new.text[slice(*new.span(*span))] for span in spans if text[slice(*span)].strip())
        if new.text != text and all(map(str.strip, left)):
            after = kept(replace(source, text=new.text))
            changed[source.path] = file.shape, _Moved(source, after, new)
    prepare(moved.after for _, moved in changed.values())
    same = _SAME.get(name, list)
    return {
        path: moved
        for path, (shape, moved) in changed.items()
        if (file := read_syntax(moved.after)) and same(shape) == same(file.shape)
    }
