"""Where files are cut and texts embedded: in this program's processes, or on a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chunkers.errors import InputError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits
    from chunkers.source import Services
    from harness.chunking.cutters import Cutter
    from harness.embedding.embedder import Embedder


class Engine(Protocol):
    """Cuts and embeds. Given equal hardware, every engine gives the same bytes."""

    def cutter(
        self, chunker: LoadedChunker, services: Services, limits: Limits
    ) -> AbstractContextManager[Cutter]:
        """What cuts by a chunker, as `harness.chunking.cutters.cutter`."""
        ...

    def embedder(self, embedder: Embedder) -> Embedder:
        """The embedder, whose texts are embedded there."""
        ...


class Local:
    """The processes of this program."""

    def cutter(
        self, chunker: LoadedChunker, services: Services, limits: Limits
    ) -> AbstractContextManager[Cutter]:
        """What cuts by a chunker."""
        from harness.chunking.cutters import cutter

        return cutter(chunker, services, limits)

    def embedder(self, embedder: Embedder) -> Embedder:
        """The embedder as it is."""
        return embedder


def load_engine(text: str) -> Engine:
    """The engine `local`, `ray` or `ray:ADDRESS`.

    Raises:
        InputError: Unknown name, a missing package, or a cluster that does not answer.
    """
    name, colon, address = text.partition(":")
    if name == "ray" and (address or not colon):
        from harness.runs.ray_engine import connect

        return connect(address)
    if text != "local":
        raise InputError(f"engine {text!r}: write local, ray or ray:ADDRESS")
    return Local()
