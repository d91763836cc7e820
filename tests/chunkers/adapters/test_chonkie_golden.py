"""The chunks that chonkie 1.0.5 gave the reference's evaluation, made again by that version."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from libraries import need

from chunkers import Services, Source, load_chunker

ROOT = Path(__file__).parents[3]
SPEC = "chonkie-code:max_size=1500,unit=chars"
PINNED = ("chonkie[code]==1.0.5", "tree-sitter-language-pack==0.13.0", "requests", "numpy")
# Where chonkie 1.6.5 differs from 1.0.5: a node without parts and over the limit is a chunk of its
# own. Before, it was part of the gap that the chunk in front got.
DIFFERENT = [
    "deepmind_tracr/tracr/craft/chamber/categorical_attn.py",
    "deepmind_tracr/tracr/craft/chamber/numerical_mlp.py",
    "deepmind_tracr/tracr/craft/chamber/selector_width.py",
    "edge/big_string_single_leaf.py",
    "edge/long_line_4000.py",
    "edge/long_line_middle.py",
    "google_lightweight_mmm/lightweight_mmm/lightweight_mmm.py",
    "google_lightweight_mmm/lightweight_mmm/optimize_media.py",
    "google_lightweight_mmm/lightweight_mmm/preprocessing.py",
    "maxhumber_redframes/redframes/core.py",
]
SCRIPT = """
import json, sys
from chunkers import Services, Source, load_chunker
chunker = load_chunker(sys.argv[1])
cut = [
    [[span.start, span.end] for span in chunker.chunk(Source(text, "f", "python"), Services())]
    for text in json.load(sys.stdin)
]
json.dump([chunker.version, cut], sys.stdout)
"""


@pytest.fixture(scope="module")
def rows(data):
    """Golden rows, each with its text as it lies in the archive: line ends and marks kept."""
    file = data / "golden" / "chunks_chonkie.jsonl"
    archive = data / "repoeval" / "repositories" / "function_level.zip"
    for needed in (file, archive):
        if not needed.is_file():
            pytest.skip(f"the data folder lacks {needed.name}")
    with file.open(encoding="utf-8", newline="\n") as lines:
        found = [json.loads(line) for line in lines]
    with zipfile.ZipFile(archive) as members:
        for row in found:
            if "code" not in row:
                octets = members.read(f"{row['repo']}/{row['path']}")
                assert hashlib.sha256(octets).hexdigest() == row["file_sha256"]
                row["code"] = octets.decode("utf-8")
    return found


def as_golden(row, spans):
    """Spans as the reference writes them: lines from 0, the last one that of the end."""
    text, found = row["code"], []
    for start, end in spans:
        first, last = text.count("\n", 0, start), text.count("\n", 0, end)
        digest = hashlib.sha256(text[start:end].encode()).hexdigest()
        found.append(
            {
                "id": f"{row['filepath']}:{first}-{last}",
                "startLine": first,
                "endLine": last,
                "text_sha256": digest,
            }
        )
    return found


@pytest.mark.slow
def test_the_version_of_the_reference_gives_every_golden_chunk(rows, tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    # The metadata beside it would name the versions that are supported, of which this is none.
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "chunkers").symlink_to(ROOT / "chunkers")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PINNED], check=True, env=alone)
    done = subprocess.run(
        [python, "-c", SCRIPT, SPEC],
        input=json.dumps([row["code"] for row in rows]),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=alone | {"PYTHONPATH": str(tmp_path / "code")},
    )
    assert done.returncode == 0, done.stderr
    version, cut = json.loads(done.stdout)
    assert "chonkie 1.0.5" in version
    equal = sum(
        as_golden(row, spans) == row["chunks"] for row, spans in zip(rows, cut, strict=True)
    )
    assert (equal, len(rows)) == (171, 171)


def test_the_version_in_use_differs_in_the_files_where_it_is_known_to(rows):
    need("chonkie-code")
    chunker = load_chunker(SPEC)
    different = []
    for row in rows:
        spans = chunker.chunk(Source(row["code"], "f", "python"), Services())
        if as_golden(row, [(span.start, span.end) for span in spans]) != row["chunks"]:
            different.append(f"{row['repo']}/{row['path']}")
    assert different == DIFFERENT, f"{chunker.version}: {len(different)} of {len(rows)} files"
