"""Queries from documentation comments."""
