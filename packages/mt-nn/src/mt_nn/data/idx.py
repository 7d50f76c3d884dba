"""The IDX format of MNIST and Fashion-MNIST: a header with type and shape, then the elements.

Bytes: two zeros, the element type, the number of dimensions; then each extent as a big-endian
32-bit integer; then the elements, big-endian, row-major. Files may be compressed with gzip.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.data.dataset import TensorDataset
from mt_nn.errors import FileError
from mt_tensor import tensor
from mt_tensor.strides import size_of

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Return the array that an IDX file holds.

    Raises:
        FileError: the file is missing, truncated, longer than its header says, or no IDX file.
    """
    source = Path(path)
    content = _content(source)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in TYPES or not content[3]:
        raise FileError(
            f"{source} is no IDX file: it begins with {content[:4].hex(' ') or 'nothing'}, not "
            "with two zero bytes, an element type and a number of dimensions."
        )
    dtype, ndim = np.dtype(TYPES[content[2]]), content[3]
    header = 4 + 4 * ndim
    extents = content[4:header]
    shape = struct.unpack(f">{len(extents) // 4}I", extents[: len(extents) // 4 * 4])
    expected = header + dtype.itemsize * size_of(shape)
    if len(shape) != ndim or len(content) != expected:
        raise FileError(
            f"{source} is damaged: a header of {ndim} dimension(s), here {shape}, needs {expected} "
            f"bytes, but there are {len(content)}. Fetch the file again."
        )
    elements = np.frombuffer(content, dtype, offset=header)
    try:
        return elements.astype(dtype.newbyteorder("=")).reshape(shape)
    except ValueError as error:  # more dimensions or, beside an extent of 0, larger ones than NumPy
        raise FileError(
            f"{source} is damaged: no array has the shape in its header, {shape} ({error}). Fetch "
            "the file again."
        ) from error


def _content(source: Path) -> bytes:
    try:
        raw = source.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{source} is damaged: it cannot be decompressed ({error}). Fetch the file again."
        ) from error
    except OSError as error:
        raise FileError(f"could not read {source} ({error.strerror or error}).") from error


def mnist(folder: str | os.PathLike[str]) -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set from the four files of MNIST, or of Fashion-MNIST.

    Each holds images, float32 of shape (count, 1, 28, 28) from 0 to 1, and labels, int64 of shape
    (count,).

    Args:
        folder: holds `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and the same with `t10k`,
            each possibly with `.gz`.

    Raises:
        FileError: a file is missing or damaged, or images and labels differ in number.
    """
    return _part(Path(folder), "train"), _part(Path(folder), "t10k")


def _part(folder: Path, name: str) -> TensorDataset:
    images = read_idx(_find(folder, f"{name}-images-idx3-ubyte"))
    labels = read_idx(_find(folder, f"{name}-labels-idx1-ubyte"))
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise FileError(
            f"{folder}: {name} holds images of shape {images.shape} and labels of shape "
            f"{labels.shape}, which do not belong together."
        )
    pixels = images[:, None].astype(np.float32) / np.float32(255)
    return TensorDataset(tensor(pixels), tensor(labels.astype(np.int64)))


def _find(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.exists():
            return candidate
    raise FileError(f"{folder} holds no {name} or {name}.gz.")
