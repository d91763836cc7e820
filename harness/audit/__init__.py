"""Audits: what a data set or a stored run holds that can make its scores mean less."""
