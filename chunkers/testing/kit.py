"""The conformance kit: tests a chunker on sources that often cause faults, and reports them.

The chunker runs in worker processes (`chunkers.processes.isolation`), so the report is complete
even if it hangs, crashes or takes all memory.
"""

from __future__ import annotations

import operator
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.plugins.spec import Spec, parse_spec
from chunkers.processes.isolation import ENDED, Job, Limits, LoadTarget, Worker, program_file
from chunkers.testing.cases import Case, cases, large
from chunkers.testing.faults import differing, not_once, not_verbatim, too_large
from chunkers.testing.report import Check, Example, Report
from chunkers.testing.services import cheap_services
from chunkers.testing.shrink import shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chunkers.processes.isolation import Declared, Outcome
    from chunkers.source import Source
    from chunkers.testing.report import Status

LANGUAGES: tuple[str | None, ...] = ("python", "javascript", "java", "c", None)
"""The languages tested by default, one of each family."""

CHECKS = (
    "verbatim spans",
    "order",
    "exactly-once",
    "size limit",
    "determinism",
    "thread safety",
    "no crash",
    "time per MB",
    "memory",
)
"""The rows of a report."""

REPEATS = "repeats"
EXCEPTIONS = (*CHECKS, REPEATS)
"""Names for `exceptions` of a chunker: a check, or `repeats` if it repeats text but loses none."""

_CHECK_OF = {"raised": "no crash", "crash": "no crash", "timeout": "time per MB"}
_OF_THE_MACHINE = ("time per MB", "memory")  # a faster or larger machine may pass
_PATIENCE = 3  # processes lost to one kind of failure before the kit stops
_THREADS = 8
_ROUNDS = 3  # of cuts in several threads
_LONG = 0.1  # seconds of a round in which threads alternate 10,000 times, so that it is the last
_THREADED = 6  # sources that are cut in threads
_LARGE = 1 << 18  # characters of the source for time and memory
_TRIES = 600  # to find a smaller input that fails
_SECONDS = 5.0  # the time for that
_DECLARED = 1.0  # the time for that if the failure is declared


def check_chunker(
    chunker: str | Spec | Callable[..., Any],
    *,
    languages: Sequence[str | None] | None = None,
    seed: int = 0,
    programs: int = 6,
    seconds: float = 10.0,
    memory: int = 1 << 30,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Test a chunker on sources written by hand and on random programs.

    A chunker may have an attribute `exceptions`: names from `EXCEPTIONS` of checks that it is known
    to fail. Such a check is `declared`; if it passes, `stale`, except for a choice of languages or
    for time and memory, since other languages or machines may still fail.

    Args:
        chunker: A spec, `ast:max_size=300` or `module:attr`; or a function or class at the top of
            a module.
        languages: The languages of the sources; None is plain text. Default: those of LANGUAGES
            that the chunker reads.
        seed: Random seed of the programs.
        programs: Number of random programs for each language.
        seconds: Time limit for one source.
        memory: Memory limit for one source, in bytes.
        progress: Called with the number of sources that are done, and their total.

    Raises:
        InputError: The chunker cannot be loaded, or declares unknown exceptions.
    """
    target = _target(chunker)
    limits = Limits(seconds, memory)
    with (
        Worker(target, limits, cheap_services(), hash_seed=1) as first,
        Worker(target, limits, cheap_services(), hash_seed=2) as second,
    ):
        declared = first.load()
        unknown = sorted(set(declared.exceptions) - set(EXCEPTIONS))
        if unknown:
            raise InputError(
                f"chunker {declared.name} declares the exception {unknown[0]!r}; "
                f"choose from {', '.join(EXCEPTIONS)}"
            )
        chosen = tuple(languages or _languages(declared))
        all_cases = cases(chosen, seed, programs)
        kit = _Kit(declared, first, second, limits, progress or (lambda done, total: None))
        kit.all_languages = not languages
        whole = kit.try_all(all_cases)
        # Memory is measured while the second process is new.
        kit.measure(large(chosen[0], seed, _LARGE))
        kit.try_again(whole)
        checks = tuple(kit.check(name) for name in CHECKS)
    return Report(declared.name, declared.version, chosen, kit.tried, checks)


def _languages(declared: Declared) -> Sequence[str | None]:
    reads = declared.languages
    return [language for language in LANGUAGES if not reads or language in reads] or reads


def _target(chunker: str | Spec | Callable[..., Any]) -> LoadTarget:
    """The target that the processes load."""
    if isinstance(chunker, str | Spec):
        spec = parse_spec(chunker) if isinstance(chunker, str) else chunker
        return LoadTarget(str(spec))
    name, path = getattr(chunker, "__module__", ""), getattr(chunker, "__qualname__", "")
    module = sys.modules.get(name)
    try:
        attribute = operator.attrgetter(path)(module)
    except AttributeError:
        attribute = None
    if module is None or attribute is not chunker:
        raise InputError(
            f"{chunker!r} cannot be checked: other processes must be able to import it; "
            "give a spec, module:attr, or a function or class at the top of a module"
        )
    file = getattr(module, "__file__", None)
    if name == "__main__":
        try:
            file = program_file()
        except InputError as error:
            raise InputError(f"{path} cannot be checked by other processes: {error}") from None
    return LoadTarget(f"{name}:{path}", None if file is None else (name, file))


@dataclass
class _Kit:
    """One run of the kit.

    Attributes:
        declared: The chunker's attributes.
        first: The process for most cuts.
        second: A process with another hash seed.
        limits: The limits for one source.
        progress: Called with the number of sources that are done, and their total.
        faults: Check -> the sources that failed it, each with the fault.
        counts: Check -> number of sources that were checked.
        measured: Check -> the measurement, as text.
        lost: Kind of failure -> number of processes that it ended.
        tried: Number of sources that were cut.
        all_languages: Whether a declared exception must occur.
    """

    declared: Declared
    first: Worker
    second: Worker
    limits: Limits
    progress: Callable[[int, int], None]
    faults: defaultdict[str, list[tuple[Case, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    measured: dict[str, str] = field(default_factory=dict)
    lost: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    tried: int = 0
    all_languages: bool = True

    def try_all(self, all_cases: Sequence[Case]) -> list[tuple[Case, Outcome]]:
        """Cut every source in order; returns those that did not end the process, with outcomes."""
        whole = []
        for case in all_cases:
            if self._hopeless():
                break
            outcome = self.first.cut(case.source())
            self._note(case, outcome)
            if not _ended(outcome):
                whole.append((case, outcome))
            self.tried += 1
            self.progress(self.tried, 3 * len(all_cases))
        return whole

    def try_again(self, whole: Sequence[tuple[Case, Outcome]]) -> None:
        """Cut the sources in reverse order in both processes, then some in threads."""
        again = []
        for worker in (self.first, self.second):
            for case, outcome in reversed(whole):
                again.append((case, _difference(outcome, worker.cut(case.source()))))
                self.progress(len(whole) + len(again), 3 * len(whole))
        for (case, once), (_, twice) in zip(again, again[len(whole) :], strict=False):
            self._count("determinism", case, once or twice)
        cut = [case for case, outcome in whole if outcome.failure is None]
        for case in sorted(cut, key=lambda case: -len(case.text))[:_THREADED]:
            self._count("thread safety", case, self._threads(case))

    def measure(self, case: Case) -> None:
        """Measure time and memory of a large source, in the second process."""
        if self._hopeless():
            return
        part = case.with_text(case.text[: len(case.text) // 4])
        outcome = self.second.cut(case.source(), measure=True)
        self.tried += 1
        self._note(case, outcome)
        if outcome.failure is not None:
            return
        # Again, without the cost of the first use.
        pace = [_pace(large, self.second.cut(large.source())) for large in (part, case)]
        if min(pace) > 0:
            self.measured["time per MB"] = (
                f"{pace[1]:.2f} s per MB on a source of {len(case.text) / 1e6:.2f} MB, "
                f"{pace[0]:.2f} on a quarter of it"
            )
        if outcome.peak:
            self.measured["memory"] = (
                f"{outcome.peak / 1e6:.0f} MB at most on a source of {len(case.text) / 1e6:.2f} MB"
            )

    def check(self, name: str) -> Check:
        """The row of a check, with the smallest input that fails it."""
        title = name
        expected = name in self.declared.exceptions
        faults = self.faults[name]
        if name == "exactly-once" and not faults and REPEATS in self.declared.exceptions:
            name, expected, faults = REPEATS, True, self.faults[REPEATS]
        if not faults:
            # A source that was refused at once says nothing of time, memory or determinism.
            checked = self.counts[name] and (self.counts["order"] or name == "no crash")
            status: Status = "pass" if checked else "unchecked"
            detail = self.measured.get(name, f"on {self.counts[name]} sources")
            if status == "unchecked":
                detail = "no limit is declared" if name == "size limit" else "no source was cut"
            if expected:
                detail = f"declared as an exception, but not met: {detail}"
                stale = self.all_languages and name not in _OF_THE_MACHINE
                status = "stale" if stale else status
            return Check(title, status, detail)
        case, detail = min(faults, key=lambda fault: len(fault[0].text))
        patience = _DECLARED if expected else max(_SECONDS, 3 * self.limits.seconds)
        case, detail = self._smallest(name, case, detail, patience)
        example = Example(case.name, case.language, case.text)
        share = f"{len(faults)} of {self.counts[name]} sources: {detail}"
        return Check(title, "declared" if expected else "fail", share, example)

    def _hopeless(self) -> bool:
        return any(count >= _PATIENCE for count in self.lost.values())

    def _note(self, case: Case, outcome: Outcome) -> None:
        for name, detail in self._check_faults(case.source(), outcome):
            self._count(name, case, detail)
        if outcome.failure is not None and _ended(outcome):
            self.lost[outcome.failure.kind] += 1

    def _count(self, name: str, case: Case, detail: str) -> None:
        self.counts[name] += 1
        if detail:
            self.faults[name].append((case, detail))

    def _check_faults(self, source: Source, outcome: Outcome) -> Iterator[tuple[str, str]]:
        """Every check that one outcome allows, with the fault or an empty text."""
        failure, spans = outcome.failure, outcome.spans
        failed = "" if failure is None else _CHECK_OF.get(failure.kind, failure.kind)
        for name in ("no crash", "time per MB", "memory"):
            yield name, failure.reason if failure is not None and name == failed else ""
        if failure is not None and failed in ("verbatim spans", "order"):
            yield failed, failure.reason
        if spans is None:
            return
        yield "verbatim spans", not_verbatim(source, spans)
        yield "order", ""
        lost, repeated = not_once(source, spans)
        yield REPEATS, repeated
        declared = REPEATS in self.declared.exceptions
        yield "exactly-once", lost if declared else "; ".join(filter(None, (lost, repeated)))
        if self.declared.max_size is not None:
            limit, unit = self.declared.max_size, self.declared.unit
            yield "size limit", too_large(source, spans, limit, unit, cheap_services())

    def _repeated(self, case: Case) -> str:
        source = case.source()
        once = self.first.cut(source)
        again, elsewhere = self.first.cut(source), self.second.cut(source)
        return _difference(once, again) or _difference(once, elsewhere)

    def _threads(self, case: Case) -> str:
        source = case.source()
        alone = self.first.cut(source)
        for _ in range(_ROUNDS):
            started = time.perf_counter()
            for outcome in self.first.run(Job("cut", (source,), threads=_THREADS)):
                difference = _difference(alone, outcome)
                if difference:
                    return f"alone and in {_THREADS} threads at once: {difference}"
            if time.perf_counter() - started > _LONG:
                break
        return ""

    def _probe(self, name: str, case: Case) -> str:
        """The fault of one source in one check, checked again."""
        if name == "determinism":
            return self._repeated(case)
        if name == "thread safety":
            return self._threads(case)
        source = case.source()
        return dict(self._check_faults(source, self.first.cut(source))).get(name, "")

    def _smallest(self, name: str, case: Case, detail: str, patience: float) -> tuple[Case, str]:
        text = shrink(
            case.text, lambda text: bool(self._probe(name, case.with_text(text))), _TRIES, patience
        )
        if text == case.text:
            return case, detail
        smaller = case.with_text(text)
        return smaller, self._probe(name, smaller) or detail


def _pace(case: Case, outcome: Outcome) -> float:
    """Seconds per million characters."""
    return outcome.seconds / len(case.text) * 1e6


def _ended(outcome: Outcome) -> bool:
    return outcome.failure is not None and outcome.failure.kind in ENDED


def _difference(left: Outcome, right: Outcome) -> str:
    """The difference between two outcomes of one source; empty if there is none."""
    if left.spans is None or right.spans is None:
        failures = (left.failure, right.failure)
        kinds = [failure and failure.kind for failure in failures]
        reasons = ["cut" if failure is None else failure.reason for failure in failures]
        return "" if kinds[0] == kinds[1] else " and ".join(reasons)
    return "; ".join(differing(left.spans, right.spans))
