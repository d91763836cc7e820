"""Which addresses files are fetched from.

The named one is asked, by http or https. It may send on to any https address, and from http also
to the same host and port; never from https back to http.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from chunkers.errors import InputError

_SHOWN = 150


def checked_source(url: str, who: str) -> None:
    """Refuse an address that files are not fetched from.

    Raises:
        InputError: It is no plain http(s) address, or holds credentials.
    """
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or "@" in parts.netloc or re.search(r"[^\x21-\x7e]", url):
        raise InputError(f"{who}: {url!r} is no address to fetch from; it is http(s)://host/path")


def next_address(url: str, location: str) -> str:
    """Where a redirect leads, if the rule allows it.

    Raises:
        InputError: It does not; the message goes on behind the address that was asked.
    """
    try:
        there = urljoin(url, location)
        checked_source(there, "redirect")
    except (InputError, ValueError):
        raise InputError("sends on to what is no address") from None
    old, new = urlsplit(url), urlsplit(there)
    if new.scheme != "https" and (old.scheme, old.netloc) != (new.scheme, new.netloc):
        raise InputError(f"sends on to {there[:_SHOWN]}, which is neither https nor the same host")
    return there
