"""Statistics of differences and means."""
