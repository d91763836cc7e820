"""What stands before the body of a definition, in one line, as the original finds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunkers.reference._utf16 import SPACES

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.reference._code_chunk.rules import Kind
    from chunkers.reference._utf16 import Utf16Text

_SPACE = re.compile(f"[{re.escape(SPACES)}]+")
_BODIES = {"block", "statement_block", "class_body", "interface_body", "enum_body"}
_GENERIC = re.compile(r"[A-Za-z_<> ]")
_PAIRS = {"(": ("()", 1), ")": ("()", -1), "[": ("[]", 1), "]": ("[]", -1)}
_WITH_BODY = {"function", "method", "class", "interface"}
_QUOTES = "\"'`"


def signature(kind: Kind, node: Node, text: Utf16Text, language: str) -> str:
    """The signature of a node; it may be empty."""
    body = _body(node) if kind in _WITH_BODY else None
    if body is not None:
        return _before_body(text.slice(node.start_byte // 2, body.start_byte // 2), language)
    whole = text.node(node)
    if kind == "export":
        return _in_one_line(whole)
    end = _opening(whole, ":" if language == "python" else "{")
    ends = [end] if end >= 0 else []
    if kind in ("type", "enum") and "=" in whole:
        ends.append(whole.index("="))
    if ends:
        return _in_one_line(whole[: min(ends)])
    return _in_one_line(whole if kind in ("function", "method") else whole.partition("\n")[0])


def _in_one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip(" ")


def _before_body(text: str, language: str) -> str:
    text = text.strip(SPACES)
    if language == "python":
        text = text.removesuffix(":")
    return _in_one_line(text.removesuffix("=>"))


def _body(node: Node) -> Node | None:
    body = node.child_by_field_name("body")
    return body or next((child for child in node.children if child.type in _BODIES), None)


def _opening(text: str, mark: str) -> int:
    """Where the first `mark` outside brackets and strings stands; -1 if nowhere.

    Any quotation mark opens a string that only its like closes, a lifetime of Rust too.
    """
    depth = {"()": 0, "[]": 0, "<>": 0}
    quote = before = ""
    for at, char in enumerate(text):
        escaped, before = before == "\\", char
        if quote:
            if char == quote and not escaped:
                quote = ""
        elif char in _QUOTES and not escaped:
            quote = char
        elif char in _PAIRS:
            pair, step = _PAIRS[char]
            depth[pair] += step
        elif char == "<" and _GENERIC.match(text, at + 1):
            depth["<>"] += 1
        elif char == ">" and depth["<>"] > 0:
            depth["<>"] -= 1
        elif char == mark and not any(depth.values()):
            return at
    return -1
