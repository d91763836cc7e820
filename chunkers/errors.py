"""The one exception that a user's mistake raises."""


class InputError(Exception):
    """Wrong usage or bad input.

    The message is one or two lines: what is wrong, where, and what to do about it. The command
    line prints it and exits with 2.
    """
