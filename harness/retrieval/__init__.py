"""Ranks the chunks of a corpus for a query."""
