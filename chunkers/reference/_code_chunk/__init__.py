"""How code-chunk cuts along a syntax tree and what it says about every chunk."""
