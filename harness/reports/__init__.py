"""What a run shows: one JSON document, and its forms as tables."""
