"""The binary versions of CIFAR-10 and CIFAR-100: records of classes, and 3,072 bytes of an image.

An image is 32 x 32, in three planes: red, green, blue; each row by row. In CIFAR-10 one byte before
it says its class, in CIFAR-100 one says which of 20 groups it belongs to and one which of 100
classes. The publisher's archives are read as they are, and so are the files in them. His versions
for Python are pickled, and reading a pickle runs whatever code it holds: those are not read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import TensorDataset
from mt_nn.data.formats.archives import read_members
from mt_nn.data.formats.images import scaled
from mt_nn.data.formats.reading import find
from mt_nn.errors import FileError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import PathLike, read_bytes
from mt_tensor import tensor

IMAGE = (3, 32, 32)
PIXELS = 3 * 32 * 32

Bytes = npt.NDArray[np.uint8]


class _Version(NamedTuple):
    """What CIFAR-10 and CIFAR-100 differ in.

    Attributes:
        name: what it is called.
        classes: how many there are, for each byte before an image.
        archive: the name of the publisher's archive.
        training: the names of the files with training images.
        test: that of the file with test images.
        pickled: that of a file of the version for Python.
    """

    name: str
    classes: tuple[int, ...]
    archive: str
    training: tuple[str, ...]
    test: str
    pickled: str


_TEN = _Version(
    "CIFAR-10",
    (10,),
    "cifar-10-binary.tar.gz",
    tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    "test_batch.bin",
    "data_batch_1",
)
_HUNDRED = _Version(
    "CIFAR-100", (20, 100), "cifar-100-binary.tar.gz", ("train.bin",), "test.bin", "train"
)


def read_cifar10(path: PathLike) -> tuple[Bytes, Bytes]:
    """Return the images and classes in a file of CIFAR-10's binary version.

    Args:
        path: where the file is, plain or packed with gzip.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32), and classes from 0 to 9, uint8 of shape (count,).

    Raises:
        FileError: the file is missing, damaged, pickled, or takes more than `mt_nn.limits` allow.
    """
    images, classes = _parsed(_TEN, path, read_bytes(path))
    return images, classes[0]


def read_cifar100(path: PathLike) -> tuple[Bytes, Bytes, Bytes]:
    """Return the images, classes and groups in a file of CIFAR-100's binary version.

    Args:
        path: where the file is, plain or packed with gzip.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32); classes from 0 to 99 and their groups from 0 to
        19, uint8 of shape (count,).

    Raises:
        FileError: the file is missing, damaged, pickled, or takes more than `mt_nn.limits` allow.
    """
    images, (groups, classes) = _parsed(_HUNDRED, path, read_bytes(path))
    return images, classes, groups


def cifar10(path: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set from CIFAR-10's binary version.

    Each holds images, float32 of shape (count, 3, 32, 32) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        path: the archive `cifar-10-binary.tar.gz`; or a folder that holds it, or its files
            `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`, each possibly with `.gz`.

    Raises:
        FileError: a file is missing, damaged or pickled, or takes more than `mt_nn.limits` allow.
    """
    return _both(_TEN, Path(path))


def cifar100(path: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set from CIFAR-100's binary version.

    Each holds images, float32 of shape (count, 3, 32, 32) from 0 to 1; labels, int64 of shape
    (count,), are those of the 100 classes.

    Args:
        path: the archive `cifar-100-binary.tar.gz`; or a folder that holds it, or its files
            `train.bin` and `test.bin`, each possibly with `.gz`.

    Raises:
        FileError: a file is missing, damaged or pickled, or takes more than `mt_nn.limits` allow.
    """
    return _both(_HUNDRED, Path(path))


def _both(version: _Version, path: Path) -> tuple[TensorDataset, TensorDataset]:
    archive = path / version.archive if path.is_dir() else path
    if archive.exists() or not path.is_dir():
        members = read_members(archive, (*version.training, version.test))
        contents = {name: _parsed(version, f"{archive}: {name}", members[name]) for name in members}
    elif (path / version.pickled).exists() and not (path / version.training[0]).exists():
        raise FileError(f"{path} holds {_pickled(version)}")
    else:
        contents = {}
        for name in (*version.training, version.test):
            file = find(path, name)
            contents[name] = _parsed(version, file, read_bytes(file))
    allowance = Allowance(path)
    training = _joined([contents[name] for name in version.training], allowance)
    return training, _joined([contents[version.test]], allowance)


def _joined(parts: Sequence[tuple[Bytes, Bytes]], allowance: Allowance) -> TensorDataset:
    """Return a data set of images, with the last of their classes."""
    for images, _ in parts:
        allowance.take("memory", 4 * images.size)
    labels = np.concatenate([classes[-1] for _, classes in parts])
    pixels = scaled([images for images, _ in parts])
    return TensorDataset(pixels, tensor(labels.astype(np.int64)))


def _parsed(version: _Version, path: PathLike, content: bytearray) -> tuple[Bytes, Bytes]:
    """Return images, and their classes with a row for each byte before an image."""
    record = len(version.classes) + PIXELS
    if len(content) % record or not content:
        if content[:1] == b"\x80":
            raise FileError(f"{path} is {_pickled(version)}")
        raise FileError(
            f"{path} is damaged, or no file of {version.name}'s binary version: {len(content)} "
            f"bytes are no whole number of records of {record}. Fetch the file again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, record)
    images, classes = records[:, -PIXELS:].reshape(-1, *IMAGE), records[:, :-PIXELS].T.copy()
    for row, count in zip(classes, version.classes, strict=True):
        if row.max() >= count:
            first = int(np.argmax(row >= count))
            raise FileError(
                f"{path} is damaged: record {first} is of class {row[first]}, but classes go from "
                f"0 to {count - 1}. Fetch the file again."
            )
    return images, classes


def _pickled(version: _Version) -> str:
    return (
        f"the Python version of {version.name}, which is pickled: reading a pickle runs the code "
        f"in it. Fetch the binary version, {version.archive}."
    )
