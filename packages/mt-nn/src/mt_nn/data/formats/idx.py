"""The IDX format of MNIST and Fashion-MNIST: a header with type and shape, then the elements.

Bytes: two zeros, the dtype, the number of dimensions; then each size as a big-endian
32-bit integer; then the elements, big-endian, row-major. Files may be compressed with gzip.
"""

from __future__ import annotations

import reprlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import TensorDataset
from mt_nn.data.formats.images import scaled
from mt_nn.data.formats.reading import find
from mt_nn.errors import FileError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import PathLike, opened
from mt_tensor import tensor
from mt_tensor.extending import size_of

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
        extents = source.read(4 * ndim)
        shape = struct.unpack(f">{len(extents) // 4}I", extents[: len(extents) // 4 * 4])
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
    except ValueError as error:  # more dimensions or, beside an extent of 0, larger ones than NumPy
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
