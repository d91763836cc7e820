"""Embeds texts and stores their vectors."""
