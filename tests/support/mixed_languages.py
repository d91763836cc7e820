"""Data sets of files in several languages, out of the folder that `--data-dir` names."""

from harness.model import Corpus, Dataset, Query, Target
from harness.reading.reader import ReadRules, read_folder


def load(data_dir, languages):
    """Every file whose language is known, by the table or by the languages given."""
    return _dataset(data_dir, ReadRules(languages=languages))


def named(data_dir):
    """Files of three suffixes, whatever language they are."""
    return _dataset(data_dir, ReadRules(suffixes=(".h", ".inc", ".txt")))


def _dataset(data_dir, rules):
    corpus = Corpus("mixed", *read_folder(data_dir, rules))
    target = Target(corpus.sources[0].path, 1, 1)
    return Dataset("mixed", "span", (corpus,), (Query("q", "mixed", "counts", (target,)),))
