"""The layout of a safetensors file: arrays by name, and strings by name beside them.

The package safetensors checks a file and takes it apart; what its bytes mean as numbers is decided
here. bfloat16, which NumPy has not, is the upper half of a float32, and is read as one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mt_nn.errors import FileError, MissingPackageError
from mt_nn.files.reading import unreadable
from mt_tensor.dtypes import Array

DTYPES = {
    "C64": "<c8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "I16": "<i2",
    "I32": "<i4",
    "I64": "<i8",
    "I8": "i1",
    "U16": "<u2",
    "U32": "<u4",
    "U64": "<u8",
    "U8": "u1",
}
"""NumPy's names of the types of numbers that an array can have."""


def read_whole(path: Any, most: int = -1) -> bytes:
    """Read."""
    from pathlib import Path

    try:
        with Path(path).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise unreadable(path, error) from error


LONGEST_HEADER = 100_000_000
"""The most bytes that a header may have; the format says so."""


def library() -> Any:
    """Return the package safetensors.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        import safetensors.numpy
    except ImportError as error:
        raise MissingPackageError(
            "saving and loading models needs safetensors: pip install 'mt-nn[train]'."
        ) from error
    return safetensors


def packed(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the content of a file; the arrays may lie in memory in any order."""
    rows = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in arrays.items()}
    content: bytes = library().numpy.save(rows, dict(metadata) or None)
    return content


def unpacked(
    content: bytes, source: str | os.PathLike[str]
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays and the metadata in the content of a file.

    Raises:
        FileError: it is truncated, no safetensors file, or has an element type that arrays have
            not.
        MissingPackageError: safetensors is not installed.
    """
    package = library()
    try:
        parts = package.deserialize(content)
        metadata = _metadata(content)
    except Exception as error:  # the library raises its own type, and others for odd headers
        raise damaged(source, error) from error
    return {name: _array(part, f"{name} in {source}") for name, part in parts}, metadata


def header(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the metadata of a file, of which only the header is read.

    Raises:
        FileError: the file is missing, or no safetensors file.
    """
    length = int.from_bytes(read_whole(path, 8), "little")
    if length > LONGEST_HEADER:
        raise damaged(path, "its header would be too long")
    try:
        return _metadata(read_whole(path, 8 + length))
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise damaged(path, error) from error


def damaged(source: str | os.PathLike[str], reason: object) -> FileError:
    """Return the error for a file that is not what it should be."""
    return FileError(
        f"{os.fspath(source)} is truncated or no safetensors file ({reason}). Save the model again "
        "with mt_nn.save()."
    )


def _metadata(content: bytes) -> dict[str, str]:
    import json

    length = int.from_bytes(content[:8], "little")
    return dict(json.loads(content[8 : 8 + length]).get("__metadata__") or {})


def _array(part: Mapping[str, Any], what: str) -> Array:
    kind, shape = part["dtype"], part["shape"]
    if kind == "BF16":
        upper = np.frombuffer(part["data"], "<u2").astype(np.uint32)
        return (upper << 16).view(np.float32).reshape(shape)
    if kind == "BOOL":
        truths: Array = np.frombuffer(part["data"], np.uint8).reshape(shape) != 0
        return truths
    if kind not in DTYPES:
        raise FileError(
            f"{what} has elements of {kind}, which cannot be read: convert them to F32 before "
            "saving."
        )
    array = np.frombuffer(part["data"], DTYPES[kind]).reshape(shape)
    return array if array.flags.writeable else array.copy()
