"""Figures of a report, drawn from its document."""
