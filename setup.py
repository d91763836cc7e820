"""Adds every file below datasets/ to the wheel, so that a new data set edits no list.

All else stands in pyproject.toml, whose own table for data files would need a line per folder.
"""

from pathlib import Path

from setuptools import setup

folders = sorted({file.parent for file in Path("datasets").rglob("*") if file.is_file()})
setup(
    data_files=[
        (
            f"share/chunkmark/{folder.as_posix()}",
            [file.as_posix() for file in sorted(folder.iterdir()) if file.is_file()],
        )
        for folder in folders
    ]
)
