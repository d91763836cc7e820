"""The measures. Every module here lists its own in `FAMILIES`; a new one is one new file."""
