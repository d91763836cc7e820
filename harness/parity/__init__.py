"""What only reproduces the faults of other people's evaluations. Nothing else uses it."""
