"""The layout of a safetensors file: arrays and strings (metadata) by name.

    8 bytes     the length of the header, little-endian
    header      {"__metadata__": {"name": "text", ...},
                 "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    elements    of all arrays, one after the other

Names of metadata that begin with `mt_nn.` are reserved. One of them is a checksum of all other
content, which files of other programs do not have. NumPy has no bfloat16; such arrays have the
dtype `bfloat16.numpy`.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mt_nn.errors import FileError
from mt_nn.files.reading import Source
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

_STORED = {**DTYPES, "BF16": bfloat16.numpy.str}
_KINDS = {dtype: kind for kind, dtype in _STORED.items()}

START = 8
"""The number of bytes before the header, which contain its length."""

LONGEST_HEADER = 100_000_000
"""The largest length of a header that the format allows, in bytes."""

METADATA = "__metadata__"
"""The key of the metadata, which cannot be the name of an array."""

RESERVED_PREFIX = "mt_nn."
"""The prefix of reserved names in the metadata."""

CHECKSUM = "mt_nn.crc32"


def packed(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the content of a file.

    Args:
        arrays: contiguous, little-endian arrays by name.
        metadata: a dictionary of strings.

    Raises:
        FileError: the header would be too long.
    """
    kinds = {name: _KINDS[array.dtype.str] for name, array in arrays.items()}
    sums = [(name, kinds[name], a.shape, zlib.crc32(a.data)) for name, a in arrays.items()]
    entries: dict[str, Any] = {METADATA: {**metadata, CHECKSUM: _checksum(metadata, sums)}}
    for name, array in arrays.items():
        entries[name] = {"dtype": kinds[name], "shape": array.shape}
    ordered = sorted(arrays, key=lambda name: -arrays[name].itemsize)  # so that they are aligned
    end = 0
    for name in ordered:
        start, end = end, end + arrays[name].nbytes
        entries[name]["data_offsets"] = start, end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % START)
    if len(text) > LONGEST_HEADER:
        raise FileError(
            f"the header has {len(text):,} bytes, more than the {LONGEST_HEADER:,} that "
            "safetensors allows: convert long lists to tensors or arrays."
        )
    elements = [arrays[name].tobytes() for name in ordered]
    return b"".join([len(text).to_bytes(START, "little"), text, *elements])


def read_header(start: bytearray, source: Source) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entries of arrays in a header, and the metadata.

    Args:
        start: the first `START` bytes of the file.
        source: the rest of the file.

    Raises:
        FileError: the header is truncated or not JSON, or exceeds the limits.
    """
    length = int.from_bytes(start, "little")
    if len(start) < START or length > LONGEST_HEADER:
        raise damaged(source, "no header")
    source.allowance.check("json", length)
    text = source.read(length)
    try:
        if len(text) < length:
            raise ValueError("the header ends early")
        entries = json.loads(text.decode())
        metadata = entries.pop(METADATA, None) or {}
        if not set(map(type, metadata.values())) <= {str}:
            raise TypeError("metadata must be strings")
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise damaged(source, error) from error
    return entries, metadata


def read_arrays(
    entries: Mapping[str, Any], metadata: Mapping[str, str], source: Source
) -> dict[str, Array]:
    """Return the arrays of a file after its header has been read.

    Raises:
        FileError: the file is truncated, invalid or does not match its checksum, exceeds the
            limits, or contains a dtype that NumPy does not have.
    """
    arrays, sums, end = {}, [], 0
    try:
        for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
            kind, shape, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
            if kind not in _STORED:
                raise FileError(
                    f"{name} in {source.name} has dtype {kind}, which is not supported: convert it "
                    "to F32 before saving."
                )
            count = np.dtype(_STORED[kind]).itemsize * math.prod(shape)
            is_valid = all(type(size) is int and size >= 0 for size in shape)
            if not is_valid or (start, stop) != (end, end + count):
                raise ValueError(f"the entry of {name} is invalid")
            end = stop
            source.allowance.check("model", end)
            content = source.read(count)
            sums.append((name, kind, shape, zlib.crc32(content)))
            arrays[name] = _decoded(content, kind).reshape(shape)
        rest = {name: text for name, text in metadata.items() if name != CHECKSUM}
        if is_ours(metadata) and metadata.get(CHECKSUM) != _checksum(rest, sums):
            raise ValueError("its content does not match its checksum")
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        raise damaged(source, error) from error
    return {name: arrays[name] for name in entries}


def _decoded(content: bytearray, kind: str) -> Array:
    """Return bytes as an array; for bools, every nonzero byte is True."""
    array: Array = np.frombuffer(content, np.uint8 if kind == "BOOL" else _STORED[kind])
    return array != 0 if kind == "BOOL" else array


def _checksum(metadata: Mapping[str, str], sums: Iterable[tuple[Any, ...]]) -> str:
    """Return the checksum of metadata, and of the names, dtypes, shapes and sums of arrays."""
    content = json.dumps([sorted(metadata.items()), sorted(sums)])
    return f"{zlib.crc32(content.encode()):08x}"


def is_ours(metadata: Mapping[str, str]) -> bool:
    """Return whether a file with these metadata was written by this package."""
    return any(name.startswith(RESERVED_PREFIX) for name in metadata)


def damaged(source: Source, reason: object) -> FileError:
    """Return the error for an invalid file."""
    return FileError(
        f"{source.name} is truncated or not a safetensors file ({reason}). Save the model again "
        "with mt_nn.save()."
    )
