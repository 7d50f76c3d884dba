"""Readers of images: scikit-learn's digits, the IDX files of MNIST, and binary CIFAR-10 files.

An IDX file consists of two zero bytes, the dtype and the number of dimensions; then each size as a
big-endian 32-bit integer; then the elements, big-endian, row-major.

A CIFAR-10 image has 32 x 32 pixels in three planes, red, green and blue, each row-major. It is
preceded by one byte, the class. The publisher's archive, and the files in it, can be read. The
Python version is pickled, and unpickling can execute arbitrary code, so it is not read.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import TensorDataset
from mt_nn.data.formats.archives import read_members
from mt_nn.data.formats.texts import find
from mt_nn.errors import FileError, packages_needed
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import PathLike, opened, read_bytes
from mt_tensor import as_tensor, tensor

Bytes = npt.NDArray[np.uint8]


def _joined(parts: Sequence[tuple[Bytes, Bytes]], allowance: Allowance) -> TensorDataset:
    """Return a data set of the images, float32 from 0 to 1, and the labels of all parts."""
    allowance.take("memory", sum(4 * images.size for images, _ in parts))
    images, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    pixels = np.divide(images, 255, dtype=np.float32)
    return TensorDataset(as_tensor(pixels), tensor(labels.astype(np.int64)))


# --- scikit-learn's digits ------------------------------------------------------------------------


TEST_SIZE = 360
SPLIT_SEED = 0


def digits() -> tuple[TensorDataset, TensorDataset]:
    """Return scikit-learn's digits, with a fixed split into a training and a test set.

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
        try:
            shape = struct.unpack(f">{ndim}I", source.read(4 * ndim))
            # Read one more byte, to check that the file ends there.
            content = source.read(dtype.itemsize * math.prod(shape) + 1)
            array = np.frombuffer(content, dtype).reshape(shape)
        except (struct.error, ValueError) as error:
            raise FileError(
                f"{path} is damaged: its header, of {ndim} dimension(s), does not match its length "
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
        allowance: the memory that may still be used; the current limit if None.

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
    return _joined([(images[:, None], labels)], allowance)


# --- CIFAR-10 -------------------------------------------------------------------------------------


IMAGE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32
CLASSES = 10
ARCHIVE = "cifar-10-binary.tar.gz"
FILES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")


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
    path = Path(path)
    archive = path / ARCHIVE if path.is_dir() else path
    if archive.exists() or not path.is_dir():
        members = read_members(archive, FILES)
        parts = [parse_cifar10(f"{archive}: {name}", members[name]) for name in FILES]
    elif (path / "data_batch_1").exists():
        raise FileError(
            f"{path} contains the Python version of CIFAR-10, which is pickled: unpickling can "
            f"execute arbitrary code. Download the binary version, {ARCHIVE}."
        )
    else:
        files = [find(path, name) for name in FILES]
        parts = [parse_cifar10(str(file), read_bytes(file)) for file in files]
    allowance = Allowance(path)
    return _joined(parts[:-1], allowance), _joined(parts[-1:], allowance)


def parse_cifar10(path: str, content: bytes | bytearray) -> tuple[Bytes, Bytes]:
    """Return the images and classes in a file of CIFAR-10's binary version.

    Args:
        path: the path of the file, for messages.
        content: the content of the file.

    Returns:
        Images, uint8 of shape (count, 3, 32, 32), and classes from 0 to 9, uint8 of shape (count,).

    Raises:
        FileError: the file is damaged.
    """
    if len(content) % RECORD or not content:
        raise FileError(
            f"{path} is damaged or not a binary CIFAR-10 file: its length, {len(content)} bytes, "
            f"is not a positive multiple of {RECORD}. Download the file again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    images, classes = records[:, 1:].reshape(-1, *IMAGE), records[:, 0]
    if classes.max() >= CLASSES:
        first = int(np.argmax(classes >= CLASSES))
        raise FileError(
            f"{path} is damaged: record {first} has class {classes[first]}, but classes range from "
            f"0 to {CLASSES - 1}. Download the file again."
        )
    return images, classes
