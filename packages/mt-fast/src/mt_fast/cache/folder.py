"""Keep compiled code in a folder, and read only entries that are intact and of this user.

Machine code is kept from process to process in files of one folder. A file begins with a hash of
what follows: one that is damaged is as if it were not there. Whatever is wrong with the folder (it
cannot be written to, the disk is full, others could have written it: see `private.py`), entries are
not found, and are not kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from mt_fast.cache import private
from mt_tensor.errors import BackendUnavailableError

_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Folder:
    """Where one package keeps what it has compiled.

    Attributes:
        name: what the folder is called, among the user's caches.
        variable: the environment variable that names another one, or is `off`.
    """

    name: str
    variable: str

    def path(self) -> Path | None:
        """Return the path; None if nothing is to be kept, or the user has no home.

        Raises:
            BackendUnavailableError: the one chosen is in the home of a user whom nobody knows.
        """
        chosen = os.environ.get(self.variable, "")
        if chosen == "off":
            return None
        if chosen:
            try:
                return Path(chosen).expanduser()
            except RuntimeError as error:
                raise BackendUnavailableError(
                    f"{self.variable}={chosen} names no folder: there is no such user. Give the "
                    f"path of a folder, `off`, or unset {self.variable}."
                ) from error
        return among_caches(self.name)

    def read(self, entry: str) -> bytes | None:
        """Return an entry by its name; None if there is none that could be trusted and is whole."""
        folder = self.path()
        data = None if folder is None else private.read(folder / entry, self.variable)
        if data is None:
            return None
        digest, content = data[:_DIGEST], data[_DIGEST:]
        return content if hashlib.sha256(content).digest() == digest else None

    def write(self, entry: str, content: bytes) -> None:
        """Keep an entry, if it can be."""
        self.write_text(entry, hashlib.sha256(content).digest() + content)

    def write_text(self, entry: str, text: bytes) -> None:
        """Keep a file for people to read, if it can be."""
        folder = self.path()
        if folder is not None:
            with contextlib.suppress(OSError):
                private.write(folder / entry, text, self.variable)


@functools.cache
def among_caches(name: str) -> Path | None:
    """Return the path of a folder among the user's caches; None if the user has no home."""
    import platformdirs  # when first needed only

    try:
        return platformdirs.user_cache_path(name, appauthor=False)
    except RuntimeError:
        return None


def hashed(*parts: str | bytes) -> bytes:
    """Return the hash of some texts, whose ends count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
