"""A server on this machine that speaks the protocol of embeddings, and can be told to fail."""

import base64
import hashlib
import json
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

WIDTH = 8


def vector_of(text):
    """What the server answers for a text: another vector for every text."""
    digest = hashlib.sha256(text.encode()).digest()[:WIDTH]
    return (np.frombuffer(digest, dtype=np.uint8).astype(np.float32) + 1) / 3


@dataclass
class Api:
    """A running server.

    Attributes:
        url: Its base address.
        requests: What came, in order: `path`, `headers`, and `body`, the JSON.
        faults: What the next requests meet, in order: each takes the handler and the right answer,
            and returns an answer, or None where it has sent something itself.
        longest: Characters of a text that it takes.
        seconds: What it takes for each request.
    """

    url: str = ""
    requests: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    longest: int = 10**9
    seconds: float = 0.0

    @property
    def texts(self):
        return [text for one in self.requests for text in one["body"]["input"]]


@contextmanager
def serving():
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            api.requests.append({"path": self.path, "headers": self.headers, "body": body})
            time.sleep(api.seconds)
            fault = api.faults.pop(0) if api.faults else lambda handler, answer: answer
            long = [text for text in body["input"] if len(text) > api.longest or not text]
            if long:
                status(400, {"error": {"message": f"maximum is {api.longest}"}})(self, None)
                return
            answer = fault(self, right(body))
            if answer is not None:
                self.reply(200, json.dumps(answer).encode())

        def reply(self, code, data, headers=(), reason=None, length=None):
            self.send_response(code, reason)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length or len(data)))
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # whoever asked may have gone
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        api.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()


def right(body):
    """The answer to a request."""
    width = body.get("dimensions", WIDTH)
    vectors = [vector_of(text)[:width] for text in body["input"]]
    as_text = body.get("encoding_format") == "base64"
    return {
        "object": "list",
        "model": body["model"],
        "usage": {"prompt_tokens": len(vectors), "total_tokens": len(vectors)},
        "data": [
            {
                "object": "embedding",
                "index": number,
                "embedding": base64.b64encode(one.astype("<f4").tobytes()).decode()
                if as_text
                else one.tolist(),
            }
            for number, one in enumerate(vectors)
        ],
    }


def status(code, body=None, headers=(), reason=None):
    """A fault: an answer with this status."""

    def fault(handler, answer):
        del answer
        handler.reply(code, json.dumps(body or {}).encode(), headers, reason)

    return fault


def dropped(handler, answer):
    """A fault: the connection ends without an answer."""
    del answer
    handler.close_connection = True
    handler.connection.close()


def broken_off(handler, answer):
    """A fault: the answer ends early, and is as long as it says."""
    handler.reply(200, json.dumps(answer).encode()[:-9])


def cut_short(handler, answer):
    """A fault: less comes than was announced."""
    data = json.dumps(answer).encode()
    handler.reply(200, data[:-9], length=len(data))
    handler.close_connection = True


def late(seconds):
    """A fault: the answer comes late."""

    def fault(handler, answer):
        del handler
        time.sleep(seconds)
        return answer

    return fault


def with_data(change):
    """A fault: the list of vectors is another."""

    def fault(handler, answer):
        del handler
        return answer | {"data": change(answer["data"])}

    return fault
