"""Download a file over HTTP, verify it, and replace the target atomically.

Data is written to a temporary file with an unpredictable name in the same folder, which is renamed
to the target when it is complete.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mt_nn.errors import DownloadError, SettingError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import CHUNK, PathLike
from mt_nn.files.writing import replacing
from mt_nn.utils.settings import check


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
            time and size of the transfer.

    Raises:
        DownloadError: the connection or the request fails, the transfer is incomplete, a limit is
            exceeded, the checksum differs, or the file cannot be written. An existing file is
            unchanged.
        SettingError: a setting is invalid.
    """
    _check_settings(url, sha256, timeout)
    target = Path(path)
    try:
        if target.is_file() and (sha256 is None or _digest_of(target) == sha256.lower()):
            return target
        with replacing(target) as file:
            _transfer(url, file, progress, timeout)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if sha256 is not None and digest != sha256.lower():
                raise DownloadError(
                    f"{url}: the checksum is {digest}, not {sha256.lower()}. Call download() "
                    "again; if that does not help, the published file has changed."
                )
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


def _check_settings(url: str, sha256: str | None, timeout: float) -> None:
    if not re.fullmatch(r"https?://(?!/)[!-~]+", str(url)):
        raise SettingError(
            "url must begin with http:// or https:// and a host name, and contain no spaces or "
            f"non-ASCII characters (see urllib.parse.quote()); got {url!r}."
        )
    hexadecimal = sha256 is None or re.fullmatch(r"[0-9a-fA-F]{64}", sha256)
    check("sha256", sha256, bool(hexadecimal), "64 hexadecimal digits")
    check("timeout", timeout, 0 < timeout < float("inf"), "a positive number of seconds")


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _transfer(url: str, file: BinaryIO, progress: bool, timeout: float) -> None:
    """Write the content of a URL to a file."""
    # Imported here, because importing them takes long.
    import http.client
    import urllib.error
    import urllib.request

    allowance = Allowance(url, DownloadError)
    headers = {"User-Agent": "mt-nn", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            if not response.url.startswith(("https:", url[: url.index(":") + 1])):
                raise DownloadError(f"{url} redirects to {response.url}, which is not safe.")
            length = response.headers.get("Content-Length", "")
            total = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
            allowance.check("download", total or 0)
            with _progress_bar(progress, url.rsplit("/", 1)[-1], total) as report:
                while chunk := response.read1(CHUNK):
                    allowance.take("download", len(chunk))
                    file.write(chunk)
                    report(len(chunk))
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: HTTP error {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DownloadError(f"could not download {url} ({reason}).") from error
    if total is not None and file.tell() != total:
        raise DownloadError(
            f"{url}: the connection ended after {file.tell()} of {total} bytes. Call download() "
            "again."
        )


@contextmanager
def _progress_bar(shown: bool, name: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar by a number of bytes."""
    try:
        from rich.markup import escape
        from rich.progress import Progress
    except ImportError:
        yield lambda count: None
        return
    with Progress(disable=not shown) as bar:
        task = bar.add_task(escape(name), total=total)
        yield lambda count: bar.advance(task, count)
