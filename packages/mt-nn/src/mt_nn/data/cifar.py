"""The binary version of CIFAR-10: records of one byte for the class and 3,072 for the image.

An image is 32 x 32, in three planes: red, green, blue; each row by row. The publisher's archive
`cifar-10-binary.tar.gz` holds five files of training images and one of test images. His version for
Python is pickled, and reading a pickle runs whatever code it holds, so that is not read here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from mt_nn.data.dataset import TensorDataset
from mt_nn.data.reading import LIMIT, PathLike, find, read_bytes
from mt_nn.errors import FileError
from mt_tensor import tensor

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IMAGE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32
TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST = "test_batch.bin"

PICKLED = (
    "the Python version of CIFAR-10, which is pickled: reading a pickle runs the code in it. Fetch "
    "the binary version, cifar-10-binary.tar.gz."
)

Bytes = npt.NDArray[np.uint8]


def read_cifar10(path: PathLike, limit: int = LIMIT) -> tuple[Bytes, Bytes]:
    """Return the images and classes in a file of CIFAR-10's binary version.

    Args:
        path: where the file is, plain or packed with gzip.
        limit: how many bytes it may hold, unpacked.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32), and classes from 0 to 9, uint8 of shape (count,).

    Raises:
        FileError: the file is missing, damaged, pickled, or holds more than `limit` bytes.
        SettingError: the limit is no positive integer.
    """
    content = read_bytes(path, limit)
    if len(content) % RECORD or not content:
        if content[:1] == b"\x80":
            raise FileError(f"{path} is {PICKLED}")
        raise FileError(
            f"{path} is damaged, or no file of CIFAR-10's binary version: {len(content)} bytes are "
            f"no whole number of records of {RECORD}. Fetch the file again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    labels = records[:, 0].copy()
    if labels.max() >= len(CLASSES):
        first = int(np.argmax(labels >= len(CLASSES)))
        raise FileError(
            f"{path} is damaged: record {first} is of class {labels[first]}, but classes go from 0 "
            f"to {len(CLASSES) - 1}. Fetch the file again."
        )
    return records[:, 1:].reshape(-1, *IMAGE), labels


def cifar10(folder: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set from the six files of CIFAR-10's binary version.

    Each holds images, float32 of shape (count, 3, 32, 32) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        folder: holds `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`, each possibly
            with `.gz`.

    Raises:
        FileError: a file is missing, damaged or pickled.
    """
    source = Path(folder)
    if (source / "data_batch_1").exists() and not (source / TRAINING[0]).exists():
        raise FileError(f"{source} holds {PICKLED}")
    return _joined(source, TRAINING), _joined(source, (TEST,))


def _joined(folder: Path, names: tuple[str, ...]) -> TensorDataset:
    images, labels = zip(*(read_cifar10(find(folder, name)) for name in names), strict=True)
    pixels = np.concatenate(images).astype(np.float32)
    pixels /= np.float32(255)
    return TensorDataset(tensor(pixels), tensor(np.concatenate(labels).astype(np.int64)))
