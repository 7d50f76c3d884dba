"""Fetching a file once: over HTTP, resumable, checked, and there whole or not at all.

What has arrived lies beside the target, in a file whose name begins with a dot and ends in `.part`,
and is moved over it in one step when it is complete.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import secrets
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mt_nn.data.reading import CHUNK, PathLike
from mt_nn.errors import DownloadError, SettingError

SCHEMES = ("http", "https")
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


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
    begins anew, for nothing would show whether the parts belong together.

    Args:
        url: begins with `http://` or `https://`. A redirection may lead to either, but from
            `https` not to `http`.
        path: the file's name here; its folder must exist.
        sha256: its checksum, 64 hexadecimal digits.
        progress: whether to show a progress bar, if rich is installed.
        timeout: how many seconds to wait for the server each time.

    Without a checksum, a file is known to be whole only if the server says how long it is.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, or the
            file has another checksum, and is then deleted; or it cannot be written. An earlier file
            of that name is untouched.
        SettingError: a setting makes no sense.
    """
    _check_settings(url, sha256, timeout)
    target = Path(path)
    try:
        if target.is_file() and (sha256 is None or _digest_of(target) == sha256.lower()):
            return target
        # Without a checksum the part is of use to this call only, and gets a name of its own.
        name = f".{target.name}.{sha256[:16].lower() if sha256 else secrets.token_hex(8)}.part"
        part = target.with_name(name)
        try:
            _fetch(url, part, timeout, progress)
            if sha256 is not None:
                _check_digest(url, part, sha256.lower())
            part.replace(target)
        finally:
            if sha256 is None:
                part.unlink(missing_ok=True)
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: the server answers {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DownloadError(f"could not fetch {url} to {target} ({reason}).") from error
    return target


def _check_settings(url: str, sha256: str | None, timeout: float) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        fine = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except (ValueError, AttributeError):
        fine = False
    if not fine or re.search(r"[\x00-\x20\x7f-\U0010ffff]", url):
        raise SettingError(
            f"url must begin with http:// or https:// and the name of a server, and hold no spaces "
            f"or letters beyond ASCII, which urllib.parse.quote() replaces; got {url!r}."
        )
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise SettingError(f"sha256 is 64 hexadecimal digits; got {sha256!r}.")
    if not 0 < timeout < float("inf"):
        raise SettingError(f"timeout is a positive number of seconds; got {timeout!r}.")


def _fetch(url: str, part: Path, timeout: float, progress: bool) -> None:
    """Bring the partial file to its end."""
    done = part.stat().st_size if part.exists() else 0
    try:
        response = _request(url, done, timeout)
    except urllib.error.HTTPError as error:
        if error.code != RANGE_NOT_SATISFIABLE or not done:
            raise
        # There is nothing behind what is here: it is whole, or from another file.
        error.close()
        response = _request(url, 0, timeout)
    with response:
        start = _start_of(response, done)
        total = _total(response, start)
        with part.open("r+b" if start else "wb") as file, _bar(progress, url, total) as report:
            file.seek(start)
            file.truncate()
            report(start)
            while chunk := _chunk(response):
                file.write(chunk)
                report(len(chunk))
            received = file.tell()
    if total is not None and received != total:
        raise DownloadError(
            f"{url}: the connection ended after {received} of {total} bytes. Call download() "
            "again; with a checksum it goes on from there."
        )


def _request(url: str, done: int, timeout: float) -> Any:
    headers = {"User-Agent": "mt-nn", "Accept-Encoding": "identity"}
    if done:
        headers["Range"] = f"bytes={done}-"
    return _opener().open(urllib.request.Request(url, headers=headers), timeout=timeout)


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens HTTP only: urllib's own would follow a redirection to FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        _Redirections,
    ):
        opener.add_handler(handler())
    return opener


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follows redirections over HTTP, but not from an encrypted connection to an open one."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the next request."""
        old, new = (urllib.parse.urlsplit(url).scheme for url in (req.full_url, newurl))
        if new not in SCHEMES or (old == "https" and new == "http"):
            raise DownloadError(
                f"{req.full_url} leads to {newurl}, where it is not safe to follow."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _start_of(response: Any, done: int) -> int:
    """Return where in the file the answer begins; a server may send all in place of the rest."""
    if response.status != PARTIAL_CONTENT:
        return 0
    given = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if given is None or int(given[1]) != done:
        raise DownloadError(
            f"{response.url}: bytes from {done} on were asked for, and the server sends "
            f"{response.headers.get('Content-Range')!r}."
        )
    return done


def _total(response: Any, start: int) -> int | None:
    """Return how long the file is, or None if the server does not say."""
    length = response.headers.get("Content-Length", "")
    return start + int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None


def _chunk(response: Any) -> bytes:
    """Return what comes next, which is nothing at the end or where the connection ends."""
    try:
        chunk: bytes = response.read1(CHUNK)
    except http.client.IncompleteRead as error:
        raise DownloadError(f"{response.url}: the connection broke off.") from error
    return chunk


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


@contextmanager
def _bar(shown: bool, name: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Yield a function to be told how many bytes have come, which moves a bar if there is one."""
    try:
        from rich.progress import Progress
    except ImportError:
        yield lambda count: None
        return
    with Progress(transient=True, disable=not shown) as bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)
