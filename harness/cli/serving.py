"""Shows the page of a report on a free port, and makes it again while a run goes on."""

from __future__ import annotations

import hashlib
import threading
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

    def __init__(self, runs: Sequence[Path], make: Callable[[], str]) -> None:
        """Listen on a free port of this machine.

        Args:
            runs: The run folders that are watched.
            make: Makes the page.
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
        """The page and its ETag.

        A folder that is being written may be unreadable for a moment: the last page stays.

        Raises:
            InputError: There is no earlier page.
        """
        with self._lock:
            state = state_of(self._runs)
            if state != self._state:
                try:
                    self._page = self._make().encode()
                except InputError:
                    if not self._page:
                        raise
                else:
                    self._tag = f'"{hashlib.sha256(self._page).hexdigest()[:32]}"'
                    self._state = state
            return self._page, self._tag


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        # A page elsewhere that names this host by another name gets nothing.
        if self.headers.get("Host") not in (f"{HOST}:{self.server.server_port}",):
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
    """What changes when a run goes on: times and sizes of manifests, and the numbers of cells."""
    rows = []
    for run in runs:
        try:
            manifest = (run / "manifest.json").stat()
            rows.append((str(run), manifest.st_mtime_ns, manifest.st_size))
        except OSError:
            rows.append((str(run), 0, 0))
    return tuple(rows)


def serve(runs: Sequence[Path], make: Callable[[], str]) -> int:
    """Show a page until Ctrl-C.

    Raises:
        InputError: A folder is not a run folder.
    """
    with PageServer(runs, make) as server:
        server.page()  # an error is one line now, not in a browser later
        write(f"report: {server.address} (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except (KeyboardInterrupt, StoppedError):
            return 0
    return 0
