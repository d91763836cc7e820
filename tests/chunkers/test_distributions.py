"""Versions are those of `importlib.metadata`, for every distribution that is installed."""

import importlib.metadata

import pytest

from chunkers.distributions import version_of


def test_every_version_is_the_same():
    names = {one.metadata["Name"] for one in importlib.metadata.distributions()}
    assert len(names) > 50
    assert {name: version_of(name) for name in names} == {
        name: importlib.metadata.version(name) for name in names
    }


def test_a_missing_distribution_is_the_same_error():
    with pytest.raises(importlib.metadata.PackageNotFoundError, match="no-such-distribution"):
        version_of("no-such-distribution")
