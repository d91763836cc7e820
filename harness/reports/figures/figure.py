"""A figure with its numbers, and its forms: SVG, PNG and CSV."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.reports.figures import style
from harness.reports.plain import as_rows, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure as Drawing

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_FONTS = "system-ui, sans-serif"
_VARIABLES = {color: f"var(--{name}, {color})" for name, color in style.LIGHT.items()}
_PLACES = {"d", "x", "y", "width", "height", "transform"}
_SUFFIXES = (".svg", ".png", ".csv")
_PNG_DPI = 192  # two pixels for each of CSS


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        name: Unique in a report, of `a-z`, `0-9` and `-`: the name of its files, and the start of
            every id in its SVG.
        section: What kind of figure it is, such as `curves`.
        title: What it shows, in a line.
        caption: How to read it, and what is left out.
        alt: What a reader sees in it, as text.
        columns: The columns of its numbers.
        rows: Its numbers in full, also those of chunkers that are not drawn.
        draw: Draws it.
    """

    name: str
    section: str
    title: str
    caption: str
    alt: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    draw: Callable[[], Drawing]

    @cached_property
    def svg(self) -> str:
        """The figure as an `svg` element, for a file of its own or for a page.

        Text stays text. Colours are CSS variables, named as in `LIGHT`, whose values they fall back
        to.
        """
        return _svg(self)


def refuse_foreign_folder(folder: Path) -> None:
    """Refuse to write figures to a folder that holds other files than figures.

    Raises:
        InputError: It does, or is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder with --figures")
    files = list(folder.iterdir()) if folder.exists() else []
    figures = {file.stem for file in files if file.suffix == ".svg"}  # which is written first
    if any(file.suffix not in _SUFFIXES or file.stem not in figures for file in files):
        raise InputError(
            f"{folder} holds other files; name an empty or a new folder with --figures"
        )


def write_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Write each figure as SVG, as PNG in light colours, and its numbers as CSV.

    Returns:
        The files, in the order of the figures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for figure in figures:
        for suffix, content in (
            ("svg", figure.svg.encode()),
            ("png", png(figure)),
            ("csv", as_rows(figure.columns, _csv_rows(figure), "csv").encode()),
        ):
            file = folder / f"{figure.name}.{suffix}"
            file.write_bytes(content)
            files.append(file)
    return files


def _csv_rows(figure: Figure) -> Iterator[list[str | int | float]]:
    for row in figure.rows:
        yield ["" if value is None else value for value in row]


def png(figure: Figure) -> bytes:
    """The figure as PNG, in light colours."""
    return _saved(figure, "png")


def _svg(figure: Figure) -> str:
    root = ET.fromstring(_saved(figure, "svg"))  # noqa: S314 - matplotlib has just written it
    # Its style sheet would hold for the whole page.
    for parent in [*root.iter()]:
        for child in [*parent]:
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    _rename_ids(root, figure.name)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        element.tail = None  # white space
        if element.tag not in ("text", "tspan"):
            element.text = None
        for key in _PLACES & element.attrib.keys():
            element.set(key, re.sub(r"\d+\.\d+", _rounded, element.attrib[key]))
        if _HREF in element.attrib:
            element.set("href", element.attrib.pop(_HREF))
        if "style" in element.attrib:
            element.set("style", _style(element.attrib["style"]))
    width, height = (root.attrib.pop(side) for side in ("width", "height"))
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": root.attrib["viewBox"],
        "width": width,
        "height": height,
        "style": "stroke-linejoin: round; stroke-linecap: butt",
        "role": "img",
        "aria-labelledby": f"{figure.name}-title {figure.name}-desc",
    }
    for at, (tag, text) in enumerate((("title", figure.title), ("desc", figure.alt))):
        element = ET.Element(tag, {"id": f"{figure.name}-{tag}"})
        element.text = plain(text)
        root.insert(at, element)
    return ET.tostring(root, encoding="unicode") + "\n"


def _saved(figure: Figure, form: str) -> bytes:
    from matplotlib import rc_context

    out = io.BytesIO()
    settings: Any = style.RC | {"svg.hashsalt": figure.name}
    with rc_context(settings), warnings.catch_warnings():
        # The SVG has the text, whatever characters the font of the PNG lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        stamp = {"Date": None} if form == "svg" else {"Software": None}
        figure.draw().savefig(out, format=form, dpi=_PNG_DPI, metadata=stamp)
    return out.getvalue()


def _rename_ids(root: ET.Element, name: str) -> None:
    """Begin ids with the name of the figure, for a page with several; drop those without use."""
    used: dict[str, str] = {}
    reference = re.compile(r"#([\w-]+)(?=\)|$)")

    def renamed(match: re.Match[str]) -> str:
        return "#" + used.setdefault(match[1], f"{name}-{len(used) + 1}")

    for element in root.iter():
        for key, value in element.attrib.items():
            if key == _HREF or value.startswith("url(#"):
                element.set(key, reference.sub(renamed, value))
            elif key == "style" and "url(#" in value:
                element.set(key, re.sub(r"(?<=url\()#([\w-]+)", renamed, value))
    for element in root.iter():
        if (own := element.attrib.pop("id", None)) in used:
            element.set("id", used[str(own)])


def _rounded(number: re.Match[str]) -> str:
    """A number of points to hundredths, which no eye sees."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _style(style: str) -> str:
    """A style with variables for colours, and with the fonts of the reader's system."""
    style = re.sub(r"#[0-9a-f]{6}", lambda match: _VARIABLES.get(match[0], match[0]), style)
    return re.sub(r"(font(?:-family)?: [^;]*?)'DejaVu Sans'[^;]*", rf"\1{_FONTS}", style)
