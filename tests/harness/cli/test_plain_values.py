"""Values that are converted without pydantic are converted as typer does."""

import pytest
import typer

from harness.cli.commands import COMMANDS, _PlainValues, load_command

TEXTS = [
    "",
    "x",
    "0",
    "1",
    "007",
    "1_0",
    " 1",
    "+1",
    "-1",
    "1.5",
    "9" * 20,
    "table",
    "TABLE",
    "csv",
    "chunkers",
    "none",
    "on",
    "a=b",
    ".",
]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_of_every_command(path, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    command = load_command(path)
    context = typer.Context(command)
    for parameter in command.get_params(context):
        own = parameter.get_runtime_param()
        assert isinstance(own, _PlainValues)
        several = parameter.multiple or parameter.nargs == -1
        values = [*TEXTS, str(tmp_path), str(closed), str(tmp_path / "none")]
        given = [(), *((one,) for one in values), tuple(values)] if several else values
        for value in [None, parameter.default, *given]:
            found, expected = (
                outcome(each, value, parameter, context) for each in (own, own._typers())
            )
            assert found == expected, (parameter.name, value)


def outcome(conversion, value, parameter, context):
    try:
        converted = conversion.coerce(value, param=parameter, ctx=context)
    except Exception as error:
        return type(error), str(error)
    return type(converted), converted
