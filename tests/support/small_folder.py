"""A small folder: its only source file, and the options of a run on it."""

SOURCE = '''def first(number):
    """Return the number that was given."""
    return number


def second(number):
    """Count the days of a whole year."""
    return 365 * number
'''

RUN = ("run", "-d", "repo:src", "-r", "bm25", "-c", "ast", "-m", "MRR", "-o", "out")
