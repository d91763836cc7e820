"""Instances in SWE-bench's format, and trees of them."""

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

FILE = "swebench_lite/swebench_lite_origin.jsonl"
OLD = "import os\n\n\ndef f(x):\n    y = x\n    return y\n\n\ndef g():\n    return 2\n"
PATCH = """\
diff --git a/pkg/a.py b/pkg/a.py
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -3,4 +3,4 @@ import os

 def f(x):
-    y = x
+    y = x + 1
     return y
"""


def row(name: str, patch: str = PATCH, **more: str) -> dict[str, Any]:
    return {
        "instance_id": name,
        "repo": "one/pkg",
        "base_commit": "0" * 40,
        "problem_statement": f"f is wrong in {name}",
        "patch": patch,
        "test_patch": "never read",
    } | more


def place(root: Path, *rows: dict[str, Any] | str) -> Path:
    (root / "swebench_lite/worktrees").mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    (root / FILE).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return root


def tree(root: Path, name: str, text: str = OLD) -> None:
    with zipfile.ZipFile(root / f"swebench_lite/worktrees/{name}.zip", "w") as archive:
        archive.writestr(f"{name}/pkg/a.py", text)
        archive.writestr(f"{name}/pkg/b.py", "x = 1\n")
        archive.writestr(f"{name}/LICENSE", "MIT")


def git(folder: Path, *arguments: str, data: str = "") -> str:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}
    identity |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    done = subprocess.run(
        ("git", *arguments),
        cwd=folder,
        env=os.environ | identity,
        input=data,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def committed(root: Path, texts: dict[str, str]) -> dict[str, str]:
    """A clone with a commit for each name, of one file with its text; their hashes."""
    clone = root / "swebench_lite/clones/one__pkg"
    (clone / "pkg").mkdir(parents=True)
    git(clone, "init", "-q")
    found = {}
    for name, text in texts.items():
        (clone / "pkg/a.py").write_text(text)
        (clone / "pkg/b.py").write_text("x = 1\n")
        git(clone, "add", ".")
        git(clone, "commit", "-qm", name)
        found[name] = git(clone, "rev-parse", "HEAD")
    return found
