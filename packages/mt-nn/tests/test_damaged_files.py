"""Damaged files by the thousand, and hostile ones: every reader answers each with a result or a
FileError.

They are read in a process of its own, which may take little memory and time, so that a reader which
believes a file's claims is found out.
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
from mt_nn.data import Vocabulary
from mt_nn.saving import layout, torch_files

FILES = 5_000
MEMORY = 2**28
SECONDS = 300

TEXT = b" no it was <unk> \n consumers may want N \xc3\xa9 \n"
REVIEWS = b"1\t2.5\tIt is good.\r\n2\t-0.25\tBad\r\n"
SST2 = b"sentence\tlabel\na fine film\t1\nbad\t0\n"
WORDS = json.dumps({"unknown": "a", "padding": None, "tokens": ["a", "b"]}).encode()
IMAGES = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04" + bytes(range(24))
NUMBERS = b"\0\0\x0d\x01\0\0\0\x03" + bytes(12)
RECORDS = (b"\x03" + bytes(3072)) * 2
GROUPED = (b"\x03\x63" + bytes(3072)) * 2


def model() -> bytes:
    """Return a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        nn.save({"weight": mt.ones(2, 3), "bias": mt.zeros(3).to("float16")}, path)
        return path.read_bytes()


def foreign() -> bytes:
    """Return a model file without check sums, as others write it."""
    return layout.packed({"weight": np.ones((2, 3)), "bias": np.zeros(3, bool)}, {"by": "them"})


def checkpoint() -> bytes:
    """Return a file of a training."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.safetensors")
        nn.save_checkpoint(path, generators=False, weight=mt.ones(2), step=3, rates=[0.1, 0.2])
        return path.read_bytes()


def archive() -> bytes:
    """Return an archive of images, as their publisher packs it, and unpacked once."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in ("train", "test"):
            member = tarfile.TarInfo(f"cifar-100-binary/{name}.bin")
            member.size = len(GROUPED)
            tar.addfile(member, io.BytesIO(GROUPED))
    return packed.getvalue()


STORAGE = b"(Vstorage\nctorch\nFloatStorage\nV0\nVcpu\nI2\ntQ"
"""The reference to a storage in a pickle."""


def tensors_of_torch(in_archive: bool) -> bytes:
    """Return a file of `torch.save`, in the current format or the old one."""
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + b"I0\n(I2\nt(I1\ntI00\nNtR"
    pickled, elements = b"(Vw\n" + tensor + b"Vepoch\nI3\nd.", bytes(8)
    if not in_archive:
        length = (2).to_bytes(8, "little")
        machine = b"(Vlittle_endian\nI01\nd."
        return torch_files.MAGIC + b"I1001\n." + machine + pickled + b"(V0\nl." + length + elements
    return zipped({"a/data.pkl": pickled, "a/data/0": elements})


def zipped(entries: dict[str, bytes]) -> bytes:
    """Return a ZIP archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return file.getvalue()


READERS: list[tuple[Callable[..., Any], bytes, dict[str, Any]]] = [
    (data.read_idx, IMAGES, {}),
    (data.read_idx, NUMBERS, {}),
    (data.read_cifar10, RECORDS, {}),
    (data.read_cifar100, GROUPED, {}),
    (data.cifar100, archive(), {}),
    (data.read_penn_treebank, TEXT, {}),
    (data.read_text, TEXT, {}),
    (data.read_sst2, SST2, {}),
    (data.read_movie_reviews, REVIEWS, {}),
    (Vocabulary.load, WORDS, {}),
    (nn.load, model(), {}),
    (nn.load, foreign(), {}),
    (nn.load, tensors_of_torch(True), {}),
    (nn.load, tensors_of_torch(False), {}),
    (nn.load_checkpoint, checkpoint(), {}),
    (nn.saving.read_metadata, checkpoint(), {}),
]
NEVER_PACKED = (nn.load, nn.load_checkpoint, nn.saving.read_metadata)

PIECES = [
    *(b"", b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1", b"\n", b"\r"),
    *(b"\t", b" ", b",", b'"', b"[", b"{", b"nan", b"1e999", b"-1", b"_", b"9" * 30, b"a" * 99),
    *(b"\xc3", b"\x1f\x8b", b"U16", b"F64", b"(", b"t", b"R", b"Q", b"g0\n", b"p0\n"),
]


def damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Return a content in which one to three places are changed."""
    for _ in range(rng.integers(1, 4)):
        start, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        match rng.integers(6):
            case 0:  # cut off
                content = content[:end]
            case 1:  # something is missing
                content = content[:start] + content[end:]
            case 2:  # something comes twice
                content = content[:end] + content[start:]
            case 3 if end < len(content):  # a bit has flipped
                flipped = content[end] ^ (1 << rng.integers(8))
                content = content[:end] + bytes([flipped]) + content[end + 1 :]
            case 4:  # something else is written over it
                piece = PIECES[rng.integers(len(PIECES))]
                content = content[:start] + piece + content[start + len(piece) :]
            case _:
                content = content[:start] + PIECES[rng.integers(len(PIECES))] + content[start:]
    return content


def read_all(folder: Path) -> Counter[str]:
    """Read the damaged files; return how often each reader has done what."""
    rng = np.random.default_rng(0)
    outcomes: Counter[str] = Counter()
    for number in range(FILES):
        read, content, settings = READERS[number % len(READERS)]
        match 0 if read in NEVER_PACKED else rng.integers(3):
            case 0:
                written = damaged(rng, content)
            case 1:
                written = gzip.compress(damaged(rng, content), 1)
            case _:
                written = damaged(rng, gzip.compress(content, 1))
        path = folder / f"file{number}"  # writing one file again and again waits for the disk
        path.write_bytes(written)
        try:
            read(path, **settings)
        except nn.FileError:
            outcomes[f"{read.__qualname__} refused"] += 1
        except BaseException as error:
            error.add_note(f"{read.__qualname__} of {written!r}")
            raise
        else:
            outcomes[f"{read.__qualname__} accepted"] += 1
        path.unlink()
    return outcomes


# --- Hostile files --------------------------------------------------------------------------------


def tar_header(name: str, kind: bytes, size: int) -> bytes:
    """Return a header of an archive, which may claim what it wants."""
    header = tarfile.TarInfo(name)
    header.type, header.size = kind, size
    return header.tobuf(tarfile.GNU_FORMAT)


def gnu_sparse(claimed: int) -> bytes:
    """Return a member of an archive that says it has this size, and holds nothing."""
    header = bytearray(tar_header("train.bin", tarfile.GNUTYPE_SPARSE, 0))
    header[386:410] = b"%011o\0%011o\0" % (min(claimed, 8**11 - 1), 0)
    header[483:495] = b"%011o\0" % min(claimed, 8**11 - 1)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def extended(records: bytes, size: int | None = None, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """Return a header that extends the next one by records, which may go on in zeros."""
    padded = records + bytes(-len(records) % 512)
    return tar_header("pax", kind, len(records) if size is None else size) + padded


def record(name: str, value: str) -> bytes:
    """Return what an extended header says about one thing."""
    text = f" {name}={value}\n"
    return f"{len(text) + 2}{text}".encode()


def pax_sparse(claimed: int, version: str) -> bytes:
    """Return a sparse member as version 0.0, 0.1 or 1.0 of GNU's extension writes it."""
    records = {
        "0.0": {"GNU.sparse.size": claimed, "GNU.sparse.numblocks": 0},
        "0.1": {"GNU.sparse.size": claimed, "GNU.sparse.map": f"{claimed},0"},
        "1.0": {"GNU.sparse.major": 1, "GNU.sparse.minor": 0, "GNU.sparse.realsize": claimed},
    }[version]
    content = b"%d\n" % 2**40 + b"0\n" * 254
    header = extended(b"".join(record(name, str(value)) for name, value in records.items()))
    return header + tar_header("train.bin", tarfile.REGTYPE, len(content)) + content


def named_without_end() -> bytes:
    """Return the beginning of a gzip file that tells its name for ever."""
    return b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 2**24


def bomb(content: bytes, times: int = 16) -> bytes:
    """Return a small gzip file that unpacks to a content, again and again."""
    return gzip.compress(content, 1) * times


def words(after: bytes) -> bytes:
    """Return many words, each followed by something, packed."""
    return gzip.compress(b"".join(b"%x" % number + after for number in range(2**17)), 1)


def model_header(text: bytes, length: int | None = None) -> bytes:
    """Return the beginning of a file of a model, which may claim any length."""
    return (len(text) if length is None else length).to_bytes(8, "little") + text


TERABYTE = 2**40
HUGE = model_header(
    b'{"a":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}   ' % (TERABYTE, TERABYTE)
)
"""The header of a model of so many bytes."""


PICKLES = {
    "code": b"cos\nsystem\n(Vtrue\ntR.",
    "a far memory": b"]r\xff\xff\xff\x7fcos\nsystem\n.",
    "a long text": b"\x8d" + TERABYTE.to_bytes(8, "little") + b"x.",
    "a long frame": b"\x95" + TERABYTE.to_bytes(8, "little") + b"x.",
    "long bytes": b"\x96" + TERABYTE.to_bytes(8, "little") + b"x.",
    "a long number": b"\x8b\xff\xff\xff\x7f1.",
    "digits": b"I" + b"9" * 2**16 + b"\n.",
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
"""Hostile pickles, by what they contain."""


def attacks() -> dict[str, bytes]:
    """Return hostile files by name: for texts, for archives, for images, for JSON, for models."""
    end, zeros = bytes(1024), bytes(2**24)
    tokens = b'{"unknown": null, "padding": null, "tokens": '
    return {
        "zeros": bomb(zeros),
        "one line": bomb(b"a" * 2**24),
        "empty lines": bomb(b"\n" * 2**24),
        "columns": bomb(b"," * (2**20 - 2) + b"\n"),
        "words": words(b" a\n"),
        "classes": words(b",1\n"),
        "sentences": gzip.compress(b"sentence\tlabel\n") + words(b"\t1\n"),
        "reviews": words(b"\t1\tx\n"),
        "wide letters": gzip.compress("\U0001f600".encode() + b"a" * 2**20, 1),
        "nothing packed often": gzip.compress(b"") * 2**17,
        "packed twice": gzip.compress(bomb(zeros), 1),
        "name without end": b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 2**24,
        "headers": bomb(tar_header("x", tarfile.REGTYPE, 0) * 20_000, 10),
        "folders": bomb(tar_header("x", tarfile.DIRTYPE, 2**32) * 20_000, 10),
        "sparse": gzip.compress(gnu_sparse(TERABYTE) + end),
        "sparse 0.0": gzip.compress(pax_sparse(TERABYTE, "0.0") + end),
        "sparse 0.1": gzip.compress(pax_sparse(TERABYTE, "0.1") + end),
        "sparse 1.0": gzip.compress(pax_sparse(TERABYTE, "1.0") + end),
        "extension": gzip.compress(extended(b"", 2**32)) + bomb(zeros),
        "global extension": gzip.compress(extended(b"", 2**32, tarfile.XGLTYPE)) + bomb(zeros),
        "long name": gzip.compress(extended(b"", 2**32, tarfile.GNUTYPE_LONGNAME)) + bomb(zeros),
        "large file": gzip.compress(tar_header("train.bin", b"0", TERABYTE)) + bomb(zeros),
        "large unknown": gzip.compress(tar_header("x", b"9", TERABYTE)) + bomb(zeros),
        "negative size": gzip.compress(tar_header("x", b"0", -1024) + end),
        "images": gzip.compress(IMAGES[:4] + b"\0\1\0\0\0\0\x40\0\0\0\x40\0") + bomb(zeros),
        "images of nothing": IMAGES[:4] + bytes(4) + b"\xff" * 8,
        "many dimensions": b"\0\0\x08\xff" + b"\0\0\0\1" * 255 + b"x",
        "deep lists": tokens + b"[" * 2**15,
        "many lists": tokens + b"[[]" + b",[]" * 2**22 + b"]}",
        "long header": model_header(b"{}", 2**63),
        "header of zeros": model_header(bytes(2**20), 2**26),
        "deep header": model_header(b'{"a":' * 10_000),
        "header of lists": model_header(b'{"a":[[]' + b",[]" * 10_000 + b"]}"),
        "header of many": model_header(b'{"a":3' + b',"a":3' * 10_000 + b"}"),
        "many sizes": model_header(
            b'{"a":{"dtype":"U8","shape":[%s1],"data_offsets":[0,1]}}x' % (b"9999999999," * 5000)
        ),
        "short of a model": HUGE + bytes(2**10),
        **{f"pickle of {name}": zipped({"a/data.pkl": text}) for name, text in PICKLES.items()},
        "sequence of pickles": torch_files.MAGIC + PICKLES["many copies"] * 3,
    }


SPECIAL = [Path("/dev/zero"), Path("/dev/random"), Path("/proc/self/mem")]
TEXTS = (data.read_penn_treebank, data.read_text)


def attack_all(folder: Path) -> Counter[str]:
    """Let every reader read every hostile file within limits; return what it has done.

    The memory of the process, rather than a limit, is what a model may fill.
    """
    for name, content in attacks().items():
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
                outcomes["refused"] += 1
            except BaseException as error:
                error.add_note(f"{read.__qualname__} of {path.name}")
                raise
            else:
                small = read in TEXTS and path.stat().st_size < 2**16
                outcomes["a text" if small else f"{read.__qualname__} of {path.name}"] += 1
    return outcomes


def limit_memory() -> None:
    """Let this process take no more than MEMORY beyond what it has, where the system can say."""
    if sys.platform != "linux":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def run_apart(function: Callable[[Path], Counter[str]]) -> Any:
    """Return the outcomes of a function of this file that runs in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-W", "error", __file__, function.__name__],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_hostile_files() -> None:
    """All are refused, but for what is small, and may be a text, and a header by itself."""
    outcomes = run_apart(attack_all)
    assert outcomes.keys() == {"refused", "a text", "read_metadata of huge model"}
    assert outcomes["refused"] > 500


def test_damaged_files() -> None:
    outcomes = run_apart(read_all)
    assert sum(outcomes.values()) == FILES
    for read, _, _ in READERS:
        assert outcomes[f"{read.__qualname__} refused"] > 0
        assert outcomes[f"{read.__qualname__} accepted"] > 0


if __name__ == "__main__":
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(globals()[sys.argv[1]](Path(folder))))
