"""Hard negatives: files of other corpora that a data set adds to its own."""

from typing import Literal

Kind = Literal["none", "same-repo", "other-repo", "bm25", "dense"]
"""Where hard negatives are from; see `harness.datasets.negatives.mining`."""
