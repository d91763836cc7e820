"""A run: a grid of cells (data set, chunker, embedder, retriever), each computed once."""
