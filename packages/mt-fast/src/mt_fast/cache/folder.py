"""Store compiled code in a folder, and read only entries that are intact and belong to this user.

Machine code is shared between processes in files of one folder. A file starts with a hash of its
content: a damaged file is treated as missing. If there is any problem with the folder (it cannot be
written, the disk is full, other users may write to it: see `private.py`), entries are neither found
nor stored.
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
    """The folder of the compiled code of one package.

    Attributes:
        name: the name of the folder, in the user's cache directory.
        variable: the environment variable that names another folder, or is `off`.
    """

    name: str
    variable: str

    def path(self) -> Path | None:
        """Return the path; None if storing is off, or the user has no home directory.

        Raises:
            BackendUnavailableError: the variable names the home of a user who does not exist.
        """
        chosen = os.environ.get(self.variable, "")
        if chosen == "off":
            return None
        if chosen:
            try:
                return Path(chosen).expanduser()
            except RuntimeError as error:
                raise BackendUnavailableError(
                    f"{self.variable}={chosen} is not a folder: the user does not exist. Set it to "
                    f"the path of a folder or `off`, or unset {self.variable}."
                ) from error
        return among_caches(self.name)

    def read(self, entry: str) -> bytes | None:
        """Return the content of an entry; None if there is none that is trusted and intact."""
        folder = self.path()
        data = None if folder is None else private.read(folder / entry, self.variable)
        if data is None:
            return None
        digest, content = data[:_DIGEST], data[_DIGEST:]
        return content if hashlib.sha256(content).digest() == digest else None

    def write(self, entry: str, content: bytes) -> None:
        """Store an entry, if possible."""
        self.write_text(entry, hashlib.sha256(content).digest() + content)

    def write_text(self, entry: str, text: bytes) -> None:
        """Store a file for people to read, if possible."""
        folder = self.path()
        if folder is not None:
            with contextlib.suppress(OSError):
                private.write(folder / entry, text, self.variable)


@functools.cache
def among_caches(name: str) -> Path | None:
    """Return the path of a folder in the user's cache directory; None without a home directory."""
    import platformdirs  # imported on first use

    try:
        return platformdirs.user_cache_path(name, appauthor=False)
    except RuntimeError:
        return None


def hashed(*parts: str | bytes) -> bytes:
    """Return the SHA-256 digest of the parts and their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
