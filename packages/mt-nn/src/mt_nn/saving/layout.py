"""The layout of a safetensors file: a header of JSON, and behind it the elements of arrays.

    8 bytes     how long the header is, little-endian
    header      {"__metadata__": {"name": "text", ...},
                 "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    elements    of one array after the other without gaps, row by row, little-endian

Nothing of it is believed before it was checked, and nothing is allocated for what is announced
only. The format is that of https://github.com/huggingface/safetensors. bfloat16, which NumPy has
not, is the upper half of a float32, and is read as one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mt_nn.errors import FileError
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import CHUNK
from mt_tensor.dtypes import Array

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
"""NumPy's names of the types of numbers that an array can have."""

KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
BFLOAT16 = "BF16"

LONGEST_HEADER = 100_000_000
"""The most bytes that a header may have; the format says so."""

PICKLED = (b"PK\x03\x04", b"\x80\x02")
"""How files begin that `torch.save` writes, today and long ago."""

DIMENSIONS = 64
"""The most that an array of NumPy can have."""

METADATA = "__metadata__"
"""What no array can be called."""


class Part(NamedTuple):
    """What a header says of an array.

    Attributes:
        kind: the type of its elements, a key of `DTYPES` or bfloat16.
        shape: the extent of each dimension.
        start: where its elements begin, counted from the first element of all.
        end: where they end.
    """

    kind: str
    shape: tuple[int, ...]
    start: int
    end: int


class Header(NamedTuple):
    """What a header says.

    Attributes:
        parts: the arrays, by name.
        metadata: texts, by name.
        length: how many bytes are before the elements.
        size: how many bytes the file has in all.
    """

    parts: dict[str, Part]
    metadata: dict[str, str]
    length: int
    size: int


def described(arrays: Mapping[str, Array]) -> dict[str, Part]:
    """Return what a header says of arrays, in their order.

    Elements of the largest types come first in the file, so that each begins where a processor
    reads it best.
    """
    parts, end = {}, 0
    for name in sorted(arrays, key=lambda name: -arrays[name].itemsize):
        array = arrays[name]
        start, end = end, end + array.nbytes
        parts[name] = Part(KINDS[array.dtype.str], array.shape, start, end)
    return {name: parts[name] for name in arrays}


def elements(array: Array) -> memoryview:
    """Return the elements of an array as the file has them."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def write(file: BinaryIO, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays, which may lie in memory in any order, and metadata.

    Raises:
        FileError: the header would be too long.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    parts = described(arrays)
    for name, part in parts.items():
        offsets = [part.start, part.end]
        header[name] = {"dtype": part.kind, "shape": part.shape, "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise FileError(
            f"what is no tensor takes {len(text):,} bytes as text, and {LONGEST_HEADER:,} are the "
            "most that safetensors files may have: make tensors or arrays of long lists."
        )
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for name in sorted(parts, key=lambda name: (parts[name].start, parts[name].end)):
        file.write(elements(arrays[name]))


def read_header(file: BinaryIO, source: str, allowance: Allowance) -> Header:
    """Return what stands before the elements.

    Raises:
        FileError: it is truncated, no header of safetensors, or takes more than the limits allow.
    """
    start = _read(file, 8, allowance)
    length = int.from_bytes(start, "little")
    if length > LONGEST_HEADER and start.startswith(PICKLED):
        raise FileError(
            f"{source} is pickled, as by torch.save(), and reading a pickle runs the code in it. "
            "Save tensors with safetensors.torch.save_file() there."
        )
    if len(start) < 8 or length > LONGEST_HEADER:
        raise damaged(source, "no header")
    allowance.check("json", length)
    text = _read(file, length, allowance)
    try:
        if len(text) < length:
            raise ValueError("the header ends early")
        parts, metadata = _parsed(text.decode(), source)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(source, error) from error
    end = max((part.end for part in parts.values()), default=0)
    return Header(parts, metadata, 8 + length, 8 + length + end)


def _parsed(text: str, source: str) -> tuple[dict[str, Part], dict[str, str]]:
    """Return what stands in the JSON of a header.

    Raises:
        KeyError, TypeError, ValueError, RecursionError: it is not what it should be.
    """
    entries = json.loads(text, object_pairs_hook=_unique)
    if not isinstance(entries, dict):
        raise TypeError("the header is no object")
    metadata = entries.pop(METADATA, None) or {}
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise TypeError("metadata are no strings by name")
    parts = {name: _part(name, entry, source) for name, entry in entries.items()}
    end = 0
    for name, part in sorted(parts.items(), key=lambda item: (item[1].start, item[1].end)):
        if part.start != end:
            raise ValueError(f"before {name} there is a gap, or another array")
        end = part.end
    return parts, metadata


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def _part(name: str, entry: Mapping[str, Any], source: str) -> Part:
    """Return what an entry of a header says, if it can be."""
    kind, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
    if kind not in DTYPES and kind != BFLOAT16:
        raise FileError(
            f"{name} in {source} has elements of {kind}, which cannot be read: convert them to F32 "
            "before saving."
        )
    if not all(type(number) is int and number >= 0 for number in (*shape, start, end)):
        raise ValueError(f"{name} has lengths that are no integers from 0 on")
    if len(shape) > DIMENSIONS:
        raise ValueError(f"{name} has {len(shape)} dimensions")
    itemsize = 2 if kind == BFLOAT16 else np.dtype(DTYPES[kind]).itemsize
    if end - start != itemsize * math.prod(shape):
        raise ValueError(f"{name} has not as many bytes as its shape needs")
    return Part(kind, tuple(shape), start, end)


def read_elements(
    file: BinaryIO, source: str, header: Header, allowance: Allowance
) -> dict[str, bytearray]:
    """Return the bytes of each array, in the order of the header.

    Raises:
        FileError: the file is truncated, or takes more than the limits allow.
    """
    allowance.check("model", header.size)
    found = {}
    order = sorted(header.parts.items(), key=lambda item: (item[1].start, item[1].end))
    for name, part in order:
        found[name] = _read(file, part.end - part.start, allowance)
        if len(found[name]) < part.end - part.start:
            raise damaged(source, f"it ends within {name}")
    return {name: found[name] for name in header.parts}


def _read(file: BinaryIO, count: int, allowance: Allowance) -> bytearray:
    """Return the next `count` bytes, or fewer where the file ends; memory grows with what comes."""
    content = bytearray()
    while len(content) < count:
        chunk = file.read(min(CHUNK, count - len(content)))
        if not chunk:
            break
        content += chunk
        allowance.take("model", len(chunk))
    return content


def decoded(content: bytearray, part: Part) -> Array:
    """Return an array that has these bytes.

    Raises:
        ValueError: no array of NumPy has such a shape.
    """
    if part.kind == BFLOAT16:
        upper = np.frombuffer(content, "<u2").astype(np.uint32)
        return (upper << 16).view(np.float32).reshape(part.shape)
    if part.kind == "BOOL":
        truths: Array = (np.frombuffer(content, np.uint8) != 0).reshape(part.shape)
        return truths
    return np.frombuffer(content, DTYPES[part.kind]).reshape(part.shape)


def damaged(source: str, reason: object) -> FileError:
    """Return the error for a file that is not what it should be."""
    return FileError(
        f"{source} is truncated or no safetensors file ({reason}). Save the model again with "
        "mt_nn.save()."
    )
