"""The part of a download that speaks HTTP: requests, redirections, and answers that break off."""

from __future__ import annotations

import functools
import http.client
import io
import os
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from mt_nn.errors import DownloadError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import CHUNK

PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


def fetch_rest(url: str, file: BinaryIO, timeout: float, progress: bool) -> None:
    """Bring what a file holds of another one to its end, or begin it.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, or a limit
            is reached.
        OSError: what comes cannot be written.
    """
    allowance = Allowance(url, DownloadError)
    done = file.seek(0, os.SEEK_END)
    try:
        response = _opened(url, done, timeout, allowance)
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: the server answers {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreached(url, error) from error
    with response:
        start = _start_of(response, done)
        total = _total(response, start)
        allowance.check("download", total or 0)
        allowance.take("download", start)
        file.seek(start)
        file.truncate()
        with _bar(progress, url.rsplit("/", 1)[-1], total) as report:
            report(start)
            while chunk := _chunk(url, response):
                allowance.take("download", len(chunk))
                file.write(chunk)
                report(len(chunk))
        received = file.tell()
    if total is not None and received != total:
        raise DownloadError(
            f"{url}: the connection ended after {received} of {total} bytes. Call download() "
            "again; with a checksum it goes on from there."
        )


def _opened(url: str, done: int, timeout: float, allowance: Allowance) -> Any:
    """Return the answer of the server, which has what is not done yet, or all."""
    opener = _opener(timeout, allowance)
    try:
        return opener.open(_request(url, done), timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != RANGE_NOT_SATISFIABLE or not done:
            raise
        # There is nothing behind what is here: it is whole, or from another file.
        error.close()
        return opener.open(_request(url, 0), timeout=timeout)


def _request(url: str, done: int) -> urllib.request.Request:
    headers = {"User-Agent": "mt-nn", "Accept-Encoding": "identity"}
    if done:
        headers["Range"] = f"bytes={done}-"
    return urllib.request.Request(url, headers=headers)


def _chunk(url: str, response: Any) -> bytes:
    """Return the next bytes; none at the end, and where the connection breaks off."""
    try:
        chunk: bytes = response.read1(CHUNK)
    except DownloadError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise _unreached(url, error) from error
    return chunk


def _unreached(url: str, error: Exception) -> DownloadError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    return DownloadError(f"could not fetch {url} ({reason}).")


def _opener(timeout: float, allowance: Allowance) -> urllib.request.OpenerDirector:
    """Return what opens HTTP only: urllib's own would follow a redirection to FTP."""
    opener = urllib.request.OpenerDirector()
    answer = functools.partial(_Answer, timeout=timeout, allowance=allowance)
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        _Handler(answer),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirections(),
    ):
        opener.add_handler(handler)
    return opener


class _Handler(urllib.request.AbstractHTTPHandler):
    """Speaks HTTP, and takes its answers from a class of ours."""

    def __init__(self, answer: Callable[..., http.client.HTTPResponse]) -> None:
        super().__init__()
        self._answer = answer

    def http_open(self, request: urllib.request.Request) -> Any:
        """Open a connection that everybody on the way can read."""
        return self.do_open(self._connecting(http.client.HTTPConnection), request)

    def https_open(self, request: urllib.request.Request) -> Any:
        """Open an encrypted connection to a server that has proved its name."""
        context = ssl.create_default_context()
        return self.do_open(self._connecting(http.client.HTTPSConnection), request, context=context)

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def _connecting(self, kind: Callable[..., http.client.HTTPConnection]) -> Any:
        def connection(*arguments: Any, **settings: Any) -> http.client.HTTPConnection:
            made = kind(*arguments, **settings)
            made.response_class = self._answer  # type: ignore[assignment]
            return made

        return connection


class _Answer(http.client.HTTPResponse):
    """An answer that must have come, with its headers, before the time is over."""

    def __init__(
        self, sock: Any, *arguments: Any, timeout: float, allowance: Allowance, **settings: Any
    ) -> None:
        super().__init__(sock, *arguments, **settings)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Timed(raw, sock, timeout, allowance))


class _Timed(io.RawIOBase):
    """The bytes that a server sends.

    A server that sends one now and then, be it in its headers, which Python's client reads and
    passes over without end, never makes a single wait too long. So each wait is only as long as the
    time that is left for all.
    """

    def __init__(self, raw: Any, sock: Any, timeout: float, allowance: Allowance) -> None:
        self._raw, self._sock, self._timeout, self._allowance = raw, sock, timeout, allowance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._allowance.deadline - time.monotonic()
        if left <= 0:
            raise self._allowance.refusal("seconds")
        self._sock.settimeout(min(self._timeout, left))
        try:
            return cast(int, self._raw.readinto(buffer))
        except TimeoutError:
            if left < self._timeout:
                raise self._allowance.refusal("seconds") from None
            raise

    def close(self) -> None:
        self._raw.close()
        super().close()


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
        fp.close()  # or all that the server says beside it would be read into memory
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _start_of(response: Any, done: int) -> int:
    """Return where in the file the answer begins; a server may send all instead of the rest."""
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
