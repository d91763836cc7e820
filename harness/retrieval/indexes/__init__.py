"""Indexes of unit vectors: one file each, chosen by `--index`."""
