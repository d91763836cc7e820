"""Document ids behind the ids of their chunks, as systems that answer from documents write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_CHUNK = re.compile(r"(?P<document>.+)::chunk-[0-9]+", re.DOTALL)
_PREFIX = "doc-"


def documents_of(ids: Sequence[str], gold: Collection[str]) -> list[str]:
    """The documents that retrieved chunks belong to, in the same order.

    `doc-<urn:uuid:1>::chunk-0` is the gold document `<urn:uuid:1>`: what follows the document is
    dropped, and `doc-` before it where the gold knows the rest. An id that the gold knows as it
    is stays so, and so does everything where the gold itself names chunks.

    Args:
        ids: Retrieved ids of one query.
        gold: Its gold ids.
    """
    if any(_CHUNK.fullmatch(one) for one in gold):
        return list(ids)
    return [one if one in gold else _document(one, gold) for one in ids]


def _document(one: str, gold: Collection[str]) -> str:
    match = _CHUNK.fullmatch(one)
    document = match["document"] if match else one
    bare = document.removeprefix(_PREFIX)
    # Without a chunk behind it, or a bracket, `doc-7` may well be another document than `7`.
    wrapped = match is not None or bare.startswith("<")
    return bare if wrapped and document not in gold and bare in gold else document
