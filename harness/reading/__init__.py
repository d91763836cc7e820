"""Reads files and trees of files as source texts."""
