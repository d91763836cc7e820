"""Statistics of differences and means."""

MARGIN = 0.02
"""The default margin: 2 points of a measure between 0 and 1."""
