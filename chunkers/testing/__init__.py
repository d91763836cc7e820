"""The conformance kit: what any chunker is held to, for anybody's tests."""

from chunkers.testing.kit import CHECKS, EXCEPTIONS, LANGUAGES, check_chunker
from chunkers.testing.report import Check, Example, Report

__all__ = ["CHECKS", "EXCEPTIONS", "LANGUAGES", "Check", "Example", "Report", "check_chunker"]
