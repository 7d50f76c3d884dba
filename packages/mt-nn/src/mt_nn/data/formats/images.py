"""Readers of images: scikit-learn's digits, the IDX files of MNIST, and CIFAR's binary versions.

An IDX file is two zero bytes, the dtype, the number of dimensions; then each size as a big-endian
32-bit integer; then the elements, big-endian, row-major.

An image of CIFAR is 32 x 32, in three planes: red, green, blue; each row by row. In CIFAR-10 one
byte before it is its class; in CIFAR-100 there are two, for one of 20 groups and one of 100
classes. The publisher's archives are read as they are, and so are the files in them. The versions
for Python are pickled, and reading a pickle runs whatever code it holds: those are not read here.
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

PORTION = 1024


def scaled(parts: Sequence[npt.NDArray[np.uint8]]) -> Tensor:
    """Return the images of all parts, float32 from 0 to 1, of shape (count, *shape of an image).

    They are put in place in portions, for a data set of numbers takes four times the memory of its
    bytes: it is there once, on whatever backend.

    Args:
        parts: images of one shape in each, at least one part.
    """
    result = empty(sum(map(len, parts)), *parts[0].shape[1:])
    begin = 0
    for part in parts:
        for first in range(0, len(part), PORTION):
            portion = np.divide(part[first : first + PORTION], 255, dtype=np.float32)
            result[begin : begin + len(portion)] = tensor(portion)
            begin += len(portion)
    return result


# --- scikit-learn's digits ------------------------------------------------------------------------


TEST_SIZE = 360
SPLIT_SEED = 0


def digits() -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set, always split in the same way.

    Each holds images, float32 of shape (count, 1, 8, 8) from 0 to 1, and labels, int64 of shape
    (count,). There are 1,437 and 360 of them.

    Raises:
        MissingPackageError: scikit-learn is not installed.
    """
    with packages_needed("the digits come with scikit-learn: pip install 'mt-nn[train]'."):
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
    """Return the array that an IDX file holds.

    Args:
        path: where the file is, plain or packed with gzip.

    Raises:
        FileError: the file is missing, truncated, longer than its header says, no IDX file, or
            takes more than `mt_nn.limits` allow.
    """
    with opened(path) as source:
        start = source.read(4)
        if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in TYPES or not start[3]:
            raise FileError(
                f"{path} is no IDX file: it begins with {start.hex(' ') or 'nothing'}, not with "
                "two zero bytes, an element type and a number of dimensions."
            )
        dtype, ndim = np.dtype(TYPES[start[2]]), start[3]
        native = dtype.newbyteorder("=")
        lengths = source.read(4 * ndim)
        shape = struct.unpack(f">{len(lengths) // 4}I", lengths[: len(lengths) // 4 * 4])
        expected = dtype.itemsize * size_of(shape)
        content = source.read(expected + 1)  # one byte more, to see that the file ends there
    if len(shape) != ndim or len(content) != expected:
        more = "more" if len(content) > expected else len(content)
        raise FileError(
            f"{path} is damaged: a header of {ndim} dimension(s), here {reprlib.repr(shape)}, "
            f"needs {expected} bytes of elements, but there are {more}. Fetch the file again."
        )
    try:
        return np.frombuffer(content, dtype).astype(native, copy=False).reshape(shape)
    except ValueError as error:  # more dimensions or, beside a size of 0, larger ones than NumPy
        raise FileError(
            f"{path} is damaged: no array has the shape in its header, {reprlib.repr(shape)} "
            f"({error}). Fetch the file again."
        ) from error


def mnist(folder: PathLike) -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set from the four files of MNIST, or of Fashion-MNIST.

    Each holds images, float32 of shape (count, 1, 28, 28) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        folder: holds `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and the same with `t10k`,
            each possibly with `.gz`.

    Raises:
        FileError: a file is missing or damaged, images and labels differ in number or are no bytes,
            or they take more than `mt_nn.limits` allow.
    """
    allowance = Allowance(folder)
    train, test = (labelled_images(folder, name, allowance) for name in ("train", "t10k"))
    return train, test


def labelled_images(
    folder: PathLike, name: str, allowance: Allowance | None = None
) -> TensorDataset:
    """Return one part of such a data set.

    Args:
        folder: holds its two files.
        name: what their names begin with.
        allowance: how much memory may still be taken; that of a data set if None.

    Raises:
        FileError: as `mnist` raises it.
    """
    folder, allowance = Path(folder), allowance or Allowance(folder)
    images = read_idx(find(folder, f"{name}-images-idx3-ubyte"))
    labels = read_idx(find(folder, f"{name}-labels-idx1-ubyte"))
    if not images.dtype == labels.dtype == np.uint8:
        raise FileError(
            f"{folder}: {name} holds images of {images.dtype} and labels of {labels.dtype}, where "
            "a data set like MNIST's has bytes, uint8."
        )
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise FileError(
            f"{folder}: {name} holds images of shape {images.shape} and labels of shape "
            f"{labels.shape}, which do not belong together."
        )
    allowance.take("memory", 4 * images.size)
    return TensorDataset(scaled([images[:, None]]), tensor(labels.astype(np.int64)))


# --- CIFAR-10 and CIFAR-100 -----------------------------------------------------------------------


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


def _parsed(version: _Version, path: PathLike, content: bytes | bytearray) -> tuple[Bytes, Bytes]:
    """Return images, and their classes with a row for each byte before an image."""
    record = len(version.classes) + PIXELS
    if len(content) % record or not content:
        if content[:1] == b"\x80":
            raise FileError(f"{path} is {_pickled(version)}")
        raise FileError(
            f"{path} is damaged, or no file of {version.name}'s binary version: {len(content)} "
            f"bytes are no integer number of records of {record}. Fetch the file again."
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
