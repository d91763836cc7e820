"""What Python says of a file before and after an edit, without the parser of the edits."""

import ast
import dis
import functools
import io
import re
import tokenize
import warnings

NAMED = {"LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF",
         "LOAD_CLASSDEREF", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR",
         "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "LOAD_FAST_BORROW",
         "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "STORE_FAST_MAYBE_NULL",
         "LOAD_FROM_DICT_OR_DEREF"}  # fmt: skip
"""Instructions of local variables."""
CELLS = {"LOAD_CLOSURE", "MAKE_CELL"}


def dump(text):
    """The tree of a file, without positions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(text))


def definitions(text):
    """Every definition of a file with the trees inside, whatever their places."""

    class Sorted(ast.NodeTransformer):
        def generic_visit(self, node):
            super().generic_visit(node)
            for field in ("body", "orelse", "finalbody"):
                statements = getattr(node, field, None)
                if isinstance(statements, list):
                    statements.sort(key=ast.dump)
            return node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(Sorted().visit(ast.parse(text)))


@functools.cache
def tokens(text):
    """Row and string of each token, and its kind; not of comments, and of lines without code."""
    left_out = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT,
                tokenize.ENDMARKER}  # fmt: skip
    return [
        (token.start[0], tokenize.tok_name[token.type], token.string)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in left_out
    ]


@functools.cache
def rows_in_strings(text):
    """Rows that begin inside a string."""
    rows, opened = set(), []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "STRING":
            rows |= set(range(token.start[0] + 1, token.end[0] + 1))
        elif kind == "FSTRING_START":
            opened.append(token.start[0])
        elif kind == "FSTRING_END":
            rows |= set(range(opened.pop() + 1, token.end[0] + 1))
    return rows


def compiled(text):
    """The code of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text, "file", "exec")


def same_but_for_locals(old, new):
    """The other names of variables in code that does the same; raises AssertionError.

    Returns:
        Old and new name of each variable with another name in this code and those inside, and those
        of variables that belong to the code around it.
    """
    names, changed = {}, []
    for one, other in zip(dis.get_instructions(old), dis.get_instructions(new), strict=True):
        assert one.opname == other.opname
        if one.opname in CELLS:
            continue  # cells are in order of their names; what is done with them is compared
        if one.opname in NAMED:
            olds, news = (
                value if isinstance(value, tuple) else (value,)
                for value in (one.argval, other.argval)
            )
            pairs = list(zip(olds, news, strict=True))
        elif hasattr(one.argval, "co_code"):
            inner, outer = same_but_for_locals(one.argval, other.argval)
            changed += inner
            pairs = list(outer.items())
        else:
            assert one.argval == other.argval
            pairs = []
        for a, b in pairs:
            assert names.setdefault(a, b) == b
    assert len(set(names.values())) == len(names)
    arguments = old.co_argcount + old.co_kwonlyargcount
    assert old.co_varnames[:arguments] == new.co_varnames[:arguments]
    assert old.co_names == new.co_names
    free = {name: names[name] for name in old.co_freevars if name in names}
    assert set(free.values()) <= set(new.co_freevars)
    changed += [(a, b) for a, b in names.items() if a != b and a not in free]
    assert all(re.fullmatch(r"v\d+", name) for _, name in changed)
    return changed, free
