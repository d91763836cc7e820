"""Measures retrieval after edits that change no meaning: some chunkers depend on the format."""
