"""The user's own questions: a file of texts, each with the places that answer it.

The file is JSON lines, CSV with a header, or YAML. A question has a `text`, one or more `targets`
and optionally an `id`. A target is `path:start-end`, `path:line`, `path::symbol` or a `path`.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from chunkers.errors import InputError
from harness.building.built_queries import (
    BuiltQueries,
    common_value,
    folder_of,
    names_overlap,
    same_words,
)
from harness.building.docs.definitions import definitions_in, parts_of
from harness.model import Query, Target
from harness.support.files import unreadable
from harness.support.json_files import (
    parse_json,
    refuse_repeated_columns,
    refuse_utf16,
    require_regular_file,
)
from harness.support.paths import plain_path
from harness.support.rows import Id, Table, Text, key_hints, renaming, validated
from harness.support.word_runs import RUN, leaked_queries
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import yaml

    from chunkers.source import Source
    from harness.building.docs.definitions import Definition
    from harness.model import Corpus

_MOST = 64 << 20  # bytes of a file of questions
_LINES = re.compile(r"(?P<path>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")
_NUMBER = re.compile(r"(?P<name>.+)#(?P<number>[0-9]{1,6})")
_SHARED = "same words as line"
_LEAKED = f"{RUN} words in a row remain in the corpus"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a file.

    `id` is as given, else its line as `line 7`; `targets` are as written, at least one; `line`
    counts from 1.
    """

    id: str
    text: str
    targets: tuple[str, ...]
    line: int


_LINE_KEYS = {"start_line", "end_line", "start", "end", "line", "lines"}
"""Keys of other programs, whose values belong to the target."""


_EXAMPLE = '{"text": "Where is a run resumed?", "targets": ["src/run.py:10-20"]}'


class _Row(Table):
    text: Annotated[Text, key_hints("question", "query", "prompt")]
    targets: Annotated[
        list[Text],
        Meta(min_length=1),
        key_hints("target", "gold", "files", "file", "paths", "path", example=["src/run.py:10-20"]),
    ]
    id: Id | None = None


def question_queries(corpus: Corpus, file: Path, root: Path | None = None) -> BuiltQueries:
    """Make queries from a file of questions.

    Left out, each with its line and reason, are questions with a target that cannot be resolved,
    questions with the same words, unless they are copies of the first, and questions whose text
    remains in the corpus. A target may be an absolute path below `root`, the folder of the corpus.

    Raises:
        InputError: The file cannot be read, a question in it is malformed, or none is left.
    """
    questions = read_questions(file)
    roots = () if root is None else tuple(map(str, (root.absolute(), root.resolve())))
    sources = {source.path: source for source in corpus.sources}
    skipped = {file.path: file.reason for file in corpus.skipped}
    outlines: dict[str, list[Definition]] = {}
    left_out: Counter[str] = Counter()
    kept: dict[str, Question] = {}
    places: dict[str, list[tuple[Target, str]]] = {}
    for question in questions:
        try:
            places[question.id] = [
                _resolve(target, roots, sources, skipped, outlines) for target in question.targets
            ]
            kept[question.id] = question
        except InputError as error:
            left_out[f"line {question.line}: {error}"] += 1
    texts = (source.text for source in corpus.sources)
    for key in sorted(leaked_queries({key: kept[key].text for key in kept}, texts)):
        left_out[f"line {kept.pop(key).line}: {_LEAKED}"] += 1
    for group in same_words({key: question.text for key, question in kept.items()}):
        lines = {key: kept[key].line for key in group}
        answers = {tuple(target for target, _ in places[key]) for key in group}
        for key in group if len(answers) > 1 else group[1:]:
            others = ", ".join(str(line) for other, line in lines.items() if other != key)
            left_out[f"line {lines[key]}: {_SHARED} {others}; ask once, with all targets"] += 1
            del kept[key]
    if not kept:
        more = f"; and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise InputError(f"{file}: no question is left\n{'; '.join([*left_out][:3])}{more}")
    if left_out:
        count = f"{left_out.total()} of {counted(len(questions), 'question')}"
        command = f"chunkmark dataset info repo:{root or 'PATH'},queries={file}"
        warnings.warn(
            f"{file}: {count} left out, such as {next(iter(left_out))}; "
            f"to see all, run `{command}`",
            stacklevel=2,
        )
    queries = (_query(kept[key], places[key], corpus, sources) for key in sorted(kept))
    return BuiltQueries((corpus,), tuple(queries), left_out)


def read_questions(file: Path) -> tuple[Question, ...]:
    """The questions of a file, in its order. The suffix tells the format.

    Raises:
        InputError: The file cannot be read, is empty, or has an invalid row; names the line.
    """
    readers = {".jsonl": _json_lines, ".csv": _csv, ".yaml": _yaml, ".yml": _yaml}
    if file.suffix.lower() not in readers:
        raise InputError(
            f"{file}: a file of questions must be .jsonl, .csv or .yaml, each question with text "
            f"and targets; a line of .jsonl is {_EXAMPLE}"
        )
    require_regular_file(file)
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(unreadable(file, error)) from None
    except UnicodeDecodeError:
        refuse_utf16(data, file)
        raise InputError(f"{file} is not UTF-8; save it as UTF-8") from None
    if len(data) > _MOST:
        raise InputError(f"{file} is larger than {_MOST >> 20} MiB")
    questions = []
    lines: dict[str, int] = {}
    for line, row in readers[file.suffix.lower()](text, str(file)):
        question = _question(row, line, f"{file}, line {line}")
        if question.id in lines:
            raise InputError(
                f"{file}, line {line}: duplicate id {question.id!r:.80}, first used in line "
                f"{lines[question.id]}"
            )
        lines[question.id] = line
        questions.append(question)
    if not questions:
        raise InputError(f"{file} contains no question")
    return tuple(questions)


def _question(row: Any, line: int, where: str) -> Question:
    if not isinstance(row, dict):
        raise InputError(f"{where}: a question must be an object, as in {_EXAMPLE}")
    words = {key: _stripped(row[key]) for key in ("text", "targets") if key in row}
    if isinstance(words.get("targets"), str):
        words["targets"] = [words["targets"]]
    if isinstance(targets := words.get("targets"), list):
        for number, target in enumerate(targets, 1):
            if not isinstance(target, str):
                raise InputError(
                    f"{where}: targets: item {number} must be text such as src/run.py:10-20"
                )
    if lines := next((key for key in row if key in _LINE_KEYS), None):
        raise InputError(f"{where}: unknown key {lines!r}; write src/run.py:10-20 as the target")
    valid = validated(_Row, row | words, where)
    name = f"line {line}" if valid.id is None else valid.id
    return Question(name, valid.text, tuple(dict.fromkeys(valid.targets)), line)


def _stripped(value: Any) -> Any:
    if isinstance(value, list):
        return [_stripped(one) for one in value]
    return value.strip() if isinstance(value, str) else value


def _json_lines(text: str, where: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() in ("[", "{"):
            raise InputError(
                f"{where}, line {number}: write each question whole on one line, without a list: "
                f"{_EXAMPLE}"
            )
        if line.strip():
            yield number, parse_json(line.encode(), f"{where}, line {number}")


def _csv(text: str, where: str) -> Iterator[tuple[int, Any]]:
    """Rows below a header. Semicolons or line breaks separate several targets in a cell."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    end = 0
    try:
        for row in reader:
            line, end = end + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip().lower() for cell in row]
                for name in ("text", "targets"):
                    if name not in header:
                        unknown = [key for key in header if key not in _Row.__struct_fields__]
                        advice = renaming(_Row, name, header, unknown)
                        if len(header) == 1 and (mark := re.search("[;\t|]", header[0])):
                            advice = f"; separate the cells by commas, not by {mark[0]!r}"
                        raise InputError(
                            f"{where}, line {line}: the header needs text and targets, but has "
                            f"{', '.join(header):.120}{advice}"
                        )
                refuse_repeated_columns(header, f"{where}, line {line}")
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{where}, line {line}: {len(row)} cells, but the header has {len(header)}"
                )
            cells: dict[str, Any] = dict(zip(header, row, strict=True))
            cells["targets"] = [
                part for part in re.split(r"[;\n]", cells["targets"]) if part.strip()
            ]
            yield line, {key: value for key, value in cells.items() if key != "id" or value.strip()}
    except csv.Error as error:
        raise InputError(f"{where}, line {reader.line_num}: invalid CSV: {error}") from None


def _yaml(text: str, where: str) -> Iterator[tuple[int, Any]]:
    """A list of questions, in which every scalar is text.

    Only the parser's events are read: no tag builds an object, no alias is expanded, and a file of
    the largest size takes seconds.
    """
    import yaml

    events = _events(text, where)
    first = next(event for event in events if not isinstance(event, yaml.StreamStartEvent))
    if not isinstance(first, yaml.DocumentStartEvent):
        return
    if not isinstance(next(events), yaml.SequenceStartEvent):
        raise InputError(f"{where}: not a list of questions; begin each with `- text:`")
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        line = event.start_mark.line + 1
        if not isinstance(event, yaml.MappingStartEvent):
            yield line, None
            return
        row: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key, value = _scalar(event, where), next(events)
            if key in row:
                raise InputError(f"{where}, line {line}: duplicate key {key!r:.60}")
            if isinstance(value, yaml.SequenceStartEvent):
                row[key] = []
                while not isinstance(event := next(events), yaml.SequenceEndEvent):
                    row[key].append(_scalar(event, where))
            else:
                row[key] = _scalar(value, where)
        yield line, row
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            line = event.start_mark.line + 1
            raise InputError(f"{where}, line {line}: a second document begins; write one list")


def _events(text: str, where: str) -> Iterator[yaml.Event]:
    import yaml

    try:
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        at = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        problem = " ".join(str(error.problem or error.context or "damaged").split())
        raise InputError(f"{where}{at}: invalid YAML: {problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "reason", None) or "a character that YAML does not allow"
        raise InputError(f"{where}: invalid YAML: {problem}") from None


def _scalar(event: yaml.Event, where: str) -> str:
    """The text of a scalar event; other events are errors."""
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    at = f"{where}, line {event.start_mark.line + 1}"
    if isinstance(event, yaml.AliasEvent):
        raise InputError(
            f"{at}: aliases such as *{event.anchor:.60} are not supported; write the value"
        )
    raise InputError(f"{at}: a list or a mapping where a text is expected")


def _resolve(
    text: str,
    roots: tuple[str, ...],
    sources: dict[str, Source],
    skipped: dict[str, str],
    outlines: dict[str, list[Definition]],
) -> tuple[Target, str]:
    """The target at a place, and the symbol that the place names; empty if it names none."""
    path, colons, symbol = text.partition("::")
    if colons and not symbol.strip():
        raise InputError(f"target {text!r:.80}: `::` must be followed by a symbol")
    lines = None
    # A file may be called `a:3`.
    if not symbol and text not in sources and (lines := _LINES.fullmatch(text)):
        path = lines["path"]
    root = next((root for root in roots if path.startswith(f"{root}/")), "")
    path = plain_path(path, f"target {text!r:.80}", root)
    source = sources.get(path)
    if source is None:
        why = f"is not indexed: {skipped[path]}" if path in skipped else "does not exist"
        form = "" if re.search(r"[./]", path) else "; write path:first-last or path::symbol"
        if (part := re.fullmatch(r"(.+?)(?::|#L?)([^:#]+)", path)) and part[1] in sources:
            why = f"does not exist; {part[1]} does"
            form = f"; write {part[1]}:first-last for lines, or {part[1]}::symbol for a definition"
        raise InputError(f"target {text!r:.80}: the file {path} {why}{form}")
    if symbol:
        return _symbol(source, symbol, outlines), symbol
    if lines is None:
        return Target(path), ""
    first, last = int(lines["first"]), int(lines["last"] or lines["first"])
    if first > last:
        raise InputError(f"target {text!r:.80}: its last line is before its first")
    if not 1 <= first <= last <= source.lines.count:
        lines_are = f"line {first} is" if first == last else f"lines {first}-{last} are"
        raise InputError(
            f"target {text!r:.80}: {lines_are} not in {path}, which has "
            f"{counted(source.lines.count, 'line')}"
        )
    return Target(path, first, last), ""


def _symbol(source: Source, symbol: str, outlines: dict[str, list[Definition]]) -> Target:
    """The definition that a symbol names."""
    if source.path not in outlines:
        outlines[source.path] = definitions_in(source)
    numbered = _NUMBER.fullmatch(symbol)
    name, number = (numbered["name"], int(numbered["number"])) if numbered else (symbol, None)
    parts = parts_of(name)
    # Names such as `[]=` have no parts to compare.
    ending = [d for d in outlines[source.path] if d.name == name or d.parts[-len(parts) :] == parts]
    # A type comes before what only holds its parts, and a whole name before the end of another.
    ending = [d for d in ending if not d.container] or ending
    matches = [d for d in ending if d.name == name or d.parts == parts] or ending
    if not matches or (number is not None and not 1 <= number <= len(matches)):
        raise InputError(f"target '{source.path}::{symbol}': no definition has this name")
    if len(matches) > 1 and number is None:
        places = ", ".join(f"{d.first_line}-{d.last_line}" for d in matches[:5])
        raise InputError(
            f"target '{source.path}::{symbol}': {len(matches)} definitions have this name, on "
            f"lines {places}; write {symbol}#1, or its lines"
        )
    match = matches[(number or 1) - 1]
    return Target(source.path, match.first_line, match.last_line)


def _query(
    question: Question,
    places: list[tuple[Target, str]],
    corpus: Corpus,
    sources: dict[str, Source],
) -> Query:
    targets = tuple(dict.fromkeys(target for target, _ in places))
    symbols = [symbol for _, symbol in places if symbol]
    tags = {
        "folder": common_value(folder_of(target.path) for target in targets),
        "language": common_value(sources[target.path].language or "none" for target in targets),
    }
    if symbols:
        overlap = any(names_overlap(symbol, question.text) for symbol in symbols)
        tags["name-overlap"] = "yes" if overlap else "no"
    return Query(
        id=question.id,
        corpus=corpus.id,
        text=question.text,
        targets=targets,
        tags=tags,
        cluster=targets[0].path,
    )
