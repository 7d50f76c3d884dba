"""Fetching a file once: over HTTP, resumable, checked, and there whole or not at all.

What has arrived lies beside the target, in a file whose name begins with a dot and ends in `.part`,
and is moved over it in one step when it is complete.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import urllib.parse
from pathlib import Path

from mt_nn.errors import DownloadError, SettingError
from mt_nn.files.reading import PathLike

SCHEMES = ("http", "https")


def download(
    url: str,
    path: PathLike,
    sha256: str | None = None,
    progress: bool = True,
    timeout: float = 30.0,
) -> Path:
    """Fetch a file, unless it is there, and return its path.

    A file of that name is taken to be the one wanted if it has the checksum, or if none is given.
    With a checksum, a download that was interrupted is resumed by the next call; without one it
    begins anew, for nothing would show whether the parts belong together, and a
    file is known to be whole only if the server says how long it is.

    Args:
        url: begins with `http://` or `https://`. A redirection may lead to either, but from
            `https` not to `http`.
        path: the file's name here; its folder must exist.
        sha256: its checksum, 64 hexadecimal digits.
        progress: whether to show a progress bar, if rich is installed.
        timeout: how many seconds to wait for the server each time.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, or the
            file has another checksum, and is then deleted; or it cannot be written. An earlier file
            of that name is untouched.
        SettingError: a setting makes no sense.
    """
    from mt_nn.data.downloads.fetching import (
        fetch_part,  # which imports urllib.request, and that takes long
    )

    target = Path(path)
    _check_settings(url, target, sha256, timeout)
    try:
        if target.is_file() and (sha256 is None or _digest_of(target) == sha256.lower()):
            return target
        # Without a checksum the part is of use to this call only, and gets a name of its own.
        name = f".{target.name}.{sha256[:16].lower() if sha256 else secrets.token_hex(8)}.part"
        part = target.with_name(name)
        try:
            fetch_part(url, part, timeout, progress)
            if sha256 is not None:
                _check_digest(url, part, sha256.lower())
            part.replace(target)
        finally:
            if sha256 is None:
                part.unlink(missing_ok=True)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"could not write {target} ({error.strerror or error}). The folder must exist and be "
            "writable, with room on the disk."
        ) from error
    return target


def _check_settings(url: str, target: Path, sha256: str | None, timeout: float) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        fine = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except (ValueError, AttributeError):
        fine = False
    if not fine or re.search(r"[\x00-\x20\x7f-\U0010ffff]", url):
        raise SettingError(
            "url must begin with http:// or https:// and the name of a server, and hold no spaces "
            f"or letters beyond ASCII, which urllib.parse.quote() replaces; got {url!r}."
        )
    if not target.name or "\0" in target.name:
        raise SettingError(f"path must be the name of a file; got {str(target)!r}.")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise SettingError(f"sha256 is 64 hexadecimal digits; got {sha256!r}.")
    if not 0 < timeout < float("inf"):
        raise SettingError(f"timeout is a positive number of seconds; got {timeout!r}.")


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_digest(url: str, part: Path, wanted: str) -> None:
    found = _digest_of(part)
    if found != wanted:
        part.unlink()
        raise DownloadError(
            f"{url}: the checksum is {found}, not {wanted}. What had arrived is deleted; call "
            "download() again, and if that does not help the file there is another one."
        )
