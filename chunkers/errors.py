"""The exceptions that a user's mistake or a missing package raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 200  # characters of a reason
_MOST_NAMES = 12  # that a message lists


def escaped(text: str) -> str:
    r"""A text with unprintable characters escaped, such as `\x1b`; line feeds stay."""
    if text.isprintable():
        return text
    return "".join(
        char if char == "\n" or char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )


class InputError(Exception):
    """Wrong usage or bad input.

    The message is one or two lines: what is wrong, where, and what to do about it. The command
    line prints it and exits with 2. Unprintable characters are escaped, since names and servers'
    messages may hold control sequences of a terminal.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(escaped(message))


class MissingError(InputError):
    """A package of an extra is not installed, or not in a version that can be used."""


class StoppedError(BaseException):
    """The signal `number` asks the program to end; not an error of the code that runs."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


STOPPING: tuple[type[BaseException], ...] = (KeyboardInterrupt, StoppedError)
"""Never caught together with the exceptions of plug-ins."""


def install_command(extra: str) -> str:
    """How to install an extra; a name or several with commas."""
    return f"in a checkout of chunkmark: pip install -c constraints.txt '.[{extra}]'"


def reason_of(error: BaseException) -> str:
    """The type and message of an exception in one line, cut to a maximum length."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except StoppedError:
        raise
    except BaseException:
        text = f"{name}, whose message cannot be read"
    return " ".join(text.split())[:_LONGEST]


def place_of(error: BaseException) -> str:
    """The file and the line where an exception was raised."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}, line {frame.lineno}"


def suggestion(name: str, names: Iterable[str], command: str = "", *, mark: str = "") -> str:
    """A hint for an unknown name: similar names, or all names if they are few.

    Args:
        name: The unknown name.
        names: The known ones.
        command: What lists them; it is named if they are too many for a message.
        mark: What is put before each name that is shown, such as the dashes of an option.
    """
    import difflib

    names = list(names)
    by_lower = {other.lower(): other for other in names}

    def near(cutoff: float) -> list[str]:
        keys = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=cutoff)
        return [by_lower[key] for key in keys]

    if similar := near(0.65):
        return f"did you mean {' or '.join(mark + each for each in similar)}?"
    if len(names) <= _MOST_NAMES:
        return f"choose from {', '.join(mark + each for each in names)}"
    nearest = f"the nearest of {len(names)} are {', '.join(mark + each for each in near(0))}"
    return f"{nearest}; see `{command}`" if command else nearest
