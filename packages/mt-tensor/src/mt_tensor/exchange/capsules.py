"""Read and write DLPack capsules.

A capsule holds the address of a C structure, a *managed tensor*: the address, device, shape,
strides and dtype of a tensor, and a deleter to call when the memory is no longer used. A consumer
renames the capsule, and is then responsible for calling the deleter. The layout of the
structures is that of the unversioned `dlpack.h`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import DTYPES, Array, DType
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape, Strides, strides_from_shape
from mt_tensor.errors import DTypeError, ExchangeError

UNUSED, USED = b"dltensor", b"used_dltensor"
"""The names of a capsule before and after it is consumed; they must outlive it."""

KINDS = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
"""DLPack's type codes, by the names of dtypes without their sizes."""


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@cache
def _python(name: str, *types: Any) -> Any:
    """Return a function of Python's C API; some builds for WebAssembly have none.

    Args:
        name: the name of the function.
        *types: the type of the result, and those of the arguments.
    """
    return ctypes.PYFUNCTYPE(*types)((name, ctypes.pythonapi))


def _pointer(address: int, name: bytes) -> int:
    """Return the pointer in a capsule, given the capsule's address."""
    types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    found: int = _python("PyCapsule_GetPointer", *types)(address, name)
    return found


def _rename(capsule: Any, name: bytes) -> None:
    """Change the name of a capsule."""
    _python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(capsule, name)


def exported(address: int, layout: Layout, device: tuple[int, int], owner: object) -> Any:
    """Return a capsule for elements in the memory of a device.

    NumPy creates it for an array at the same address, which is never read, so that NumPy manages
    the lifetime of the capsule.

    Args:
        address: the address of the first element.
        layout: the layout and dtype of the elements; no stride is negative.
        device: DLPack's device type and index.
        owner: an object to keep alive while the elements are in use.
    """
    size, ends = layout.dtype.itemsize, zip(layout.shape, layout.strides, strict=True)
    count = 1 + sum((length - 1) * stride for length, stride in ends) if layout.size else 0
    memory: Any = (ctypes.c_char * (count * size)).from_address(address)
    memory.owner = owner
    steps = [size * stride for stride in layout.strides]
    array: Array = np.ndarray(layout.shape, f"u{size}", memory, strides=steps)
    capsule = array.__dlpack__()
    tensor = _managed(capsule).tensor
    tensor.device = _Device(*device)
    tensor.type.kind = KINDS[layout.dtype.name.rstrip("0123456789")]
    return capsule


def of_bfloat16(capsule: Any) -> Any:
    """Change the dtype of an unconsumed capsule from uint16 to bfloat16."""
    _managed(capsule).tensor.type.kind = KINDS["bfloat"]
    return capsule


def _managed(capsule: Any) -> _Managed:
    """Return the managed tensor of an unconsumed capsule."""
    return _Managed.from_address(_pointer(id(capsule), UNUSED))


@dataclass(frozen=True, slots=True)
class Imported:
    """The contents of a consumed capsule.

    Attributes:
        address: the address of the first element.
        dtype: the dtype of the elements.
        shape: the sizes.
        strides: the strides in elements.
        owner: an object that calls the deleter when it is garbage collected.
    """

    address: int
    dtype: DType
    shape: Shape
    strides: Strides
    owner: object


def imported(capsule: Any) -> Imported:
    """Consume a capsule.

    Raises:
        ExchangeError: `capsule` was consumed before, or is not a capsule.
        DTypeError: its dtype is not supported.
    """
    try:
        address = _pointer(id(capsule), UNUSED)
    except ValueError as error:
        raise ExchangeError(
            f"the array returned {capsule!r} instead of an unconsumed and unversioned DLPack "
            f"capsule: {error}."
        ) from error
    tensor = _Managed.from_address(address).tensor
    dtype = _dtype(tensor.type)
    shape = tuple(tensor.shape[: tensor.rank])
    strides = tuple(tensor.strides[: tensor.rank]) if tensor.strides else strides_from_shape(shape)
    first = (tensor.data or 0) + tensor.byte_offset
    _rename(capsule, USED)
    return Imported(first, dtype, shape, strides, _Owner(address))


class _Owner:
    """The owner of a managed tensor, which calls the deleter when it is garbage collected."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __del__(self) -> None:
        """Call the deleter."""
        deleter = _Managed.from_address(self._address).deleter
        if deleter:
            _Deleter(deleter)(self._address)


def _dtype(given: _Type) -> DType:
    """Return the dtype for a DLPack type.

    Raises:
        DTypeError: the type is not supported.
    """
    names = {kind: name for name, kind in KINDS.items()}
    name = names.get(given.kind, f"{given.kind}, bits: ")
    name = name if name == "bool" else f"{name}{given.bits}"
    if given.lanes != 1 or name not in DTYPES:
        lanes = f" in vectors of {given.lanes}" if given.lanes != 1 else ""
        raise DTypeError(
            f"the DLPack type {name}{lanes} of the array is not supported: convert it to one of "
            f"{', '.join(DTYPES)}."
        )
    return DTYPES[name]
