"""The conformance kit: checks that any chunker can be tested with."""

from chunkers.testing.kit import CHECKS, EXCEPTIONS, LANGUAGES, check_chunker
from chunkers.testing.report import Check, Example, Report

__all__ = ["CHECKS", "EXCEPTIONS", "LANGUAGES", "Check", "Example", "Report", "check_chunker"]
