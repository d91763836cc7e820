"""Other people's chunkers: a module here is a chunker of that name, `_` read as `-`."""
