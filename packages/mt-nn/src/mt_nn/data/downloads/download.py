"""Download a file over HTTP, verify it, and replace the target atomically.

Data is written to a temporary file with an unpredictable name in the same folder, which is renamed
to the target when it is complete.
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
from mt_nn.utils.settings import check

SCHEMES = ("http", "https")


def download(
    url: str,
    path: PathLike,
    sha256: str | None = None,
    progress: bool = True,
    timeout: float = 30.0,
) -> Path:
    """Download a file unless it exists, and return its path.

    An existing file is kept if it has the checksum, or if no checksum is given. Without a checksum,
    a truncated file is detected only if the server sends the length; a warning states the checksum
    of the received file.

    Args:
        url: an `http://` or `https://` URL. Redirections are followed, except from `https` to
            `http`.
        path: the path of the file; its folder must exist.
        sha256: the checksum, 64 hexadecimal digits. Without one, the content is not verified.
        progress: whether to show a progress bar, if rich is installed.
        timeout: how many seconds to wait for each response of the server. `mt_nn.limits` bound the
            total time and size.

    Raises:
        DownloadError: the connection or the request fails, the transfer is incomplete, a limit is
            exceeded, the checksum differs, or the file cannot be written. An existing file is
            unchanged.
        SettingError: a setting is invalid.
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
        insecure = " over HTTP, which can be modified in transit" if url[:5] == "http:" else ""
        message = (
            f"{url} was downloaded without a checksum{insecure}: its content was not verified. Its "
            f"checksum is sha256={digest!r}: compare it with the publisher's, and pass it."
        )
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return target


def _fetched(url: str, target: Path, sha256: str | None, progress: bool, timeout: float) -> str:
    """Download a file, and return its checksum."""
    # Imported here because it imports urllib.request, which is slow.
    from mt_nn.data.downloads.fetching import fetch_into

    with replacing(target) as file:
        fetch_into(file, url, timeout, progress)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 is not None and digest != sha256.lower():
            raise DownloadError(
                f"{url}: the checksum is {digest}, not {sha256.lower()}. Call download() again; if "
                "that does not help, the published file has changed."
            )
    return digest


def _check_settings(url: str, target: Path, sha256: str | None, timeout: float) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        valid = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except (ValueError, AttributeError):
        valid = False
    if not valid or re.search(r"[\x00-\x20\x7f-\U0010ffff]", url):
        raise SettingError(
            "url must begin with http:// or https:// and a host name, and contain no spaces or "
            f"non-ASCII characters (see urllib.parse.quote()); got {url!r}."
        )
    named = target.name and "\0" not in target.name
    check("path", str(target), bool(named), "the name of a file")
    hexadecimal = sha256 is None or re.fullmatch(r"[0-9a-fA-F]{64}", sha256)
    check("sha256", sha256, bool(hexadecimal), "64 hexadecimal digits")
    check("timeout", timeout, 0 < timeout < float("inf"), "a positive number of seconds")


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
