"""The options of a run: one list for the command line, suite files and `evaluate`."""

from __future__ import annotations

import math
import tomllib
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion
from harness.chunking import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from harness.model import Dataset

COMPARE, SCORE, LIMITS = "What to compare", "How to score", "Limits"
"""Groups of options."""


def _option(
    default: Any,
    help_text: str,
    group: str,
    *flags: str,
    metavar: str | None = None,
    least: int | None = None,
) -> Any:
    """A field of `RunConfig`: a lower bound for numbers, and how the command line shows it."""
    metadata = {"help": help_text, "group": group, "flags": flags, "metavar": metavar}
    return field(default=default, metadata={**metadata, "least": least})


@dataclass(frozen=True)
class RunConfig:
    """The options of a run. A suite file is TOML with these keys.

    Raises:
        InputError: A value of the wrong type or out of range.
    """

    datasets: tuple[str, ...] = _option(
        ("stdlib",), "Spec of a data set.", COMPARE, "-d", "--dataset"
    )
    chunkers: tuple[str, ...] = _option(
        ("ast", "fixed", "function", "whole-file", "random-cuts"),
        "Spec of a chunker; `a|b` in a value sweeps it.",
        COMPARE,
        "-c",
        "--chunker",
    )
    embedders: tuple[str, ...] = _option(
        ("minilm",), "Spec of an embedder.", COMPARE, "-e", "--embedder"
    )
    retrievers: tuple[str, ...] = _option(
        ("dense",), "Spec of a retriever.", COMPARE, "-r", "--retriever"
    )
    measures: tuple[str, ...] = _option(
        (
            "SpanR@10000c",
            "SpanP@10000c",
            "Complete@10000c",
            "nDCG@5",
            "nDCG@10",
            "P@5",
            "P@10",
            "R@5",
            "R@10",
            "MRR",
        ),
        "Measure. See `chunkmark list measures`.",
        SCORE,
        "-m",
        "--measure",
    )
    profile: str = _option(
        "default", "Scoring conventions. See `chunkmark list profiles`.", SCORE, "--profile"
    )
    depth: int = _option(1000, "Minimum ranking depth.", SCORE, "--depth", least=1)
    limit: int | None = _option(
        None, "Number of queries to sample from each data set.", LIMITS, "--limit", least=1
    )
    seed: int = _option(0, "Random seed.", LIMITS, "--seed", least=0)
    mask_query: bool | None = _option(
        None,
        "Remove the lines that a query's text was taken from. By default the data set decides; "
        "queries=calls is masked.",
        SCORE,
        "--mask-query/--no-mask-query",
    )
    languages: tuple[str, ...] = _option(
        (),
        "Override the language of files, by glob: '*.h=cpp'.",
        COMPARE,
        "--language",
        metavar="PATTERN=LANGUAGE",
    )
    max_failures: str = _option(
        "1%",
        "Files a chunker may fail on before its cell fails: a number, or a share.",
        LIMITS,
        "--max-failures",
        metavar="N|SHARE",
    )
    file_timeout: float = _option(
        SECONDS,
        "Time limit of a chunker for a file, and for each million characters of it.",
        LIMITS,
        "--file-timeout",
        metavar="SECONDS",
        least=0,
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            problem = _problem(option, getattr(self, option.name))
            if problem:
                raise InputError(f"{option.name} {problem}")

    def masks(self, dataset: Dataset) -> bool:
        """Whether the queries of a data set are masked."""
        return dataset.mask if self.mask_query is None else self.mask_query

    def over(self, **values: Any) -> RunConfig:
        """Replace options; None and empty lists change nothing.

        Raises:
            InputError: A value of the wrong type or out of range.
        """
        return replace(self, **{k: v for k, v in values.items() if v not in (None, (), [])})


def load_suite(path: Path) -> RunConfig:
    """Read a suite file.

    Raises:
        InputError: It cannot be read, is not TOML, or has an unknown key or a wrong value.
    """
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"cannot read suite {path}: {getattr(error, 'strerror', '') or error}"
        ) from error
    names = [option.name for option in fields(RunConfig)]
    options: dict[str, Any] = {}
    for key, value in values.items():
        if key not in names:
            raise InputError(f"suite {path}: unknown key {key!r}; {suggestion(key, names)}")
        options[key] = tuple(value) if isinstance(value, list) else value
    try:
        return RunConfig(**options)
    except InputError as error:
        raise InputError(f"suite {path}: {error}") from None


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
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # Zero seconds would fail every file.
        return None if number and least < value < math.inf else f"must be a number above {least}"
    if type(value).__name__ != kind:
        names = {"str": "a string", "int": "a whole number", "bool": "true or false"}
        return f"must be {names[kind]}"
    return None if least is None or value >= least else f"must be at least {least}"
