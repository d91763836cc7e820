"""How long to wait for a server, and what is an address."""

import email.utils
from email.message import Message

import pytest

from chunkers.errors import InputError
from harness.support.web import asked_wait, checked_url

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 4.0),
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "900"}, 900.0),
        ({"Retry-After": email.utils.formatdate(NOW + 20, usegmt=True)}, 20.0),
        ({"Retry-After": email.utils.formatdate(NOW - 20, usegmt=True)}, 0.0),
        ({"Retry-After": "soon"}, 4.0),
        ({"Retry-After": "-5"}, 4.0),
        ({"Retry-After": "nan"}, 4.0),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"retry-after-ms": "x", "Retry-After": "9"}, 9.0),
    ],
)
def test_the_wait_is_read_from_seconds_milliseconds_and_dates(headers, seconds):
    message = Message()
    for name, value in headers.items():
        message[name] = value
    assert asked_wait(message, NOW, 4.0) == pytest.approx(seconds)


def test_no_wait_is_longer_than_the_cap(monkeypatch):
    from embedding_server import serving, status

    from harness.support import web

    monkeypatch.setattr(web, "LONGEST_WAIT", 0.05)
    monkeypatch.setenv("THE_KEY", "key")
    with serving() as api:
        api.faults = [status(429, headers=[("Retry-After", "900")])]
        server = web.Server("test", api.url, "THE_KEY")
        answer, seconds = web.post(server, "/embeddings", {"model": "m", "input": ["x"]})
    assert len(answer["data"]) == 1
    assert seconds < 5


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://API.Host.org/v1/", "https://api.host.org/v1"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_addresses_are_shown_in_one_form(text, url):
    assert checked_url(text, "x") == url


@pytest.mark.parametrize(
    "text", ["", "host/v1", "file:///etc/passwd", "https://", "https://h/ v1", "https://h\n/v1"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError, match="the base address is none"):
        checked_url(text, "x")


def test_an_answer_that_drips_or_never_ends_is_given_up(monkeypatch):
    import time

    from embedding_server import serving

    from harness.support import web

    def dripping(handler, answer):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        for _ in range(100):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return
            time.sleep(0.02)

    def endless(handler, answer):
        handler.reply(200, b"[" * 5000)

    monkeypatch.setattr(web, "LARGEST", 4000)
    monkeypatch.setenv("THE_KEY", "key")
    asked = {"model": "m", "input": ["x"]}
    for fault, why in ((dripping, "took more than"), (endless, "more than 4000 bytes")):
        with serving() as api:
            api.faults = [fault] * 2
            server = web.Server("test", api.url, "THE_KEY", timeout=0.05, tries=2, pause=0.0)
            with pytest.raises(InputError, match=why):
                web.post(server, "/embeddings", asked)


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", "a header that took more than 0.2 seconds"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "an answer that took more"),
    ],
)
def test_a_header_or_a_chunk_that_drips_is_given_up(monkeypatch, first, why):
    import time

    from embedding_server import serving

    from harness.support import web

    def dripping(handler, answer):
        handler.wfile.write(first)
        for _ in range(100):
            try:
                handler.wfile.write(b"0")
                handler.wfile.flush()
            except OSError:
                return
            time.sleep(0.03)

    monkeypatch.setenv("THE_KEY", "key")
    monkeypatch.setattr(web, "SLOWEST", 3)
    with serving() as api:
        api.faults = [dripping]
        server = web.Server("test", api.url, "THE_KEY", timeout=0.1, tries=1)
        with pytest.raises(InputError, match=why):
            web.post(server, "/embeddings", {"model": "m", "input": ["x"]})


def test_an_answer_nested_too_deep_is_no_document(monkeypatch):
    from embedding_server import serving

    from harness.support import web

    monkeypatch.setenv("THE_KEY", "key")
    with serving() as api:
        api.faults = [lambda handler, answer: handler.reply(200, b"[" * 200_000)]
        server = web.Server("test", api.url, "THE_KEY", tries=1)
        with pytest.raises(InputError, match="no whole JSON document"):
            web.post(server, "/embeddings", {"model": "m", "input": ["x"]})
