"""What a file's imports bind to which names, and which files of its corpus they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chunkers.grammars.model import text_of, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tree_sitter import Node

SCRIPTS = frozenset({"javascript", "tsx", "typescript"})

_STRINGS = re.compile(r"[\"'`]([^\"'`\n]*)[\"'`]")
_SUFFIXES = (".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_REQUIRED = re.compile(
    r"(?:const|let|var|local)\s+(\{[^{}]*\}|[\w$]+)\s*=\s*require\s*\(?\s*[\"']([^\"'\n]+)[\"']"
)
_MODULE = re.compile(r"import\s+(.*)\Z", re.DOTALL)
_FROM = re.compile(r"from\s*(\.*)\s*([\w.]*)\s+import\s*\(?(.*?)\)?\Z", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)
_USE = re.compile(r"use\s+(.*?);?\s*\Z", re.DOTALL)
_GO = re.compile(r"(?:([\w.]+)\s+)?\"([^\"\n]+)\"")
PYTHON = words(
    "abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath"
    " cmd code codecs collections colorsys compileall concurrent configparser contextlib"
    " contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis"
    " distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput"
    " fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp"
    " gzip hashlib heapq hmac html http imaplib imp importlib inspect io ipaddress itertools json"
    " keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder msvcrt"
    " multiprocessing netrc nntplib ntpath numbers opcode operator optparse os pathlib pdb pickle"
    " pickletools pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd"
    " py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter runpy"
    " sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver"
    " sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys sysconfig syslog"
    " tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token"
    " tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest"
    " urllib uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc"
    " zipapp zipfile zipimport zlib zoneinfo"
)
"""The top names of Python's own library, in any version: what they mean is of no corpus."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What an import binds a name to.

    Attributes:
        module: As written, dots in front included; in Rust with `::`.
        name: Of what is taken out of the module; empty where it is the module itself, `*` for all
            that it has, `default` for the one thing that it is there for.
    """

    module: str
    name: str = ""


def bindings_of(node: Node, language: str) -> Iterator[tuple[str, Binding]]:
    """The names that an import statement binds; the name is `*` where it binds all there is."""
    text = _COMMENT.sub("", text_of(node)) if language in ("python", "rust") else text_of(node)
    if language == "python":
        yield from _python(text.replace("\\\n", " "))
    elif language in SCRIPTS:
        yield from _script(text)
    elif language == "go":
        for alias, path in _GO.findall(text.removeprefix("import")):
            yield alias or path.rsplit("/", 1)[-1], Binding(path)
    elif language == "rust" and (used := _USE.search(text)):
        yield from _rust("", used[1])


def required_of(text: str, language: str) -> Iterator[tuple[str, Binding]]:
    """The names that are bound to what `require` returns."""
    if language not in SCRIPTS and language != "lua":
        return
    for names, module in _REQUIRED.findall(text):
        if not names.startswith("{"):
            yield names, Binding(module, "default")
            continue
        for one in names.strip("{}").split(","):
            name, _, bound = (part.strip() for part in one.partition(":"))
            if name:
                yield bound or name, Binding(module, name)


def _python(text: str) -> Iterator[tuple[str, Binding]]:
    if found := _FROM.match(text):
        module = found[1] + found[2]
        for name, bound in _listed(found[3]):
            yield bound, Binding(module, name)
    elif found := _MODULE.match(text):
        for name, bound in _listed(found[1]):
            # `import a.b` binds `a`, but what follows in a call says `a.b` all the same.
            yield bound, Binding(name)


def _listed(text: str) -> Iterator[tuple[str, str]]:
    """Names of a list and what they are called here."""
    for one in text.split(","):
        parts = one.split()
        if len(parts) == 1:
            yield parts[0], parts[0]
        elif len(parts) == 3 and parts[1] == "as":
            yield parts[0], parts[2]


def _script(text: str) -> Iterator[tuple[str, Binding]]:
    where = _STRINGS.findall(text)
    if not where or text.startswith("import type"):
        return
    module = where[-1]
    head = text[: text.rfind(module)]
    if head.startswith("export"):
        head = head.removeprefix("export")
    head = head.removeprefix("import").strip()
    braces = re.search(r"\{([^{}]*)\}", head)
    if braces:
        for name, bound in _listed(braces[1].replace("type ", "")):
            yield bound, Binding(module, name)
        head = head.replace(braces[0], "")
    if found := re.search(r"\*\s*as\s+([\w$]+)", head):
        yield found[1], Binding(module)
        head = head.replace(found[0], "")
    elif re.match(r"\*\s*from", head):
        yield "*", Binding(module, "*")
    found = re.match(r"([\w$]+)\s*(?:,|from)", head)
    if found and found[1] != "from":
        yield found[1], Binding(module, "default")


def _rust(prefix: str, text: str) -> Iterator[tuple[str, Binding]]:
    """The parts of a `use`, which may be lists in lists."""
    for one in _split(text):
        head, brace, rest = one.partition("{")
        if brace:
            yield from _rust(prefix + head.strip(), rest.rstrip().removesuffix("}"))
            continue
        path, _, bound = (part.strip() for part in (prefix + one.strip()).partition(" as "))
        module, _, name = path.rpartition("::")
        if name == "self":
            module, _, name = module.rpartition("::")
        if name:
            yield ("*" if name == "*" else bound or name), Binding(module, name)


def _split(text: str) -> Iterator[str]:
    """The parts of a list, at the commas that are in no brackets."""
    depth, start = 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]


def python_file(
    module: str,
    path: str,
    files: Collection[str],
    tops: Mapping[str, Sequence[str]],
    package: str = "",
) -> str | None:
    """The file that a module of Python means in a file; None where it is none of these.

    An absolute name begins at a folder that is no package: one round the file, or one at the top
    that has the package itself.

    Args:
        module: As written, dots in front included.
        path: Of the file that says so.
        files: The paths of all.
        tops: Name of a package -> the folders at the top that it stands in.
        package: The name of the package that the top of all files is, if it is one.
    """
    level = len(module) - len(module.lstrip("."))
    steps = [one for one in module.lstrip(".").split(".") if one]
    folder = PurePosixPath(path).parent
    if level:
        for _ in range(level - 1):
            if folder == folder.parent:
                return None
            folder = folder.parent
        return _python_in(folder, steps, files)
    if not steps or steps[0] in PYTHON:
        return None
    top = package.split(".")
    if package and steps[: len(top)] == top:
        return _python_in(PurePosixPath(), steps[len(top) :], files)
    roots = [folder, *folder.parents]
    roots += map(PurePosixPath, tops.get(steps[0], ()))
    for root in dict.fromkeys(roots):
        if str(root / "__init__.py") not in files and (found := _python_in(root, steps, files)):
            return found
    return None


def _python_in(folder: PurePosixPath, steps: list[str], files: Collection[str]) -> str | None:
    base = folder.joinpath(*steps)
    for one in (base / "__init__.py", base.with_name(f"{base.name}.py") if steps else base):
        if str(one) in files:
            return str(one)
    return None


def script_file(module: str, path: str, files: Collection[str]) -> str | None:
    """The file that a relative module of JavaScript or TypeScript means; None for all others."""
    if not module.startswith("."):
        return None
    steps: list[str] = list(PurePosixPath(path).parent.parts)
    for step in module.split("/"):
        if step == ".." and steps:
            steps.pop()
        elif step == "..":
            return None
        elif step not in ("", "."):
            steps.append(step)
    base = "/".join(steps)
    stem = re.sub(r"\.[cm]?jsx?\Z", "", base)
    tried = [base, *(stem + one for one in _SUFFIXES)]
    tried += [base + one for one in _SUFFIXES]
    tried += [f"{base}/index{one}" if base else f"index{one}" for one in _SUFFIXES]
    return next((one for one in tried if one in files), None)
