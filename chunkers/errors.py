"""The exceptions that a user's mistake or a missing package raises."""

_LONGEST = 200  # characters of a reason


def escaped(text: str) -> str:
    r"""A text with all but its line feeds escaped that cannot be printed, as in `\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        one if one == "\n" or one.isprintable() else one.encode("unicode_escape").decode()
        for one in text
    )


class InputError(Exception):
    """Wrong usage or bad input.

    The message is one or two lines: what is wrong, where, and what to do about it. The command
    line prints it and exits with 2. What of it cannot be printed, such as the control sequences
    of a terminal in a name or in a server's words, is escaped here, wherever it came from.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(escaped(message))


class MissingError(InputError):
    """A package of an extra is not installed, or not in a version that can be used."""


class StoppedError(BaseException):
    """The program is to end, by a signal: no fault of whatever runs when it comes.

    Attributes:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


STOPPING: tuple[type[BaseException], ...] = (KeyboardInterrupt, StoppedError)
"""What passes through where other people's code may raise anything else."""


def reason_of(error: BaseException) -> str:
    """What was raised, in one line of limited length; other people's errors may fail to say it."""
    # Not by the attribute, which a class of its own kind may have made something else.
    name = type.__dict__["__name__"].__get__(type(error))
    try:
        text = f"{name}: {error}"
    except StoppedError:
        raise
    except BaseException:
        text = f"{name}, which fails to say what it is"
    return " ".join(text.split())[:_LONGEST]
