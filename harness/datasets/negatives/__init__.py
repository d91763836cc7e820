"""Hard negatives: files of other corpora that a data set adds to its own."""
