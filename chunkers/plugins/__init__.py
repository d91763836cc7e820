"""Finds, loads and identifies chunkers and other plug-ins."""
