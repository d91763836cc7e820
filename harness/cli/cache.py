"""`chunkmark cache`: the store of vectors."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import Format, FormatOption, write, write_json, write_rows

if TYPE_CHECKING:
    from pathlib import Path

    from harness.embedding.vector_store import VectorStore

_COLUMNS = ("model", "fingerprint", "vectors")


class Action(StrEnum):
    """What to do with the store."""

    INFO = "info"
    CLEAR = "clear"


def cache(
    action: Annotated[
        Action, typer.Argument(help="info shows the stored vectors, clear removes them.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="With clear: remove only the vectors of this model, given by its name or by the "
            "start of its fingerprint. Repeatable."
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Show or remove the stored vectors.

    Runs reuse vectors of texts that were embedded before. Removing vectors loses no
    results: the next run computes them again.
    """
    from chunkers.errors import InputError
    from harness.embedding.vector_store import VectorStore
    from harness.support.data_folders import cache_dir

    path = cache_dir() / "vectors.sqlite"
    before = _size(path)
    if model:
        if action is not Action.CLEAR:
            raise InputError("--model names what `cache clear` removes; leave it out")
        _remove(VectorStore(path), model)
        action = Action.INFO
    models: list[tuple[str, str, int]] = []
    if action is Action.CLEAR:
        try:
            for file in _files(path):
                file.unlink()
        except OSError as error:
            raise InputError(f"cannot remove {path}: {error.strerror}") from error
    elif path.exists():
        store = VectorStore(path)
        models = store.counts()
        store.close()
    size = _size(path)
    if form is Format.JSON:
        write_json(
            {
                "schema": "chunkmark.cache/1",
                "path": str(path),
                "bytes": size,
                "freed": before - size if model or action is Action.CLEAR else 0,
                "models": [dict(zip(_COLUMNS, model, strict=True)) for model in models],
            }
        )
        return
    if form is Format.TABLE:
        verb = "removed" if action is Action.CLEAR else "uses"
        write(f"{path}: {verb} {(before if action is Action.CLEAR else size) / 1e6:.1f} MB")
    if action is Action.INFO:
        write_rows(form, _COLUMNS, [(name, key[:12], count) for name, key, count in models])


def _files(path: Path) -> list[Path]:
    return [file for file in path.parent.glob("vectors.sqlite*") if file.is_file()]


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in _files(path))


def _remove(store: VectorStore, names: list[str]) -> None:
    """Remove the models with these names, or fingerprints that start so."""
    from chunkers.errors import InputError

    matches = [
        key
        for own, key, _ in store.counts()
        if any(own == name or key.startswith(name) for name in names)
    ]
    if not matches:
        raise InputError(
            f"--model {' '.join(names)}: no stored vectors of this model; `chunkmark cache info` "
            "lists the models"
        )
    store.remove(matches)
    store.close()
