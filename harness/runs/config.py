"""The options of a run: one list for the command line, suites and `evaluate`."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.chunking.limits import SECONDS
from harness.stats import MARGIN

if TYPE_CHECKING:
    from harness.model import Dataset

COMPARE, SCORE, LIMITS = "What to compare", "How to score", "Limits"
"""Groups of options."""

PRIMARY = "SpanR@10000c, or nDCG@10 for data sets whose targets are documents"
"""The primary measure by default, in words."""

_CHUNKERS = ("ast", "fixed", "function", "whole-file", "random-cuts")
_SPANS = ("SpanR@10000c", "SpanR@2500c", "SpanP@10000c", "Complete@10000c")
_RANKS = ("nDCG@5", "nDCG@10", "P@5", "P@10", "R@5", "R@10", "MRR")


def _option(group: str, default: Any, help_text: str, **extra: Any) -> Any:
    """A field of `RunConfig` with what the command line shows of it.

    Args:
        group: Heading of its group of options.
        default: Its value by default.
        help_text: What it does.
        extra: `least`, a lower bound; `most`, an upper one of a number with decimals; `metavar`,
            the name of the value; `short`, a short flag.
    """
    metadata = {"help": help_text, "group": group, "least": None, "most": math.inf}
    return field(default=default, metadata=metadata | {"metavar": None, "short": None} | extra)


@dataclass(frozen=True)
class RunConfig:
    """The options of a run. A suite file is TOML with these keys.

    Raises:
        InputError: A value of the wrong type or out of range.
    """

    datasets: tuple[str, ...] = _option(
        COMPARE, ("stdlib",), "Data set, such as stdlib or repo:PATH.", short="-d"
    )
    chunkers: tuple[str, ...] = _option(
        COMPARE,
        _CHUNKERS,
        "Chunker, such as ast or fixed:max_size=300; 300|600 makes two chunkers.",
        short="-c",
    )
    embedders: tuple[str, ...] = _option(
        COMPARE, ("minilm",), "Embedder, such as minilm or st:FOLDER.", short="-e"
    )
    retrievers: tuple[str, ...] = _option(
        COMPARE, ("dense",), "Retriever, such as dense or bm25.", short="-r"
    )
    index: str | None = _option(
        COMPARE,
        None,
        "Index that searches vectors: flat (exact), hnsw, ivf or pgvector:DSN. Default: flat.",
    )
    languages: tuple[str, ...] = _option(
        COMPARE,
        (),
        "Read files that match PATTERN as LANGUAGE: '*.h=cpp'.",
        metavar="PATTERN=LANGUAGE",
    )
    match_size: str | None = _option(
        COMPARE,
        None,
        "Set each chunker's max_size so that all have the same median chunk size: C "
        "non-white-space characters, or that of CHUNKER.",
        metavar="C|CHUNKER",
    )
    measures: tuple[str, ...] = _option(
        SCORE, _SPANS + _RANKS, "Measure to compute. See `chunkmark list measures`.", short="-m"
    )
    primary: str | None = _option(
        SCORE,
        None,
        f"Measure that the verdicts are about. Default: {PRIMARY}.",
        metavar="MEASURE",
    )
    margin: float = _option(
        SCORE,
        MARGIN,
        "Largest difference that does not matter: 0.02 is 2 points.",
        least=0,
        most=1,
    )
    profile: str = _option(SCORE, "default", "Scoring conventions. See `chunkmark list profiles`.")
    depth: int = _option(
        SCORE,
        1000,
        "Least number of chunks to rank for each query. Measures with a larger cut-off raise it.",
        least=1,
    )
    mask_query: bool | None = _option(
        SCORE,
        None,
        "Hide from each query the lines that it was made from. Default: only if the data set asks "
        "for it, as for queries made from calls.",
    )
    limit: int | None = _option(
        LIMITS, None, "Number of queries to draw from each data set. Default: all.", least=1
    )
    seed: int = _option(
        LIMITS,
        0,
        "Random seed of drawn queries, random rankings and intervals.",
        least=0,
    )
    max_failures: str = _option(
        LIMITS,
        "1%",
        "Number or share of files, such as 3 or 1%, that a chunker may fail on and still be "
        "scored.",
        metavar="N|SHARE",
    )
    engine: str = _option(
        LIMITS,
        "local",
        "Where files are cut and texts embedded: local; ray, on this machine; or ray:ADDRESS, on a "
        "Ray cluster.",
        metavar="ENGINE",
    )
    memory: str | None = _option(
        LIMITS,
        None,
        "Memory for texts, vectors and postings, such as 500MB or 2GB. More than that is kept in "
        "files. Default: no limit.",
        metavar="SIZE",
    )
    file_timeout: float = _option(
        LIMITS,
        SECONDS,
        "Seconds that a chunker may take for a file, such as 120. Each million characters of the "
        "file adds the same time again.",
        metavar="SECONDS",
        least=0,
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            problem = _problem(option, value)
            if problem:
                shown = [*value] if isinstance(value, tuple) else value
                given = "" if value == () else f", not {shown!r}"
                raise InputError(f"{option.name} {problem}{given}")

    def masks(self, dataset: Dataset) -> bool:
        """Whether the queries of a data set are masked."""
        return dataset.mask if self.mask_query is None else self.mask_query

    def over(self, **values: Any) -> RunConfig:
        """Replace options; a list is read as a tuple, and None and empty lists change nothing.

        Raises:
            InputError: A value of the wrong type or out of range.
        """
        read: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
        }
        return replace(self, **{k: v for k, v in read.items() if v not in (None, ())})


def flag_of(name: str, *, repeatable: bool) -> str:
    """The long flag of a field of `RunConfig`."""
    return "--" + (name.removesuffix("s") if repeatable else name).replace("_", "-")


def _problem(option: Field[Any], value: Any) -> str | None:
    """What is wrong with the value of an option."""
    kind, least = str(option.type).removesuffix(" | None"), option.metadata["least"]
    if value is None and kind != option.type:
        return None
    if kind == "tuple[str, ...]":
        if not isinstance(value, tuple) or not all(isinstance(text, str) for text in value):
            return 'must be a list of strings, as in ["a", "b"]'
        return None if value or not option.default else "must not be empty"
    if kind == "float":
        number = type(value) in (int, float)
        # Zero seconds would fail every file.
        most = option.metadata["most"]
        bounds = f"above {least}" + f" and below {most}" * math.isfinite(most)
        if number and value > most:
            bounds += " (2 points are 0.02)"
        return None if number and least < value < most else f"must be a number {bounds}"
    if type(value).__name__ != kind:
        names = {"str": "a string", "int": "a whole number", "bool": "true or false"}
        return f"must be {names[kind]}"
    return None if least is None or value >= least else f"must be at least {least}"
