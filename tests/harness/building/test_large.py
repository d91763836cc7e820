"""A repository of 100,000 files, in bounded memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILES = 100_000
_MEGABYTES = 400

SCRIPT = """
import json, sys, time
from pathlib import Path
from harness.building.build import BuildOptions, build
from harness.building.folder import read_folder, write_folder
from harness.datasets.loading import load_dataset
started = time.perf_counter()
root, out = Path(sys.argv[1]), Path(sys.argv[2])
made = build(root, BuildOptions(limit=200))
write_folder(made, out, {})
read = read_folder(out)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "files": len(made.corpora[0].sources),
    "queries": len(made.queries),
    "same": read.fingerprint == made.fingerprint,
    # Not ru_maxrss, which begins with that of the process that started this one.
    "megabytes": int(status["VmHWM"].split()[0]) / 1024,
    "seconds": time.perf_counter() - started,
}))
"""


@pytest.mark.slow
def test_a_hundred_thousand_files(tmp_path: Path):
    root = tmp_path / "repo"
    for number in range(FILES):
        folder = root / f"p{number % 300}" / f"q{number % 7}"
        if number < 2100:
            folder.mkdir(parents=True, exist_ok=True)
        said = f'    """Give back what thing number {number} is made of."""\n' * (number % 10 == 0)
        (folder / f"m{number}.py").write_text(
            f"def get_{number}(x):\n{said}    y = x + {number}\n    return y * 2\n", "utf-8"
        )
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, root, tmp_path / "out"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    print(told)
    assert (told["files"], told["queries"], told["same"]) == (FILES, 200, True)
    assert told["megabytes"] < _MEGABYTES
