"""Runs chunkers over a corpus and locates their chunks."""
