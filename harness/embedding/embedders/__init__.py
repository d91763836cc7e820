"""Embedders: a module here is an embedder of that name, `_` read as `-`."""
