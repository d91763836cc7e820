"""A PostgreSQL server with pgvector, in a folder of its own."""

import warnings

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The address of a running server; tests that need it are skipped where it has no wheel."""
    pgserver = pytest.importorskip("pgserver", reason="pgserver has no wheel for this Python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folder for sockets
        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
