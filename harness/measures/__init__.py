"""Measures of a ranking against its gold, and the references that stand beside them."""
