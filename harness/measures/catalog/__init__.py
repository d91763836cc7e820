"""The measures. Every module here lists some in `FAMILIES`; a new measure is one new file."""
