"""Files: written whole or not at all, whatever happens on the way, and read within limits."""

import fcntl
import gzip
import math
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import mt_nn as nn
from mt_nn import data
from mt_nn.files.writing import replacing, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


UNFINISHED = ".mt-nn-unfinished-0123456789abcdef"


# --- What is there afterwards -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["file", "n" * 240, "n" * 255, "ü" * 127])
def test_names_of_any_length(tmp_path: Path, name: str) -> None:
    for content in (b"first", b"second"):
        write_atomically(tmp_path / name, content)
        assert (tmp_path / name).read_bytes() == content
    assert names(tmp_path) == [name]


def test_invalid_names(tmp_path: Path) -> None:
    for name in ("n" * 256, "a\0b", "missing/file", ".", ".."):
        with pytest.raises(nn.FileError, match="could not write"):
            write_atomically(f"{tmp_path}/{name}", b"x")
    assert names(tmp_path) == []


def test_links_are_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"old")
    (tmp_path / "near").symlink_to("real/file")
    (tmp_path / "far").symlink_to(tmp_path / "near")
    (tmp_path / "new").symlink_to("real/new")
    for link in ("near", "far", "new"):
        write_atomically(tmp_path / link, link.encode())
        assert (tmp_path / link).is_symlink()
        assert (tmp_path / link).read_bytes() == link.encode()
    assert names(tmp_path / "real") == ["file", "new"]
    assert names(tmp_path) == ["far", "near", "new", "real"]
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(nn.FileError, match="symbolic links"):
        write_atomically(tmp_path / "circle", b"x")
    assert (tmp_path / "circle").is_symlink()


def test_other_hard_links_keep_their_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "copy").hardlink_to(tmp_path / "file")
    write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "copy").read_bytes() == b"old"


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write_atomically(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o666, 0o755):
            path.chmod(mode)
            with replacing(path):
                ((held,),) = [list(tmp_path.glob(".mt-nn-*"))]
                assert not stat.S_IMODE(held.stat().st_mode) & ~mode  # nobody sees more meanwhile
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to others")
def test_owner_and_group_are_preserved(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_files_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(nn.FileError, match="Permission denied"):
        write_atomically(path, b"new")
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(nn.FileError, match="Permission denied"):
            write_atomically(path, b"new")
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # the name of a socket is short


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, make_socket])
def test_only_regular_files_are_replaced(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "thing"
    make(path)
    kind = stat.S_IFMT(path.stat().st_mode)
    with pytest.raises(nn.FileError, match=r"it is a (folder|device)"):
        write_atomically(path, b"x")
    assert stat.S_IFMT(path.stat().st_mode) == kind
    assert names(tmp_path) == ["thing"]


def test_devices_are_not_replaced() -> None:
    with pytest.raises(nn.FileError, match="it is a device"):
        write_atomically("/dev/null", b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


# --- What happens on the way --------------------------------------------------------------------


def write_half(path: Path, error: BaseException) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise error


def test_errors_leave_the_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for there in ([], ["file"]):
        for error in (OSError(28, "no room"), KeyboardInterrupt(), nn.FileError("mine")):
            raised = nn.FileError if isinstance(error, OSError) else KeyboardInterrupt
            with pytest.raises(raised):
                write_half(path, error)
            assert names(tmp_path) == there
        path.write_bytes(b"old")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("size", [2**12, 2**20])
def test_a_full_disk_leaves_the_file_unchanged(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**11, before[1]))
        with pytest.raises(nn.FileError, match="File too large"):
            write_atomically(path, bytes(size))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_content_and_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content before the name leads to it, so that no power cut leaves an empty file."""
    path, done = tmp_path / "file", []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(number: int) -> None:
        status = os.fstat(number)
        done.append(("content", status.st_size) if stat.S_ISREG(status.st_mode) else "folder")
        fsync(number)

    def noted_replace(source: Path, target: Path) -> Path:
        done.append("replace")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    write_atomically(path, b"12345")
    assert done == [("content", 5), "replace", "folder"]


KILLED = """
import os, signal, sys
from mt_nn.files.writing import replacing
with replacing(sys.argv[1]) as file:
    file.write(bytes(2**20))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write_atomically(tmp_path / "other", b"")
    assert names(tmp_path) == ["file", "other"]


def test_only_own_stale_files_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    kept = [UNFINISHED.replace("0", digit) for digit in "abc"]
    (folder / kept[0]).symlink_to(outside)
    (folder / kept[1]).mkdir()
    (folder / kept[2]).hardlink_to(outside)
    for name in (f"{UNFINISHED}x", UNFINISHED[:-1], UNFINISHED[1:], f"x{UNFINISHED}", "file.part"):
        (folder / name).write_bytes(b"mine")
        kept.append(name)
    os.mkfifo(folder / UNFINISHED.replace("0", "d"))
    kept.append(UNFINISHED.replace("0", "d"))
    if os.geteuid() == 0:  # who alone may make a file another user's
        kept.append(UNFINISHED.replace("0", "e"))
        (folder / kept[-1]).write_bytes(b"theirs")
        os.chown(folder / kept[-1], 12345, 12345)
    (folder / UNFINISHED).write_bytes(b"left behind")
    with replacing(folder / "first") as file:  # which a sweep must not take away
        file.write(b"1")
        write_atomically(folder / "second", b"2")
        assert len(names(folder)) == len(kept) + 2
    assert names(folder) == sorted([*kept, "first", "second"])
    assert (folder / "first").read_bytes() == b"1"
    assert outside.read_bytes() == b"mine"


def test_files_removed_before_locking_are_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, swept = fcntl.flock, []

    def late_flock(file: Any, how: int) -> None:
        if not swept:
            (path,) = tmp_path.iterdir()
            path.unlink()
            swept.append(path)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late_flock)
    write_atomically(tmp_path / "file", b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert len(swept) == 1


def test_concurrent_writes(tmp_path: Path) -> None:
    """None takes another's file for one that was left behind, and the target is always whole."""
    path = tmp_path / "file"
    contents = [bytes([number]) * 10_000 for number in range(4)]

    def write(content: bytes) -> bool:
        for _ in range(15):
            write_atomically(path, content)
            if path.read_bytes() not in contents:
                return False
        return True

    with ThreadPoolExecutor(len(contents)) as pool:
        assert all(pool.map(write, contents))
    assert names(tmp_path) == ["file"]


# --- Limits -------------------------------------------------------------------------------------


def text(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "text"
    path.write_bytes(content)
    return path


WORD = sys.getsizeof("a") + 100
"""The memory that a word of one letter counts for."""

REACHED: list[tuple[str, float, Callable[[Path], object], bytes]] = [
    ("data", 4, data.read_text, b"12345"),
    ("data", 30, data.read_text, gzip.compress(b"x" * 31, mtime=0)),
    ("data", 30, data.read_text, gzip.compress(b"", mtime=0) * 2),  # what is packed is counted, too
    ("memory", 4, data.read_text, b"12345"),
    ("memory", 31, data.read_text, "ä234567".encode()),
    ("memory", 2 * WORD - 1, data.read_penn_treebank, b"a b"),
    ("memory", 2 * WORD - 1, data.read_movie_reviews, b"1\t2\ta\n2\t2\tb\n"),
    ("memory", 2 * WORD - 1, data.read_sst2, b"sentence\tlabel\na\t1\nb\t1\n"),
    ("line", 4, data.read_penn_treebank, b"1234\n"),
    ("json", 30, data.Vocabulary.load, b'{"unknown": null, "padding": null, "tokens": []}'),
    ("seconds", 1e-9, data.read_text, b"1"),
]


@pytest.mark.parametrize(("limit", "most", "read", "content"), REACHED)
def test_every_limit_is_checked_and_can_be_raised(
    tmp_path: Path, limit: str, most: float, read: Callable[[Path], object], content: bytes
) -> None:
    path = text(tmp_path, content)
    with (
        nn.limits(**{limit: most}),
        pytest.raises(nn.FileError, match=rf"text is refused.* allow more .*limits\({limit}=...\)"),
    ):
        read(path)
    with nn.limits(**{limit: math.inf}):
        read(path)
    read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bytes": 1}, "the limit must be one of data, memory, line"),
        ({"data": 0}, "data must be a positive number of bytes of data; got 0"),
        ({"seconds": math.nan}, "seconds must be a positive number of seconds; got nan"),
        ({"data": "1"}, "data must be a number; got '1'"),
    ],
)
def test_invalid_limits(changes: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message), nn.limits(**changes):
        pass


def test_limits_apply_to_their_block_and_thread(tmp_path: Path) -> None:
    path = text(tmp_path, b"12345")
    with nn.limits(data=4) as inner:
        assert inner.data == 4
        with nn.limits(line=3) as innermost:
            assert (innermost.data, innermost.line) == (4, 3)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(data.read_text, path).result() == "12345"
        with pytest.raises(nn.FileError, match="more than 4 bytes of data"):
            data.read_text(path)
    assert data.read_text(path) == "12345"


@pytest.mark.parametrize("number", [5, None, 1.5])
def test_arguments_that_are_not_paths(number: Any) -> None:
    with pytest.raises(TypeError, match="os.PathLike"):
        data.read_text(number)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_new_files_have_default_permissions(tmp_path: Path, mask: int) -> None:
    path, before = tmp_path / "file", os.umask(mask)
    try:
        write_atomically(path, b"1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        path.chmod(0o640)
        write_atomically(path, b"2")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)
