"""Every run folder that a test makes is verified when the test ends."""

from pathlib import Path

import pytest

from harness.runs.verify import verify
from harness.support.json_files import read_json


@pytest.fixture(autouse=True)
def verified(request: pytest.FixtureRequest, tmp_path: Path):
    yield
    if request.node.get_closest_marker("damages"):
        return
    for manifest in sorted(tmp_path.glob("*/manifest.json")):
        if read_json(manifest)["cells"]:
            cells = verify(manifest.parent)
            assert [one for cell in cells for one in cell.differences] == []
