"""Small git repositories with histories that are the same on every machine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
}


@dataclass(frozen=True)
class Repo:
    """A repository under a folder; each commit is a day later than the one before."""

    root: Path

    def git(self, *arguments: str | bytes, data: bytes = b"", days: int = 0) -> str:
        """What git prints, without the line end."""
        rest = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        date = f"{1_700_000_000 + 86_400 * days} +0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=rest | _ENVIRONMENT | dates,
            input=data,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, str | bytes | None]) -> None:
        """Put files there; None takes one away."""
        for path, content in files.items():
            file = self.root / path
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self, message: str | bytes, files: dict[str, str | bytes | None] | None = None
    ) -> str:
        """Write files and commit all that is there; the hash of the commit."""
        self.write(files or {})
        self.git("add", "-A")
        data = message.encode() if isinstance(message, str) else message
        commands = ["commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim"]
        self.git(*commands, "-F", "-", data=data, days=self.count() + 1)
        return self.git("rev-parse", "HEAD")

    def count(self) -> int:
        """How many commits HEAD has."""
        try:
            return int(self.git("rev-list", "--count", "HEAD"))
        except RuntimeError:
            return 0


def new_repo(root: Path, *options: str) -> Repo:
    """An empty repository in a new folder."""
    root.mkdir(parents=True)
    repo = Repo(root)
    repo.git("init", "-q", "-b", "main", *options)
    return repo
