"""Leaderboards: one row for each configuration, one column for each task."""
