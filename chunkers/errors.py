"""The exceptions that a user's mistake or a missing package raises."""


class InputError(Exception):
    """Wrong usage or bad input.

    The message is one or two lines: what is wrong, where, and what to do about it. The command
    line prints it and exits with 2.
    """


class MissingError(InputError):
    """A package of an extra is not installed, or not in a version that can be used."""
