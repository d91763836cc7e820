"""Runs chunkers over a corpus and locates their chunks."""

SECONDS = 60.0
"""Default time limit of a chunker for a file, many times what the slowest one needs."""
