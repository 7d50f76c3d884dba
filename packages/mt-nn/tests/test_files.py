"""Files: atomic writes, permissions, errors, stale temporary files, and limits for reading."""

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


TEMPORARY = ".mt-nn-unfinished-0123456789abcdef"


# --- Written files ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["file", "n" * 240, "n" * 255, "ü" * 127])
def test_write_atomically_accepts_names_of_any_valid_length(tmp_path: Path, name: str) -> None:
    for content in (b"first", b"second"):
        write_atomically(tmp_path / name, content)
        assert (tmp_path / name).read_bytes() == content
    assert names(tmp_path) == [name]


def test_write_atomically_rejects_invalid_paths(tmp_path: Path) -> None:
    for name in ("n" * 256, "a\0b", "missing/file", ".", ".."):
        with pytest.raises(nn.FileError, match="could not write"):
            write_atomically(f"{tmp_path}/{name}", b"x")
    assert names(tmp_path) == []


def test_write_through_symlink_replaces_target_and_keeps_link(tmp_path: Path) -> None:
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


def test_second_hard_link_of_replaced_file_keeps_old_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "copy").hardlink_to(tmp_path / "file")
    write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "copy").read_bytes() == b"old"


def test_permissions_are_kept_and_not_exceeded_by_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write_atomically(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o666, 0o755):
            path.chmod(mode)
            with replacing(path):
                (temporary,) = tmp_path.glob(".mt-nn-*")
                assert not stat.S_IMODE(temporary.stat().st_mode) & ~mode
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the owner of a file")
def test_owner_and_group_are_preserved(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.mark.skipif(os.geteuid() == 0, reason="root ignores permissions")
def test_read_only_file_is_not_replaced(tmp_path: Path) -> None:
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
        server.bind(os.path.relpath(path))  # paths of sockets are limited to about 100 bytes


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, make_socket])
def test_folder_fifo_or_socket_is_not_replaced(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "thing"
    make(path)
    kind = stat.S_IFMT(path.stat().st_mode)
    with pytest.raises(nn.FileError, match=r"it is a (folder|device)"):
        write_atomically(path, b"x")
    assert stat.S_IFMT(path.stat().st_mode) == kind
    assert names(tmp_path) == ["thing"]


def test_device_is_not_replaced() -> None:
    with pytest.raises(nn.FileError, match="it is a device"):
        write_atomically("/dev/null", b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


# --- Errors, crashes and concurrency ------------------------------------------------------------


def write_half(path: Path, error: BaseException) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise error


def test_error_while_writing_leaves_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for expected in ([], ["file"]):
        for error in (OSError(28, "no space left"), KeyboardInterrupt(), nn.FileError("mine")):
            raised = nn.FileError if isinstance(error, OSError) else KeyboardInterrupt
            with pytest.raises(raised):
                write_half(path, error)
            assert names(tmp_path) == expected
        path.write_bytes(b"old")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("size", [2**12, 2**20])
def test_full_disk_leaves_file_unchanged(tmp_path: Path, size: int) -> None:
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


def test_content_is_synced_before_replace_and_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order, a power failure never leaves an empty file."""
    path, calls = tmp_path / "file", []
    fsync, replace = os.fsync, Path.replace

    def record_fsync(number: int) -> None:
        status = os.fstat(number)
        calls.append(("content", status.st_size) if stat.S_ISREG(status.st_mode) else "folder")
        fsync(number)

    def record_replace(source: Path, target: Path) -> Path:
        calls.append("replace")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(Path, "replace", record_replace)
    write_atomically(path, b"12345")
    assert calls == [("content", 5), "replace", "folder"]


KILLED_WHILE_WRITING = """
import os, signal, sys
from mt_nn.files.writing import replacing
with replacing(sys.argv[1]) as file:
    file.write(bytes(2**20))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_file_of_killed_process_is_removed_by_next_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(path)], check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write_atomically(tmp_path / "other", b"")
    assert names(tmp_path) == ["file", "other"]


def test_only_own_stale_temporary_files_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    kept = [TEMPORARY.replace("0", digit) for digit in "abc"]
    (folder / kept[0]).symlink_to(outside)
    (folder / kept[1]).mkdir()
    (folder / kept[2]).hardlink_to(outside)
    for name in (f"{TEMPORARY}x", TEMPORARY[:-1], TEMPORARY[1:], f"x{TEMPORARY}", "file.part"):
        (folder / name).write_bytes(b"mine")
        kept.append(name)
    os.mkfifo(folder / TEMPORARY.replace("0", "d"))
    kept.append(TEMPORARY.replace("0", "d"))
    if os.geteuid() == 0:  # only root may change the owner of a file
        kept.append(TEMPORARY.replace("0", "e"))
        (folder / kept[-1]).write_bytes(b"theirs")
        os.chown(folder / kept[-1], 12345, 12345)
    (folder / TEMPORARY).write_bytes(b"left behind")
    with replacing(folder / "first") as file:  # must not be removed while it is written
        file.write(b"1")
        write_atomically(folder / "second", b"2")
        assert len(names(folder)) == len(kept) + 2
    assert names(folder) == sorted([*kept, "first", "second"])
    assert (folder / "first").read_bytes() == b"1"
    assert outside.read_bytes() == b"mine"


def test_temporary_file_removed_before_locking_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, removed = fcntl.flock, []

    def remove_then_flock(file: Any, how: int) -> None:
        if not removed:
            (path,) = tmp_path.iterdir()
            path.unlink()
            removed.append(path)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", remove_then_flock)
    write_atomically(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert len(removed) == 1


def test_concurrent_writes_leave_complete_file(tmp_path: Path) -> None:
    """No write removes the temporary file of another one, and the target is always complete."""
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


EXCEEDED: list[tuple[str, float, Callable[[Path], object], bytes]] = [
    ("data", 4, data.read_text, b"12345"),
    ("data", 30, data.read_text, gzip.compress(b"x" * 31, mtime=0)),
    ("data", 30, data.read_text, gzip.compress(b"", mtime=0) * 2),  # compressed bytes count, too
    ("memory", 4, data.read_text, b"12345"),
    ("memory", 31, data.read_text, "ä234567".encode()),
    ("memory", 2, data.read_penn_treebank, b"a b"),
    ("seconds", 1e-9, data.read_text, b"1"),
]


@pytest.mark.parametrize(("limit", "value", "read", "content"), EXCEEDED)
def test_every_limit_is_checked_and_can_be_increased(
    tmp_path: Path, limit: str, value: float, read: Callable[[Path], object], content: bytes
) -> None:
    path = text(tmp_path, content)
    with (
        nn.limits(**{limit: value}),
        pytest.raises(nn.FileError, match=rf"text exceeds the limit.*limits\({limit}=...\)"),
    ):
        read(path)
    with nn.limits(**{limit: math.inf}):
        read(path)
    read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bytes": 1}, "the limit must be one of data, memory, members"),
        ({"data": 0}, "data must be a positive number of bytes of data; got 0"),
        ({"seconds": math.nan}, "seconds must be a positive number of seconds; got nan"),
        ({"data": "1"}, "data must be a number; got '1'"),
    ],
)
def test_invalid_limit_raises(changes: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message), nn.limits(**changes):
        pass


def test_limits_apply_to_their_block_and_thread(tmp_path: Path) -> None:
    path = text(tmp_path, b"12345")
    with nn.limits(data=4) as inner:
        assert inner.data == 4
        with nn.limits(members=3) as innermost:
            assert (innermost.data, innermost.members) == (4, 3)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(data.read_text, path).result() == "12345"
        with pytest.raises(nn.FileError, match="limit of 4 bytes of data"):
            data.read_text(path)
    assert data.read_text(path) == "12345"


@pytest.mark.parametrize("number", [5, None, 1.5])
def test_non_path_argument_raises_type_error(number: Any) -> None:
    with pytest.raises(TypeError, match="os.PathLike"):
        data.read_text(number)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_new_file_has_default_permissions_and_keeps_changed_ones(tmp_path: Path, mask: int) -> None:
    path, before = tmp_path / "file", os.umask(mask)
    try:
        write_atomically(path, b"1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        path.chmod(0o640)
        write_atomically(path, b"2")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)
