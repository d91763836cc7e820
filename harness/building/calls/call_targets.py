"""Which definition a call means, as far as its own file says so.

A name that a repository defines once may still be somebody else's: of a library, of another class.
So a call means a definition where its file binds the name to the definition's own file, by the
rules of its language, and a member's owner to the definition's class. What cannot be told is no.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chunkers.grammars.model import words
from harness.building.calls.imports import PYTHON, SCRIPTS
from harness.building.calls.scopes import go_folder, is_rust_module, module_of, origins, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chunkers.source import Source
    from harness.building.calls.callees import Call, Definition, Names

_SPACE = re.compile(r"\s+")
_SELVES = frozenset({"Self", "base", "cls", "parent", "self", "static", "super", "this"})
# Go's own packages have no domain in front.
_GO = words(
    "archive bufio bytes cmp compress container context crypto database debug embed encoding"
    " errors expvar flag fmt go hash html image index internal io iter log maps math mime net os"
    " path plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing"
    " text time unicode unique unsafe weak"
)


@dataclass(frozen=True)
class World:
    """All files of a corpus by path.

    Attributes:
        sources: Them.
        names: Theirs; those without a grammar have none.
        files: In how many something of a name is defined that is no function's own.
        go: What Go's imports of folders of this corpus begin with.
        python: What Python's imports of this corpus begin with where it is a package itself.
        tops: The folders at the top by the names of Python's packages in them.
        named: The paths of the files of a name, such as `store.h`.
        includes: The files that a file itself includes; filled when asked for.
        included: Those that it includes itself or through others; filled when asked for.
        modules: The file that a module means in a file; filled when asked for.
    """

    sources: Mapping[str, Source]
    names: Mapping[str, Names]
    files: Mapping[str, int]
    go: str
    python: str
    tops: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]]
    includes: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    included: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    modules: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, read: Mapping[Source, Names]) -> World:
        """Of all sources with names."""
        paths: defaultdict[str, set[str]] = defaultdict(set)
        named: defaultdict[str, list[str]] = defaultdict(list)
        for source in read:
            named[source.path.rsplit("/", 1)[-1]].append(source.path)
        for names in read.values():
            for one in names.definitions:
                if not one.local:
                    paths[one.name].add(one.path)
        tops: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(named["__init__.py"]):
            folder, _, rest = path.partition("/")
            if rest.count("/") == 1:
                tops[rest.partition("/")[0]].append(folder)
        return cls(
            {source.path: source for source in read},
            {source.path: names for source, names in read.items()},
            Counter({name: len(files) for name, files in paths.items()}),
            _prefix(read, "go"),
            _prefix(read, "python") if any(one.path == "__init__.py" for one in read) else "",
            {name: tuple(some) for name, some in tops.items()},
            {name: tuple(some) for name, some in named.items()},
        )


def _prefix(read: Mapping[Source, Names], language: str) -> str:
    """What most imports begin with whose end is a folder or a module of the corpus."""
    joint = "/" if language == "go" else "."
    paths = [PurePosixPath(one.path) for one in read if one.language == language]
    ends = {str(path.parent).replace("/", joint) for path in paths}
    if language == "python":
        ends |= {str(path.with_suffix("")).replace("/", joint) for path in paths}
    own = _GO if language == "go" else PYTHON
    found: Counter[str] = Counter()
    for source, names in read.items():
        if source.language != language:
            continue
        for binding in (one for some in names.bindings.values() for one in some):
            parts = binding.module.split(joint)
            if parts[0] not in own and parts[0]:
                for at in range(1, len(parts)):
                    found[joint.join(parts[:at])] += joint.join(parts[at:]) in ends
    # Of equal ones the longest: it says least about what is meant.
    best = max(sorted(found), key=lambda one: (found[one], len(one)), default="")
    return best if found[best] else ""


def means(call: Call, definition: Definition, source: Source, world: World) -> bool:
    """Whether a call of a file means the one definition of its name."""
    names = world.names[source.path]
    if not call.member:
        return (
            not definition.owner
            and call.name not in names.rebound
            and visible(call.name, definition, source, world)
        )
    if definition.owner:
        return _is_of(call, definition, source, world)
    return _qualified(call, definition, source, world)


def _is_of(call: Call, definition: Definition, source: Source, world: World) -> bool:
    """Whether what a member is called of is of the definition's class, by its name or its type."""
    owner, names = definition.owner, world.names[source.path]
    if world.files[owner] > 1:
        return False
    if call.owner == owner:
        chain = call.chain[:-1]
        inside = not chain or chain == definition.spaces[-1 - len(chain) : -1]
        return (inside and visible(owner, definition, source, world)) or (
            len(chain) > 0 and module_of(chain, source, world) == definition.path
        )
    if not visible(owner, definition, source, world):
        return False
    if call.owner in _SELVES:
        return _inherits(call, owner, names)
    # What is no variable of its own function may be set in any.
    code = _round(call, names) if len(call.chain) == 1 else names.code
    return call.owner != "" and _typed(call.owner, owner, code)


def _round(call: Call, names: Names) -> str:
    """A file's code without the definitions that a call stands beside."""
    lines = names.code.split("\n")
    for one in names.definitions:
        if not one.first <= call.line <= one.last:
            lines[one.first - 1 : one.last] = [""] * (one.last - one.first + 1)
    return "\n".join(lines)


def _typed(variable: str, owner: str, code: str) -> bool:
    """Whether code says that a variable is of a class, and never makes it another one's."""
    # Where a comment or a string was there is white space, as long as that: of each run one
    # character is left, so that no part of an expression can take more of it than another.
    code = _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", code)
    word = re.escape(variable)
    v, c = rf"(?<!\w){word}", rf"(?:\w+\s*(?:\.|::)\s*)*{re.escape(owner)}\b"
    generic = r"\s*(?:<[^<>;]*>|\[[^\[\];]*\])?"
    made = rf"{v}\s*(?::[^=\n;]{{0,60}})?:?=\s*(?:await\s+|new\s+|&)*"
    several = r"(?:Optional\[|\||\?|&|\*|mut\s|'\w+\s|\s|None)*"
    said = (
        rf"{v}\s*\??:\s*{several}{c}(?!\s*[.(])"  # v: C
        rf"|{made}{c}{generic}\s*[({{]"  # v = C(
        rf"|{made}{c}{generic}\s*(?:\.|::)\s*new\b"  # v = C.new
        rf"|(?<![\w.]){c}{generic}[\s*&]+(?:const\s+)?\$?{word}\b\s*[=;,)({{\n]"  # C v
        rf"|{v}\s+[*\[\]]*{c}\s*[,)\n}}=]"  # v *C
        rf"|\bwith\s+{c}\s*\([^\n]*\)\s*as\s+{word}\b"
    )
    if not re.search(said, code):
        return False
    other = rf"{v}\s*:?=\s*(?:await\s+|new\s+|&)*(?!{c})(?:\w+\s*(?:\.|::)\s*)*[A-Z]\w*\s*[({{]"
    return re.search(other, code) is None


def _inherits(call: Call, owner: str, names: Names) -> bool:
    """Whether a call stands in a class that says, where it begins, that it is one of another."""
    lines = names.code.split("\n")
    for one in names.definitions:
        if one.first <= call.line <= one.last and one.name != owner:
            head = "\n".join(lines[one.first - 1 : one.first + 4])
            said = re.search(
                rf"class\s+{re.escape(one.name)}\b([^{{;]*?)(?:[{{;]|:\s*\n|\n\s*\n)", head
            )
            if said and re.search(rf"\b{re.escape(owner)}\b", said[1]):
                return True
    return False


def _qualified(call: Call, definition: Definition, source: Source, world: World) -> bool:
    """Whether the names before a function's are those of its module, package or namespace."""
    chain, language, names = call.chain, source.language or "", world.names[source.path]
    if not chain or chain[0] in names.rebound:
        return False
    if language == "python" or language in SCRIPTS or language == "lua":
        origin = module_of(chain, source, world)
        return origin is not None and definition.path in origins(origin, definition.name, world)
    if language == "go":
        folders = {go_folder(one.module, world) for one in names.bindings.get(chain[0], ())}
        return len(chain) == 1 and folders == {str(PurePosixPath(definition.path).parent)}
    if language == "rust":
        bound = names.bindings.get(chain[0], ())
        steps = [(*one.module.split("::"), one.name, *chain[1:]) for one in bound] or [chain]
        return all(is_rust_module(one, definition.path, source.path) for one in steps)
    spaces = definition.spaces[len(definition.spaces) - len(chain) :]
    return spaces == chain and visible(definition.spaces[0], definition, source, world)
