"""A server on this machine with repositories as the Hugging Face hub serves them."""

import hashlib
import io
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

REPOSITORY = "made/small"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """A running server.

    Attributes:
        url: Its address.
        repository: The name of its repository.
        revision: The only commit of it.
        files: Its files, by path.
        requests: The paths that were requested, in order.
        fault: Status and error code of every reply, if the server is to fail.
        cut: Bytes that are missing at the end of each reply with a file.
    """

    url: str = ""
    repository: str = REPOSITORY
    revision: str = REVISION
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    fault: tuple[int, str] | None = None
    cut: int = 0


def parquet(rows: list[dict]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def jsonl(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def readme(tables: dict[str, dict[str, str]]) -> bytes:
    """The README of a repository; `tables` has the pattern of the files of each split."""
    lines = ["---", "configs:"]
    for table, splits in tables.items():
        lines += [f"- config_name: {table}", "  data_files:"]
        for split, pattern in splits.items():
            lines += [f"  - split: {split}", f"    path: {pattern}"]
    return "\n".join([*lines, "---", "# Made", ""]).encode()


@contextmanager
def serving_hub(files: dict[str, bytes], **about: str):
    hub = Hub(files=dict(files), **about)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = unquote(urlsplit(self.path).path)
            hub.requests.append(path)
            if hub.fault is not None:
                return self.refuse(*hub.fault)
            api, web = f"/api/datasets/{hub.repository}", f"/datasets/{hub.repository}/resolve/"
            if not path.startswith((api, web)):
                return self.refuse(404, "RepoNotFound")
            if f"/{hub.revision}" not in path:
                return self.refuse(404, "RevisionNotFound")
            if path.startswith(web):
                data = hub.files.get(path.removeprefix(f"{web}{hub.revision}/"))
                return self.refuse(404, "EntryNotFound") if data is None else self.reply(data)
            if "/tree/" in path:
                listed = [
                    {"type": "file", "path": name, "size": len(data), "oid": digest(data)}
                    for name, data in hub.files.items()
                ]
                return self.reply(json.dumps(listed).encode())
            about = {"id": hub.repository, "sha": hub.revision, "siblings": []}
            return self.reply(json.dumps(about).encode())

        do_HEAD = do_GET  # noqa: N815

        def refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def reply(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("ETag", f'"{digest(data)}"')
            self.send_header("X-Repo-Commit", hub.revision)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                cut = hub.cut if "/resolve/" in self.path else 0
                self.wfile.write(data[: len(data) - cut])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        hub.url = f"http://127.0.0.1:{listening.server_port}"
        try:
            yield hub
        finally:
            listening.shutdown()
            thread.join()


def digest(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()  # noqa: S324
