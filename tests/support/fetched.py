"""A card with one file, the call that fetches it, and what is left."""

import hashlib

from commands import call

DATA = bytes(range(256)) * 4000  # 1,024,000 bytes
TARGET = "mine/data.bin"


def entry(url, data=DATA, path=TARGET, sha256=None, size=None):
    digest = sha256 or hashlib.sha256(data).hexdigest()
    return (
        f'[[files]]\npath = "{path}"\nbytes = {len(data) if size is None else size}\n'
        f'sha256 = "{digest}"\nurl = "{url}"\n'
    )


def left(folder):
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


def fetch(capsys, *options):
    return call(capsys, "dataset", "fetch", "mine", *options)
