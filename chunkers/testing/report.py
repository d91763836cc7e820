"""What the conformance kit found."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

Status = Literal["pass", "fail", "declared", "stale", "unchecked"]

BROKEN: frozenset[str] = frozenset({"fail", "stale"})
"""What makes a report fail."""

_SHOWN = 400
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Example:
    """The smallest source found that fails a check.

    Attributes:
        case: What it was made from.
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
        return f"{self.language or 'plain text'}, from {self.case!r}: {text}"


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the report.

    Attributes:
        name: What was checked.
        status: `pass`; `fail`; `declared`: it fails, as the chunker declares; `stale`: it passes,
            though the chunker declares that it fails; `unchecked`: nothing could be told.
        detail: What was found, or measured.
        example: Of a failure.
    """

    name: str
    status: Status
    detail: str
    example: Example | None = None


@dataclass(frozen=True)
class Report:
    """What was found about one chunker.

    Attributes:
        chunker: Its name.
        version: Its version.
        languages: In which it was tried.
        sources: On how many sources.
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
        """The checks that went other than they should."""
        return tuple(check for check in self.checks if check.status in BROKEN)

    def check(self, name: str) -> Check:
        """The row of that name."""
        return next(check for check in self.checks if check.name == name)

    def raise_for_failures(self) -> None:
        """Fail a test.

        Raises:
            AssertionError: A check failed; the message is the whole report.
        """
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        return "\n".join([self.heading(), *self._rows(), *self.examples()])

    def heading(self) -> str:
        """A line that says what was tried, and how it ended."""
        languages = ", ".join(one or "plain text" for one in self.languages)
        verdict = "conforms" if self.ok else f"fails {', '.join(one.name for one in self.failures)}"
        return f"{self.chunker}: {verdict} ({self.sources} sources; {languages})"

    def examples(self) -> list[str]:
        """Lines about what fails."""
        return [
            f"{check.name}: the smallest input that fails: {check.example}"
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
