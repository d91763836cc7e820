"""Retrievers: a module here is a retriever of that name, `_` read as `-`."""
