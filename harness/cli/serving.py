"""Shows the page of a report on a free port, and makes it again while a run goes on."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from chunkers.errors import InputError, StoppedError
from harness.cli.output import write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

HOST = "127.0.0.1"

State = tuple[tuple[str, int, int], ...]


class PageServer(ThreadingHTTPServer):
    """A server of one page, which is made again if a run folder has changed."""

    daemon_threads = True

    def __init__(self, runs: Sequence[Path], make: Callable[[str], str]) -> None:
        """Listen on a free port of this machine.

        Args:
            runs: The run folders that are watched.
            make: Makes the page, which holds the ETag that it gets.
        """
        super().__init__((HOST, 0), _Handler)
        self._runs, self._make = runs, make
        self._lock = threading.Lock()
        self._state: State | None = None
        self._page, self._tag = b"", ""

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    def page(self) -> tuple[bytes, str]:
        """The page and its ETag, which is that of the folders before the page was made.

        Raises:
            InputError: A folder is not a run folder, or is damaged.
        """
        with self._lock:
            state = state_of(self._runs)
            if state != self._state:
                tag = f'"{hashlib.sha256(repr(state).encode()).hexdigest()[:32]}"'
                self._page = self._make(tag).encode()
                self._state, self._tag = state, tag
            return self._page, self._tag


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        # A page elsewhere that names this host by another name gets nothing.
        if self.headers.get("Host") != f"{HOST}:{self.server.server_port}":
            self.send_error(403)
        elif self.path != "/":
            self.send_error(404)
        else:
            self._send_page()

    do_HEAD = do_GET  # noqa: N815

    def _send_page(self) -> None:
        try:
            page, tag = self.server.page()
        except InputError as error:
            self.send_error(503, explain=str(error))
            return
        fresh = self.headers.get("If-None-Match") == tag
        self.send_response(304 if fresh else 200)
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", "no-cache")
        if not fresh:
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if not fresh and self.command == "GET":
            self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def state_of(runs: Sequence[Path]) -> State:
    """What changes when a run goes on: the times and sizes of the manifests."""
    rows = []
    for run in runs:
        try:
            manifest = (run / "manifest.json").stat()
            rows.append((str(run), manifest.st_mtime_ns, manifest.st_size))
        except OSError:
            rows.append((str(run), 0, 0))
    return tuple(rows)


def serve(runs: Sequence[Path], make: Callable[[str], str]) -> int:
    """Show a page until Ctrl-C.

    Raises:
        InputError: A folder is not a run folder.
    """
    with PageServer(runs, make) as server:
        server.page()  # an error is one line now, not in a browser later
        write(f"report: {server.address} (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt, StoppedError):
            server.serve_forever()
    return 0
