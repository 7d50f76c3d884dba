"""Downloads from a local server whose paths select good and bad behaviour."""

import hashlib
import re
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
from mt_nn.data import PUBLISHED, download, fetch
from mt_nn.data.downloads.published import Published

pytestmark = pytest.mark.filterwarnings("ignore:.* was downloaded without a checksum")

CONTENT = np.random.default_rng(0).bytes(700_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "body": (OK + b"\r\n", b"a"),
    "length": (OK + b"Content-Length: 90000\r\n\r\n", b"a"),
    "chunk": (CHUNKED, b"1\r\na\r\n"),
    "large-body": (OK + b"\r\n", bytes(2**16)),
}
"""Endless responses: the beginning, and the part that is repeated."""


class Handler(BaseHTTPRequestHandler):
    """Serve one file; the path selects the behaviour."""

    def do_GET(self) -> None:
        behaviour = self.path.strip("/")
        self.server.requests.append(behaviour)
        if behaviour.startswith("to"):
            self.respond(302, b"", Location=behaviour.removeprefix("to-"))
        elif behaviour == "missing":
            self.respond(404, b"")
        elif behaviour == "slow":
            time.sleep(1)
        elif behaviour in ENDLESS:
            self.wfile.write(ENDLESS[behaviour][0])
            while True:
                self.wfile.write(ENDLESS[behaviour][1])
                time.sleep(0.01)
        elif behaviour == "large-length":
            self.respond(200, b"", length=2**40)
        elif behaviour == "nonsense":
            self.wfile.write(b"this is not HTTP\r\n\r\n")
        elif behaviour == "truncated":
            self.respond(200, CONTENT[:300_000], length=len(CONTENT))
        elif behaviour == "chunked":
            self.respond_chunked(CONTENT)
        elif behaviour == "chunked-truncated":
            self.respond_chunked(CONTENT, ends=False)
        elif behaviour == "unknown-length":
            self.respond(200, CONTENT, length=None)
        else:
            self.respond(200, CONTENT)

    def respond(self, status: int, body: bytes, length: Any = "", **headers: str) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length or len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def respond_chunked(self, body: bytes, ends: bool = True) -> None:
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.wfile.write(b"0\r\n\r\n" if ends else b"")

    def log_message(self, *_: Any) -> None:
        pass


TEMPORARY = ".mt-nn-unfinished-0123456789abcdef"
"""The temporary file of a killed download."""


class Server(ThreadingHTTPServer):
    """Record requests, and wait for all threads when closed."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str] = []

    def handle_error(self, *_: Any) -> None:
        pass  # clients may disconnect


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("no_proxy", "*")
    running.requests.clear()
    return running


def url(server: Server, behaviour: str) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/{behaviour}"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


COMPLETE = ["fine", "chunked", "unknown-length"]


@pytest.mark.parametrize("behaviour", COMPLETE)
@pytest.mark.parametrize("sha256", [None, SHA256, SHA256.upper()])
def test_download_writes_file_and_skips_existing_one(
    server: Server, tmp_path: Path, behaviour: str, sha256: Any
) -> None:
    path = tmp_path / "file"
    for _ in range(2):
        assert download(url(server, behaviour), str(path), sha256, progress=False) == path
        assert path.read_bytes() == CONTENT
    assert server.requests == [behaviour]
    assert names(tmp_path) == ["file"]


def test_download_replaces_file_with_another_checksum(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"an older version")
    download(url(server, "fine"), path, progress=False)
    assert (path.read_bytes(), server.requests) == (b"an older version", [])
    with pytest.raises(nn.DownloadError, match="the checksum is"):
        download(url(server, "fine"), path, "0" * 64, progress=False)
    assert path.read_bytes() == b"an older version"
    assert names(tmp_path) == ["file"]
    download(url(server, "fine"), path, SHA256, progress=False)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_interrupted_download_leaves_no_file(server: Server, tmp_path: Path, sha256: Any) -> None:
    with pytest.raises(nn.DownloadError, match="ended after 300000 of 700000 bytes"):
        download(url(server, "truncated"), tmp_path / "file", sha256, progress=False)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("missing", "HTTP error 404, Not Found"),
        ("nonsense", "could not download"),
        ("chunked-truncated", "could not download .*IncompleteRead"),
        ("truncated", "ended after 300000 of 700000 bytes"),
        ("slow", "could not download .*timed out"),
        ("to-ftp://127.0.0.1:9/file", "could not download"),
        ("to-file:///etc/passwd", "HTTP error 302"),
        ("to-/to-", "HTTP error 302, .*infinite loop"),
    ],
)
def test_server_error_raises_download_error_and_leaves_no_file(
    server: Server, tmp_path: Path, behaviour: str, message: str
) -> None:
    with pytest.raises(nn.DownloadError, match=message):
        download(url(server, behaviour), tmp_path / "file", progress=False, timeout=0.2)
    assert names(tmp_path) == []


@pytest.mark.parametrize("behaviour", [*ENDLESS, "large-length"])
@pytest.mark.parametrize("sha256", [None, SHA256])
def test_endless_response_raises_at_limit_of_time_or_size(
    server: Server, tmp_path: Path, behaviour: str, sha256: Any
) -> None:
    limit = "download" if behaviour in ("large-body", "large-length") else "seconds"
    with (
        nn.limits(seconds=0.15 if limit == "seconds" else 600, download=10**5),
        pytest.raises(nn.DownloadError, match=rf"exceeds the limit.*limits\({limit}="),
    ):
        download(url(server, behaviour), tmp_path / "file", sha256, progress=False)
    assert names(tmp_path) == []


def test_download_does_not_follow_planted_symlinks(server: Server, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in (TEMPORARY, f".file.{SHA256[:16]}.part"):
        (folder / name).symlink_to(outside)
    for _ in range(2):
        with pytest.raises(nn.DownloadError, match="ended after"):
            download(url(server, "truncated"), folder / "file", SHA256, progress=False)
    assert outside.read_bytes() == b"mine"
    download(url(server, "fine"), folder / "file", SHA256, progress=False)
    assert (folder / "file").read_bytes() == CONTENT
    assert outside.read_bytes() == b"mine"


def test_http_download_without_checksum_warns(server: Server, tmp_path: Path) -> None:
    message = f"over HTTP, which can be modified in transit: .* sha256='{SHA256}'"
    with pytest.warns(RuntimeWarning, match=message) as caught:
        download(url(server, "fine"), tmp_path / "file", progress=False)
    assert [warning.filename for warning in caught] == [__file__]
    download(url(server, "fine"), tmp_path / "file", progress=False)  # exists already
    download(url(server, "fine"), tmp_path / "other", SHA256, progress=False)


def test_download_follows_redirection(server: Server, tmp_path: Path) -> None:
    path = download(url(server, "to-/fine"), tmp_path / "file", SHA256, progress=False)
    assert path.read_bytes() == CONTENT


def test_missing_server_or_folder_raises_download_error(server: Server, tmp_path: Path) -> None:
    with pytest.raises(nn.DownloadError, match="could not download http://127.0.0.1:9/x"):
        download("http://127.0.0.1:9/x", tmp_path / "file", timeout=2)
    with pytest.raises(nn.DownloadError, match="nonnumeric port"):
        download("http://127.0.0.1:x/x", tmp_path / "file", timeout=2)
    with pytest.raises(nn.DownloadError, match="No such file or directory"):
        download(url(server, "fine"), tmp_path / "missing" / "file", progress=False)
    with pytest.raises(nn.DownloadError, match="could not write"):
        download(url(server, "fine"), tmp_path, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": "ftp://example.org/x"}, "must begin with http"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"url": "http:///x"}, "must begin with http"),
        ({"url": "http://example.org/a b"}, "must begin with http"),
        ({"url": "http://example.org/ä"}, "non-ASCII characters"),
        ({"url": None}, "must begin with http"),
        ({"sha256": "12"}, "64 hexadecimal digits"),
        ({"timeout": 0}, "a positive number of seconds"),
    ],
)
def test_invalid_download_arguments_raise(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    settings: Any = {"url": "http://127.0.0.1:9/x", "path": tmp_path / "file", **change}
    with pytest.raises(nn.SettingError, match=message):
        download(**settings)


def test_progress_bar_is_shown_if_rich_is_installed(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    download(url(server, "fine"), tmp_path / "file", SHA256)
    assert "100%" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    download(url(server, "fine"), tmp_path / "other", SHA256)
    assert capsys.readouterr().out == ""


# --- Published data sets --------------------------------------------------------------------------


def test_fetch_downloads_files_of_published_dataset_once(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"fine": SHA256, "chunked": None}
    monkeypatch.setitem(PUBLISHED, "mine", Published(url(server, ""), files, "none"))
    for _ in range(2):
        folder = fetch("mine", tmp_path / "new", progress=False)
        assert folder == tmp_path / "new" / "mine"
        assert names(folder) == ["chunked", "fine"]
        assert (folder / "fine").read_bytes() == CONTENT
    assert server.requests == ["fine", "chunked"]
    monkeypatch.setitem(PUBLISHED, "other", Published(url(server, ""), {"fine": "0" * 64}, "none"))
    with pytest.raises(nn.DownloadError, match="the checksum is"):
        fetch("other", tmp_path)
    with pytest.raises(nn.SettingError, match="name must be one of cifar10, fashion"):
        fetch("imagenet", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(nn.FileError, match="could not create the folder"):
        fetch("mine", tmp_path / "file")


def test_published_files_have_https_urls_checksums_and_licences() -> None:
    for name, data in PUBLISHED.items():
        for file, sha256 in data.files.items():
            parts = urllib.parse.urlsplit(data.address + file)
            assert (parts.scheme, bool(parts.hostname)) == ("https", True)
            assert parts.path.endswith(f"/{file}"), name
            assert sha256 is None or re.fullmatch("[0-9a-f]{64}", sha256)
        assert data.licence
