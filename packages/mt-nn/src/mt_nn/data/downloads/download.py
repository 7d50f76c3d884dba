"""Fetch a file once: over HTTP, checked, and there whole or not at all.

What has arrived lies beside the target, under a name of its own that nobody can know beforehand,
and is moved over it in one step when it is complete.
"""

from __future__ import annotations

import hashlib
import re
import urllib.parse
import warnings
from pathlib import Path

from mt_nn.errors import DownloadError, SettingError
from mt_nn.files.reading import PathLike
from mt_nn.files.writing import replacing

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
    Without a checksum it is known to be whole only if the server says how long it is; a warning
    then names the checksum of what has come.

    Args:
        url: begins with `http://` or `https://`. A redirection may lead to either, but from
            `https` not to `http`.
        path: the file's name here; its folder must exist.
        sha256: its checksum, 64 hexadecimal digits. Without one, the file is what the server says,
            or over `http://` whoever is on the way.
        progress: whether to show a progress bar, if rich is installed.
        timeout: how many seconds to wait for the server each time. How long all may take, and how
            many bytes may come, is in `mt_nn.limits`.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, a limit is
            reached, or the file has another checksum, and is then deleted; or it cannot be written.
            An earlier file of that name is untouched.
        SettingError: an invalid setting.
    """
    target = Path(path)
    _check_settings(url, target, sha256, timeout)
    try:
        if target.is_file() and (sha256 is None or _digest_of(target) == sha256.lower()):
            return target
        digest = _fetched(url, target, sha256, progress, timeout)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(str(error)) from error
    if sha256 is None:
        warnings.warn(_unchecked(url, digest), RuntimeWarning, stacklevel=2)
    return target


def _fetched(url: str, target: Path, sha256: str | None, progress: bool, timeout: float) -> str:
    """Fetch a file, and return its checksum."""
    # This imports urllib.request, which takes long.
    from mt_nn.data.downloads.fetching import fetch_into

    with replacing(target) as file:
        fetch_into(file, url, timeout, progress)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 is not None and digest != sha256.lower():
            raise DownloadError(
                f"{url}: the checksum is {digest}, not {sha256.lower()}. Call download() again; if "
                "that does not help, the file there is another one."
            )
    return digest


def _unchecked(url: str, digest: str) -> str:
    """Return what is to be said of a file that was not checked."""
    over = ", over HTTP, where anybody on the way can change it" if url[:5] == "http:" else ""
    return (
        f"{url} was fetched without a checksum{over}: nothing shows that it is the file that was "
        f"published. This one has sha256={digest!r}: compare it with the publisher's, and pass it "
        "from now on."
    )


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
