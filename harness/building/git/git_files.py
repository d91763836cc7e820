"""What git would open in a repository, looked at first.

Git waits for ever for a pipe that nobody writes to, and its configuration can include any file that
the user may read, of which it then prints lines.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_MOST = 1 << 20  # bytes of a configuration
_READ = ("info", "objects", "refs", "reftable")
_CONFIGURATIONS = ("config", "config.worktree")
# A section stands behind anything but a comment, though it begins a line as people write it.
_INCLUDE = re.compile(rb"^[^#;\n]*?\[[ \t]*include(?:if)?[ \t\]\".]", re.I | re.M)


def fault_in(git_dir: Path) -> str | None:
    """Why git is not to be let into a folder of its own; None where nothing speaks against it."""
    odd = _odd(git_dir)
    if odd is not None:
        return f"{odd} is no file, no folder and no link to one; git would wait for it"
    for name in _CONFIGURATIONS:
        file = git_dir / name
        try:
            with file.open("rb") as opened:
                text = opened.read(_MOST + 1)
        except OSError:
            continue
        if len(text) > _MOST:
            return f"{file} is larger than {_MOST:,} bytes"
        if _INCLUDE.search(text):
            return (
                f"{file} includes other files, which may be anywhere and are not read\n"
                "take the include out, or clone the repository: a clone has none"
            )
    return None


def _odd(folder: Path) -> Path | None:
    """The first of the files that git reads which is none."""
    waiting = [folder]
    while waiting:
        above = waiting.pop()
        try:
            with os.scandir(above) as entries:
                found = sorted(entries, key=lambda one: one.name)
        except OSError:
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if above != folder or entry.name in _READ:
                    waiting.append(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False) and _is_odd(entry):
                return Path(entry.path)
    return None


def _is_odd(entry: os.DirEntry[str]) -> bool:
    try:
        mode = entry.stat().st_mode
    except OSError:
        return False  # nothing is there; git says so too
    # Nobody waits for a socket, such as that of git's own monitor of files: it cannot be opened.
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode))
