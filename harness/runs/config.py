"""What a run is asked to do: the defaults, a suite file over them, the command line over both."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chunkers.errors import InputError
from harness.chunking.cutters import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from harness.model import Dataset


class RunConfig(BaseModel):
    """The grid of a run. A suite file is TOML with these keys.

    Attributes:
        datasets: Specs of data sets.
        chunkers: Specs of chunkers; `a|b` sweeps.
        embedders: Specs of embedders.
        retrievers: Specs of retrievers.
        measures: Names of measures.
        profile: Spec of the profile.
        depth: Units in every ranking, at least.
        limit: Number of queries of each data set, or None for all.
        seed: Of the choice of queries, of resampling and of random orders.
        mask_query: Whether the lines that a query's text was taken from are taken out of its
            corpus, for that query alone; None leaves it to the data set.
        languages: `PATTERN=LANGUAGE`: of what language files are, by name or path.
        max_failures: How many files a chunker may fail on before its cell is no result: a number,
            or a share of the files.
        file_timeout: Seconds that a chunker may take for a file, and as much again for each
            million characters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    datasets: tuple[str, ...] = Field(("stdlib",), min_length=1)
    chunkers: tuple[str, ...] = Field(
        ("ast", "fixed", "function", "whole-file", "random-cuts"), min_length=1
    )
    embedders: tuple[str, ...] = Field(("minilm",), min_length=1)
    retrievers: tuple[str, ...] = Field(("dense",), min_length=1)
    measures: tuple[str, ...] = Field(
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
        min_length=1,
    )
    profile: str = "default"
    depth: int = Field(1000, ge=1)
    limit: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    mask_query: bool | None = None
    languages: tuple[str, ...] = ()
    max_failures: str = "1%"
    file_timeout: float = Field(SECONDS, gt=0, allow_inf_nan=False)

    def masks(self, dataset: Dataset) -> bool:
        """Whether the queries of a data set are masked."""
        return dataset.mask if self.mask_query is None else self.mask_query

    def over(self, **given: Any) -> RunConfig:
        """This configuration with what was given put over it; empty lists and None give nothing.

        Raises:
            InputError: A value of the wrong kind.
        """
        wanted = {key: value for key, value in given.items() if value not in (None, (), [])}
        return _validated({**self.model_dump(), **wanted}, "")


def load_suite(path: Path) -> RunConfig:
    """Read a suite file.

    Raises:
        InputError: It cannot be read, is no TOML, or has unknown keys or wrong values.
    """
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"suite {path} cannot be read: {error}") from error
    lists = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items()}
    return _validated(lists, f"suite {path}: ")


def _validated(values: dict[str, Any], where: str) -> RunConfig:
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = ", ".join(RunConfig.model_fields)
        hint = f"; the keys are {known}" if first["type"] == "extra_forbidden" else ""
        raise InputError(f"{where}{key}: {first['msg']}{hint}") from None
