"""Makes data sets out of repositories."""
