"""`chunkmark doctor`: check the installation."""

from __future__ import annotations

import os
import platform
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    FAILED,
    DataDirOption,
    Format,
    FormatOption,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Check = tuple[str, bool, str]
"""What is checked, whether it is in order, and a detail; `absent: …` for an optional part."""


def doctor(
    show_all: Annotated[bool, typer.Option("--all", help="Also show checks that pass.")] = False,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Check the installation, the model and the data.

    Shows what fails or is absent. The exit code is 1 if a check fails; an absent extra or data set
    is not a failure.
    """
    checks = [*_system(), *_parts(), _model(), *_folders(data_dir)]
    code = 0 if all(ok for _, ok, _ in checks) else FAILED
    if form is Format.JSON:
        rows: list[dict[str, Any]] = [
            {"what": what, "ok": ok, "detail": detail} for what, ok, detail in checks
        ]
        write_json({"schema": "chunkmark.doctor/1", "checks": rows})
        return code
    states = [
        (what, _state(ok, detail), detail.removeprefix("absent: ")) for what, ok, detail in checks
    ]
    shown = [row for row in states if show_all or form is not Format.TABLE or row[1] != "ok"]
    if shown:
        write_rows(form, ("what", "state", "detail"), shown)
    if form is Format.TABLE:
        from harness.support.wording import counted

        counts = Counter(state for _, state, _ in states)
        others = "".join(f", {counts[state]} {state}" for state in ("absent", "FAILED"))
        write(
            f"{counted(counts['ok'], 'check')} ok{others}"
            + ("" if show_all else "; --all shows all")
        )
    return code


def _state(ok: bool, detail: str) -> str:
    if not ok:
        return "FAILED"
    return "absent" if detail.startswith("absent") else "ok"


def _system() -> Iterator[Check]:
    from harness.runs.folder import LIBRARIES, version

    yield "python", True, f"{platform.python_version()} on {platform.platform()}"
    yield "cores", True, str(os.cpu_count())
    for name in LIBRARIES:
        installed = version(name)
        yield name, installed is not None, installed or f"missing: pip install {name}"


def _parts() -> Iterator[Check]:
    from chunkers.languages import list_languages
    from chunkers.plugins.loading import list_chunkers
    from harness.chunking.probes import library_faults

    chunkers = list_chunkers()
    faults = library_faults(chunker.name for chunker in chunkers if chunker.version)
    for chunker in chunkers:
        problem = chunker.problem or faults.get(chunker.name, "")
        ok = chunker.absent or not problem
        detail = f"absent: {problem}" if chunker.absent else problem
        yield f"chunker {chunker.name}", ok, detail or chunker.version
    for language in list_languages():
        if language.grammar:
            absent = bool(language.problem) and language.source != "wheel"
            detail = language.problem or f"{language.grammar} {language.version}"
            ok = absent or not language.problem
            yield f"grammar {language.name}", ok, f"absent: {detail}" if absent else detail


def _model() -> Check:
    from chunkers.errors import InputError
    from harness.runs.pipeline import load_embedder

    try:
        return "minilm", True, f"weights as expected, {load_embedder('minilm').fingerprint()[:12]}"
    except InputError as error:
        return "minilm", False, str(error)


def _folders(data_dir: Path | None) -> Iterator[Check]:
    from harness.datasets.registry import list_datasets
    from harness.support.data_folders import cache_dir, data_dirs

    for dataset in list_datasets(data_dir):
        detail = f"absent: {dataset.missing}" if dataset.missing else "available"
        yield f"data set {dataset.name}", True, detail
    for folder in data_dirs(data_dir):
        yield "data folder", True, f"{folder}{'' if folder.is_dir() else ' (does not exist)'}"
    cache = cache_dir()
    above = next(folder for folder in (cache, *cache.parents) if folder.exists())
    writable = above.is_dir() and os.access(above, os.W_OK)
    yield "cache folder", writable, f"{cache}{'' if writable else ': not writable'}"
