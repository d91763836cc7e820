"""Detects files that a tool wrote: people do not read or search them."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from harness.support.json_files import schema_of

_NAMES = (
    "*.min.js", "*-min.js", "*.min.css", "*-min.css", "*.bundle.js",
    "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h", "*_pb.js", "*_pb.rb",
    "*.designer.cs", "*.g.cs", "*.g.i.cs", "*.g.dart", "*.freezed.dart", "*_generated.go",
    "*_generated.h", "*.generated.*", "*.gen.go", "zz_generated*", "moc_*.cpp", "ui_*.h",
    "qrc_*.cpp",
)  # fmt: skip
_LOCKS = frozenset(
    (
        "bun.lockb", "go.sum", "gradle.lockfile", "npm-shrinkwrap.json", "package-lock.json",
        "package.resolved", "packages.lock.json", "pnpm-lock.yaml", ".terraform.lock.hcl",
    )
)  # fmt: skip
# Statements of a file about itself, each at the beginning of a line of a comment; what a file says
# of other files, or quotes, has none of them.
_NO_EDIT = r"[\s\S]{0,200}?\bdo not (?:edit|modify|change|touch)\b"
_MADE = r"(?:auto(?:matically)?|machine)[- ]?"
_VERB = r"(?:is|are|was|has|have|can|may|must|should|will)"  # then it is about the code, not of it
_SOURCE = r"(?:by|from|with|using)\b"
_SAYS = re.compile(
    # The mark of a comment, and a space or two; what is further in is a quotation.
    r"^[ \t]*(?://+!?|#+|/\*+!?|\*+|--+|;+|%+|<!--+|\"\"\"|''')?[ ]{0,3}[^\w\s\"'`@<({\[]*"
    r"[ ]?(?:xxx|warning|note|notice|attention|important|caution)?[^\w\s\"'`@<]*[ ]?(?:"
    r"@generated\b|<auto-?generated"
    rf"|(?:\w+ )?code generated {_SOURCE}(?:{_NO_EDIT}|(?!.*\b{_VERB}\b))"
    rf"|this (?:file|module) (?:is|was|has been) (?:{_MADE})?@?generated\b"
    rf"|{_MADE}generated (?:{_SOURCE}|(?:file|code|source)\b)"
    rf"|(?:this is an? )?(?:{_MADE})?generated(?: {_SOURCE}| (?:file|code|source))\b{_NO_EDIT}"
    r"|do not (?:edit|modify|change)(?: this (?:file|code))?(?: by hand| manually| directly)?"
    rf"\W+(?:(?:this file|this code|it|file)? ?(?:is|was|has been) )?(?:{_MADE})?generated\b"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|<!--|\"\"\"|''')")
_BLOCKS = (("/*", "*/"), ("<!--", "-->"))
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''')")
_LINES = 30
_SCHEMA = 200  # characters that hold the schema of a chunkmark document


def generated_name(path: str) -> bool:
    """Whether a file has the name of a tool's output or a lock file, in any case."""
    name = path.rsplit("/", 1)[-1].lower()
    return is_lock(path) or any(fnmatchcase(name, pattern) for pattern in _NAMES)


def is_lock(path: str) -> bool:
    """Whether a file has the name of a lock file of dependencies, in any case."""
    name = path.rsplit("/", 1)[-1].lower()
    return name in _LOCKS or name.endswith(".lock")


def says_generated(text: str) -> bool:
    """Whether the comments at the head of a file say that a tool wrote it, or chunkmark did."""
    schema = schema_of(text[:_SCHEMA].encode("utf-8", "replace"))
    return bool(schema) or _SAYS.search(_head(text)) is not None


def _head(text: str) -> str:
    """The comments that a file begins with, within its first lines.

    A docstring counts by its first line alone: the others describe the code.
    """
    kept: list[str] = []
    closing = quotes = ""
    for line in text.split("\n", _LINES)[:_LINES]:
        if quotes:
            quotes = "" if quotes in line else quotes
            continue
        if not closing and (docstring := _DOCSTRING.match(line)):
            kept.append(line)
            quotes = "" if docstring[1] in line[docstring.end() :] else docstring[1]
            continue
        if not closing and line.strip() and not _COMMENT.match(line):
            # A tool may write an XML declaration or PHP's opening tag before its comment.
            if line.lstrip("\ufeff").lstrip().startswith("<?"):
                continue
            break
        kept.append(line)
        closing = _open_block(line, closing)
    return "\n".join(kept)


def _open_block(line: str, closing: str) -> str:
    """The end mark of the block comment that is open after a line; empty without one."""
    at = 0
    while True:
        if closing:
            place = line.find(closing, at)
            if place < 0:
                return closing
            at, closing = place + len(closing), ""
        starts = [(line.find(mark, at), mark, end) for mark, end in _BLOCKS if mark in line[at:]]
        if not starts:
            return ""
        start, opening, closing = min(starts)
        at = start + len(opening)
