"""Differences of queries in clusters and corpora, with known means and variances."""

import numpy as np
from scipy import stats

from harness.stats.power import ALPHA

ZEROS = 0.7  # share of queries that two chunkers answer alike


def tied(u):
    """Differences of a bounded measure: most are 0, the rest spread over -1 to 1."""
    side = (1 - ZEROS) / 2
    low, high = np.minimum(u / side, 1) - 1, np.maximum((u - 1 + side) / side, 0)
    return np.where(u < side, low, high)


def skewed(u, loss=0.16, win=0.09):
    """More losses than wins, but smaller ones, so that the mean is 0; the skewness is 1.5."""
    lost = np.maximum(1 - u / loss, 0) * win / loss
    return np.maximum((u - 1 + win) / win, 0) - lost


def lopsided(u):
    """Few large wins against many small losses, with a skewness of 4."""
    return skewed(u, 0.2, 0.05)


SHAPES = {"normal": stats.norm.ppf, "tied": tied, "skewed": skewed}
"""Real chunkers differ on few queries or on most, and mildly to one side."""


def differences(rng, shape, sizes, corpora, icc, trials, between=0.0):
    """Values of trials, shape (queries, trials), with mean 0.

    Args:
        rng: Random numbers.
        shape: A name of `SHAPES`.
        sizes: Queries of each cluster, shape (g,).
        corpora: The corpus of each cluster, shape (g,).
        icc: Correlation of the queries of a cluster, before they are shaped.
        trials: Number of trials.
        between: Correlation of the queries of a corpus, likewise.
    """
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.standard_normal((len(sizes), trials))[cluster]
    of_corpus = rng.standard_normal((corpora.max() + 1, trials))[corpora[cluster]]
    own = rng.standard_normal((len(cluster), trials))
    z = np.sqrt(icc) * shared + np.sqrt(between) * of_corpus + np.sqrt(1 - icc - between) * own
    return (lopsided if shape == "lopsided" else SHAPES[shape])(stats.norm.cdf(z))


def cluster_sizes(rng, clusters):
    """1 to 40 queries a cluster, most of them small."""
    return np.maximum(1, np.round(40 ** rng.random(clusters))).astype(int)


def members(sizes, corpora):
    """Corpus and cluster of every query."""
    names = [(f"corpus {corpus}", f"file {at}") for at, corpus in enumerate(corpora)]
    return [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]


def power(spread, effect):
    """The probability that the t test shows an effect, from the spread of a mean difference."""
    critical = stats.t.ppf(1 - ALPHA / 2, spread.freedom)
    shift = effect * np.sqrt(spread.units) / spread.sd
    tails = (
        stats.nct.sf(critical, spread.freedom, shift),
        stats.nct.cdf(-critical, spread.freedom, shift),
    )
    return float(sum(tails))
