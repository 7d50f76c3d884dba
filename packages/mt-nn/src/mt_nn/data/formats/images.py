"""Readers of images: scikit-learn's digits, the IDX files of MNIST, and binary CIFAR files.

An IDX file consists of two zero bytes, the dtype and the number of dimensions; then each size as a
big-endian 32-bit integer; then the elements, big-endian, row-major.

A CIFAR image has 32 x 32 pixels in three planes, red, green and blue, each row-major. It is
preceded by one byte in CIFAR-10, the class, and by two bytes in CIFAR-100, one of 20 groups and one
of 100 classes. The publisher's archives, and the files in them, can be read. The Python versions
are pickled, and unpickling can execute arbitrary code, so they are not read.
"""

from __future__ import annotations

import reprlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import TensorDataset
from mt_nn.data.formats.archives import read_members
from mt_nn.data.formats.texts import find
from mt_nn.errors import FileError, packages_needed
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import PathLike, opened, read_bytes
from mt_tensor import Tensor, empty, tensor
from mt_tensor.extending import size_of

CHUNK = 1024


def scaled(parts: Sequence[npt.NDArray[np.uint8]]) -> Tensor:
    """Return the images of all parts, float32 from 0 to 1, shape (count, *image shape).

    They are converted in chunks, because float32 takes four times the memory of bytes: no second
    copy of the whole data set is made.

    Args:
        parts: one or more arrays of images of the same shape.
    """
    result = empty(sum(map(len, parts)), *parts[0].shape[1:])
    start = 0
    for part in parts:
        for first in range(0, len(part), CHUNK):
            chunk = np.divide(part[first : first + CHUNK], 255, dtype=np.float32)
            result[start : start + len(chunk)] = tensor(chunk)
            start += len(chunk)
    return result


# --- scikit-learn's digits ------------------------------------------------------------------------


TEST_SIZE = 360
SPLIT_SEED = 0


def digits() -> tuple[TensorDataset, TensorDataset]:
    """Return scikit-learn's digits, split into a training and a test set in a fixed way.

    The sets contain 1,437 and 360 samples: images, float32 of shape (count, 1, 8, 8) from 0 to 1,
    and labels, int64 of shape (count,).

    Raises:
        MissingPackageError: scikit-learn is not installed.
    """
    with packages_needed("digits() needs scikit-learn: pip install 'mt-nn[train]'."):
        from sklearn.datasets import load_digits
    loaded = load_digits()
    images = (loaded.images / 16.0).astype(np.float32)[:, None]
    labels = loaded.target.astype(np.int64)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels))
    test, train = order[:TEST_SIZE], order[TEST_SIZE:]
    return (
        TensorDataset(tensor(images[train]), tensor(labels[train])),
        TensorDataset(tensor(images[test]), tensor(labels[test])),
    )


# --- IDX: MNIST and Fashion-MNIST -----------------------------------------------------------------


TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: PathLike) -> npt.NDArray[Any]:
    """Return the array in an IDX file.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Raises:
        FileError: the file is missing or not an IDX file, its length does not match its header, or
            it exceeds `mt_nn.limits`.
    """
    with opened(path) as source:
        start = source.read(4)
        if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in TYPES or not start[3]:
            raise FileError(
                f"{path} is not an IDX file: it begins with {start.hex(' ') or 'nothing'}, not "
                "with two zero bytes, a dtype and a number of dimensions."
            )
        dtype, ndim = np.dtype(TYPES[start[2]]), start[3]
        lengths = source.read(4 * ndim)
        shape = struct.unpack(f">{len(lengths) // 4}I", lengths[: len(lengths) // 4 * 4])
        expected = dtype.itemsize * size_of(shape)
        content = source.read(expected + 1)  # one more byte, to check that the file ends there
    if len(shape) != ndim or len(content) != expected:
        found = "more" if len(content) > expected else len(content)
        raise FileError(
            f"{path} is damaged: a header of {ndim} dimension(s), here {reprlib.repr(shape)}, "
            f"needs {expected} bytes of elements; there are {found}. Download the file again."
        )
    try:
        array = np.frombuffer(content, dtype).reshape(shape)
    except ValueError as error:  # too many dimensions, or too large ones beside a size of 0
        raise FileError(
            f"{path} is damaged: no array has the shape in its header, {reprlib.repr(shape)} "
            f"({error}). Download the file again."
        ) from error
    return array.astype(dtype.newbyteorder("="), copy=False)


def mnist(folder: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return the training and the test set of MNIST or Fashion-MNIST.

    Both contain images, float32 of shape (count, 1, 28, 28) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        folder: the folder with `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and the same
            files with `t10k`, optionally with `.gz`.

    Raises:
        FileError: a file is missing or damaged, images and labels differ in number or are not
            bytes, or `mt_nn.limits` are exceeded.
    """
    allowance = Allowance(folder)
    train, test = (labelled_images(folder, name, allowance) for name in ("train", "t10k"))
    return train, test


def labelled_images(
    folder: PathLike, name: str, allowance: Allowance | None = None
) -> TensorDataset:
    """Return the training or the test set of MNIST or Fashion-MNIST.

    Args:
        folder: the folder with the files.
        name: the start of their names, `train` or `t10k`.
        allowance: the memory that may be used; that of a whole data set if None.

    Raises:
        FileError: as for `mnist`.
    """
    folder, allowance = Path(folder), allowance or Allowance(folder)
    images = read_idx(find(folder, f"{name}-images-idx3-ubyte"))
    labels = read_idx(find(folder, f"{name}-labels-idx1-ubyte"))
    if not images.dtype == labels.dtype == np.uint8:
        raise FileError(
            f"{folder}: {name} contains images of dtype {images.dtype} and labels of dtype "
            f"{labels.dtype}; both must be uint8."
        )
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise FileError(
            f"{folder}: {name} contains images of shape {images.shape} and labels of shape "
            f"{labels.shape}, which do not match."
        )
    allowance.take("memory", 4 * images.size)
    return TensorDataset(scaled([images[:, None]]), tensor(labels.astype(np.int64)))


# --- CIFAR-10 and CIFAR-100 -----------------------------------------------------------------------


IMAGE = (3, 32, 32)
PIXELS = 3 * 32 * 32

Bytes = npt.NDArray[np.uint8]


class _Version(NamedTuple):
    """The differences between CIFAR-10 and CIFAR-100.

    Attributes:
        name: the name of the data set.
        classes: the number of classes for each byte before an image.
        archive: the name of the publisher's archive.
        training: the names of the files with training images.
        test: the name of the file with test images.
        pickled: the name of a file in the Python version.
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
        path: the path of the file, which may be compressed with gzip.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32), and classes from 0 to 9, uint8 of shape (count,).

    Raises:
        FileError: the file is missing, damaged or pickled, or exceeds `mt_nn.limits`.
    """
    images, classes = _parsed(_TEN, path, read_bytes(path))
    return images, classes[0]


def read_cifar100(path: PathLike) -> tuple[Bytes, Bytes, Bytes]:
    """Return the images, classes and groups in a file of CIFAR-100's binary version.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32); classes from 0 to 99 and their groups from 0 to
        19, uint8 of shape (count,).

    Raises:
        FileError: the file is missing, damaged or pickled, or exceeds `mt_nn.limits`.
    """
    images, (groups, classes) = _parsed(_HUNDRED, path, read_bytes(path))
    return images, classes, groups


def cifar10(path: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return the training and the test set of CIFAR-10's binary version.

    Both contain images, float32 of shape (count, 3, 32, 32) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        path: the archive `cifar-10-binary.tar.gz`; or a folder with the archive, or with its files
            `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`, optionally with `.gz`.

    Raises:
        FileError: a file is missing, damaged or pickled, or exceeds `mt_nn.limits`.
    """
    return _both(_TEN, Path(path))


def cifar100(path: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return the training and the test set of CIFAR-100's binary version.

    Both contain images, float32 of shape (count, 3, 32, 32) from 0 to 1, and labels of the 100
    classes, int64 of shape (count,).

    Args:
        path: the archive `cifar-100-binary.tar.gz`; or a folder with the archive, or with its files
            `train.bin` and `test.bin`, optionally with `.gz`.

    Raises:
        FileError: a file is missing, damaged or pickled, or exceeds `mt_nn.limits`.
    """
    return _both(_HUNDRED, Path(path))


def _both(version: _Version, path: Path) -> tuple[TensorDataset, TensorDataset]:
    archive = path / version.archive if path.is_dir() else path
    if archive.exists() or not path.is_dir():
        members = read_members(archive, (*version.training, version.test))
        contents = {name: _parsed(version, f"{archive}: {name}", members[name]) for name in members}
    elif (path / version.pickled).exists() and not (path / version.training[0]).exists():
        raise FileError(f"{path} contains {_pickled(version)}")
    else:
        contents = {}
        for name in (*version.training, version.test):
            file = find(path, name)
            contents[name] = _parsed(version, file, read_bytes(file))
    allowance = Allowance(path)
    training = _joined([contents[name] for name in version.training], allowance)
    return training, _joined([contents[version.test]], allowance)


def _joined(parts: Sequence[tuple[Bytes, Bytes]], allowance: Allowance) -> TensorDataset:
    """Return a data set of the images of all parts, with the last byte of each as the class."""
    for images, _ in parts:
        allowance.take("memory", 4 * images.size)
    labels = np.concatenate([classes[-1] for _, classes in parts])
    pixels = scaled([images for images, _ in parts])
    return TensorDataset(pixels, tensor(labels.astype(np.int64)))


def _parsed(version: _Version, path: PathLike, content: bytes | bytearray) -> tuple[Bytes, Bytes]:
    """Return images, and their classes, one row per byte before an image."""
    record = len(version.classes) + PIXELS
    if len(content) % record or not content:
        if content[:1] == b"\x80":
            raise FileError(f"{path} is {_pickled(version)}")
        raise FileError(
            f"{path} is damaged or not a binary {version.name} file: its length, {len(content)} "
            f"bytes, is not a multiple of {record}. Download the file again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, record)
    images, classes = records[:, -PIXELS:].reshape(-1, *IMAGE), records[:, :-PIXELS].T.copy()
    for row, count in zip(classes, version.classes, strict=True):
        if row.max() >= count:
            first = int(np.argmax(row >= count))
            raise FileError(
                f"{path} is damaged: record {first} has class {row[first]}, but classes range from "
                f"0 to {count - 1}. Download the file again."
            )
    return images, classes


def _pickled(version: _Version) -> str:
    return (
        f"the Python version of {version.name}, which is pickled: unpickling can execute arbitrary "
        f"code. Download the binary version, {version.archive}."
    )
