"""Whatever cuts code into chunks. Knows nothing of the harness."""
