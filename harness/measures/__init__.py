"""Measures of a ranking against its gold, and the anchors that stand beside them."""
