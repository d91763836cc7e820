"""The shape of a record, checked by pydantic: what every model shares."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chunkers.errors import InputError


def _as_text(value: object) -> object:
    return str(value) if type(value) is int else value


AnyId = Annotated[str, BeforeValidator(_as_text)]
"""A text, or a whole number, which is taken as text."""

Id = Annotated[AnyId, Field(min_length=1)]
"""The same, not empty."""


class Strict(BaseModel):
    """Takes no text for a number; keys that it does not know are not looked at."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


Model = TypeVar("Model", bound=Strict)


def valid(model: type[Model], row: dict[str, Any], where: str) -> Model:
    """A row as a model.

    Raises:
        InputError: The first part that is wrong, by its key.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {key}: {first['msg']}") from None
