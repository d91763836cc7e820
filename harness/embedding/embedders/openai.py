"""A model of the OpenAI API, or of a server with the same API: `openai:MODEL`."""

from __future__ import annotations

import base64
import importlib.util
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import numpy as np
from msgspec import Meta

from chunkers.errors import InputError, install_command
from harness.embedding.embedder import EmbedderBase, encodable
from harness.embedding.server import RefusedError, Server
from harness.embedding.vector_store import StoredVector
from harness.support.files import file_sha256
from harness.support.rows import Row, validated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.embedding.embedder import Role

_OPENAI_URL = "https://api.openai.com/v1"
_MOST_TOKENS = 8191
# The API accepts 300,000 tokens per request, and a token has at least one byte.
_MOST_BYTES = 300_000


def make(
    *,
    argument: str,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    dimensions: int | None = None,
    encoding: Literal["base64", "float"] = "base64",
    batch: int = 128,
    timeout: float = 60.0,
    tokenizer: str | None = None,
    max_tokens: int | None = None,
    windows: Literal["max", "mean"] | None = None,
    prompt: str = "",
    query_prompt: str = "",
    rpm: float | None = None,
    tpm: float | None = None,
) -> RemoteModel:
    """A model on a server.

    A remote model cannot be hashed, may change without changing its name, and need not return the
    same bits for a text twice. Vectors are stored as received and not requested again.

    Without a tokenizer tokens are not counted, shares of unseen tokens are null, no text is
    truncated, and the run ends when the server refuses a text that is too long. With one, texts
    over `max_tokens` are truncated, and unseen tokens are counted as with a local model.

    Args:
        argument: The model's name on the server.
        base_url: The server's address, including `/v1`. Default: `$OPENAI_BASE_URL`, or OpenAI's.
        key_env: The environment variable that holds the key. The key is not stored or shown.
        dimensions: Width to which the server shortens vectors.
        encoding: Format of the vectors in a reply: `float` if the server does not know `base64`.
        batch: Maximum number of documents in a request. Queries are sent one by one, as in use,
            so that each has its own time.
        timeout: Seconds without a byte after which a request is retried.
        tokenizer: A `tokenizer.json`, or a folder with one.
        max_tokens: Tokens of a text that the model sees, without special ones. It needs
            `tokenizer`. Default at OpenAI's address: 8,191.
        windows: Embed a text over the limit by windows of whole lines. `max`: it scores as its best
            window; `mean`: by the mean of their unit vectors. It needs `tokenizer`.
        prompt: Put before every document.
        query_prompt: Put before every query.
        rpm: Maximum number of requests in a minute.
        tpm: Maximum number of tokens in a minute, as the server counts them, or a third of the
            bytes if it does not. Default for both: no limit; a rate limit is waited out.

    Raises:
        InputError: The openai package or the key is missing, or a value is invalid.
    """
    name = f"openai:{argument}"
    numbers = {"dimensions": dimensions, "batch": batch, "max_tokens": max_tokens}
    for option, value in numbers.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: {option}={value} must be at least 1")
    for option, above in {"timeout": timeout, "rpm": rpm, "tpm": tpm}.items():
        if above is not None and not above > 0:
            raise InputError(f"{name}: {option}={above} must be above 0")
    if tokenizer is None and (max_tokens or windows):
        raise InputError(f"{name}: max_tokens and windows need tokenizer=FILE to count tokens")
    url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI_URL, name)
    if tokenizer and max_tokens is None and url != _OPENAI_URL:
        raise InputError(f"{name}: give max_tokens=, the number of tokens that the model sees")
    _key(key_env, name)
    if importlib.util.find_spec("openai") is None:
        raise InputError(f"{name}: the openai package is missing; {install_command('openai')}")
    return RemoteModel(
        name,
        argument,
        url,
        key_env=key_env,
        timeout=timeout,
        dimensions=dimensions,
        encoding=encoding,
        batch=batch,
        tokenizer=None if tokenizer is None else _tokenizer_file(tokenizer, name),
        max_tokens=max_tokens or _MOST_TOKENS,
        windows=windows,
        prompt=prompt,
        query_prompt=query_prompt,
        rpm=rpm,
        tpm=tpm,
    )


def _checked_url(text: str, name: str) -> str:
    """A base address in one form; messages do not quote it, since it may hold a secret."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, parts, port = None, urlsplit(""), None
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"{name}: a base address has no credentials and no query; "
            "the key is read from the environment"
        )
    if parts.scheme not in ("http", "https") or not host or re.search(r"[^\x21-\x7e]", text):
        raise InputError(f"{name}: invalid base address; write https://host/v1")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _key(variable: str, name: str) -> str:
    """The key in an environment variable; messages do not quote it."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise InputError(f"{name}: key_env is the name of an environment variable, not the key")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            f"{name}: the environment variable {variable} holds no key; "
            "set it (to any word if the server needs none)"
        )
    if re.search(r"[^\x21-\x7e]", key):
        raise InputError(f"{name}: {variable} holds white space or characters that no key has")
    return key


def _tokenizer_file(text: str, name: str) -> Path:
    path = Path(text).expanduser()
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"{name}: tokenizer={text}: not a tokenizer.json, nor a folder with one")
    return path


class _Row(Row, kw_only=True):
    index: int | Annotated[str, Meta(pattern=r"^[0-9]{1,9}\Z")] | None = None  # "0" is read as 0
    embedding: str | list[float]


class _Reply(Row):
    data: list[_Row]


@dataclass(frozen=True)
class RemoteModel(EmbedderBase):
    """A model on a server. The other fields are the options of `make`.

    Attributes:
        name: The spec in canonical form.
        model: Its name on the server.
        url: The server's base address, without a final `/`.
        retries: Maximum number of retries of a request; a rate limit is waited out for longer.
    """

    name: str
    model: str
    url: str
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    retries: int = 5
    dimensions: int | None = None
    encoding: Literal["base64", "float"] = "base64"
    batch: int = 128
    tokenizer: Path | None = None
    max_tokens: int = _MOST_TOKENS
    windows: Literal["max", "mean"] | None = None
    prompt: str = ""
    query_prompt: str = ""
    rpm: float | None = None
    tpm: float | None = None

    @property
    def limit(self) -> int | None:
        """Tokens of a document that are sent, without its prompt's; None without a tokenizer."""
        return None if self.tokenizer is None else self._room("document")

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query that are sent, without its prompt's; None without a tokenizer."""
        return None if self.tokenizer is None else self._room("query-head")

    def _prompt(self, role: Role) -> str:
        return self.prompt if role == "document" else self.query_prompt

    def _room(self, role: Role) -> int:
        room = self.max_tokens - int(self.count_tokens([self._prompt(role)])[0])
        if room < 1:
            raise InputError(f"{self.name}: the prompt alone fills max_tokens={self.max_tokens}")
        return room

    def identity(self, role: Role) -> dict[str, Any]:
        """What is known of the origin of a vector; the model itself cannot be hashed."""
        identity: dict[str, Any] = {
            "model": self.model,
            "server": self.url,
            "dimensions": self.dimensions,
            "encoding": self.encoding,
            "vectors": "as served; the model may change behind its name",
        }
        if self._prompt(role):
            identity["prompt"] = self._prompt(role)
        if self.tokenizer is not None:
            identity["tokenizer"] = file_sha256(self.tokenizer)
            identity["max_tokens"] = self.max_tokens
            identity["keeps"] = "tail" if role == "query-tail" else "head"
        return identity

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,).

        Raises:
            InputError: There is no tokenizer.
        """
        return np.array([len(encoding.ids) for encoding in self._encode(texts)], dtype=np.int64)

    def _encode(self, texts: Sequence[str]) -> list[Any]:
        valid = [encodable(text) for text in texts]
        return list(self._loaded_tokenizer.encode_batch(valid, add_special_tokens=False))

    @cached_property
    def _loaded_tokenizer(self) -> Any:
        if self.tokenizer is None:
            raise InputError(
                f"{self.name} has no tokenizer: name one by tokenizer=FILE, "
                "or choose another size unit than tokens"
            )
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.tokenizer))
        except Exception as error:  # the library raises nothing more precise
            reason = " ".join(str(error).split())[:160]
            raise InputError(f"{self.name}: {self.tokenizer} cannot be read: {reason}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Request the vectors of texts, a batch at a time.

        A blank text is not sent, since no API accepts one. Its vector is zero.

        Yields:
            Pairs of a text's index and its vector, for the texts of one request.

        Raises:
            InputError: The server refuses a text, sends no reply, or an invalid one.
        """
        counts = np.zeros(len(texts), dtype=np.int64)
        sent = [encodable(text) for text in texts]
        if self.tokenizer is not None:
            counts, room = self.count_tokens(texts), self._room(role)
            for index in np.flatnonzero(counts > room).tolist():
                sent[index] = self._truncated(sent[index], room, tail=role == "query-tail")
        full = [n for n, text in enumerate(sent) if text.strip()]
        sent = [self._prompt(role) + text for text in sent]
        width = 0
        most = self.batch if role == "document" else 1
        # A token has at least one byte, so no request has more tokens than a minute allows.
        for indices in _batches(sent, full, most, min(_MOST_BYTES, self.tpm or _MOST_BYTES)):
            for part, vectors, seconds in self._request(sent, indices):
                width = vectors.shape[1]
                yield [
                    (n, StoredVector(vector, int(counts[n]), seconds, len(part)))
                    for n, vector in zip(part, vectors, strict=True)
                ]
        blank = sorted(set(range(len(texts))) - set(full))
        if blank:
            width = width or next(self._request(["blank"], [0]))[1].shape[1]
            zero = np.zeros(width, dtype=np.float32)
            yield [(n, StoredVector(zero, int(counts[n]), 0.0)) for n in blank]

    def _truncated(self, text: str, room: int, *, tail: bool) -> str:
        """The first or last characters of a text, as many as `room` tokens hold."""
        offsets = self._encode([text])[0].offsets
        # Tokens of a part may differ from those of the whole, and be a few more.
        for kept in range(room, 0, -1):
            part = text[offsets[-kept][0] :] if tail else text[: offsets[kept - 1][1]]
            if len(self._encode([part])[0].ids) <= room:
                break
        return part

    def _request(
        self, texts: Sequence[str], indices: list[int]
    ) -> Iterator[tuple[list[int], NDArray[np.float32], float]]:
        """Indices, vectors and seconds; a refused batch is halved, down to one text."""
        try:
            vectors, seconds = self._post([texts[n] for n in indices])
        except RefusedError as refused:
            reason = str(refused)
        else:
            yield indices, vectors, seconds
            return
        if len(indices) == 1:
            text = texts[indices[0]]
            advice = "give tokenizer=FILE to truncate texts"
            if self.tokenizer is not None:
                advice = "a smaller max_tokens truncates it"
            size = counted(len(text), "character")
            raise InputError(
                f"{self.name}: the server refuses a text of {size}: {reason}\n"
                f"it starts: {' '.join(text.split())[:60]!r}; {advice}"
            )
        half = len(indices) // 2
        yield from self._request(texts, indices[:half])
        yield from self._request(texts, indices[half:])

    @cached_property
    def _server(self) -> Server:
        return Server(
            self.name,
            self.url,
            self.key_env,
            lambda: _key(self.key_env, self.name),
            timeout=self.timeout,
            retries=self.retries,
            rpm=self.rpm,
            tpm=self.tpm,
        )

    def _post(self, texts: list[str]) -> tuple[NDArray[np.float32], float]:
        """The vectors of texts, shape (n, d), and the seconds of the successful try."""
        dimensions = {} if self.dimensions is None else {"dimensions": self.dimensions}
        reply, seconds = self._server.post(
            {"model": self.model, "input": texts, "encoding_format": self.encoding, **dimensions}
        )
        return self._vectors(reply, len(texts)), seconds

    def _vectors(self, document: dict[str, Any], count: int) -> NDArray[np.float32]:
        """The vectors of a reply in the order of the texts, shape (count, d), all finite.

        A row without an index has its place in the list.
        """
        sent = f"{self.name}: {self.url} sent an invalid reply"
        try:
            rows = validated(_Reply, document, sent).data
        except InputError as error:
            raise InputError(f"{error}; none of it is stored") from None
        if len(rows) != count:
            number = counted(len(rows), "vector")
            raise self._invalid(f"{number}, not one for each of {counted(count, 'text')}")
        indexes = [place if row.index is None else int(row.index) for place, row in enumerate(rows)]
        if sorted(indexes) != list(range(count)):
            fault = "repeat" if len(set(indexes)) < count else f"are not 0 to {count - 1}"
            raise self._invalid(f"the indexes of its vectors {fault}")
        vectors = [self._vector(rows[place].embedding) for place in np.argsort(indexes)]
        widths = {len(vector) for vector in vectors}
        if len(widths) > 1:
            raise self._invalid(f"vectors of widths {' and '.join(map(str, sorted(widths)))}")
        if self.dimensions not in (None, *widths):
            raise self._invalid(f"vectors of width {widths.pop()}, not {self.dimensions}")
        return np.array(vectors, dtype=np.float32)

    def _vector(self, embedding: str | list[float]) -> NDArray[np.float32]:
        try:
            if isinstance(embedding, str):
                vector = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
            else:
                with np.errstate(over="ignore"):
                    vector = np.array(embedding, dtype=np.float64).astype(np.float32)
        except ValueError:
            raise self._invalid("a vector is not base64 of float32") from None
        if not len(vector) or not np.isfinite(vector).all():
            raise self._invalid("a vector is empty or not finite")
        return vector.astype(np.float32)

    def _invalid(self, reason: str) -> InputError:
        return InputError(
            f"{self.name}: {self.url} sent an invalid reply: {reason}; none of it is stored"
        )


def _batches(
    texts: Sequence[str], indices: Sequence[int], most: int, most_bytes: float
) -> Iterator[list[int]]:
    """Split indices into batches of at most `most` texts and `most_bytes` bytes."""
    batch: list[int] = []
    size = 0
    for index in indices:
        length = len(texts[index].encode())
        if batch and (len(batch) == most or size + length > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += length
    if batch:
        yield batch
