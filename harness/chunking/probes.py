"""Tries the code of others in processes of its own, before this process imports it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.plugins.loading import CHUNKERS, load_chunker
from chunkers.plugins.spec import expand_spec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.plugins.spec import Spec

_ADAPTERS, _PROGRAMS = "chunkers.adapters.", "chunkers.adapters.process:"


def probe(specs: Iterable[str]) -> None:
    """Load other people's chunkers in processes of their own, before this one imports them.

    Code that hangs, crashes or leaves while it is imported is named so, and ends nothing else.

    Raises:
        InputError: One cannot be loaded, or the library of an adapter has changed.
    """
    chunkers = list(itertools.chain.from_iterable(map(expand_spec, specs)))
    for spec in chunkers:
        entry, _ = CHUNKERS.find(spec)
        if not entry.target.startswith("chunkers."):
            from chunkers.processes.isolation import LoadTarget, Worker
            from harness.chunking.cutters import limits_of

            with Worker(LoadTarget(str(spec)), limits_of()) as worker:
                worker.load()
    for problem in library_faults(chunkers).values():
        raise InputError(problem)


def library_faults(specs: Iterable[Spec | str]) -> dict[str, str]:
    """Why libraries of adapters cannot even cut a small file, by the names of the chunkers.

    Raises:
        InputError: A library is missing.
    """
    adapters = [
        chunker
        for chunker in map(load_chunker, specs)
        if chunker.made_by.startswith(_ADAPTERS) and not chunker.made_by.startswith(_PROGRAMS)
    ]
    if not adapters:
        return {}
    from chunkers.adapters._library import SAMPLE
    from chunkers.processes.isolation import Worker
    from chunkers.testing.services import cheap_services
    from harness.chunking.cutters import limits_of, target_of

    faults = {}
    with Worker(None, limits_of()) as worker:  # imports what several adapters share once
        for chunker in adapters:
            worker.turn_to(target_of(chunker), limits_of(), cheap_services())
            if failure := worker.cut(SAMPLE).failure:
                reason = failure.reason.removeprefix(f"{InputError.__name__}: ")
                faults[chunker.name] = f"chunker {chunker.name}: {reason}"
    return faults
