"""Ten thousand damaged files: every reader answers each with a result or a FileError.

They are read in a process of its own, which may take little memory and time, so that a reader which
believes a file's claims is found out.
"""

import gzip
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mt_nn as nn
import mt_tensor as mt
from mt_nn import data
from mt_nn.data import Vocabulary

FILES = 10_000
MEMORY = 2**28
SECONDS = 300

TEXT = b" no it was <unk> \n consumers may want N \xc3\xa9 \n"
VECTORS = b"the 0.5 -1e-3 2\n, 1 2 3\nfilm 3 4 5\n"
TABLE = b'length,"width",kind\n5.1,3.5,b\n"4.9",3,a\n'
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


# The limit is what a careful caller gives; `load` and `Vocabulary.load` have none to give.
LIMIT = {"limit": 10_000}
READERS: list[tuple[Callable[..., Any], bytes, dict[str, Any]]] = [
    (data.read_idx, IMAGES, LIMIT),
    (data.read_idx, NUMBERS, {}),
    (data.read_cifar10, RECORDS, LIMIT),
    (data.read_cifar100, GROUPED, LIMIT),
    (data.cifar100, archive(), {}),
    (data.read_penn_treebank, TEXT, LIMIT),
    (data.read_text, TEXT, LIMIT),
    (data.read_sst2, SST2, LIMIT),
    (data.read_movie_reviews, REVIEWS, {}),
    (data.read_glove, VECTORS, LIMIT),
    (data.read_csv, TABLE, {"label": "kind"}),
    (data.read_csv, TABLE, {"label": -1, "header": False}),
    (Vocabulary.load, WORDS, {}),
    (nn.load, model(), {}),
    (nn.load_checkpoint, checkpoint(), {}),
]
NEVER_PACKED = (nn.load, nn.load_checkpoint)

PIECES = [
    *(b"", b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1", b"\n", b"\r"),
    *(b"\t", b" ", b",", b'"', b"[", b"{", b"nan", b"1e999", b"-1", b"_", b"9" * 30, b"a" * 99),
    *(b"\xc3", b"\x1f\x8b", b"U16", b"F64"),
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


def limit_memory() -> None:
    """Let this process take no more than MEMORY beyond what it has, where the system can say."""
    if sys.platform != "linux":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def test_damaged_files() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "error", __file__],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    outcomes = json.loads(found.stdout)
    assert sum(outcomes.values()) == FILES
    for read, _, _ in READERS:
        assert outcomes[f"{read.__qualname__} refused"] > 0
        assert outcomes[f"{read.__qualname__} accepted"] > 0


if __name__ == "__main__":
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(read_all(Path(folder))))
