"""The exceptions that a user's mistake or a missing package raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 200  # characters of a reason
_MOST_NAMES = 12  # that a message lists
_FEW_NAMES = 3  # that an unknown one may mean
_SIMILAR = 0.75  # share of equal characters from which a name may be a slip for another
_SIMILAR_SHORT = 0.66  # the same for three characters: one of them, or their order, is wrong
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")


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


class UnknownPartError(InputError):
    """No part of the wanted kind has the name; it may be the name of a part of another kind."""

    def __init__(self, message: str = "", kind: str = "", name: str = "") -> None:
        super().__init__(message)
        self.kind, self.name = kind, name


class UnknownOptionError(InputError):
    """A part has no such option; it may be an option of the command."""

    def __init__(self, message: str = "", part: str = "", key: str = "", value: str = "") -> None:
        super().__init__(message)
        self.part, self.key, self.value = part, key, value


class FailedError(InputError):
    """A part failed on too many of its inputs, so there is no result; the exit code is 3."""


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
    return f"run in a checkout of chunkmark: pip install -c constraints.txt '.[{extra}]'"


def reason_of(error: BaseException) -> str:
    """The type and message of an exception in one line, cut to a maximum length.

    The message of an `InputError` stands alone.
    """
    name = type(error).__name__
    try:
        text = str(error) if isinstance(error, InputError) else f"{name}: {error}"
    except StoppedError:
        raise
    except BaseException:
        text = f"{name}, whose message cannot be read"
    return " ".join(text.split())[:_LONGEST]


def place_of(error: BaseException) -> str:
    """The last line of the user's own code that an exception came through; empty without one.

    Neither chunkmark nor an installed library is the user's code.
    """
    import traceback

    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if _is_own(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}, line {line}"
    return ""


def class_without(error: BaseException) -> str:
    """A class of the user's own and its place, if chunkmark lacks an attribute of it; or empty."""
    import inspect

    if not isinstance(error, AttributeError) or error.name is None or place_of(error):
        return ""
    kind = error.obj if isinstance(error.obj, type) else type(error.obj)
    try:
        file = inspect.getsourcefile(kind) or ""
        _, line = inspect.getsourcelines(kind)
    except (OSError, TypeError):  # it has no source
        return ""
    own = f"{kind.__name__} has no attribute {error.name!r}; add it at {file}, line {line}"
    return own if _is_own(file) else ""


def _is_own(filename: str) -> bool:
    """Whether a file is the user's own: of neither chunkmark nor an installed library."""
    import sysconfig
    from pathlib import Path

    here = Path(__file__).resolve().parent
    foreign = [here, here.parent / "harness"]
    foreign += [Path(path).resolve() for path in map(sysconfig.get_path, _LIBRARIES)]
    file = Path(filename)
    return file.is_file() and not any(file.resolve().is_relative_to(each) for each in foreign)


def see(error: BaseException) -> str:
    """The end of a message: where to look in the user's own code; empty without a place."""
    place = place_of(error)
    return place and f"; see {place}"


def _with_a_word_of(name: str, names: Iterable[str]) -> list[str]:
    """Names that share a word or a start, as `chunk_size` and `max_size` do."""
    import re

    words = {word for word in re.split(r"[-_]", name) if len(word) > 3}
    return [
        other
        for other in names
        if words.intersection(re.split(r"[-_]", other))
        or (min(len(name), len(other)) > 3 and (other.startswith(name) or name.startswith(other)))
    ]


def similar_names(name: str, names: Iterable[str]) -> list[str]:
    """Up to three names that are spelt like an unknown one, else all that share a word with it."""
    import difflib

    by_lower = {other.lower(): other for other in names}
    similar = _SIMILAR_SHORT if len(name) == 3 else _SIMILAR
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=similar)
    return [by_lower[key] for key in near or _with_a_word_of(name.lower(), by_lower)]


def did_you_mean(name: str, names: Iterable[str], mark: str = "") -> str:
    """A hint with the names that an unknown one may mean; empty if none or many are similar."""
    near = similar_names(name, names)
    few = 0 < len(near) <= _FEW_NAMES
    return f"did you mean {' or '.join(mark + other for other in near)}?" if few else ""


def suggestion(name: str, names: Iterable[str], command: str = "", *, mark: str = "") -> str:
    """A hint for an unknown name: similar names, or all names if they are few, or what lists them.

    Args:
        name: The unknown name.
        names: The known ones.
        command: What lists them; it is named if they are too many for a message.
        mark: What is put before each name that is shown, such as the dashes of an option.
    """
    names = list(names)
    if hint := did_you_mean(name, names, mark):
        return hint
    near = similar_names(name, names)
    if command and 0 < len(near) <= _MOST_NAMES < len(names):
        return f"choose from {', '.join(mark + other for other in near)}, or see `{command}`"
    if len(names) > _MOST_NAMES and command:
        return f"see `{command}`"
    more = f", … ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
    return f"choose from {', '.join(mark + each for each in names[:_MOST_NAMES])}{more}"
