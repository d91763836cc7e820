"""`chunkmark cache`: the store of vectors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from harness.cli.output import Format, FormatOption, write, write_json, write_rows

_COLUMNS = ("model", "fingerprint", "vectors")


class Action(StrEnum):
    """What to do with the store."""

    INFO = "info"
    CLEAR = "clear"


def cache(
    action: Annotated[Action, typer.Argument(help="Show the store, or remove it.")],
    form: FormatOption = Format.TABLE,
) -> None:
    """Show or remove the stored vectors.

    Removing them loses no result; the next run embeds again.
    """
    from chunkers.errors import InputError
    from harness.embedding.vector_store import VectorStore
    from harness.support.data_folders import cache_dir

    path = cache_dir() / "vectors.sqlite"
    files = [file for file in path.parent.glob("vectors.sqlite*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    models: list[tuple[str, str, int]] = []
    if action is Action.CLEAR:
        try:
            for file in files:
                file.unlink()
        except OSError as error:
            raise InputError(f"cannot remove {path}: {error.strerror}") from error
    elif path.exists():
        store = VectorStore(path)
        models = store.counts()
        store.close()
    if form is Format.JSON:
        write_json(
            {
                "schema": "chunkmark.cache/1",
                "path": str(path),
                "bytes": 0 if action is Action.CLEAR else size,
                "freed": size if action is Action.CLEAR else 0,
                "models": [dict(zip(_COLUMNS, model, strict=True)) for model in models],
            }
        )
        return
    if form is Format.TABLE:
        verb = "removed" if action is Action.CLEAR else "uses"
        write(f"{path}: {verb} {size / 1e6:.1f} MB")
    if action is Action.INFO:
        write_rows(form, _COLUMNS, [(name, key[:12], count) for name, key, count in models])
