"""`chunkmark dataset fetch`: brings a data set's files into a data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import DataDirOption, Format, FormatOption, write, write_json, write_rows

if TYPE_CHECKING:
    from harness.datasets.fetching.fetch import Fetched

PARTIAL = 3


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Data set, as `list` names it.")],
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Fetch the files that a data set needs into the first data folder, and check what is there.

    What breaks off is gone on with by the same command. Nothing without a known sha256 is fetched:
    for it the table says what to place where, and the exit code is 3.
    """
    from chunkers.errors import InputError
    from chunkers.plugins.registry import suggestion
    from harness.cli.progress import Progress
    from harness.datasets.cards import card_names, load_card
    from harness.datasets.fetching import fetch

    if name not in card_names():
        raise InputError(f"unknown dataset {name!r}; {suggestion(name, card_names())}")
    card = load_card(name)
    with Progress() as progress:
        rows = fetch.fetch(card, data_dir, progress.tell)
    if form is Format.JSON:
        write_json(fetch.document(card, rows))
    elif form is Format.TABLE:
        write("\n".join(map(_lines, rows)) or f"{name} needs no file")
    else:
        columns = ("file", "state", "bytes", "where", "source", "note")
        shown = [(r.path, r.state, r.bytes, r.where, r.source, r.note) for r in rows]
        write_rows(form, columns, [[("" if one is None else one) for one in row] for row in shown])
    return PARTIAL if any(row.state == "to place" for row in rows) else 0


def _lines(row: Fetched) -> str:
    """A file in words; where it is to be placed by hand, what from where."""
    size = "" if row.bytes is None else f", {row.bytes} bytes"
    said = f"{row.state:8}  {row.path}{size}: {row.note}\n"
    if row.state == "to place":
        return f"{said}          from {row.source}\n          as   {row.where}"
    return f"{said}          {row.where}"
