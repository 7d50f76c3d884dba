"""Thousands of damaged and hostile files: each reader returns a result or raises FileError.

The files are read in a subprocess with little memory and time, so that a reader fails if it trusts
the sizes that a file claims.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mt_nn as nn
import mt_tensor as mt
from mt_nn import data
from mt_nn.data.formats import images
from mt_nn.files.reading import read_bytes
from mt_nn.saving import torch_files

FILES = 5_000
MEMORY = 2**28
SECONDS = 300

TEXT = b" no it was <unk> \n consumers may want N \xc3\xa9 \n"
REVIEWS = b"1\t2.5\tIt is good.\r\n2\t-0.25\tBad\r\n"
SST2 = b"sentence\tlabel\na fine film\t1\nbad\t0\n"
IMAGES = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04" + bytes(range(24))
FLOATS = b"\0\0\x0d\x01\0\0\0\x03" + bytes(12)
CIFAR10 = (b"\x03" + bytes(3072)) * 2


def model_file() -> bytes:
    """Return a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        nn.save({"weight": mt.ones(2, 3), "bias": mt.zeros(3).to("float16")}, path)
        return path.read_bytes()


def model_file_without_checksum() -> bytes:
    """Return a model file without a checksum, as other programs write it."""
    entries = {
        "__metadata__": {"by": "other"},
        "weight": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]},
        "bias": {"dtype": "BOOL", "shape": [3], "data_offsets": [48, 51]},
    }
    return model_header(json.dumps(entries).encode()) + np.ones(6).tobytes() + bytes(3)


def model_header(text: bytes, length: int | None = None) -> bytes:
    """Return the header of a model file, which may claim any length."""
    return (len(text) if length is None else length).to_bytes(8, "little") + text


def checkpoint_file() -> bytes:
    """Return a checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.safetensors")
        nn.save_checkpoint(path, generators=False, weight=mt.ones(2), step=3, rates=[0.1, 0.2])
        return path.read_bytes()


def read_cifar10(path: Path) -> Any:
    """Read one file of CIFAR-10."""
    return images.parse_cifar10(str(path), read_bytes(path))


def cifar10_archive() -> bytes:
    """Return the tar archive of CIFAR-10, without its gzip compression."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in images.FILES:
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(CIFAR10)
            tar.addfile(member, io.BytesIO(CIFAR10))
    return packed.getvalue()


STORAGE = b"(Vstorage\nctorch\nFloatStorage\nV0\nVcpu\nI2\ntQ"
"""A reference to a storage in a pickle."""


def torch_file(in_archive: bool) -> bytes:
    """Return a file of `torch.save`, in the current ZIP format or the old one."""
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + b"I0\n(I2\nt(I1\ntI00\nNtR"
    pickled, elements = b"(Vw\n" + tensor + b"Vepoch\nI3\nd.", bytes(8)
    if not in_archive:
        length = (2).to_bytes(8, "little")
        machine = b"(Vlittle_endian\nI01\nd."
        return torch_files.MAGIC + b"I1001\n." + machine + pickled + b"(V0\nl." + length + elements
    return zip_file({"a/data.pkl": pickled, "a/data/0": elements})


def zip_file(entries: dict[str, bytes]) -> bytes:
    """Return a ZIP archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return file.getvalue()


READERS: list[tuple[Callable[..., Any], bytes, dict[str, Any]]] = [
    (data.read_idx, IMAGES, {}),
    (data.read_idx, FLOATS, {}),
    (read_cifar10, CIFAR10, {}),
    (data.cifar10, cifar10_archive(), {}),
    (data.read_penn_treebank, TEXT, {}),
    (data.read_text, TEXT, {}),
    (data.read_sst2, SST2, {}),
    (data.read_movie_reviews, REVIEWS, {}),
    (nn.load, model_file(), {}),
    (nn.load, model_file_without_checksum(), {}),
    (nn.load, torch_file(True), {}),
    (nn.load, torch_file(False), {}),
    (nn.load_checkpoint, checkpoint_file(), {}),
    (nn.saving.read_metadata, checkpoint_file(), {}),
]
NOT_GZIPPED = (nn.load, nn.load_checkpoint, nn.saving.read_metadata)

PIECES = [
    *(b"", b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1", b"\n", b"\r"),
    *(b"\t", b" ", b",", b'"', b"[", b"{", b"nan", b"1e999", b"-1", b"_", b"9" * 30, b"a" * 99),
    *(b"\xc3", b"\x1f\x8b", b"U16", b"F64", b"(", b"t", b"R", b"Q", b"g0\n", b"p0\n"),
]


def damage(rng: np.random.Generator, content: bytes) -> bytes:
    """Change the content in one to three places."""
    for _ in range(rng.integers(1, 4)):
        start, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        match rng.integers(6):
            case 0:  # truncate
                content = content[:end]
            case 1:  # delete a part
                content = content[:start] + content[end:]
            case 2:  # repeat a part
                content = content[:end] + content[start:]
            case 3 if end < len(content):  # flip a bit
                flipped = content[end] ^ (1 << rng.integers(8))
                content = content[:end] + bytes([flipped]) + content[end + 1 :]
            case 4:  # overwrite a part
                piece = PIECES[rng.integers(len(PIECES))]
                content = content[:start] + piece + content[start + len(piece) :]
            case _:  # insert a piece
                content = content[:start] + PIECES[rng.integers(len(PIECES))] + content[start:]
    return content


def read_damaged_files(folder: Path) -> Counter[str]:
    """Read damaged files; count how often each reader accepted or rejected one."""
    rng = np.random.default_rng(0)
    outcomes: Counter[str] = Counter()
    for number in range(FILES):
        read, content, settings = READERS[number % len(READERS)]
        match 0 if read in NOT_GZIPPED else rng.integers(3):
            case 0:
                damaged = damage(rng, content)
            case 1:
                damaged = gzip.compress(damage(rng, content), 1)
            case _:
                damaged = damage(rng, gzip.compress(content, 1))
        path = folder / f"file{number}"  # rewriting one file would wait for the disk
        path.write_bytes(damaged)
        try:
            read(path, **settings)
        except nn.FileError:
            outcomes[f"{read.__qualname__} rejected"] += 1
        except BaseException as error:
            error.add_note(f"{read.__qualname__} of {damaged!r}")
            raise
        else:
            outcomes[f"{read.__qualname__} accepted"] += 1
        path.unlink()
    return outcomes


# --- Hostile files --------------------------------------------------------------------------------


def tar_header(name: str, kind: bytes, size: int) -> bytes:
    """Return a tar header with any type and size."""
    header = tarfile.TarInfo(name)
    header.type, header.size = kind, size
    return header.tobuf(tarfile.GNU_FORMAT)


def gnu_sparse(claimed: int) -> bytes:
    """Return an empty sparse member that claims a size."""
    header = bytearray(tar_header("train.bin", tarfile.GNUTYPE_SPARSE, 0))
    header[386:410] = b"%011o\0%011o\0" % (min(claimed, 8**11 - 1), 0)
    header[483:495] = b"%011o\0" % min(claimed, 8**11 - 1)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def pax_header(records: bytes, size: int | None = None, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """Return a pax header with these records, which may claim a larger size."""
    padded = records + bytes(-len(records) % 512)
    return tar_header("pax", kind, len(records) if size is None else size) + padded


def pax_record(name: str, value: str) -> bytes:
    """Return a record of a pax header."""
    text = f" {name}={value}\n"
    return f"{len(text) + 2}{text}".encode()


def pax_sparse(claimed: int, version: str) -> bytes:
    """Return a sparse member in version 0.0, 0.1 or 1.0 of GNU's pax format."""
    records = {
        "0.0": {"GNU.sparse.size": claimed, "GNU.sparse.numblocks": 0},
        "0.1": {"GNU.sparse.size": claimed, "GNU.sparse.map": f"{claimed},0"},
        "1.0": {"GNU.sparse.major": 1, "GNU.sparse.minor": 0, "GNU.sparse.realsize": claimed},
    }[version]
    content = b"%d\n" % 2**40 + b"0\n" * 254
    header = pax_header(b"".join(pax_record(name, str(value)) for name, value in records.items()))
    return header + tar_header("train.bin", tarfile.REGTYPE, len(content)) + content


def bomb(content: bytes, times: int = 16) -> bytes:
    """Return a small gzip file that unpacks to the repeated content."""
    return gzip.compress(content, 1) * times


def many_words(end: bytes) -> bytes:
    """Return a gzip file of many words, each followed by `end`."""
    return gzip.compress(b"".join(b"%x" % number + end for number in range(2**17)), 1)


TERABYTE = 2**40
HUGE = model_header(
    b'{"a":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}   ' % (TERABYTE, TERABYTE)
)
"""The header of a model of one terabyte."""


PICKLES = {
    "code": b"cos\nsystem\n(Vtrue\ntR.",
    "large memo index": b"]r\xff\xff\xff\x7fcos\nsystem\n.",
    "long string": b"\x8d" + TERABYTE.to_bytes(8, "little") + b"x.",
    "long frame": b"\x95" + TERABYTE.to_bytes(8, "little") + b"x.",
    "long bytes": b"\x96" + TERABYTE.to_bytes(8, "little") + b"x.",
    "long integer": b"\x8b\xff\xff\xff\x7f1.",
    "many digits": b"I" + b"9" * 2**16 + b"\n.",
    "deep lists": b"]" * 2**16 + b"a" * (2**16 - 1) + b".",
    "lists of lists": b"]" + b"(2l" * 2**16 + b".",
    "many copies": b"(" + b"N" * 2**12 + b"lp0\n]" + b"ctorch\nSize\n(g0\ntRa" * 2**10 + b".",
    "many sizes": b"ctorch._utils\n_rebuild_tensor_v2\n("
    + STORAGE
    + b"I0\n("
    + b"I1\n" * 2**16
    + b"t("
    + b"I0\n" * 2**16
    + b"tI00\nNtR.",
}
"""Hostile pickles, by their content."""


def hostile_files() -> dict[str, bytes]:
    """Return hostile texts, archives, images, JSON files and models, by name."""
    end, zeros = bytes(1024), bytes(2**24)
    tokens = b'{"unknown": null, "padding": null, "tokens": '
    return {
        "zeros": bomb(zeros),
        "one line": bomb(b"a" * 2**24),
        "empty lines": bomb(b"\n" * 2**24),
        "many columns": bomb(b"," * (2**20 - 2) + b"\n"),
        "many words": many_words(b" a\n"),
        "many classes": many_words(b",1\n"),
        "many sentences": gzip.compress(b"sentence\tlabel\n") + many_words(b"\t1\n"),
        "many reviews": many_words(b"\t1\tx\n"),
        "non-BMP text": gzip.compress("\U0001f600".encode() + b"a" * 2**20, 1),
        "many empty gzip members": gzip.compress(b"") * 2**17,
        "gzip in gzip": gzip.compress(bomb(zeros), 1),
        "long gzip name": b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 2**24,
        "many tar headers": bomb(tar_header("x", tarfile.REGTYPE, 0) * 20_000, 10),
        "many folders": bomb(tar_header("x", tarfile.DIRTYPE, 2**32) * 20_000, 10),
        "sparse": gzip.compress(gnu_sparse(TERABYTE) + end),
        "sparse 0.0": gzip.compress(pax_sparse(TERABYTE, "0.0") + end),
        "sparse 0.1": gzip.compress(pax_sparse(TERABYTE, "0.1") + end),
        "sparse 1.0": gzip.compress(pax_sparse(TERABYTE, "1.0") + end),
        "long pax header": gzip.compress(pax_header(b"", 2**32)) + bomb(zeros),
        "long global pax header": gzip.compress(pax_header(b"", 2**32, tarfile.XGLTYPE))
        + bomb(zeros),
        "long name": gzip.compress(pax_header(b"", 2**32, tarfile.GNUTYPE_LONGNAME)) + bomb(zeros),
        "large member": gzip.compress(tar_header("train.bin", b"0", TERABYTE)) + bomb(zeros),
        "large member of unknown type": gzip.compress(tar_header("x", b"9", TERABYTE))
        + bomb(zeros),
        "negative size": gzip.compress(tar_header("x", b"0", -1024) + end),
        "images": gzip.compress(IMAGES[:4] + b"\0\1\0\0\0\0\x40\0\0\0\x40\0") + bomb(zeros),
        "zero images": IMAGES[:4] + bytes(4) + b"\xff" * 8,
        "many dimensions": b"\0\0\x08\xff" + b"\0\0\0\1" * 255 + b"x",
        "deep JSON lists": tokens + b"[" * 2**15,
        "many JSON lists": tokens + b"[[]" + b",[]" * 2**22 + b"]}",
        "long header": model_header(b"{}", 2**63),
        "header of zeros": model_header(bytes(2**20), 2**26),
        "deep header": model_header(b'{"a":' * 10_000),
        "header of lists": model_header(b'{"a":[[]' + b",[]" * 10_000 + b"]}"),
        "header of duplicate keys": model_header(b'{"a":3' + b',"a":3' * 10_000 + b"}"),
        "many sizes": model_header(
            b'{"a":{"dtype":"U8","shape":[%s1],"data_offsets":[0,1]}}x' % (b"9999999999," * 5000)
        ),
        "truncated model": HUGE + bytes(2**10),
        **{f"pickle of {name}": zip_file({"a/data.pkl": text}) for name, text in PICKLES.items()},
        "sequence of pickles": torch_files.MAGIC + PICKLES["many copies"] * 3,
    }


SPECIAL = [Path("/dev/zero"), Path("/dev/random"), Path("/proc/self/mem")]
TEXTS = (data.read_penn_treebank, data.read_text)


def read_hostile_files(folder: Path) -> Counter[str]:
    """Let every reader read every hostile file within limits; count the outcomes.

    Models are limited by the memory of the process only.
    """
    for name, content in hostile_files().items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    for name, content in (("terabyte", b""), ("huge model", HUGE)):
        with (folder / name).open("wb") as file:
            file.write(content)
            file.truncate(len(content) + TERABYTE)
    outcomes: Counter[str] = Counter()
    for read, settings in {read: settings for read, _, settings in READERS}.items():
        for path in [*folder.iterdir(), *SPECIAL]:
            try:
                with nn.limits(data=2**18, memory=2**20, json=2**16, model=2**60):
                    read(path, **settings)
            except nn.FileError:
                outcomes["rejected"] += 1
            except BaseException as error:
                error.add_note(f"{read.__qualname__} of {path.name}")
                raise
            else:
                small = read in TEXTS and path.stat().st_size < 2**16
                outcomes[
                    "accepted as text" if small else f"{read.__qualname__} of {path.name}"
                ] += 1
    return outcomes


def limit_memory() -> None:
    """On Linux, let this process allocate no more than MEMORY bytes."""
    if sys.platform != "linux":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def run_in_subprocess(function: Callable[[Path], Counter[str]]) -> Any:
    """Run a function of this file in a subprocess; return its outcomes."""
    result = subprocess.run(
        [sys.executable, "-W", "error", __file__, function.__name__],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_hostile_files_raise_file_error_within_memory_limit() -> None:
    """Some files are valid: short texts, pickled lists, and headers for `read_metadata`."""
    outcomes = run_in_subprocess(read_hostile_files)
    accepted = {name for name in outcomes if not name.startswith("read_metadata of ")}
    lists = {"load of pickle of deep lists", "load of pickle of lists of lists"}
    assert accepted - lists == {"rejected", "accepted as text"}
    assert outcomes["rejected"] > 500


def test_damaged_files_are_read_or_raise_file_error() -> None:
    outcomes = run_in_subprocess(read_damaged_files)
    assert sum(outcomes.values()) == FILES
    for read, _, _ in READERS:
        assert outcomes[f"{read.__qualname__} rejected"] > 0
        if read is not nn.load_checkpoint:  # its checksum reveals any change
            assert outcomes[f"{read.__qualname__} accepted"] > 0


if __name__ == "__main__":
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(globals()[sys.argv[1]](Path(folder))))
