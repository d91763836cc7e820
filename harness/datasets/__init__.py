"""Data sets: cards, loaders, and what they fetch and check."""
