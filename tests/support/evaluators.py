"""Packages of other evaluators, fetched into a folder of their own unless they are installed.

`$CHUNKMARK_EVALUATORS` may name a folder that has them.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Without what they depend on and the project has, or what would bring another torch.
PINNED = (
    "beir==2.2.0", "coir-eval==0.7.0", "mteb==2.26.24", "ranx==0.3.21", "datasets==5.2.0",
    "polars==2.1.0", "polars-runtime-32==2.1.0", "pyarrow==26.0.1", "pandas==3.1.1",
    "multiprocess==0.70.19", "dill==0.4.1", "xxhash==4.1.0", "python-dateutil==4.0.0",
    "six==1.17.0", "numba==0.68.1", "llvmlite==0.50.0", "tabulate==0.10.0",
    "ir_datasets==0.6.3", "orjson==3.13.0", "lz4==4.4.5", "cbor2==6.3.0",
    "fastparquet==2026.9.0", "seaborn==0.13.2", "matplotlib==3.11.2", "pyparsing==3.3.3",
    "cycler==0.12.1", "kiwisolver==1.5.1", "fonttools==4.68.0",
)  # fmt: skip


def evaluators(*needed):
    """The folder of the packages; that of the environment if it has the `needed` ones."""
    if "CHUNKMARK_EVALUATORS" in os.environ:
        return Path(os.environ["CHUNKMARK_EVALUATORS"])
    if needed and all(f"{name}=={installed(name)}" in PINNED for name in needed):
        return Path(sysconfig.get_path("purelib"))
    return fetched()


def installed(name):
    """The version of an installed package; None without it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@functools.cache
def fetched():
    """A folder that has all packages, one for all tests of a process."""
    parent = tempfile.mkdtemp(prefix="chunkmark-evaluators-")
    atexit.register(shutil.rmtree, parent)
    folder = Path(parent, "site-packages")  # dill pickles modules of other folders by their content
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*pip, *PINNED], check=True)
    return folder
