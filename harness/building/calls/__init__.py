"""Queries from calls of functions."""
