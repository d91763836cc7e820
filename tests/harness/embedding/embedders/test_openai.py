"""Vectors from a server: requested once, checked, and without showing the key."""

import base64
import re
from dataclasses import replace

import numpy as np
import pytest
from embedding_server import (
    WIDTH,
    broken_off,
    cut_short,
    dropped,
    late,
    serving,
    status,
    vector_of,
    with_data,
)

from chunkers.errors import InputError, install_command
from harness.embedding.text_vectors import embed_texts
from harness.embedding.vector_store import VectorStore, text_key
from harness.runs.pipeline import load_embedder

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr("harness.embedding.server._FIRST_DELAY", 0.01)


@pytest.fixture
def api():
    with serving() as made:
        yield made


@pytest.fixture
def store(tmp_path):
    made = VectorStore(tmp_path / "v.sqlite")
    yield made
    made.close()


def asking(api, options="", **changes):
    """The embedder of the server."""
    return replace(load_embedder(f"openai:some-model,base_url={api.url}{options}"), **changes)


def texts(count):
    return [f"text number {n}" for n in range(count)]


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_every_text_gets_its_vector(api, store, encoding):
    asked = texts(300)
    found = embed_texts(asked, asking(api, f",encoding={encoding}"), store, "document")
    assert (found.values == np.array([vector_of(text) for text in asked])).all()
    assert sorted(map(len, (one["body"]["input"] for one in api.requests))) == [44, 128, 128]
    for one in api.requests:
        assert one["path"] == "/v1/embeddings"
        assert one["headers"]["Authorization"] == f"Bearer {KEY}"
        assert one["body"].keys() == {"model", "input", "encoding_format"}
        assert one["body"]["model"] == "some-model"
    assert (found.seconds > 0).all()
    assert embed_texts(asked, asking(api), store, "document").computed == (
        0 if encoding == "base64" else 300
    )


def test_vectors_are_taken_by_their_index_not_by_their_place(api, store):
    api.faults = [with_data(lambda rows: rows[::-1])]
    found = embed_texts(texts(9), asking(api), store, "document")
    assert (found.values == np.array([vector_of(text) for text in texts(9)])).all()


def test_dimensions_are_asked_for_and_checked(api, store):
    embedder = asking(api, ",dimensions=3")
    assert embed_texts(["x"], embedder, store, "document").values.shape == (1, 3)
    api.faults = [with_data(lambda rows: [rows[0] | {"embedding": [1.0, 2.0]}])]
    with pytest.raises(InputError, match="vectors of width 2, not 3"):
        embed_texts(["y"], embedder, store, "document")


@pytest.mark.parametrize(
    "fault",
    [status(500), status(503), status(429), dropped, cut_short, late(0.6)],
    ids=["500", "503", "429", "dropped", "cut short", "late"],
)
def test_passing_failures_are_retried(api, store, fault):
    api.faults = [fault, fault]
    found = embed_texts(texts(3), asking(api, timeout=0.3), store, "document")
    assert (found.values == np.array([vector_of(text) for text in texts(3)])).all()
    assert len(api.requests) == 3


def test_the_wait_is_what_the_server_asks_for(api, store):
    import time

    api.faults = [status(429, headers=[("Retry-After", "0.5")])]
    started = time.monotonic()
    found = embed_texts(["x"], asking(api), store, "document")
    assert 0.5 <= time.monotonic() - started < 5
    assert found.seconds[0] < 0.4  # the wait is no time of the query


def test_after_some_retries_the_reason_is_shown_and_earlier_vectors_are_kept(api, store):
    api.faults = [lambda _, answer: answer, *[status(503, {"error": {"message": "busy"}})] * 4]
    embedder = asking(api, ",batch=2", retries=3)
    with pytest.raises(InputError) as error:
        embed_texts(texts(4), embedder, store, "document")
    assert str(error.value).count("\n") == 1
    assert f"no reply from {api.url} after 3 retries: HTTP 503: busy" in str(error.value)
    assert len(api.requests) == 5
    assert embed_texts(texts(4), embedder, store, "document").computed == 2


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (status(401, {"error": {"message": KEY}}), "not accept the key in OPENAI_API_KEY"),
        (status(403, {"error": KEY}), "not accept the key in OPENAI_API_KEY"),
        (status(404, {"error": {"message": f"not for {KEY}"}}), r"HTTP 404: not for \*\*\*$"),
        (status(307, headers=[("Location", "http://127.0.0.1:9/v1")]), "another address"),
        (status(302, headers=[("Location", "http://127.0.0.1:9/v1")]), "another address"),
    ],
    ids=["401", "403", "404", "307", "302"],
)  # fmt: skip
def test_lasting_failures_are_not_retried(api, store, fault, message):
    api.faults = [fault]
    with pytest.raises(InputError, match=message) as error:
        embed_texts(["x"], asking(api), store, "document")
    assert len(api.requests) == 1
    assert KEY not in str(error.value)
    assert error.value.__suppress_context__


def test_another_protocol_is_quoted_without_the_key(api, store):
    api.faults = [lambda handler, answer: handler.wfile.write(f"{KEY}\r\n\r\n".encode())] * 2
    with pytest.raises(InputError, match=r"after 1 retries: RemoteProtocolError: .*\*\*\*"):
        embed_texts(["x"], asking(api, retries=1), store, "document")


def junk(change):
    return with_data(lambda rows: [change(dict(row)) for row in rows])


WRONG = {
    "too few": with_data(lambda rows: rows[1:]),
    "too many": with_data(lambda rows: [*rows, rows[0] | {"index": 2}]),
    "one twice": with_data(lambda rows: [rows[0], rows[0]]),
    "no rows at all": with_data(lambda rows: []),
    "NaN": junk(lambda row: row | {"embedding": [float("nan")] * WIDTH}),
    "NaN in base64": junk(
        lambda row: (
            row | {"embedding": base64.b64encode(np.full(WIDTH, np.nan, "<f4").tobytes()).decode()}
        )
    ),
    "too large": junk(lambda row: row | {"embedding": [1e39] * WIDTH}),
    "two widths": with_data(lambda rows: [rows[0], rows[1] | {"embedding": [1.0]}]),
    "null": junk(lambda row: row | {"embedding": None}),
    "words": junk(lambda row: row | {"embedding": ["a", "b"]}),
    "truth values": junk(lambda row: row | {"embedding": [True, False]}),
    "nested": junk(lambda row: row | {"embedding": [[1.0], [2.0]]}),
    "empty": junk(lambda row: row | {"embedding": []}),
    "empty text": junk(lambda row: row | {"embedding": ""}),
    "no base64": junk(lambda row: row | {"embedding": "§§§"}),
    "half a number": junk(lambda row: row | {"embedding": "AAAAAAA="}),
    "no rows": with_data(lambda rows: [None] * len(rows)),
    "an error with status 200": lambda handler, answer: {"error": {"message": KEY}},
    "a list": lambda handler, answer: [answer],
    "a number": lambda handler, answer: 7,
    "incomplete JSON": broken_off,
    "nested JSON": lambda handler, answer: handler.reply(200, b"[" * 200_000),
}


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_refused_and_none_of_it_stored(api, store, fault):
    api.faults = [fault]
    with pytest.raises(InputError, match="sent an invalid reply") as error:
        embed_texts(texts(2), asking(api), store, "document")
    assert KEY not in str(error.value)
    assert store.counts() == []
    assert len(api.requests) == 1


def test_widths_may_not_change_between_requests(api, store):
    api.faults = [lambda _, answer: answer, junk(lambda row: row | {"embedding": [1.0, 2.0]})]
    with pytest.raises(InputError, match="of width 2 after stored ones of width 8"):
        embed_texts(texts(4), asking(api, ",batch=2"), store, "document")


def test_a_text_that_the_server_refuses_is_named_and_the_others_are_kept(api, store):
    api.longest = 100
    long = "a text too long " * 20
    with pytest.raises(InputError) as error:
        embed_texts([*texts(100), long], asking(api), store, "document")
    assert "refuses a text of 320 characters: HTTP 400: maximum is 100" in str(error.value)
    assert "'a text too long a text" in str(error.value)
    assert len(api.requests) <= 2 * 7 + 1
    api.longest = 1000
    assert embed_texts([*texts(100), long], asking(api), store, "document").computed < 101


def test_blank_texts_are_never_sent_and_have_the_zero_vector(api, store):
    found = embed_texts(["", "x", " \n"], asking(api), store, "document")
    assert found.values.any(axis=1).tolist() == [False, True, False]
    assert api.texts == ["x"]
    only = embed_texts(["\t"], asking(api), store, "query-head")
    assert only.values.shape == (1, WIDTH)
    assert not only.values.any()


def test_lone_surrogates_are_sent_as_the_replacement_character(api, store):
    embed_texts(["x \udcff"], asking(api), store, "document")
    assert api.texts == ["x �"]


def test_fifty_thousand_texts_are_asked_for_once_each(api, store):
    asked = texts(50_000)
    found = embed_texts(asked, asking(api, ",batch=2048"), store, "document")
    assert found.values.shape == (50_000, WIDTH)
    assert sorted(api.texts) == sorted(asked)
    assert len(api.requests) == 25
    assert (found.values[49_999] == vector_of(asked[49_999])).all()


def test_a_request_holds_no_more_than_the_api_takes(api, store):
    asked = [f"{n:03}" + "é" * 20_000 for n in range(30)] + ["x" * 400_000]
    embed_texts(asked, asking(api), store, "document")
    sizes = [sum(len(t.encode()) for t in one["body"]["input"]) for one in api.requests]
    assert sorted(api.texts) == sorted(asked)
    assert sorted(size for size in sizes if size > 300_000) == [400_000]
    assert len(sizes) < 8


def test_queries_are_sent_one_by_one(api, store):
    embed_texts(texts(5), asking(api), store, "query-head")
    assert [len(one["body"]["input"]) for one in api.requests] == [1] * 5


def test_nothing_is_counted_or_cut_without_a_tokenizer(api, store):
    embedder = asking(api)
    assert (embedder.limit, embedder.query_limit) == (None, None)
    with pytest.raises(InputError, match="name one by tokenizer=FILE"):
        embedder.count_tokens(["x"])
    embed_texts(["word " * 20_000], embedder, store, "document")
    assert api.texts == ["word " * 20_000]
    for options in ("max_tokens=5", "windows=max"):
        with pytest.raises(InputError, match="need tokenizer=FILE"):
            asking(api, f",{options}")


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory):
    from tiny_models import bpe

    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    bpe().save(str(path))
    return path


def test_a_tokenizer_counts_and_cuts_at_the_end_that_the_role_names(api, store, tokenizer):
    embedder = asking(api, f",tokenizer={tokenizer},max_tokens=20")
    assert embedder.limit == embedder.query_limit == 20
    long = " ".join(f"größe_{n}" for n in range(200))
    total = int(embedder.count_tokens([long])[0])
    assert embed_texts([long, "short"], embedder, store, "document").tokens.tolist()[0] == total
    embed_texts([long], embedder, store, "query-tail")
    head, tail = (text for text in api.texts if text != "short")
    assert long.startswith(head)
    assert long.endswith(tail)
    assert all(15 <= embedder.count_tokens([one])[0] <= 20 for one in (head, tail))
    with pytest.raises(InputError, match="give max_tokens="):
        asking(api, f",tokenizer={tokenizer.parent}")
    whole = asking(api, f",tokenizer={tokenizer.parent},max_tokens=8191")
    assert whole.fingerprint() != embedder.fingerprint() != asking(api).fingerprint()
    assert embedder.fingerprint("query-tail") != embedder.fingerprint()


def test_the_fingerprint_holds_what_is_known_of_the_model(api, monkeypatch):
    plain = asking(api)
    names = {
        asking(api, options).fingerprint() for options in ("", ",dimensions=3", ",encoding=float")
    }
    names |= {load_embedder(f"openai:other,base_url={api.url}").fingerprint()}
    names |= {load_embedder("openai:some-model").fingerprint()}
    assert len(names) == 5
    assert asking(api, ",batch=3,timeout=9").fingerprint() == plain.fingerprint()
    monkeypatch.setenv("OPENAI_BASE_URL", api.url + "/")
    assert load_embedder("openai:some-model").fingerprint() == plain.fingerprint()
    monkeypatch.setenv("OTHER", "another-key")
    assert asking(api, ",key_env=OTHER").fingerprint() == plain.fingerprint()
    assert "as served" in plain.identity("document")["vectors"]


def test_the_key_comes_from_the_variable_that_is_named(api, store, monkeypatch):
    monkeypatch.setenv("OTHER", " another-key\n")
    embed_texts(["x"], asking(api, ",key_env=OTHER"), store, "document")
    assert api.requests[0]["headers"]["Authorization"] == "Bearer another-key"
    assert KEY not in repr(asking(api))


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_key_nothing_begins(api, monkeypatch, value):
    monkeypatch.delenv("OPENAI_API_KEY")
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(InputError, match="OPENAI_API_KEY holds no key"):
        asking(api)


@pytest.mark.parametrize("value", [f"{KEY}\nX-Other: 1", f"{KEY} more", f"{KEY}…"])
def test_a_key_that_could_be_none_is_not_quoted(api, monkeypatch, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(InputError, match="no key has") as error:
        asking(api)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        f"key_env={KEY}",
        f"base_url=https://user:{KEY}@host/v1",
        f"base_url=https://{KEY}@host/v1",
        f"base_url=https://host/v1?key={KEY}",
        f"base_url=ftp://host/{KEY}",
        f"base_url=https://host:port{KEY}/v1",
        f"base_url={KEY}",
    ],
)
def test_a_key_in_a_spec_is_refused_and_not_quoted(options):
    with pytest.raises(InputError) as error:
        load_embedder(f"openai:some-model,{options}")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("options", ["batch=0", "dimensions=0", "timeout=0", "max_tokens=-1"])
def test_numbers_that_cannot_be_are_refused(options):
    with pytest.raises(InputError, match="must be"):
        load_embedder(f"openai:some-model,{options}")


def test_a_tokenizer_that_is_none_is_named(tmp_path):
    with pytest.raises(InputError, match=r"not a tokenizer\.json"):
        load_embedder(f"openai:some-model,tokenizer={tmp_path}")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be read"):
        load_embedder(f"openai:some-model,tokenizer={tmp_path}").count_tokens(["x"])


def test_no_proxy_stands_before_a_server_on_this_machine(api, store, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert embed_texts(["x"], asking(api, retries=0), store, "document").computed == 1


def test_other_servers_are_asked_through_the_proxy_of_the_environment(api, store, monkeypatch):
    monkeypatch.setenv("http_proxy", api.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    far = load_embedder("openai:some-model,base_url=http://embeddings.invalid/v1")
    embed_texts(["x"], far, store, "document")
    assert api.requests[0]["path"] == "http://embeddings.invalid/v1/embeddings"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://API.Host.org/v1/", "https://api.host.org/v1"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_addresses_have_one_form(text, url):
    assert load_embedder(f"openai:m,base_url={text}").identity("document")["server"] == url


@pytest.mark.parametrize("text", ["host/v1", "file:///etc/passwd", "https://", "https://h/é"])
def test_invalid_addresses_are_refused(text):
    with pytest.raises(InputError, match="invalid base address"):
        load_embedder(f"openai:m,base_url={text}")


def test_without_the_package_the_message_names_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=re.escape(install_command("openai"))):
        load_embedder("openai:some-model")


@pytest.fixture
def clock(monkeypatch):
    """A clock that the waits for a server move on at once."""
    import time
    from types import SimpleNamespace

    state = SimpleNamespace(now=0.0, waits=[])

    def sleep(seconds):
        state.waits.append(seconds)
        state.now += seconds

    monkeypatch.setattr("harness.embedding.server._FIRST_DELAY", 0.5)
    fake = SimpleNamespace(sleep=sleep, monotonic=lambda: state.now, time=time.time)
    monkeypatch.setattr("harness.embedding.server.time", fake)
    return state


def said(document):
    """A fault: status 200 with another document."""
    return lambda handler, answer: document


LIMITS = {
    "429": status(429, {"error": {"message": "slow down"}}),
    "200, in a status field": said(
        {"vectors": None, "base": {"status_msg": "limit of requests reached"}}
    ),
    "200, by code": said({"error": {"message": "later", "code": 429}}),
    "200, code as text, empty data": said({"data": [], "error": {"message": "-", "code": "429"}}),
    "403": status(403, {"message": "Rate limit exceeded"}),
    "503": status(503, {"detail": "too many requests"}),
}


@pytest.mark.filterwarnings("ignore:.*limits the rate")
@pytest.mark.parametrize("fault", LIMITS.values(), ids=LIMITS)
def test_a_rate_limit_is_waited_out_for_more_than_a_minute(api, store, clock, fault):
    api.faults = [fault] * 12
    assert embed_texts(["x"], asking(api), store, "document").computed == 1
    assert 60 < clock.now < 120


@pytest.mark.filterwarnings("ignore:.*limits the rate")
def test_a_lasting_rate_limit_ends_with_the_servers_words(api, store, clock):
    api.faults = [status(429, {"message": "slow down"})] * 99
    with pytest.raises(InputError, match=r"HTTP 429: slow down\n.*set a pace with rpm= or tpm="):
        embed_texts(["x"], asking(api), store, "document")
    assert 60 < clock.now <= 120


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        (status(429, {"message": "a day"}, headers=[("Retry-After", "86400")]), 1),
        (status(429, {"error": {"code": "insufficient_quota", "message": "pay"}}), 1),
        (status(503, {"message": "down"}), 6),
    ],
    ids=["tomorrow", "no quota", "down"],
)
def test_what_no_wait_helps_against_is_not_waited_out(api, store, clock, fault, requests):
    api.faults = [fault] * 9
    with pytest.raises(InputError, match=r"a day|pay|down"):
        embed_texts(["x"], asking(api), store, "document")
    assert len(api.requests) == requests


def test_a_retry_after_may_be_a_date(api, store, clock):
    import time
    from email.utils import formatdate

    at = formatdate(time.time() + 30, usegmt=True)
    api.faults = [status(503, headers=[("Retry-After", at)])]
    embed_texts(["x"], asking(api), store, "document")
    assert 25 < clock.now <= 30


def test_requests_keep_the_pace(api, store, clock):
    embed_texts(texts(4), asking(api, ",batch=1,rpm=30"), store, "document")
    assert clock.waits == [2.0] * 3
    clock.waits.clear()
    # The server counts a token for each text, and each request has two.
    embedder = asking(api, ",batch=2,tpm=120,encoding=float")
    embed_texts(texts(6), embedder, store, "document")
    assert clock.waits == pytest.approx([1.0] * 2)


SAID = {
    "an error": ({"error": {"message": "no endpoint now", "code": 404}}, "404, no endpoint now"),
    "text": ({"error": "it broke"}, "it broke"),
    "detail": ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
    "two": ({"error": "Not Found", "message": "no such path"}, "Not Found, no such path"),
    "other": ({"ok": False, "why": "tired"}, '"why": "tired"'),
    "a list": (["what"], "what"),
}


@pytest.mark.parametrize(("document", "words"), SAID.values(), ids=SAID)
@pytest.mark.parametrize("code", [200, 404])
def test_the_server_is_quoted(api, store, document, words, code):
    api.faults = [status(code, document)]
    with pytest.raises(InputError) as error:
        embed_texts(["x"], asking(api), store, "document")
    assert words in str(error.value)
    assert f"HTTP {code}" in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("code", [200, 404])
def test_a_page_is_quoted_as_its_text(api, store, code):
    page = b"<!DOCTYPE html><html><style>p {}</style><h1>No &amp; never</h1>\x1b[31m</html>"
    api.faults = [lambda handler, answer: handler.reply(code, page)]
    with pytest.raises(InputError) as error:
        embed_texts(["x"], asking(api), store, "document")
    assert f"HTTP {code}: No & never" in str(error.value)
    assert "\x1b" not in str(error.value)
    assert "{}" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [{"embedding": rows[0]["embedding"]}, *rows[1:]],
        lambda rows: [{"embedding": row["embedding"]} for row in rows],
        lambda rows: [rows[0] | {"index": None}, *rows[1:]],
        lambda rows: [row | {"index": str(row["index"])} for row in rows],
        lambda rows: [rows[2], rows[1] | {"index": None}, rows[0]],
        lambda rows: [*rows[:2], rows[2] | {"embedding": np.frombuffer(
            base64.b64decode(rows[2]["embedding"]), "<f4").tolist()}],
    ],
    ids=["first without", "all without", "first null", "as texts", "middle null", "two encodings"],
)  # fmt: skip
def test_a_row_without_an_index_has_its_place(api, store, change):
    api.faults = [with_data(change)]
    # Texts are requested in the order of their addresses in the store.
    asked = sorted(texts(3), key=text_key)
    found = embed_texts(asked, asking(api), store, "document")
    assert (found.values == np.array([vector_of(text) for text in asked])).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n: 0, "the indexes of its vectors repeat"),
        (lambda n: None if n == 0 else n - 1, "repeat"),
        (lambda n: n + 1, "are not 0 to 2"),
        (lambda n: -n, "are not 0 to 2"),
    ],
    ids=["all 0", "null and 0", "from 1", "negative"],
)
def test_indexes_that_are_no_order_are_refused(api, store, change, words):
    api.faults = [with_data(lambda rows: [r | {"index": change(r["index"])} for r in rows])]
    with pytest.raises(InputError, match=words):
        embed_texts(texts(3), asking(api), store, "document")
    assert store.counts() == []


@pytest.mark.parametrize(
    ("options", "words", "advice"),
    [
        ("", "base64 is not supported", "set encoding=float"),
        ("", "encoding_format: must be 'float'", "set encoding=float"),
        (",dimensions=3", "dimensions: extra inputs are not permitted", "leave dimensions out"),
        (",dimensions=3", "unknown field", "leave dimensions out"),
        (",encoding=float", "model is not loaded", "check the model's name"),
        (",encoding=float", "The model some-model does not exist", "check the model's name"),
    ],
)
def test_a_refusal_that_is_not_about_a_text_names_the_option(api, store, options, words, advice):
    api.faults = [status(400, {"error": {"message": words}})] * 20
    with pytest.raises(InputError) as error:
        embed_texts(texts(30), asking(api, options), store, "document")
    assert words in str(error.value)
    assert advice in str(error.value)
    assert "a text of" not in str(error.value)
    assert len(api.requests) == 1


def test_prompts_are_sent_before_texts_and_are_part_of_the_fingerprint(api, store):
    embedder = asking(api, ',prompt="document: ",query_prompt="query: "')
    embed_texts(["x"], embedder, store, "document")
    embed_texts(["x"], embedder, store, "query-head")
    assert api.texts == ["document: x", "query: x"]
    plain = asking(api)
    roles = ("document", "query-head")
    assert len({one.fingerprint(role) for one in (embedder, plain) for role in roles}) == 3
    assert asking(api, ',prompt=""').fingerprint() == plain.fingerprint()


def test_a_prompt_takes_its_share_of_the_limit(api, store, tokenizer):
    embedder = asking(api, f',tokenizer={tokenizer},max_tokens=20,query_prompt="search for: "')
    assert embedder.limit == 20
    assert 0 < embedder.query_limit < 20
    embed_texts(["größe " * 99], embedder, store, "query-tail")
    assert api.texts[0].startswith("search for: ")
    assert embedder.count_tokens(api.texts)[0] <= 21
    with pytest.raises(InputError, match="prompt alone fills max_tokens=1"):
        embed_texts(["x"], replace(embedder, max_tokens=1), store, "query-head")


@pytest.mark.parametrize("prompts", ["", ',prompt="d: ",query_prompt="q: "'])
def test_another_width_in_a_later_call_is_refused_and_not_stored(api, store, prompts):
    embedder = asking(api, prompts + ",encoding=float")
    embed_texts(texts(9), embedder, store, "document")
    api.faults = [junk(lambda row: row | {"embedding": [1.0] * 12})]
    with pytest.raises(InputError, match="width 12 after stored ones of width 8") as error:
        embed_texts(["query"], embedder, store, "query-head")
    assert "openai:some-model" in str(error.value)
    assert "\n" not in str(error.value)
    assert f"cache clear --model {embedder.fingerprint()[:12]}" in str(error.value) or prompts
    assert [count for _, _, count in store.counts()] == [9]
    store.remove([embedder.fingerprint(), embedder.fingerprint("query-head")])
    assert embed_texts(["query"], embedder, store, "query-head").values.shape == (1, 8)
