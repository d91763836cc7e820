"""The report of the conformance kit."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

Status = Literal["pass", "fail", "declared", "stale", "unchecked"]

BROKEN: frozenset[str] = frozenset({"fail", "stale"})
"""The statuses that fail a report."""

_SHOWN = 400
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Example:
    """The smallest source found that fails a check.

    Attributes:
        case: The case that it was reduced from.
        language: Its language; None for plain text.
        text: Its text.
    """

    case: str
    language: str | None
    text: str

    def __str__(self) -> str:
        text = repr(self.text)
        if len(text) > _SHOWN:
            text = f"{text[:_SHOWN]}… ({len(self.text)} characters)"
        return (
            f"{text} ({self.language or 'plain text'}; reduced from the test source {self.case!r})"
        )


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the report.

    Attributes:
        name: The name of the check.
        status: `pass`; `fail`; `declared`: it fails, as the chunker declares; `stale`: it passes,
            although the chunker declares that it fails; `unchecked`: it could not be checked.
        detail: The fault or the measurement.
        example: A source that fails.
    """

    name: str
    status: Status
    detail: str
    example: Example | None = None


@dataclass(frozen=True)
class Report:
    """The report about one chunker.

    Attributes:
        chunker: Its name.
        version: Its version.
        languages: The languages of the sources.
        sources: Number of sources.
        checks: One row for each check.
    """

    chunker: str
    version: str
    languages: tuple[str | None, ...]
    sources: int
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passes, or fails as declared."""
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed or are stale."""
        return tuple(check for check in self.checks if check.status in BROKEN)

    def check(self, name: str) -> Check:
        """The row of that name."""
        return next(check for check in self.checks if check.name == name)

    def raise_for_failures(self) -> None:
        """Raise AssertionError with the whole report if a check failed."""
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        return "\n".join([self.heading(), *self._rows(), *self.examples()])

    def heading(self) -> str:
        """The chunker, the verdict, and the sources, on one line."""
        languages = ", ".join(language or "plain text" for language in self.languages)
        failed = ", ".join(repr(check.name) for check in self.failures)
        checks = "check" if len(self.failures) == 1 else "checks"
        verdict = f"fails the {checks} {failed}" if failed else "conforms"
        return f"{self.chunker}: {verdict} ({self.sources} sources; {languages})"

    def examples(self) -> list[str]:
        """The smallest failing inputs, a line each."""
        return [
            f"{check.name!r}: the smallest input that fails is {check.example}"
            for check in self.checks
            if check.example is not None
        ]

    def _rows(self) -> list[str]:
        width = max((len(check.name) for check in self.checks), default=0)
        rows = []
        for check in self.checks:
            head = f"  {check.name:<{width}}  {check.status:<9}  "
            rows.append(
                textwrap.fill(
                    check.detail, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head)
                )
                if check.detail
                else head.rstrip()
            )
        return rows
