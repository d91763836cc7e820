"""What the edits of four histories cost an index: the tables of docs/edits.md.

    python -m benchmarks.edits [FOLDER]

The histories are this project's up to a fixed commit, and three that `benchmarks.questions` unpacks
into FOLDER.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.questions import histories

OWN = "12b2b0f"
"""The commit of this project up to which its edits are replayed."""

PROJECTS = ("go-git", "rumprun-xen", "spinnaker")
CHUNKERS = ("fixed", "ast", "ast:max_size=750", "function")
_COLUMNS = ("history", "chunker", "c per chunk", "c to embed again per changed c", "median", "p95",
            "against `fixed`", "chunks again", "ids moved")  # fmt: skip


def churn(repository: Path, *options: str) -> dict[str, Any]:
    """The document of `chunkmark churn` for the last 100 commits."""
    command = [sys.executable, "-m", "harness.cli", "churn", str(repository), "--format", "json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def rows(name: str, document: dict[str, Any]) -> list[list[str]]:
    """The rows of a history, one for each chunker."""
    group = document["groups"][0]
    values = {(row["measure"], row["chunker"]): row for row in group["measures"]}
    pairs = {row["a"]: row for row in group["pairs"] if row["measure"] == "again_per_changed"}
    margins = [name, f"{group['edits']} edits,", f"{group['changed']:,} c"]
    lines = []
    for at, chunker in enumerate(document["chunkers"]):
        spec = chunker["chunker"]
        total = values["again_per_changed", spec]
        low, high = total["ci95"]
        verdict = ""
        if pair := pairs.get(spec):
            verdict = f"{percent(pair['difference'], pair['ci95'])} {pair['verdict']}"
        shares = [f"{values[measure, spec]['value']:.0%}" for measure in ("again", "moved")]
        lines.append(
            [
                margins[at] if at < len(margins) else "",
                f"`{spec}`",
                f"{chunker['chunk_chars']:.0f}",
                f"{total['value']:.1f} [{low:.1f}, {high:.1f}]",
                f"{total['median']:.1f}",
                f"{total['p95']:.1f}",
                verdict,
                *(share.replace("%", " %") for share in shares),
            ]
        )
    return lines


def percent(difference: float, interval: list[float]) -> str:
    """A difference in per cent of the baseline's total, with its interval."""
    low, high = (f"{100 * end:.0f}" for end in interval)
    return f"{100 * difference:+.0f} % [{low}, {high}]"


def own_history(folder: Path) -> Path:
    """A bare copy of this project whose newest commit is `OWN`."""
    import pygit2

    root = Path(__file__).parents[1]
    repository = pygit2.clone_repository(str(root), str(folder), bare=True)
    repository.set_head(repository.revparse_single(OWN).id)
    return folder


def main() -> None:
    """Print the table, what a header costs, and this project's cost by size of the edit."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else top)
        found = histories(folder)
        chosen = {"this project": own_history(Path(top, "own.git"))}
        chosen |= {name: found[name] for name in PROJECTS}
        specs = [word for chunker in CHUNKERS for word in ("-c", chunker)]
        print(f"| {' | '.join(_COLUMNS)} |\n|---|---|---:|---:|---:|---:|---|---:|---:|")
        for name, path in chosen.items():
            for row in rows(name, churn(path, *specs)):
                print(f"| {' | '.join(row)} |")
        print("\n`ast` with a header, against without")
        for name, path in chosen.items():
            group = churn(path, "-c", "ast", "--header", "on")["groups"][0]
            (pair,) = (row for row in group["pairs"] if row["measure"] == "again_per_changed")
            values = [row["value"] for row in group["measures"] if row["chunker"] == pair["a"]]
            change = percent(pair["difference"], pair["ci95"])
            print(f"{name}: {change}, {values[0]:.1f} c per changed one")
        print("\nThis project by size of the edit: c to embed again per changed c")
        document = churn(chosen["this project"], "-c", "fixed", "-c", "ast", "--by", "size")
        for group in document["groups"][1:]:
            values = [r["value"] for r in group["measures"] if r["measure"] == "again_per_changed"]
            print(f"{group['group']}: fixed {values[0]:.1f}, ast {values[1]:.1f}")


if __name__ == "__main__":
    main()
