"""The measures of texts over many queries, and what they were counted from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from harness.measures.text_measures import TEXT_FAMILIES, exact_match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.measures.grammar import Measure
    from harness.measures.text_measures import TextCase
    from harness.scoring.judging import Judged


class TextTally:
    """Adds up one query after the other.

    Attributes:
        measures: Measures of texts; there may be none.
        counts: `retrieved`, `gold`, `correct`: distinct documents; `answers`, `contexts`: what
            was compared with the expected answers, and `exact`, how many equal them;
            `relevant`, `relevant_exact`, `relevant_holding`: contexts that are relevant by their
            words, that equal the expected answer, that have it in them.
    """

    def __init__(self, measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        self.counts: Counter[str] = Counter()
        self._families = {family.name: family for family in TEXT_FAMILIES}
        self._columns: dict[str, tuple[list[str], list[float]]] = {
            str(one): ([], []) for one in measures
        }
        names = {one.family for one in measures}
        self._documents = any(name.startswith("Context") for name in names)
        self._compares = not names.isdisjoint(("TokenF1", "RougeL", "Bleu1", "ExactMatch"))

    def add(self, query: str, case: TextCase) -> None:
        """Add the values of a query that has what a measure compares."""
        for measure in self.measures:
            value = self._families[measure.family].evaluate(case, measure.cut or 0)
            if value is not None:
                queries, values = self._columns[str(measure)]
                queries.append(query)
                values.append(value)
        if self._documents and case.context is not None:
            for name in ("retrieved", "gold", "correct"):
                self.counts[name] += getattr(case.context, name)
        if self._compares and case.compared is not None:
            self.counts["contexts" if case.answer is None else "answers"] += 1
            self.counts["exact"] += exact_match(case.compared, case.expected or "")

    def judged(self, judged: Judged) -> None:
        """Count what was judged by its words."""
        if judged.strategy == "text":
            self.counts["relevant"] += judged.relevant_texts
            self.counts["relevant_exact"] += judged.exact
            self.counts["relevant_holding"] += judged.holding

    def columns(self) -> dict[str, tuple[list[str], list[float]]]:
        """By the measure's printed name, the queries that have a value, and the values.

        In order of query id, as all columns.
        """
        return {name: _in_order(*column) for name, column in self._columns.items()}


def _in_order(queries: list[str], values: list[float]) -> tuple[list[str], list[float]]:
    order = sorted(range(len(queries)), key=queries.__getitem__)
    return [queries[at] for at in order], [values[at] for at in order]
