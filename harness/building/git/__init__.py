"""Queries from the commits of a git repository, and the files at a commit."""
