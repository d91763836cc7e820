"""What syntax chunkers do to 60 real files in 12 languages: definitions, small chunks, comments.

    python -m benchmarks.cuts [FOLDER]

The files come from npm, PyPI and Debian packages, which are downloaded into FOLDER (by default a
temporary one) and only read. The limit of every chunker is 600 non-white-space characters. Prints a
Markdown table for each language and one for all.

Columns: definitions that fit the limit and are whole in one chunk; chunks; chunks under a fifth of
the limit; chunks over the limit; comments on lines of their own that are cut from the node right
below, though both fit together; median fill, the size of a chunk as a share of the limit.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chunkers import Source, language_of, load_chunker
from chunkers.errors import InputError
from chunkers.grammars.loading import GRAMMARS
from chunkers.grammars.parsing import parse
from chunkers.sizes import span_size
from chunkers.testing.services import cheap_services
from harness.chunking.boundaries import definition_lines
from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chunkers import Span

LIMIT = 600
SMALL = LIMIT // 5
SPECS = (
    "ast",
    "function",
    "chonkie-code",
    "text-splitter-code",
    "astchunk",
    "llamaindex-code",
    "fixed",
)

RACK = "usr/share/rubygems-integration/all/gems/rack-2.2.22/lib/rack"
SINATRA = "usr/share/rubygems-integration/all/gems/sinatra-3.0.5/lib/sinatra"
REACT = "package/ReactAndroid/src/main/java/com/facebook/react"
SCREENS = "package/android/src/main/java/com/swmansion/rnscreens"
EIGEN = "usr/include/eigen3/Eigen/src"
SYMFONY = "usr/share/php/Symfony/Component/Console"
FILES: dict[str, tuple[str, ...]] = {
    "pypi Flask==3.0.3": (
        "flask-3.0.3/src/flask/app.py", "flask-3.0.3/src/flask/cli.py",
        "flask-3.0.3/tests/test_basic.py",
    ),
    "pypi requests==2.32.3": (
        "requests-2.32.3/src/requests/models.py", "requests-2.32.3/src/requests/utils.py",
    ),
    "npm express@4.19.2": ("package/lib/response.js", "package/lib/router/index.js"),
    "npm commander@12.1.0": ("package/lib/command.js", "package/lib/help.js"),
    "npm @capacitor/ios@6.0.0": (
        "package/Capacitor/Capacitor/assets/native-bridge.js",
        "package/Capacitor/Capacitor/CapacitorBridge.swift",
        "package/Capacitor/Capacitor/WebViewAssetHandler.swift",
        "package/Capacitor/Capacitor/Codable/JSValueEncoder.swift",
        "package/Capacitor/Capacitor/CAPBridgeViewController.swift",
        "package/Capacitor/Capacitor/WebViewDelegationHandler.swift",
    ),
    "npm rxjs@7.8.1": (
        "package/src/internal/testing/TestScheduler.ts", "package/src/internal/ajax/ajax.ts",
        "package/src/internal/Observable.ts", "package/src/internal/observable/fromEvent.ts",
        "package/src/internal/observable/dom/WebSocketSubject.ts",
    ),
    "npm react-native@0.73.6": (
        f"{REACT}/ReactInstanceManager.java", f"{REACT}/views/textinput/ReactEditText.java",
        f"{REACT}/views/view/ReactViewBackgroundDrawable.java",
        f"{REACT}/views/view/ReactMapBufferPropSetter.kt",
        "package/ReactCommon/react/renderer/mounting/Differentiator.cpp",
        "package/scripts/cocoapods/utils.rb",
    ),
    "npm react-native-maps@1.10.3": (
        "package/android/src/main/java/com/rnmaps/maps/MapView.java",
    ),
    "pypi JPype1==1.5.0": ("JPype1-1.5.0/native/java/org/jpype/pickle/Encoder.java",),
    "npm react-native-screens@3.31.1": (
        f"{SCREENS}/ScreenContainer.kt", f"{SCREENS}/ScreenStack.kt",
        f"{SCREENS}/ScreenStackHeaderConfig.kt", f"{SCREENS}/ScreenWindowTraits.kt",
    ),
    "debian golang-github-spf13-cobra-dev": (
        "usr/share/gocode/src/github.com/spf13/cobra/command.go",
        "usr/share/gocode/src/github.com/spf13/cobra/completions.go",
    ),
    "debian golang-github-gin-gonic-gin-dev": (
        "usr/share/gocode/src/github.com/gin-gonic/gin/context.go",
        "usr/share/gocode/src/github.com/gin-gonic/gin/tree.go",
        "usr/share/gocode/src/github.com/gin-gonic/gin/tree_test.go",
    ),
    "debian librust-regex-dev": (
        "usr/share/cargo/registry/regex-1.7.1/src/exec.rs",
        "usr/share/cargo/registry/regex-1.7.1/src/compile.rs",
    ),
    "debian librust-serde-json-dev": (
        "usr/share/cargo/registry/serde_json-1.0.87/src/ser.rs",
        "usr/share/cargo/registry/serde_json-1.0.87/src/value/mod.rs",
    ),
    "debian librust-itertools-dev": (
        "usr/share/cargo/registry/itertools-0.10.3/src/adaptors/mod.rs",
    ),
    "pypi psutil==5.9.8": (
        "psutil-5.9.8/psutil/arch/osx/proc.c", "psutil-5.9.8/psutil/_psutil_posix.c",
    ),
    "pypi lz4==4.3.3": ("lz4-4.3.3/lz4/frame/_frame.c",),
    "pypi ujson==5.10.0": (
        "ujson-5.10.0/lib/ultrajsonenc.c", "ujson-5.10.0/python/objToJSON.c",
        "ujson-5.10.0/deps/double-conversion/double-conversion/bignum.cc",
    ),
    "debian nlohmann-json3-dev": (
        "usr/include/nlohmann/detail/output/binary_writer.hpp",
    ),
    "debian libeigen3-dev": (
        f"{EIGEN}/Core/CoreEvaluators.h", f"{EIGEN}/OrderingMethods/Eigen_Colamd.h",
    ),
    "debian ruby-rack": (f"{RACK}/lint.rb", f"{RACK}/request.rb", f"{RACK}/utils.rb"),
    "debian ruby-sinatra": (f"{SINATRA}/base.rb",),
    "debian php-twig": (
        "usr/share/php/Twig/ExpressionParser.php", "usr/share/php/Twig/Environment.php",
        "usr/share/php/Twig/Lexer.php",
    ),
    "debian php-symfony-console": (f"{SYMFONY}/Application.php", f"{SYMFONY}/Helper/Table.php"),
}  # fmt: skip
"""Registry and package -> files. Debian's packages have the version of the distribution."""

COMMANDS = {
    "npm": ("npm", "pack"),
    "pypi": (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"),
    "debian": ("apt-get", "download"),
}


def main() -> None:
    """Download what is missing, cut every file, print the tables."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        sources = list(_sources(folder))
    counts: dict[tuple[str, str], Counter[str]] = {}
    fills: dict[tuple[str, str], list[float]] = {}
    for source in sources:
        for spec in SPECS:
            for group in (source.language or "", "all"):
                sizes = _count(source, spec, counts.setdefault((group, spec), Counter()))
                fills.setdefault((group, spec), []).extend(sizes)
    languages = sorted({source.language or "" for source in sources})
    print(f"{len(sources)} files, {sum(len(source.text) for source in sources):,} characters")
    for language in (*languages, "all"):
        print(f"\n### {language}\n")
        print("| chunker | whole | definitions | chunks | small | over | comments cut | p50 fill |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for spec in SPECS:
            n, fill = counts[language, spec], fills[language, spec]
            median = f"{float(np.median(fill)):.2f}" if fill else "-"
            cells = [n[c] for c in ("whole", "fitting", "chunks", "small", "over", "comments")]
            print(f"| {spec} | {' | '.join(map(str, cells))} | {median} |")


def _sources(folder: Path) -> Iterator[Source]:
    for package, paths in FILES.items():
        unpacked = fetch(folder, *package.split())
        for path in paths:
            text = (unpacked / path).read_text("utf-8-sig")
            yield Source(text, f"{package}/{path}", language_of(path))


def fetch(folder: Path, registry: str, package: str, sha256: str = "") -> Path:
    """The unpacked package, downloaded by the registry's own client unless it is there.

    Args:
        folder: Where each package has a folder.
        registry: One of `COMMANDS`.
        package: Its name, with a version as the client takes it.
        sha256: The hash of its archive; by default any is taken.

    Raises:
        OSError: It cannot be downloaded, or is another archive than the hash says.
    """
    home = folder / package.replace("/", "_").replace("@", "_")
    unpacked = home / "unpacked"
    if unpacked.is_dir():
        return unpacked
    if shutil.which(COMMANDS[registry][0]) is None:
        raise OSError(f"{COMMANDS[registry][0]} is not installed")
    shutil.rmtree(home, ignore_errors=True)  # of a download that was stopped
    home.mkdir(parents=True)
    done = subprocess.run(
        [*COMMANDS[registry], package], cwd=home, check=False, capture_output=True, text=True
    )
    archives = [file for file in home.iterdir() if file.is_file()]
    if done.returncode or len(archives) != 1:
        lines = done.stderr.strip().splitlines() or ["no archive"]
        raise OSError(f"{COMMANDS[registry][0]} did not give {package}: {lines[-1]}")
    if sha256 and file_sha256(archives[0]) != sha256:
        raise OSError(f"{archives[0]} does not have the sha256 {sha256}")
    partial = home / "partial"
    partial.mkdir()
    if registry == "debian":
        subprocess.run(["/usr/bin/dpkg-deb", "-x", str(archives[0]), str(partial)], check=True)
    else:
        with tarfile.open(archives[0]) as opened:
            opened.extractall(partial, filter="data")
    partial.rename(unpacked)
    return unpacked


def _count(source: Source, spec: str, counts: Counter[str]) -> list[float]:
    """Add what a chunker does to one file to the counts; the fill of every chunk."""
    services = cheap_services()
    options = "" if spec == "astchunk" else ",unit=nws"
    try:
        spans = load_chunker(f"{spec}:max_size={LIMIT}{options}").chunk(source, services)
    except InputError as error:
        print(f"{spec} {source.path}: {error}", file=sys.stderr)
        return []
    spans = [span for span in spans if source.text[span.start : span.end].strip()]
    sizes = [span_size(source, span, "nws", services) for span in spans]
    counts["chunks"] += len(spans)
    counts["small"] += sum(size < SMALL for size in sizes)
    counts["over"] += sum(size > LIMIT for size in sizes)
    held = [_nws(source, span) for span in spans]
    for head, _, end in definition_lines(source):
        low, high = source.lines.offsets_of(head, end)
        if source.lines.size(low, high) <= LIMIT:
            counts["fitting"] += 1
            low, high = int(source.lines.nws[low]), int(source.lines.nws[high])
            counts["whole"] += any(start <= low and high <= stop for start, stop in held)
    counts["comments"] += sum(
        not any(start <= low and high <= stop for start, stop in held)
        for low, high in _commented(source)
    )
    return [size / LIMIT for size in sizes]


def _nws(source: Source, span: Span) -> tuple[int, int]:
    return int(source.lines.nws[span.start]), int(source.lines.nws[span.end])


def _commented(source: Source) -> Iterator[tuple[int, int]]:
    """Comments on lines of their own, each with what comes right below it in the tree.

    Comments right above each other are one. Each as an interval of non-white-space characters that
    fits the limit.
    """
    root = parse(source)
    comments = GRAMMARS[source.language or ""].comments
    text = source.text.split("\n")
    pending = [root] if root else []
    while pending:
        children = pending.pop().children
        pending += children
        begin: int | None = None  # the row of the first comment right above
        end = -1  # the row below the last one
        for node in children:
            (first, column), last = node.start_point, node.end_point
            if node.type in comments:
                alone = not text[first].encode()[:column].strip()
                if begin is None or first != end:
                    begin = first if alone else None
                end = last[0] + (last[1] > 0)
                continue
            if begin is not None and first == end and node.is_named:
                low, high = source.lines.offsets_of(begin + 1, last[0] + (last[1] > 0))
                if source.lines.size(low, high) <= LIMIT:
                    yield int(source.lines.nws[low]), int(source.lines.nws[high])
            begin = None


if __name__ == "__main__":
    main()
