"""The code of a Jupyter notebook, at its own lines of the file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

from harness.reading.decoding import NotTextError

UNREADABLE = "a notebook whose cells are not written line by line"
_BEGINNING = re.compile(r'\s*"(?:source|input)": \[\r?')
_END = re.compile(r"\s*\],?\r?")
_MAGIC = re.compile(r"\s*[%!?]")
_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")  # before cells of the kernel's language


def notebook_code(text: str) -> tuple[str, str]:
    """The code cells of a notebook, and the name of its language, empty if it is not given.

    The code has as many lines as the file, and each line of a cell stands in the line of the file
    that holds it; all others, those of outputs and prose too, are blank. IPython's commands, and
    cells in a language of their own such as `%%bash`, become comments.

    Raises:
        NotTextError: It is not JSON, has no cells, or does not have each line of a cell in a line
            of its own, as Jupyter writes it.
    """
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets", [notebook])
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        sources = [cell.get("source", cell.get("input", [])) for cell in cells]
        metadata = notebook.get("metadata", {})
        kernel = metadata.get("language_info", {}).get("name")
        language = kernel or metadata.get("kernelspec", {}).get("language") or ""
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotTextError("not a notebook") from None
    places = list(_places(text))
    written = [(cell, source) for cell, source in zip(cells, sources, strict=True) if source]
    if [strings for _, strings in places] != [source for _, source in written]:
        raise NotTextError(UNREADABLE)
    lines = [""] * (text.count("\n") + 1)
    for (first, strings), (cell, _) in zip(places, written, strict=True):
        if cell.get("cell_type") == "code":
            lines[first : first + len(strings)] = _code(strings)
    return "\n".join(lines), str(language)


def _places(text: str) -> Iterator[tuple[int, list[str]]]:
    """Index of the first line of every written list of source lines, and the list."""
    first, strings = -1, list[str]()
    for number, line in enumerate(text.split("\n")):
        if first < 0:
            if _BEGINNING.fullmatch(line):
                first, strings = number + 1, []
        elif _END.fullmatch(line):
            yield first, strings
            first = -1
        else:
            try:
                strings.append(json.loads(line.strip().removesuffix(",")))
            except ValueError:
                raise NotTextError(UNREADABLE) from None


def _code(strings: list[str]) -> list[str]:
    lines = [string.removesuffix("\n").removesuffix("\r") for string in strings]
    if any("\n" in line for line in lines):
        raise NotTextError(UNREADABLE)
    other = lines[0].startswith("%%") and not lines[0].startswith(_PYTHON)
    return [f"# {line}" if other or _MAGIC.match(line) else line for line in lines]
