"""A model behind the OpenAI API or a server that speaks it: `openai:MODEL`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embed import encodable
from harness.embedding.store import Embedded
from harness.support.files import file_sha256
from harness.support.web import RefusedError, Server, checked_url, key_of, post

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.embedding.embed import Role

_HOME = "https://api.openai.com/v1"
_MOST_TOKENS = 8191
# The API takes 300,000 tokens in a request; none of them is shorter than a byte.
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
) -> Remote:
    """A model that a server embeds with.

    Vectors are as served: nobody can hash a remote model, it may change behind its name, and
    a service need not give a text the same bits in another request. What came is stored, and
    is not asked for again.

    Tokens are unknown without a tokenizer: then none are counted, shares of unseen tokens are null,
    no text is cut, and the run ends where the server refuses one that is too long. With one, texts
    over `max_tokens` are cut to it, and what is unseen is counted, as with a local model.

    Args:
        argument: The model's name at the server.
        base_url: The server's address, `/v1` and all; else `$OPENAI_BASE_URL`, else OpenAI's.
        key_env: The environment variable with the key. It is read there and written nowhere.
        dimensions: Width that the server shall shorten vectors to.
        encoding: How the server writes vectors: `float` where it does not know `base64`.
        batch: Documents in a request, at most. Queries are sent one by one, as they would be
            in use, so that the time of a query is its own.
        timeout: Seconds without a byte after which a try is given up.
        tokenizer: A `tokenizer.json`, or a folder with one.
        max_tokens: Tokens that the model sees of a text, special ones left out. It goes with
            `tokenizer`; at OpenAI's own address it is 8,191 unless said.
        windows: A text over the limit is embedded by windows of whole lines. `max`: it scores as
            the best of them; `mean`: by the mean of their unit vectors. Needs `tokenizer`.

    Raises:
        InputError: No key, no address, or a value that cannot be.
    """
    who = f"openai:{argument}"
    numbers = {"dimensions": dimensions, "batch": batch, "max_tokens": max_tokens}
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise InputError(f"{who}: {name}={value}: a positive number is needed")
    if timeout <= 0:
        raise InputError(f"{who}: timeout={timeout}: a positive number is needed")
    if tokenizer is None and (max_tokens or windows):
        raise InputError(
            f"{who}: max_tokens and windows need tokenizer=FILE: without one nobody counts tokens"
        )
    url = checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or _HOME, who)
    if tokenizer and max_tokens is None and url != _HOME:
        raise InputError(f"{who}: say max_tokens=: how many tokens this server's model sees")
    key_of(key_env, who)
    return Remote(
        who,
        argument,
        Server(who, url, key_env, timeout),
        dimensions=dimensions,
        encoding=encoding,
        batch=batch,
        tokenizer=None if tokenizer is None else _tokenizer_file(tokenizer, who),
        max_tokens=max_tokens or _MOST_TOKENS,
        windows=windows,
    )


def _tokenizer_file(text: str, who: str) -> Path:
    path = Path(text).expanduser()
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"{who}: tokenizer={text} is no tokenizer.json, nor a folder with one")
    return path


@dataclass(frozen=True)
class Remote:
    """A model behind an API.

    Attributes:
        name: The spec in canonical form.
        model: Its name at the server.
        server: Where and how to ask.
        dimensions: Width that is asked for, or None.
        encoding: How vectors are asked for.
        batch: Documents in a request, at most.
        tokenizer: The file of the tokenizer, or None.
        max_tokens: Tokens of a text that are sent, where there is a tokenizer.
        windows: How texts over the limit are embedded by windows, if they are.
    """

    name: str
    model: str
    server: Server
    dimensions: int | None = None
    encoding: Literal["base64", "float"] = "base64"
    batch: int = 128
    tokenizer: Path | None = None
    max_tokens: int = _MOST_TOKENS
    windows: Literal["max", "mean"] | None = None

    @property
    def limit(self) -> int | None:
        """Tokens of a text that are sent; None without a tokenizer."""
        return None if self.tokenizer is None else self.max_tokens

    @property
    def query_limit(self) -> int | None:
        """The same of a query."""
        return self.limit

    def named(self, name: str) -> Remote:
        """The same model under the canonical form of the spec that asked for it."""
        return replace(self, name=name, server=replace(self.server, name=name))

    def with_fewer_rows(self) -> NoReturn:
        """Nothing is computed here, so nothing can be smaller."""
        raise InputError(f"{self.name}: the vectors do not fit into memory")

    def identity(self, role: Role) -> dict[str, Any]:
        """What is known of how a vector came about; the model itself cannot be hashed."""
        found: dict[str, Any] = {
            "model": self.model,
            "server": self.server.url,
            "dimensions": self.dimensions,
            "encoding": self.encoding,
            "vectors": "as served; the model may change behind its name",
        }
        if self.tokenizer is not None:
            found["tokenizer"] = file_sha256(self.tokenizer)
            found["max_tokens"] = self.max_tokens
            found["keeps"] = "tail" if role == "query-tail" else "head"
        return found

    def fingerprint(self, role: Role = "document") -> str:
        """Hash of `identity`."""
        canonical = json.dumps(self.identity(role), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,).

        Raises:
            InputError: There is no tokenizer.
        """
        return np.array([len(one.ids) for one in self._encoded(texts)], dtype=np.int64)

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        found: list[Any] = self._tokens.encode_batch(
            [encodable(text) for text in texts], add_special_tokens=False
        )
        return found

    @cached_property
    def _tokens(self) -> Any:
        if self.tokenizer is None:
            raise InputError(
                f"{self.name} has no tokenizer: name one by tokenizer=FILE, "
                "or choose another size unit than tokens"
            )
        from tokenizers import Tokenizer

        try:
            made = Tokenizer.from_file(str(self.tokenizer))
        except Exception as error:  # the library raises nothing more precise
            reason = " ".join(str(error).split())[:160]
            raise InputError(f"{self.name}: {self.tokenizer} cannot be read: {reason}") from error
        made.no_truncation()
        made.no_padding()
        return made

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, Embedded]]]:
        """Ask for the vectors of texts, a request at a time.

        A blank text is never sent: no API takes one. Its vector is zero, and counted as such.

        Yields:
            Number of the text and what belongs into the store, for each text of one request.

        Raises:
            InputError: The server refuses a text, does not answer, or answers something else.
        """
        counts = np.zeros(len(texts), dtype=np.int64)
        sent = [encodable(text) for text in texts]
        if self.tokenizer is not None:
            counts = self.count_tokens(texts)
            for number in np.flatnonzero(counts > self.max_tokens).tolist():
                sent[number] = self._cut(sent[number], tail=role == "query-tail")
        full = [n for n, text in enumerate(sent) if text.strip()]
        width = 0
        for numbers in self._requests(sent, full, 1 if role != "document" else self.batch):
            for part, vectors, seconds in self._asked(sent, numbers):
                if width not in (0, vectors.shape[1]):
                    raise self._wrong(
                        f"vectors of {vectors.shape[1]} numbers after some of {width}"
                    )
                width = vectors.shape[1]
                yield [
                    (n, Embedded(vector, int(counts[n]), seconds, len(part)))
                    for n, vector in zip(part, vectors, strict=True)
                ]
        blank = sorted(set(range(len(texts))) - set(full))
        if blank:
            width = width or next(self._asked(["blank"], [0]))[1].shape[1]
            zero = np.zeros(width, dtype=np.float32)
            yield [(n, Embedded(zero, int(counts[n]), 0.0)) for n in blank]

    def _cut(self, text: str, *, tail: bool) -> str:
        """The first or last characters of a text, as many as `max_tokens` tokens hold."""
        kept = self.max_tokens
        while True:
            offsets = self._encoded([text])[0].offsets
            # Tokens of a part may be other ones than in the whole, and more by a few.
            cut = text[offsets[-kept][0] :] if tail else text[: offsets[kept - 1][1]]
            if len(self._encoded([cut])[0].ids) <= self.max_tokens or kept == 1:
                return cut
            kept -= 1

    def _requests(
        self, texts: Sequence[str], numbers: Sequence[int], most: int
    ) -> Iterator[list[int]]:
        held: list[int] = []
        size = 0
        for number in numbers:
            length = len(texts[number].encode())
            if held and (len(held) == most or size + length > _MOST_BYTES):
                yield held
                held, size = [], 0
            held.append(number)
            size += length
        if held:
            yield held

    def _asked(
        self, texts: Sequence[str], numbers: list[int]
    ) -> Iterator[tuple[list[int], NDArray[np.float32], float]]:
        """Vectors for some texts; a request that is refused is halved until one text is named."""
        body: dict[str, Any] = {
            "model": self.model,
            "input": [texts[n] for n in numbers],
            "encoding_format": self.encoding,
        }
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        try:
            answer, seconds = post(self.server, "/embeddings", body)
        except RefusedError as refused:
            why = str(refused)
        else:
            yield numbers, self._vectors(answer, len(numbers)), seconds
            return
        if len(numbers) == 1:
            text = texts[numbers[0]]
            raise InputError(
                f"{self.name}: the server refuses a text of {len(text)} characters: {why}\n"
                f"it begins: {' '.join(text.split())[:60]!r}; tokenizer=FILE lets long ones be cut"
            )
        half = len(numbers) // 2
        yield from self._asked(texts, numbers[:half])
        yield from self._asked(texts, numbers[half:])

    def _vectors(self, answer: Any, count: int) -> NDArray[np.float32]:
        """The vectors of an answer in order of their texts, shape (count, d), all finite."""
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._wrong("no list of vectors")
        if sorted(str(row.get("index")) for row in rows) != sorted(map(str, range(count))):
            raise self._wrong(f"{len(rows)} vectors, not one for each of {count} texts")
        vectors = [self._vector(row.get("embedding")) for row in sorted(rows, key=_index)]
        widths = {len(vector) for vector in vectors}
        if len(widths) > 1:
            raise self._wrong(f"vectors of {' and '.join(map(str, sorted(widths)))} numbers")
        if self.dimensions not in (None, *widths):
            raise self._wrong(f"vectors of {widths.pop()} numbers, not of {self.dimensions}")
        return np.array(vectors, dtype=np.float32)

    def _vector(self, written: Any) -> NDArray[np.float32]:
        try:
            if isinstance(written, str):
                vector = np.frombuffer(base64.b64decode(written, validate=True), dtype="<f4")
            else:
                wide = np.array(written)
                if wide.dtype.kind not in "fiu" or wide.ndim != 1:
                    raise ValueError(written)
                with np.errstate(over="ignore"):
                    vector = wide.astype(np.float32)
        except (ValueError, binascii.Error):
            raise self._wrong("something that is no vector") from None
        if not len(vector) or not np.isfinite(vector).all():
            raise self._wrong("a vector that is empty or not finite")
        return vector.astype(np.float32)

    def _wrong(self, what: str) -> InputError:
        return InputError(f"{self.name}: {self.server.url} answered with {what}; none is kept")


def _index(row: dict[str, Any]) -> int:
    return int(row["index"])
