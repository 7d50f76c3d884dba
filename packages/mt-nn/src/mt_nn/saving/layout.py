"""The layout of a safetensors file: arrays by name, and strings by name beside them.

    8 bytes     how long the header is, little-endian
    header      {"__metadata__": {"name": "text", ...},
                 "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    elements    of one array after the other

The package safetensors writes files, checks them and takes them apart. Here it is counted what they
take before they are read, the strings are read without the elements, and it is decided what bytes
mean as numbers. Arrays of bfloat16, which NumPy has not, are those that backends have
(`bfloat16.numpy`): the package is given their bits.
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
"""NumPy's names of the types of numbers that an array can have."""

KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
BFLOAT16 = "BF16"

_STORED = {**DTYPES, "BOOL": "|u1", BFLOAT16: bfloat16.numpy.str}
"""NumPy's names of what is read first: any byte may stand for a truth value."""

LONGEST_HEADER = 100_000_000
"""The most bytes that a header may have; the format says so."""

PICKLED = (b"PK\x03\x04", b"\x80\x02")
"""How files begin that `torch.save` writes, today and long ago."""

METADATA = "__metadata__"
"""What no array can be called."""

Parts = dict[str, tuple[str, tuple[int, ...]]]
"""What a header says of arrays, by name: the type of the elements, which is a key of `DTYPES` or
bfloat16, and the shape."""


class Header(NamedTuple):
    """What a header says.

    Attributes:
        text: all bytes before the elements, as they are.
        parts: the arrays.
        metadata: texts, by name.
        size: how many bytes the file has in all.
    """

    text: bytes
    parts: Parts
    metadata: dict[str, str]
    size: int


def library() -> Any:
    """Return the package safetensors.

    Raises:
        MissingPackageError: it is not installed.
    """
    with packages_needed("saving and loading needs safetensors: pip install 'mt-nn[train]'."):
        import safetensors.numpy
    return safetensors


def described(arrays: Mapping[str, Array]) -> Parts:
    """Return what a header says of arrays."""
    return {name: (_kind(array), array.shape) for name, array in arrays.items()}


def _kind(array: Array) -> str:
    return BFLOAT16 if array.dtype == bfloat16.numpy else KINDS[array.dtype.str]


def packed(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the content of a file.

    Args:
        arrays: rows of memory, little-endian, in any order.
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
            f"what is no tensor takes {length:,} bytes as text, and {LONGEST_HEADER:,} are the "
            "most that safetensors files may have: make tensors or arrays of long lists."
        )
    return content


def read_header(file: BinaryIO, source: str, allowance: Allowance) -> Header:
    """Return what stands before the elements, which is not checked yet but for its form.

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
        return _parsed(start + text)
    except (AttributeError, LookupError, OverflowError, RecursionError) as error:
        raise damaged(source, repr(error)) from error
    except (TypeError, ValueError) as error:
        raise damaged(source, error) from error


def _parsed(text: bytes) -> Header:
    """Return what a header says.

    Raises:
        AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError: it is not
            what it should be.
    """
    entries = json.loads(text[8:].decode())
    metadata = entries.pop(METADATA, None) or {}
    if not set(map(type, metadata.values())) <= {str}:
        raise TypeError("metadata are no strings by name")
    parts = {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in entries.items()}
    ends = [int(entry["data_offsets"][1]) for entry in entries.values()]
    return Header(text, parts, metadata, len(text) + max(ends, default=0))


def read_elements(
    file: BinaryIO, source: str, header: Header, allowance: Allowance
) -> dict[str, bytearray]:
    """Return the bytes of each array, in the order of the header, when all of it was checked.

    Raises:
        FileError: the file is truncated, contradicts itself, or takes more than the limits allow.
        MissingPackageError: safetensors is not installed.
    """
    package = library()
    allowance.check("model", header.size)
    content = _read(file, header.size - len(header.text), allowance, header.text)
    try:
        parts = dict(package.deserialize(content))
    except Exception as error:  # the library raises its own type, and others for odd headers
        raise damaged(source, error) from error
    return {name: parts[name]["data"] for name in header.parts}


def _read(file: BinaryIO, count: int, allowance: Allowance, before: bytes = b"") -> bytes:
    """Return the next `count` bytes behind others; memory grows with what comes.

    There are fewer where the file ends.
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
    """Return arrays that have these bytes, which are taken out of the dictionary.

    Raises:
        FileError: NumPy has no such elements.
        ValueError: no array of NumPy has such a shape.
    """
    arrays = {}
    for name, (kind, shape) in parts.items():
        if kind not in _STORED:
            raise FileError(
                f"{name} in {source} has elements of {kind}, which cannot be read: convert them to "
                "F32 before saving."
            )
        row: Array = np.frombuffer(contents.pop(name), _STORED[kind])
        if kind == "BOOL":
            row = row != 0
        arrays[name] = row.reshape(shape)
    return arrays


def damaged(source: str, reason: object) -> FileError:
    """Return the error for a file that is not what it should be."""
    return FileError(
        f"{source} is truncated or no safetensors file ({reason}). Save the model again with "
        "mt_nn.save()."
    )
