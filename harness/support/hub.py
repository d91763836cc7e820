"""Repositories of the Hugging Face hub: files of one commit, downloaded or from the local cache."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNREACHABLE = "the Hugging Face hub cannot be reached"


def download(
    repository: str,
    kind: Literal["dataset", "model"],
    patterns: Sequence[str],
    revision: str | None = None,
) -> Path:
    """The folder of a repository's files.

    Files of a commit that are in the cache of huggingface_hub are taken from there, without a
    request. Without a revision, the newest are requested first.

    Args:
        repository: Its name, `owner/name`.
        kind: Of the repository.
        patterns: Of the paths of the files.
        revision: The hash of a commit, whose files never change; None for the newest.

    Raises:
        InputError: The files are not in the cache, and cannot be downloaded; the message is the
            reason alone.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def snapshot(*, local: bool) -> Path:
        folder = snapshot_download(
            repository,
            repo_type=kind,
            revision=revision,
            allow_patterns=list(patterns),
            local_files_only=local,
        )
        return Path(folder)

    with _quiet():
        try:
            if revision is not None:
                try:
                    snapshot(local=True)
                except LocalEntryNotFoundError:
                    # Fails at once where a download repeats its requests for half a minute.
                    HfApi().repo_info(repository, repo_type=kind, revision=revision, timeout=30)
            # Without a request if the cache lists the commit's files and has them. A folder of the
            # cache without that list, which other programs leave, may lack some.
            return snapshot(local=False)
        except Exception as error:  # of huggingface_hub, of its client for HTTP, or of the system
            raise InputError(_reason(error)) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings, and without progress bars unless a terminal shows them."""
    import logging as levels

    from huggingface_hub.utils import logging
    from huggingface_hub.utils.tqdm import disable_progress_bars

    before = logging.get_verbosity()
    logging.set_verbosity(levels.ERROR)
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _reason(error: Exception) -> str:
    import httpx2
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    known: list[tuple[type[Exception] | tuple[type[Exception], ...], str]] = [
        (HFValidationError, "not a possible name on the Hugging Face hub (OWNER/NAME)"),
        (GatedRepoError, "the Hugging Face hub gives access only to users who asked for it"),
        (RepositoryNotFoundError, "the Hugging Face hub has no such public repository"),
        (RevisionNotFoundError, "the Hugging Face hub has no such revision"),
        (OfflineModeIsEnabled, f"{_UNREACHABLE}: HF_HUB_OFFLINE is set"),
        (LocalEntryNotFoundError, _UNREACHABLE),
        ((httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError), _UNREACHABLE),
    ]
    for kinds, reason in known:
        if isinstance(error, kinds):
            return reason
    if isinstance(error, HfHubHTTPError):
        return f"the Hugging Face hub answers HTTP {error.response.status_code}"
    return f"the download failed: {' '.join(str(error).split())[:200] or type(error).__name__}"
