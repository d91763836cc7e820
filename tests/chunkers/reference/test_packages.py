"""Golden chunks of files in public packages, which are fetched by their registries' clients."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

_LIST = "chunks_ast_languages.packages.json"


def _packages() -> list[dict[str, str]]:
    file = Path(os.environ.get("CHUNKMARK_DATA", "")) / "golden" / _LIST
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


def _command(package: dict[str, str]) -> list[str]:
    name, version = package["package"], package["version"]
    if package["package_kind"] == "npm":
        return ["npm", "pack", "--silent", f"{name}@{version}"]
    if package["package_kind"] == "debian":
        return ["apt-get", "--quiet", "download", f"{name}={version}"]
    plain = ["--no-deps", "--no-binary", ":all:", f"{name}=={version}"]
    return [sys.executable, "-m", "pip", "--quiet", "download", *plain]


def _fetch(package: dict[str, str], folder: Path) -> Path:
    """The unpacked package; the test is skipped, with the reason, where it cannot be had."""
    name = f"{package['package']} {package['version']}"
    command = _command(package)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{name}: there is no {command[0]}")
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    archive = folder / package["archive"]
    if done.returncode or not archive.is_file():
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"{name} cannot be fetched: {reason}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != package["archive_sha256"]:
        pytest.skip(f"{name}: the archive is another one today")
    tree = folder / "tree"
    if package["package_kind"] == "debian":
        subprocess.run(["dpkg", "-x", archive, tree], check=True)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(tree, filter="data")
    return tree


@pytest.mark.parametrize("package", _packages(), ids=lambda package: package["package"])
def test_files_of_a_package_are_cut_as_the_original_cuts_them(package, golden, check_ast, tmp_path):
    wanted = package["package"], package["version"]
    rows = [
        row
        for row in golden("chunks_ast_languages.jsonl")
        if (row.get("package"), row.get("version")) == wanted
    ]
    if not rows:
        pytest.skip(f"no golden row is from {package['package']}")
    tree = _fetch(package, tmp_path)
    for row in rows:
        octets = (tree / row["path_in_package"]).read_bytes()
        assert hashlib.sha256(octets).hexdigest() == row["file_sha256"]
        check_ast(row, octets.decode("utf-8"))
