"""One list of run options: the command line, suite files and `evaluate` agree with `RunConfig`."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import pytest
from commands import call, says

import harness
from harness.cli.commands import COMMANDS, load_command
from harness.datasets.suites import load_suite
from harness.runs.config import RunConfig

OPTIONS = {field.name: field for field in fields(RunConfig)}
SINGULAR = {"embedder": "embedders", "retriever": "retrievers"}


@pytest.mark.parametrize("path", COMMANDS)
def test_the_summary_of_a_command_is_the_first_line_of_its_help(path):
    assert load_command(path).help.split("\n")[0] == COMMANDS[path][1]


def test_the_command_line_has_every_option():
    parameters = {one.name: one for one in load_command("run").params}
    for name, field in OPTIONS.items():
        option = parameters[name]
        flag = "--" + name.replace("_", "-")
        if isinstance(field.default, tuple):
            flag = flag.removesuffix("s")
        assert {flag, field.metadata["short"]} - {None} == set(option.opts), name
        assert option.help.startswith(field.metadata["help"])
        assert option.default is None
        defaults = field.default if isinstance(field.default, tuple) else (field.default,)
        assert all(str(one) in option.help for one in defaults if one)
    others = {"suite", "data_dir", "out", "by", "baseline", "price", "details", "form"}
    assert others == set(parameters) - set(OPTIONS) - {"help"}


def test_evaluate_has_the_same_defaults_types_and_words():
    parameters = dict(inspect.signature(harness.evaluate).parameters)
    words = " ".join(inspect.getdoc(harness.evaluate).split())
    kinds = get_type_hints(RunConfig)
    for name, parameter in parameters.items():
        if name in ("dataset", "out"):
            continue
        field = OPTIONS[SINGULAR.get(name, name)]
        default = field.default[0] if name in SINGULAR else field.default
        assert parameter.default == default, name
        assert f"{name}: {field.metadata['help']}" in words, name
        if kinds[field.name] != tuple[str, ...]:
            assert parameter.annotation == field.type, name
    names = {SINGULAR.get(name, name) for name in parameters}
    assert set(OPTIONS) - names == {"datasets", "languages"}  # parts of the data set here


def test_a_suite_file_has_the_same_keys(tmp_path):
    values = {
        "datasets": '["a"]', "chunkers": '["b"]', "embedders": '["c"]', "retrievers": '["d"]',
        "measures": '["MRR"]', "profile": '"trec"', "depth": "7", "limit": "8", "seed": "9",
        "mask_query": "true", "languages": '["*.h=c"]', "max_failures": '"3"', "file_timeout": "2",
            "match_size": '"fixed"',
        "primary": '"MRR"', "margin": "0.05", "index": '"hnsw"', "engine": '"ray"',
        "memory": '"2GB"',
    }  # fmt: skip
    assert set(values) == set(OPTIONS)
    suite = tmp_path / "suite.toml"
    lines = [f"{key} = {value}\n" for key, value in values.items()]
    suite.write_text("".join(['description = "What it compares."\n', *lines]))
    config = load_suite(suite)
    assert all(getattr(config, name) != field.default for name, field in OPTIONS.items())
    assert config.over(depth=5, measures=(), limit=None).depth == 5
    assert config.over(measures=(), limit=None) == config


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('chunker = ["ast"]', "unknown key 'chunker'; did you mean chunkers"),
        ('chunkers = "ast"', 'chunkers must be a list of strings, as in ["a", "b"]'),
        ("chunkers = [3]", "chunkers must be a list of strings"),
        ("chunkers = []", "chunkers must not be empty"),
        ("profile = 3", "profile must be a string"),
        ("depth = 1.5", "depth must be a whole number"),
        ("depth = true", "depth must be a whole number"),
        ("depth = 0", "depth must be at least 1"),
        ("seed = -1", "seed must be at least 0"),
        ("mask_query = 1", "mask_query must be true or false"),
        ("file_timeout = nan", "file_timeout must be a number above 0"),
        ("file_timeout = 0", "file_timeout must be a number above 0"),
        ("chunkers = [", "invalid TOML: "),
        ("margin = 0", "margin must be a number above 0 and below 1, not 0"),
        (
            "margin = 1.0",
            "margin must be a number above 0 and below 1, not 1.0",
        ),
        ("margin = nan", "margin must be a number above 0 and below 1, not nan"),
        ('margin = "2%"', "margin must be a number above 0 and below 1"),
        ("primary = 3", "primary must be a string"),
        ("description = 3", "description must be a string"),
    ],
)
def test_a_wrong_suite_says_what_is_wrong(capsys, tmp_path, line, words):
    suite = tmp_path / "suite.toml"
    suite.write_text(f"{line}\n")
    says(call(capsys, "run", suite), 2, words, "suite.toml")
