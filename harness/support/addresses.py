"""What clients of a server need to know: hosts that are this machine, and when to try again."""

from __future__ import annotations

import ipaddress
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, which is never asked through a proxy."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now that a reply's `Retry-After` asks to wait, 0 or more; None without it."""
    text = headers.get("Retry-After", "")
    try:
        return max(0.0, float(text))  # 0 for NaN, too
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
