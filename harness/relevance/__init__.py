"""Which chunks are relevant to a query."""
