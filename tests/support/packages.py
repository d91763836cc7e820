"""Fetches real code from npm, PyPI and Debian, by their own clients."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

COMMANDS = {
    "npm": ("npm", "pack"),
    "pypi": (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"),
    "debian": ("apt-get", "download"),
}


def fetch(kind: str, package: str, folder: Path) -> Path:
    """The unpacked package; the test is skipped by its name where it cannot be fetched."""
    try:
        subprocess.run(
            [*COMMANDS[kind], package],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=300,
        )
        unpacked = folder / "unpacked"
        unpacked.mkdir()
        (archive,) = (file for file in folder.iterdir() if file.is_file())
        if kind == "debian":
            subprocess.run(["dpkg-deb", "-x", str(archive), str(unpacked)], check=True)
        else:
            with tarfile.open(archive) as opened:
                opened.extractall(unpacked, filter="data")
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{package} cannot be fetched from {kind}: {error}")
    return unpacked
