"""`chunkmark doctor`: is everything here that a run needs?"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import DataDirOption, Format, FormatOption, write_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAILED = 1
Check = tuple[str, bool, str]


def doctor(data_dir: DataDirOption = None, form: FormatOption = Format.TABLE) -> int:
    """Check Python, libraries, grammars, the bundled model, data and folders.

    Exits with 1 when something is broken; data that is not at hand is no fault.
    """
    checks = [check for group in _GROUPS for check in group(data_dir)]
    if form is Format.JSON:
        rows: list[dict[str, Any]] = [
            {"what": what, "ok": good, "detail": detail} for what, good, detail in checks
        ]
        write_json({"schema": "chunkmark.doctor/1", "checks": rows})
    else:
        shown = [(what, _state(good, detail), detail) for what, good, detail in checks]
        write_rows(form, ("what", "state", "detail"), shown)
    return 0 if all(good for _, good, _ in checks) else FAILED


def _state(good: bool, detail: str) -> str:
    if not good:
        return "FAILED"
    return "absent" if detail.startswith("absent") else "ok"


def _system(data_dir: Path | None) -> Iterator[Check]:
    del data_dir
    from harness.runs.folder import LIBRARIES, version

    yield "python", True, f"{platform.python_version()} on {platform.platform()}"
    yield "cores", True, str(os.cpu_count())
    for name in LIBRARIES:
        found = version(name)
        yield name, found is not None, found or f"missing: pip install {name}"


def _parts(data_dir: Path | None) -> Iterator[Check]:
    del data_dir
    from chunkers.languages import list_languages
    from chunkers.plugins.loading import list_chunkers

    for chunker in list_chunkers():
        detail = f"absent: {chunker.problem}" if chunker.absent else chunker.problem
        yield (
            f"chunker {chunker.name}",
            chunker.absent or not chunker.problem,
            detail or chunker.version,
        )
    for language in list_languages():
        if language.grammar:
            absent = bool(language.problem) and language.source != "wheel"
            found = f"{language.grammar} {language.version}"
            detail = f"absent: {language.problem}" if absent else language.problem or found
            yield f"grammar {language.name}", absent or not language.problem, detail


def _model(data_dir: Path | None) -> Iterator[Check]:
    del data_dir
    from chunkers.errors import InputError
    from harness.runs.pipeline import load_embedder

    try:
        yield "minilm", True, f"weights as expected, {load_embedder('minilm').fingerprint()[:12]}"
    except InputError as error:
        yield "minilm", False, str(error)


def _folders(data_dir: Path | None) -> Iterator[Check]:
    from harness.datasets.loading import list_datasets
    from harness.support.data_folders import cache_dir, data_dirs

    for listed in list_datasets(data_dir):
        yield (
            f"data set {listed.name}",
            True,
            f"absent: {listed.missing}" * bool(listed.missing) or "at hand",
        )
    for folder in data_dirs(data_dir):
        yield "data folder", True, f"{folder}{'' if folder.is_dir() else ' (not there)'}"
    cache = cache_dir()
    above = next(one for one in (cache, *cache.parents) if one.exists())
    usable = above.is_dir() and os.access(above, os.W_OK)
    yield "cache folder", usable, f"{cache}{'' if usable else ': cannot be written'}"


_GROUPS: tuple[Callable[[Path | None], Iterator[Check]], ...] = (
    _system,
    _parts,
    _model,
    _folders,
)
