"""The layout of a safetensors file: arrays and strings (metadata) by name.

    8 bytes     the length of the header, little-endian
    header      {"__metadata__": {"name": "text", ...},
                 "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    elements    of all arrays, one after the other

The package safetensors writes, checks and parses files. This module checks sizes before reading,
reads headers without the elements, and converts bytes to arrays. NumPy has no bfloat16; such arrays
have the dtype `bfloat16.numpy`, and their bits are passed to the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mt_nn.errors import FileError, packages_needed
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import CHUNK
from mt_tensor import bfloat16
from mt_tensor.extending import Array

DTYPES = {
    "C64": "<c8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "I16": "<i2",
    "I32": "<i4",
    "I64": "<i8",
    "I8": "|i1",
    "U16": "<u2",
    "U32": "<u4",
    "U64": "<u8",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""NumPy's names of the dtypes of safetensors."""

KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
BFLOAT16 = "BF16"

_STORED = {**DTYPES, "BOOL": "|u1", BFLOAT16: bfloat16.numpy.str}
"""NumPy's names of the dtypes to read; bools are read as bytes, which may have any value."""

START = 8
"""The number of bytes before the header, which are its length."""

LONGEST_HEADER = 100_000_000
"""The largest length of a header that the format allows, in bytes."""

METADATA = "__metadata__"
"""The key of the metadata, which cannot be the name of an array."""

Parts = dict[str, tuple[str, tuple[int, ...]]]
"""The dtype (a key of `DTYPES`, or `BFLOAT16`) and the shape of each array in a header."""


class Header(NamedTuple):
    """The content of a header.

    Attributes:
        text: all bytes before the elements.
        parts: the dtypes and shapes of arrays.
        metadata: strings by name.
        size: the total size of the file in bytes.
    """

    text: bytes
    parts: Parts
    metadata: dict[str, str]
    size: int


def library() -> Any:
    """Return the package safetensors.

    Raises:
        MissingPackageError: safetensors is not installed.
    """
    with packages_needed("saving and loading need safetensors: pip install 'mt-nn[train]'."):
        import safetensors.numpy
    return safetensors


def described(arrays: Mapping[str, Array]) -> Parts:
    """Return the dtypes and shapes of arrays for a header."""
    return {name: (_kind(array), array.shape) for name, array in arrays.items()}


def _kind(array: Array) -> str:
    return BFLOAT16 if array.dtype == bfloat16.numpy else KINDS[array.dtype.str]


def packed(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the content of a file.

    Args:
        arrays: contiguous, little-endian arrays by name.
        metadata: strings by name.

    Raises:
        FileError: the header would be too long.
        MissingPackageError: safetensors is not installed.
    """
    bits = {n: a.view(np.uint16) for n, a in arrays.items() if _kind(a) == BFLOAT16}
    content: bytes = library().numpy.save({**arrays, **bits}, metadata or None)
    length = int.from_bytes(content[:8], "little")
    if bits:
        entries = json.loads(content[8 : 8 + length])
        for name in bits:
            entries[name]["dtype"] = BFLOAT16
        text = json.dumps(entries, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        content = b"".join([len(text).to_bytes(8, "little"), text, content[8 + length :]])
        length = len(text)
    if length > LONGEST_HEADER:
        raise FileError(
            f"the header has {length:,} bytes, more than the {LONGEST_HEADER:,} that safetensors "
            "allows: convert long lists to tensors or arrays."
        )
    return content


def read_header(start: bytes, file: BinaryIO, source: str, allowance: Allowance) -> Header:
    """Read a header whose first `START` bytes have been read, and check only its syntax.

    Raises:
        FileError: the header is truncated or invalid, or exceeds the limits.
    """
    length = int.from_bytes(start, "little")
    if len(start) < START or length > LONGEST_HEADER:
        raise damaged(source, "no header")
    allowance.check("json", length)
    text = read(file, length, allowance)
    try:
        if len(text) < length:
            raise ValueError("the header ends early")
        return _parsed(start + text)
    except (AttributeError, LookupError, OverflowError, RecursionError) as error:
        raise damaged(source, repr(error)) from error
    except (TypeError, ValueError) as error:
        raise damaged(source, error) from error


def _parsed(text: bytes) -> Header:
    """Parse a header.

    Raises:
        AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError: it is
            invalid.
    """
    entries = json.loads(text[8:].decode())
    metadata = entries.pop(METADATA, None) or {}
    if not set(map(type, metadata.values())) <= {str}:
        raise TypeError("metadata must be strings")
    parts = {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in entries.items()}
    ends = [int(entry["data_offsets"][1]) for entry in entries.values()]
    return Header(text, parts, metadata, len(text) + max(ends, default=0))


def read_elements(
    file: BinaryIO, source: str, header: Header, allowance: Allowance
) -> dict[str, bytearray]:
    """Return the bytes of each array, in the order of the header, after checking the whole file.

    Raises:
        FileError: the file is truncated or inconsistent, or exceeds the limits.
        MissingPackageError: safetensors is not installed.
    """
    package = library()
    allowance.check("model", header.size)
    content = read(file, header.size - len(header.text), allowance, header.text)
    try:
        parts = dict(package.deserialize(content))
    except Exception as error:  # the library raises its own type, or others for unusual headers
        raise damaged(source, error) from error
    return {name: parts[name]["data"] for name in header.parts}


def read(file: BinaryIO, count: int, allowance: Allowance, before: bytes = b"") -> bytes:
    """Return `before` and the next `count` bytes, or fewer at the end of the file.

    Memory is allocated only for bytes that were read.
    """
    chunks, missing = [before], count
    while missing > 0:
        chunk = file.read(min(CHUNK, missing))
        if not chunk:
            break
        chunks.append(chunk)
        missing -= len(chunk)
        allowance.take("model", len(chunk))
    return b"".join(chunks)


def decoded(contents: dict[str, bytearray], parts: Parts, source: str) -> dict[str, Array]:
    """Convert bytes to arrays, and remove them from the dictionary.

    Raises:
        FileError: NumPy does not have a dtype.
        ValueError: NumPy does not support a shape.
    """
    arrays = {}
    for name, (kind, shape) in parts.items():
        if kind not in _STORED:
            raise FileError(
                f"{name} in {source} has dtype {kind}, which is not supported: convert it to F32 "
                "before saving."
            )
        array: Array = np.frombuffer(contents.pop(name), _STORED[kind])
        if kind == "BOOL":
            array = array != 0
        arrays[name] = array.reshape(shape)
    return arrays


def damaged(source: str, reason: object) -> FileError:
    """Return the error for an invalid file."""
    return FileError(
        f"{source} is truncated or not a safetensors file ({reason}). Save the model again with "
        "mt_nn.save()."
    )
