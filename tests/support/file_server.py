"""A server of files on this machine, with ranges and versions, that can be told to fail."""

import hashlib
import re
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Files:
    """A running server.

    Attributes:
        url: Its address.
        files: What it has, by path.
        requests: What came, in order: the path and the headers.
        faults: What the next requests meet, in order: each takes the handler and the bytes, and
            answers itself; None is for no fault.
        ranges: Whether it sends parts.
        tag: The version of a file's bytes, as its header says.
    """

    url: str = ""
    files: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    ranges: bool = True
    tag: object = lambda data: f'"{hashlib.sha256(data).hexdigest()[:16]}"'


@contextmanager
def serving(**files):
    server = Files(files={f"/{name}": data for name, data in files.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.requests.append((self.path, self.headers))
            fault = server.faults.pop(0) if server.faults else None
            data = server.files.get(self.path)
            if fault is not None:
                with suppress(OSError):  # whoever asked may have gone
                    fault(self, data)
            elif data is None:
                self.send_error(404)
            else:
                self.whole_or_part(data)

        def whole_or_part(self, data, sent=None):
            """Answer as asked; `sent`: only so many bytes of what is announced."""
            start, tag = 0, server.tag(data)
            asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            if asked and server.ranges and self.headers.get("If-Range") == tag:
                start = int(asked[1])
                if start >= len(data):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(data) - start))
            if tag:
                self.send_header("ETag", tag)
            self.end_headers()
            self.wfile.write(data[start:] if sent is None else data[start : start + sent])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        server.url = f"http://127.0.0.1:{listening.server_port}"
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def breaking_after(count):
    """A fault: the connection ends after so many bytes."""
    return lambda handler, data: handler.whole_or_part(data, sent=count)


def status(code, **headers):
    """A fault: an answer with this status and these headers, `_` for `-`."""

    def fault(handler, data):
        del data
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return fault


def sends(code, body, length=None, **headers):
    """A fault: this answer; its length is only announced if given."""

    def fault(handler, data):
        del data
        handler.send_response(code)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return fault
