"""Errors of TOML name the line, and say what to write there."""

import re

import pytest

from chunkers.errors import InputError
from harness.support.toml_files import parse_toml


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("a = ", 'write "text", a number, true, false or a list such as'),
        ("a = True", 'write "text", a number, true, false or a list such as'),
        ("a: 3", "write key = value"),
        ("= 3", "write key = value"),
        ("a. = 3", "write a key of letters, digits, - and _"),
        ("a = 3 b = 4", "write one key = value on a line"),
        ("a = [3", "end the list with ]"),
        ("a = {b = 3 c = 4}", "end the table with }"),
        ("[a", "write the heading of a table as [name]"),
        ("before = 4", "remove the repeated key or table"),
        ("[c]\n[c]", "remove the repeated key or table"),
        ('a = "text', "close the quotes"),
        ("a = '''text", "close the quotes"),
        ('a = "C:\\Users"', "write each backslash twice"),
        ("a = 3 # \x01", "remove the character"),
    ],
)
def test_the_line_is_named_with_what_to_write(line, advice):
    place = r"(line [23], column \d+|end of document)"
    with pytest.raises(InputError, match=f"^file: invalid TOML: {place}: .*; {re.escape(advice)}"):
        parse_toml(f"before = 3\n{line}\n", "file")
    assert parse_toml("a = 3\n", "file") == {"a": 3}
