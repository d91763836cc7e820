"""Rows of data, which pydantic checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chunkers.errors import InputError
from harness.support.json_files import first_fault, read_objects, refuse_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Text = Annotated[str, Field(min_length=1)]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

AnyId = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
"""A text, or a whole number, which is read as text."""

Id = Annotated[AnyId, Field(min_length=1)]
"""The same, not empty."""


class StrictModel(BaseModel):
    """Converts no types ("0.5" is not a number) and ignores unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


Model = TypeVar("Model", bound=StrictModel)


def read_rows(file: Path, model: type[Model]) -> Iterator[tuple[str, Model]]:
    """The rows of a file of JSON lines, each with its place for messages; blank lines are skipped.

    Raises:
        InputError: A row is malformed, or the file has none.
    """
    for where, row, line in read_objects(file):
        record = validated(model, row, where)
        refuse_lone_surrogates(record.model_dump(), line, where)
        yield where, record


def validated(model: type[Model], row: dict[str, Any], where: str) -> Model:
    """A row as a model.

    Raises:
        InputError: A value is missing or of a wrong type; the message names the first.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        raise InputError(f"{where}: {first_fault(error)}") from None
