"""The part of a download that speaks HTTP."""

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
    """Write what a server sends into a file.

    Raises:
        DownloadError: there is no connection, the server has no such file or breaks off, or a limit
            is reached.
        OSError: what comes cannot be written.
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
            total = _total(response)
            allowance.check("download", total or 0)
            with _bar(progress, url.rsplit("/", 1)[-1], total) as report:
                while chunk := _read(url, response, allowance):
                    file.write(chunk)
                    report(len(chunk))
    received = file.tell()
    if total is not None and received != total:
        raise DownloadError(
            f"{url}: the connection ended after {received} of {total} bytes. Call download() again."
        )


def _read(url: str, response: Any, allowance: Allowance) -> bytes:
    """Return the next bytes; none at the end, and where the connection breaks off."""
    with _guarded(url, allowance):
        chunk: bytes = response.read1(CHUNK)
    allowance.take("download", len(chunk))
    return chunk


@contextmanager
def _guarded(url: str, allowance: Allowance) -> Iterator[None]:
    """Raise DownloadError for what goes wrong between here and the server."""
    try:
        yield
    except DownloadError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: the server answers {error.code}, {error.reason}.") from error
    except (OSError, http.client.HTTPException) as error:
        allowance.take("download", 0)  # the connection may have been closed at the deadline
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DownloadError(f"could not fetch {url} ({reason}).") from error


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Speak HTTP over connections that can be closed while a thread waits for them.

    A server may send a byte now and then for ever, also in headers, which Python's client reads
    without end. No single wait is too long then.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sockets: list[socket.socket] = []

    def do_open(self, http_class: Any, req: Any, **settings: Any) -> Any:
        """Open a connection, and remember its socket."""

        class Connection(http_class):  # type: ignore[misc]
            def connect(connection) -> None:  # noqa: N805 - `self` is the handler
                super().connect()
                self._sockets.append(connection.sock)

        return super().do_open(Connection, req, **settings)

    @contextmanager
    def closed_at(self, deadline: float) -> Iterator[None]:
        """Close the connections when the time is over, unless the block has ended."""
        left = min(max(deadline - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
        timer = threading.Timer(left, self._close)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):  # it is closed already
                each.shutdown(socket.SHUT_RDWR)


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follow redirections over HTTP, but not from an encrypted connection to an open one."""

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


def _total(response: Any) -> int | None:
    """Return how long the file is, or None if the server does not say."""
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None


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
