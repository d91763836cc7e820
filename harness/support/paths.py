"""Paths and patterns of paths as people write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunkers.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_ADDRESS = re.compile(r"(https?|ssh|git|file):/|[\w.-]+@[\w.-]+:")


def refuse_address(path: Path) -> None:
    """Refuse an address in place of a repository's folder.

    Raises:
        InputError: The path is an address.
    """
    if address := _ADDRESS.match(str(path)):
        # A path has lost one of the two slashes.
        text = str(path).replace(f"{address[1]}:/", f"{address[1]}://") if address[1] else path
        raise InputError(f"{text} is an address; clone it and give the folder")


def plain_path(text: str, where: str, root: str = "") -> str:
    r"""A path with `/` between its parts, relative to `root` if it lies below it.

    Args:
        text: The path as written: `./a.py`, `pkg//a.py`, `pkg\a.py`.
        where: Where it is written, for messages.
        root: An absolute folder, or empty.

    Raises:
        InputError: It is empty, or leads out of the folder that it starts in.
    """
    slashed = text.replace("\\", "/")
    if root and slashed.startswith(root.rstrip("/") + "/"):
        slashed = slashed[len(root.rstrip("/")) :].lstrip("/")
    parts: list[str] = []
    for part in slashed.split("/"):
        if part == ".." and not parts:
            raise InputError(f"{where}: the path {text!r:.80} leads out of its corpus")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise InputError(f"{where}: the path {text!r:.80} does not name a file")
    return ("/" if slashed.startswith("/") else "") + "/".join(parts)


def split_patterns(text: str) -> tuple[str, ...]:
    r"""The patterns in a text, separated by white space; `\ ` is a space in a pattern."""
    return tuple(re.findall(r"(?:\\.|\S)+", text))


def prefixes(path: str) -> list[str]:
    """The folders on a path, each ending in `/`, and the path itself."""
    ends = [at + 1 for at, character in enumerate(path[:-1]) if character == "/"]
    return [*(path[:end] for end in ends), path]
