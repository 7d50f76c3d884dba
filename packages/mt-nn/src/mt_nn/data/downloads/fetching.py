"""HTTP transfers of downloads."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, BinaryIO

from mt_nn.errors import DownloadError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import CHUNK


def fetch_into(file: BinaryIO, url: str, timeout: float, progress: bool) -> None:
    """Write the content of a URL to a file.

    Raises:
        DownloadError: the connection or the request fails, the transfer is incomplete, or a limit
            is exceeded.
        OSError: the file cannot be written.
    """
    allowance = Allowance(url, DownloadError)
    handler = _Handler()
    opener = urllib.request.build_opener(handler, _Redirections())
    headers = {"User-Agent": "mt-nn", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers)
    with handler.closed_at(allowance.deadline):
        with _guarded(url, allowance):
            response = opener.open(request, timeout=timeout)
        with response:
            total = _content_length(response)
            allowance.check("download", total or 0)
            with _progress_bar(progress, url.rsplit("/", 1)[-1], total) as report:
                while chunk := _read(url, response, allowance):
                    file.write(chunk)
                    report(len(chunk))
    received = file.tell()
    if total is not None and received != total:
        raise DownloadError(
            f"{url}: the connection ended after {received} of {total} bytes. Call download() again."
        )


def _read(url: str, response: Any, allowance: Allowance) -> bytes:
    """Return the next bytes; none at the end or if the connection was closed."""
    with _guarded(url, allowance):
        chunk: bytes = response.read1(CHUNK)
    allowance.take("download", len(chunk))
    return chunk


@contextmanager
def _guarded(url: str, allowance: Allowance) -> Iterator[None]:
    """Convert errors of the connection and the server to DownloadError."""
    try:
        yield
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: HTTP error {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        allowance.take("download", 0)  # the connection may have been closed at the deadline
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DownloadError(f"could not download {url} ({reason}).") from error


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Open HTTP connections that can be closed while a thread waits for them.

    Timeouts do not help against a server that sends a byte from time to time, without end; Python's
    client even reads endless headers.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sockets: list[socket.socket] = []

    def do_open(self, http_class: Any, req: Any, **settings: Any) -> Any:
        """Open a connection, and store its socket."""

        class Connection(http_class):  # type: ignore[misc]
            def connect(connection) -> None:  # noqa: N805 - `self` is the handler
                super().connect()
                self._sockets.append(connection.sock)

        return super().do_open(Connection, req, **settings)

    @contextmanager
    def closed_at(self, deadline: float) -> Iterator[None]:
        """Close the connections at the deadline, unless the block has ended."""
        remaining = min(max(deadline - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
        timer = threading.Timer(remaining, self._close)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):  # already closed
                each.shutdown(socket.SHUT_RDWR)


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follow redirections to HTTP and HTTPS, but not from HTTPS to HTTP."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the next request."""
        old, new = (urllib.parse.urlsplit(url).scheme for url in (req.full_url, newurl))
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not safe.")
        fp.close()  # otherwise the body of any size would be read into memory
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _content_length(response: Any) -> int | None:
    """Return the length of the file; None if the server does not send it."""
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None


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
