"""The part of a download that speaks HTTP: requests, redirections, and answers that break off."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mt_nn.errors import DownloadError
from mt_nn.files.reading import CHUNK

PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


def fetch_part(url: str, part: Path, timeout: float, progress: bool) -> None:
    """Bring a partial file to its end, or begin it.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, or what
            comes cannot be written.
    """
    try:
        _fetch(url, part, timeout, progress)
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: the server answers {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DownloadError(f"could not fetch {url} to {part.parent} ({reason}).") from error


def _fetch(url: str, part: Path, timeout: float, progress: bool) -> None:
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
        with (
            part.open("r+b" if start else "wb") as file,
            _bar(progress, url.rsplit("/", 1)[-1], total) as report,
        ):
            file.seek(start)
            file.truncate()
            report(start)
            while chunk := response.read1(CHUNK):  # nothing, too, where the connection breaks off
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
        if new not in ("http", "https") or (old == "https" and new == "http"):
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


@contextmanager
def _bar(shown: bool, name: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Yield a function to be told how many bytes have come, which moves a bar if there is one."""
    try:
        from rich.markup import escape
        from rich.progress import Progress
    except ImportError:
        yield lambda count: None
        return
    with Progress(disable=not shown) as bar:
        task = bar.add_task(escape(name), total=total)
        yield lambda count: bar.advance(task, count)
